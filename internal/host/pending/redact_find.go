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
	reader int // behind the last command that reads a secret from its input
}

// findSecrets finds credentials. The rules look at the whole text each and may
// overlap.
func findSecrets(t string) []span {
	f := finder{t: t}
	f.pem()
	f.userinfo()
	f.findReader()
	f.words()
	f.redirected()
	f.pairs()
	f.runs()
	return f.spans
}

func (f *finder) add(from, to int) {
	if from < to {
		f.spans = append(f.spans, span{from, to})
	}
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
		if j < len(t) && t[j] == '>' && t[j-1] == '-' && j-1 > i {
			j-- // an arrow
		}
		f.keyed(i, j)
		f.flag(i, j)
		f.scheme(i, j)
		f.piped(i, j)
		f.verb(i, j)
		i = j
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

// scheme finds what follows Bearer and Basic.
func (f *finder) scheme(i, j int) {
	name := f.t[i:j]
	bearer := strings.EqualFold(name, "bearer")
	if !bearer && !strings.EqualFold(name, "basic") || j >= len(f.t) || !isSpace(f.t[j]) {
		return
	}
	from := skipSpaces(f.t, j)
	to := from
	for to < len(f.t) && (isRunByte(f.t[to]) || strings.IndexByte(".~=:", f.t[to]) >= 0) {
		to++
	}
	if n := to - from; bearer && n >= 6 || n >= 8 && !isWordy(f.t[from:to]) {
		f.add(from, to)
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// endsWord says whether a character ends a word in a shell, outside quotes.
func endsWord(c byte) bool { return isSpace(c) || strings.IndexByte(";&|<>", c) >= 0 }

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// isNameByte says whether a byte may stand in a name; those of other scripts may.
func isNameByte(c byte) bool {
	return isAlnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80
}

func skipSpaces(t string, k int) int {
	for k < len(t) && isSpace(t[k]) {
		k++
	}
	return k
}

// wordEnd is the end of what stands together without spaces and the signs that end
// a word in a shell.
func wordEnd(t string, k int) int {
	for k < len(t) && !endsWord(t[k]) {
		k++
	}
	return k
}

// before is the word in front of a place, in the same line of a shell.
func before(t string, i int) (word string, from int) {
	for i > 0 && (t[i-1] == ' ' || t[i-1] == '\t') {
		i--
	}
	end := i
	for i > 0 && !endsWord(t[i-1]) && end-i < 64 {
		i--
	}
	return strings.Trim(t[i:end], "\"'`("), i
}

// maxCommandWords is how far in front of a flag its command is looked for, in bytes.
const maxCommandWords = 256

// command is what stands in front of a place in the same command of a shell.
func command(t string, i int) string {
	near := t[max(0, i-maxCommandWords):i]
	return near[strings.LastIndexAny(near, ";|&\n")+1:]
}
