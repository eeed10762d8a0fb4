package pending

import "strings"

// The ways in which a name and its value stand together.
type joint uint8

const (
	apart   joint = iota
	equals        // =, :=, =>, ->, is …
	colon         // :
	element       // <name>value</name>
	spaced        // a flag, and its value behind a space
	weak          // words in between, as in "token to x"
)

// keyed finds the value of a name such as password, in all the ways in which the
// two are written: name=value, "name": "value", --name value, <name>value<…
func (f *finder) keyed(i, j int) {
	name := f.t[i:j]
	k, how := f.separator(i, j)
	if how == apart {
		f.bare(i, j)
		return
	}
	if !isSecretName(name) || how == spaced && isSwitch(name) {
		return
	}
	switch {
	case how == element:
		end := strings.Index(f.t[k:], "</")
		if end < 0 {
			end = len(f.t) - k
		}
		f.add(k, k+end)
	case how == weak && isPlainWord(f.word(k)), how == equals && f.isDeclared(i, name, k), how == colon && f.isThisSession(i, name, k):
	case how == colon && (isHeader(name) || f.quotedLine(i, k)):
		f.header(i, k)
	case how == colon && f.startsLine(i):
		f.line(k)
	default:
		end := f.value(k)
		if isScheme(f.t[k:end]) {
			f.value(skipSpaces(f.t, end))
		}
	}
}

// isDeclared says whether a program gives a short word to its own name "key", as in
// const key = "id": it is that of a member, and no secret.
func (f *finder) isDeclared(i int, name string, k int) bool {
	word, _ := before(f.t, i)
	value := strings.TrimRight(f.word(k), ",")
	return name == "key" && (word == "const" || word == "let" || word == "var") &&
		k < len(f.t) && isQuote(f.t[k]) && len(value) < 10 && isPlainWord(value)
}

// isThisSession says whether a sentence speaks of the session that goes on, as the label
// of an option does that says what is not asked about again in it: what follows is what
// a person decides by, if it looks like that: words, behind "this" also paths, patterns
// and what a tool may do, as in Bash(git push:*).
func (f *finder) isThisSession(i int, name string, k int) bool {
	if !strings.EqualFold(name, "session") {
		return false
	}
	switch word, _ := before(f.t, i); strings.ToLower(word) {
	case "this":
		word := f.word(k)
		call, inside, _ := strings.Cut(word, "(")
		return isPlainWord(word) || strings.ContainsAny(word, "/.*") || isPlainWord(call) && isPlainWord(inside)
	case "the", "whole", "entire", "current":
		return isPlainWord(f.word(k))
	}
	return false
}

// separator finds where the value of the name t[i:j] begins.
func (f *finder) separator(i, j int) (int, joint) {
	t := f.t
	if end := f.tagEnd(i, j); end > 0 {
		return end, element
	}
	k := j
	for k < len(t) && k < j+6 && strings.IndexByte("\\\"'`])", t[k]) >= 0 {
		k++
	}
	closed := k > j
	k = skipSpaces(t, k)
	gap := k > j && isSpace(t[k-1])
	if k >= len(t) {
		return k, apart
	}
	if n := operator(t[k:]); n > 0 {
		return f.behindOperator(i, k, n, closed, gap)
	}
	rest := t[k:]
	switch {
	case rest[0] == '%' && len(rest) > 3 && rest[1] == '3' && strings.IndexByte("dDaA", rest[2]) >= 0:
		return k + 3, equals
	case rest[0] == '(' && !gap && !closed, rest[0] == ',' && closed:
		if at := skipSpaces(t, k+1); at < len(t) && isQuote(t[at]) && !f.isKey(at) {
			return at, equals // setPassword("value"), ("password", "value")
		}
	case gap && t[i] == '-' && rest[0] != '-':
		return k, spaced
	case gap && !closed:
		return f.behindWord(k)
	}
	return k, apart
}

// isKey says whether a quoted text is itself followed by a value.
func (f *finder) isKey(at int) bool {
	end := f.closing(at, 0)
	if end < 0 {
		return false
	}
	end = skipSpaces(f.t, end)
	return end < len(f.t) && strings.IndexByte(":=", f.t[end]) >= 0
}

// operator is how long the sign of an assignment is that a text begins with; 0 for
// none.
func operator(s string) (n int) {
	for n < len(s) && n < 4 && strings.IndexByte("=:?+~|!.<>-", s[n]) >= 0 {
		n++
	}
	op := s[:n]
	if strings.HasPrefix(op, ":") && strings.HasPrefix(s[1:], "//") {
		return 0 // the scheme of a URL
	}
	if at := strings.IndexAny(op, "=:"); at >= 0 {
		return n
	}
	if strings.HasPrefix(op, "->") || strings.HasPrefix(op, "<-") {
		return 2
	}
	return 0
}

