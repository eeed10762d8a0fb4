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

// innocent words have such a part in them and are about something else.
var innocent = [...]string{
	"compass", "bypass", "passthrough", "passive", "passenger", "passage", "tokenize", "maxtokens", "newtokens", "mintokens", "numtokens",
	"totaltokens", "inputtokens", "outputtokens", "prompttokens", "completiontokens", "monkey", "hotkey", "keyboard",
}

// places are last words of a name that say where a secret is, or how it is made,
// and not what it is.
var places = [...]string{
	"file", "path", "stdin", "dir", "fd", "prompt", "policy", "length", "size", "type", "ttl", "expiry", "count", "limit", "hint",
	"manager", "name", "url", "uri", "endpoint", "env",
}

// isSecretName says whether what a name is given is to be masked. Case and the
// separators of words make no difference.
func isSecretName(name string) bool {
	folded, word := fold(name)
	for _, place := range places {
		if word == place || strings.HasSuffix(folded, place) && len(folded) > len(place) && endsCamel(name, len(place)) {
			return false
		}
	}
	for _, w := range innocent {
		if strings.Contains(folded, w) && !strings.Contains(folded, "passw") {
			folded = strings.ReplaceAll(folded, w, "")
		}
	}
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
		if word == w {
			return true
		}
	}
	return false
}

// fold writes a name in small letters without what separates its words, and gives
// its last word. Of a long one it takes the end.
func fold(name string) (folded, last string) {
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
		case isUpper(c):
			c += 'a' - 'A'
		}
		buf[n] = c
		n++
	}
	folded = string(buf[:n])
	return folded, folded[min(word, n):]
}

// endsCamel says whether the last n letters of a name begin with a capital behind
// a small letter, as in passwordFile.
func endsCamel(name string, n int) bool {
	at := len(name) - n
	return at > 0 && isUpper(name[at]) && !isUpper(name[at-1])
}

// isSwitch says whether a flag only switches something, and is followed by no
// value of its own.
func isSwitch(name string) bool {
	word, _, found := strings.Cut(strings.TrimLeft(name, "-"), "-")
	if !found || name[0] != '-' {
		return false
	}
	switch word {
	case "no", "ask", "use", "with", "without", "prompt", "enable", "disable", "skip", "allow", "require", "show", "hide":
		return true
	}
	return false
}

// isHeader says whether a name is that of a header whose whole value is secret.
func isHeader(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "authoriz") || strings.Contains(name, "cookie")
}

// isScheme says whether a value only says how the secret behind it is to be read.
func isScheme(value string) bool {
	switch strings.ToLower(strings.Trim(value, "\"'")) {
	case "bearer", "basic", "token", "digest", "negotiate", "apikey", "api-key", "key", "plain", "string", "oauth":
		return true
	}
	return false
}

// isShellName says whether a name can be that of a variable of a shell, which is
// written in letters of one case.
func isShellName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isAlnum(c) && c != '_' {
			return false
		}
	}
	return name == strings.ToUpper(name) || name == strings.ToLower(name)
}
