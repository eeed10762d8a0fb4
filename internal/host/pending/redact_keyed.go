package pending

import "strings"

// finder collects what looks like a credential in one text.
type finder struct {
	t     string
	spans []span
	// quoted holds for each place which quotes are open there, and closed for each
	// bracket where the one that closes it ends. Both are made on demand.
	quoted []uint8
	closed []int32
}

// findSecrets finds credentials. The rules look at the whole text each and may
// overlap.
func findSecrets(t string) []span {
	f := finder{t: t}
	f.pem()
	f.userinfo()
	f.words()
	f.runs()
	return f.spans
}

func (f *finder) add(from, to int) {
	if from < to {
		f.spans = append(f.spans, span{from, to})
	}
}

// pem finds private keys and certificates.
func (f *finder) pem() {
	const begin, end = "-----BEGIN", "-----END"
	for at := 0; ; {
		i := strings.Index(f.t[at:], begin)
		if i < 0 {
			return
		}
		from := at + i
		at = len(f.t)
		if j := strings.Index(f.t[from:], end); j >= 0 {
			at = from + j + len(end)
			if k := strings.Index(f.t[at:], "-----"); k >= 0 {
				at += k + len("-----")
			}
		}
		f.add(from, at)
	}
}

// userinfo finds user:password@host, with and without a scheme in front, and
// scheme://token@host.
func (f *finder) userinfo() {
	from, scheme := 0, false
	for i := 0; i < len(f.t); i++ {
		switch c := f.t[i]; {
		case isSpace(c) || strings.IndexByte("\"'`<>()|", c) >= 0:
			from, scheme = i+1, false
		case strings.HasPrefix(f.t[i:], "://"):
			from, scheme = i+3, true
			i += 2
		case c == '@' && isUserinfo(f.t[from:i], scheme):
			f.add(from, i)
		}
	}
}

// isUserinfo judges what stands in front of an @. A slash ends the authority of
// a URL, but passwords with one are pasted into URLs all the same; behind a port
// there is no password.
func isUserinfo(s string, scheme bool) bool {
	colon := strings.IndexByte(s, ':')
	slash := strings.IndexByte(s, '/')
	if slash < 0 {
		return s != "" && (colon >= 0 || scheme)
	}
	return colon >= 0 && (colon > slash || !isDigits(s[colon+1:slash]))
}

// words looks at each name: is it one that stands in front of a secret?
func (f *finder) words() {
	t := f.t
	for i := 0; i < len(t); {
		if !isNameByte(t[i]) {
			i++
			continue
		}
		j := i + 1
		for j < len(t) && isNameByte(t[j]) {
			j++
		}
		f.keyed(i, j)
		f.flag(i, j)
		f.scheme(i, j)
		f.piped(i, j)
		i = j
	}
}

// keyed finds the value of a name such as password, in all the ways in which the
// two are written: name=value, "name": "value", --name value, <name>value<…
func (f *finder) keyed(i, j int) {
	k, how := f.separator(i, j)
	if how == apart {
		if j < len(f.t) && isSpace(f.t[j]) && isBareName(f.t[i:j]) {
			f.value(skipSpaces(f.t, j))
		}
		return
	}
	if !isSecretName(f.t[i:j]) {
		return
	}
	switch {
	case how == element:
		end := strings.IndexByte(f.t[k:], '<')
		if end < 0 {
			end = len(f.t) - k
		}
		f.add(k, k+end)
	case how == colon && isHeader(f.t[i:j]):
		f.header(i, k)
	default:
		f.value(k)
	}
}

// The ways in which a name and its value stand together.
const (
	apart = iota
	equals
	colon
	element
)