// behindOperator finds the value behind the operator t[k:k+n].
func (f *finder) behindOperator(i, k, n int, closed, gap bool) (int, joint) {
	t, op := f.t, f.t[k:k+n]
	end := k + n
	how := equals
	if op == ":" {
		how = colon
	}
	if op == "=" && !gap && !closed && end < len(t) && isSpace(t[end]) && isShellName(t[i:k]) {
		return end, apart // NAME= command: an empty value
	}
	end = skipSpaces(t, end)
	for end < len(t)-1 && end < k+n+8 && t[end] == '<' && !isSpace(t[end+1]) {
		end++ // <a placeholder>, <<"a text">>
	}
	if end < len(t) && how == colon && strings.IndexByte("|>", t[end]) >= 0 { // a block in YAML
		if line := strings.IndexByte(t[end:], '\n'); line >= 0 && line < 4 {
			return skipSpaces(t, end+line), colon
		}
	}
	if rest := t[end:]; len(rest) > 2 && (strings.HasPrefix(rest, `""`) || strings.HasPrefix(rest, "''")) && isSpace(rest[2]) && !isShellName(t[i:k]) {
		end = skipSpaces(t, end+2) // an empty value, and what follows is no command
	}
	return end, how
}

// behindWord finds a value behind words such as "is".
func (f *finder) behindWord(k int) (int, joint) {
	t := f.t
	end := k
	for end < len(t) && end < k+8 && isNameByte(t[end]) {
		end++
	}
	how := weak
	switch strings.ToLower(t[k:end]) {
	case "is", "was", "are", "equals":
		how = equals
	case "to", "be", "as":
	default:
		return k, apart
	}
	if end >= len(t) {
		return k, apart
	}
	at := skipSpaces(t, end)
	n := operator(t[at:])
	switch {
	case n > 0:
		how = equals
	case at == end:
		return k, apart
	}
	return skipSpaces(t, at+n), how
}

// tagEnd is where the start tag ends whose name is t[i:j]; 0 when it is none.
func (f *finder) tagEnd(i, j int) int {
	t, p := f.t, i
	for p > 0 && i-p < 32 && (isNameByte(t[p-1]) || t[p-1] == ':') {
		p-- // a namespace
	}
	if p == 0 || t[p-1] != '<' || j >= len(t) {
		return 0
	}
	if t[j] == '>' {
		return j + 1
	}
	end := strings.IndexAny(t[j:min(len(t), j+256)], "<>")
	if !isSpace(t[j]) || end < 0 || t[j+end] != '>' || t[j+end-1] == '/' {
		return 0
	}
	return j + end + 1
}

// quotedLine says whether a quote stands right in front of a name and another one
// does not in front of its value: then it is a line of its own, as in -H "name: x".
func (f *finder) quotedLine(name, k int) bool {
	t := f.t
	return name > 0 && strings.IndexByte("\"'`", t[name-1]) >= 0 && k < len(t) && !isQuote(t[k]) && t[k] != '\\' &&
		strings.IndexByte(t[name:k], t[name-1]) < 0
}

// startsLine says whether nothing but a hyphen stands in front of a name in its
// line, as in YAML.
func (f *finder) startsLine(name int) bool {
	line := f.t[strings.LastIndexByte(f.t[:name], '\n')+1 : name]
	return strings.Trim(line, " \t-") == ""
}

// line masks the words up to the end of the line, or of the command.
func (f *finder) line(k int) {
	for quoted := k < len(f.t) && isQuote(f.t[k]); ; {
		end := f.value(k)
		for end < len(f.t) && (f.t[end] == ' ' || f.t[end] == '\t') {
			end++
		}
		if end == k || end >= len(f.t) || endsWord(f.t[end]) || f.t[end] == '#' || quoted {
			return
		}
		k = end
	}
}

// header finds the value of a header line: up to the quote that the line began
// with, else word by word.
func (f *finder) header(name, k int) {
	t := f.t
	if name > 0 && strings.IndexByte("\"'`", t[name-1]) >= 0 && !(k < len(t) && isQuote(t[k])) {
		end := k
		for end < len(t) && t[end] != t[name-1] && t[end] != '\n' {
			end++
		}
		f.add(f.substitutions(k, end), end)
		return
	}
	end := f.value(k) // a scheme, or all of it
	if word := t[k:end]; strings.Contains(word, `\ `) || isMasked(word) {
		return // one word of a shell, or masked before
	}
	for end < len(t) {
		if next, ok := f.nextCookie(k, end); ok {
			end = f.value(next)
			continue
		}
		next := skipSpaces(t, end)
		word := next
		for word < len(t) && !isSpace(t[word]) {
			word++
		}
		first := end <= k+len("AWS4-HMAC-SHA256") && strings.IndexByte(t[k:end], '=') < 0
		if next == end || word == next || isQuote(t[k]) || !first && strings.IndexByte(t[next:word], '=') < 0 {
			return
		}
		if end = f.value(next); end == next {
			return
		}
	}
}

// nextCookie finds the next part of a header. Where no space stands in front of its
// value, it is a word of a shell, and a semicolon ends it.
func (f *finder) nextCookie(k, end int) (int, bool) {
	if f.t[end] != ';' || !isSpace(f.t[k-1]) {
		return 0, false
	}
	next := skipSpaces(f.t, end+1)
	return next, strings.IndexByte(f.word(next), '=') > 0
}
