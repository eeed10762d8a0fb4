package pending

import "strings"

// secretParts make a name one that a secret follows, wherever they stand in it.
var secretParts = [...]string{
	"pass", "pwd", "secret", "token", "apikey", "accesskey", "privatekey", "credential", "authoriz",
	"cookie", "bearer", "sessionid", "signature", "connectionstring", "kennwort", "contrase", "senha",
}

// secretEnds do so at the end of a name, secretWords as its last word.
var (
	secretEnds  = [...]string{"key", "keys", "auth", "creds"}
	secretWords = [...]string{
		"pw", "pat", "sig", "sid", "otp", "totp", "pin", "jwt", "csrf", "xsrf", "dsn", "psk", "salt", "hmac", "session", "passcode",
	}
)

// isSecretName says whether what a name is given is to be masked. Case and the
// separators of words make no difference.
func isSecretName(name string) bool {
	var buf [64]byte
	if len(name) > len(buf) {
		name = name[len(name)-len(buf):]
	}
	n, word := 0, 0 // where the last word begins
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == '.':
			word = n
			continue
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		buf[n] = c
		n++
	}
	folded := string(buf[:n]) // does not escape
	for _, part := range secretParts {
		if strings.Contains(folded, part) {
			return true
		}
	}
	for _, end := range secretEnds {
		if strings.HasSuffix(folded, end) {
			return true
		}
	}
	for _, w := range secretWords {
		if folded[min(word, n):] == w {
			return true
		}
	}
	return false
}

// isBareName says whether a word is followed by a secret even without a sign
// between them, as in a netrc file.
func isBareName(name string) bool {
	switch strings.ToLower(name) {
	case "password", "passwd", "passphrase", "requirepass", "masterauth":
		return true
	}
	return false
}

// isHeader says whether a name is that of a header whose whole value is secret.
func isHeader(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "authoriz") || strings.Contains(name, "cookie")
}

// passwordFlags are short flags that mean a password with some commands only.
var passwordFlags = [...]struct {
	flag     string
	attached bool // also without a space
	commands []string
}{
	{"-p", true, []string{"mysql", "mariadb", "sshpass", "mongo", "login", "7z"}},
	{"-a", false, []string{"redis-cli"}},
	{"-w", false, []string{"ldap"}},
	{"-P", false, []string{"zip"}},
	{"-pw", false, []string{"plink", "pscp", "psftp"}},
	{"-b", false, []string{"curl"}},
	{"-E", false, []string{"curl"}},
}

// flag finds the values of -u user:password and of the flags above.
func (f *finder) flag(i, j int) {
	name := f.t[i:j]
	if name[0] != '-' || len(name) < 2 || i > 0 && !isSpace(f.t[i-1]) && !isQuote(f.t[i-1]) {
		return
	}
	k := j
	switch {
	case k < len(f.t) && f.t[k] == '=':
		k++
	case k < len(f.t) && isSpace(f.t[k]):
		k = skipSpaces(f.t, k)
	}
	f.userFlag(name, i, k)
	for _, p := range passwordFlags {
		attached := p.attached && len(name) > len(p.flag) && strings.HasPrefix(name, p.flag)
		if name != p.flag && !attached || !containsAny(f.t, p.commands) {
			continue
		}
		if attached {
			k = i + len(p.flag)
		}
		f.value(k)
	}
}

// userFlag finds user:password behind -u, also as the last of several short
// flags (-su), without a space (-uuser:password), and behind the long forms.
func (f *finder) userFlag(name string, i, k int) {
	long := name == "--user" || name == "--proxy-user"
	last := name[len(name)-1]
	switch {
	case long, name[1] != '-' && len(name) <= 4 && (last == 'u' || last == 'U'):
	case name[1] == 'u' || name[1] == 'U':
		k = i + 2
	default:
		return
	}
	before := len(f.spans)
	end := f.value(k)
	if !strings.ContainsAny(f.t[k:end], ":%") {
		f.spans = f.spans[:before] // a name alone is no secret
	}
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

// piped finds a password that a command hands to another one that reads it from
// its standard input.
func (f *finder) piped(i, j int) {
	switch f.t[i:j] {
	case "echo", "printf":
		if containsAny(f.t[j:], []string{"password-stdin", "sudo -S", "passwd", "cryptsetup", "--passphrase-fd"}) {
			k := skipSpaces(f.t, j)
			for k+2 < len(f.t) && f.t[k] == '-' && isSpace(f.t[k+2]) { // -n
				k = skipSpaces(f.t, k+2)
			}
			f.value(k)
		}
	}
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
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

// skipSpaces skips a few spaces, not a whole paragraph.
func skipSpaces(t string, k int) int {
	for end := min(k+4, len(t)); k < end && isSpace(t[k]); k++ {
	}
	return k
}