// separator finds where the value of the name t[i:j] begins.
func (f *finder) separator(i, j int) (int, int) {
	t := f.t
	k := j
	for k < len(t) && k < j+6 && strings.IndexByte("\\\"'`])", t[k]) >= 0 {
		k++
	}
	closed := k > j
	k = skipSpaces(t, k)
	spaced := k > j && isSpace(t[k-1])
	if k >= len(t) {
		return k, apart
	}
	rest := t[k:]
	switch {
	case rest[0] == '=':
		for k < len(t) && (t[k] == '=' || t[k] == '>') {
			k++
		}
		if !spaced && !closed && k < len(t) && isSpace(t[k]) {
			return k, apart // NAME= command: an empty value
		}
		return skipSpaces(t, k), equals
	case rest[0] == ':' && !strings.HasPrefix(rest, "://"):
		for k < len(t) && (t[k] == ':' || t[k] == '=') {
			k++
		}
		return skipSpaces(t, k), colon
	case rest[0] == '%' && len(rest) > 3 && rest[1] == '3' && strings.IndexByte("dDaA", rest[2]) >= 0:
		return k + 3, equals
	case rest[0] == '>' && i > 0 && t[i-1] == '<':
		return k + 1, element
	case spaced && t[i] == '-' && rest[0] != '-':
		return k, equals
	case spaced && strings.HasPrefix(rest, "is "):
		return skipSpaces(t, k+3), equals
	}
	return k, apart
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
		f.add(k, end)
		return
	}
	end := f.value(k) // a scheme, or all of it
	if strings.Contains(t[k:end], `\ `) {
		return // one word of a shell
	}
	for end < len(t) {
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

// value masks one word as a shell reads it, quotes and all, and returns where it
// ends. Command substitutions in it stay visible.
func (f *finder) value(k int) int {
	t := f.t
	if n := len(f.spans); n > 0 && f.spans[n-1].from <= k && k < f.spans[n-1].to {
		return f.spans[n-1].to // part of another one: nothing to add, and no time to lose
	}
	from, p := k, k
	for p < len(t) && !endsWord(t[p]) {
		end, body := p+1, false
		esc := 0
		for p+esc < len(t) && t[p+esc] == '\\' {
			esc++
		}
		switch at := p + esc; {
		case at < len(t) && isQuote(t[at]) && (esc == 0 || p == k):
			if end = f.closing(at, esc); end < 0 || p > k && f.inside(at) {
				f.add(from, p)
				return p
			}
			if body = true; t[at] == '"' {
				from = f.substitutions(from, end)
			}
		case esc > 0:
			end = min(p+2, len(t))
		case t[p] == '`' || strings.HasPrefix(t[p:], "$("):
			if stop := f.substitutionEnd(p); stop > 0 {
				f.add(from, p)
				from, end = stop, stop
			}
		}
		if p = end; body && p < len(t) && strings.IndexByte(",}])", t[p]) >= 0 {
			break // a value in JSON
		}
	}
	f.add(from, p)
	return p
}

// closing finds the end of the quoted text whose quote stands at the given place
// behind esc backslashes. A text that nothing closes goes on to the end when it
// begins the value.
func (f *finder) closing(at, esc int) int {
	t, q := f.t, f.t[at]
	for p := at + 1; p < len(t); p++ {
		if t[p] != q {
			continue
		}
		back := 0
		for p-1-back > at && t[p-1-back] == '\\' {
			back++
		}
		if back <= esc || q == '\'' && esc == 0 {
			return p + 1
		}
	}
	if f.inside(at) {
		return -1
	}
	return len(t)
}

// inside says whether a quote of the same kind is open in front of a place: then
// the one that stands there closes it.
func (f *finder) inside(at int) bool {
	if f.quoted == nil {
		f.quoted = make([]uint8, len(f.t))
		var open uint8
		for i := range len(f.t) {
			f.quoted[i] = open
			if i == 0 || f.t[i-1] != '\\' {
				open ^= quoteBit(f.t[i])
			}
		}
	}
	return f.quoted[at]&quoteBit(f.t[at]) != 0
}

func quoteBit(c byte) uint8 {
	switch c {
	case '"':
		return 1
	case '\'':
		return 2
	}
	return 0
}

// substitutions masks t[from:to] around the command substitutions in it and
// returns from where on nothing is masked yet.
func (f *finder) substitutions(from, to int) int {
	for p := from; p < to; p++ {
		if f.t[p] != '`' && !strings.HasPrefix(f.t[p:], "$(") {
			continue
		}
		if stop := f.substitutionEnd(p); stop > 0 && stop <= to {
			f.add(from, p)
			from, p = stop, stop-1
		}
	}
	return from
}

// substitutionEnd is where a command substitution ends; 0 when nothing ends it.
func (f *finder) substitutionEnd(p int) int {
	if f.t[p] == '`' {
		if end := strings.IndexByte(f.t[p+1:], '`'); end >= 0 {
			return p + 1 + end + 1
		}
		return 0
	}
	if f.closed == nil {
		f.closed = make([]int32, len(f.t))
		var open []int
		for i := range len(f.t) {
			switch {
			case f.t[i] == '(':
				open = append(open, i)
			case f.t[i] == ')' && len(open) > 0:
				f.closed[open[len(open)-1]] = int32(i + 1)
				open = open[:len(open)-1]
			}
		}
	}
	return int(f.closed[p+1])
}
