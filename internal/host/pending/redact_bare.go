package pending

import "strings"

// bare finds a value that follows its name with nothing but a space between them.
// Most words that follow the word "password" are none: what stands in front of the
// name has to say so, or the looks of the value.
func (f *finder) bare(i, j int) {
	t, name := f.t, f.t[i:j]
	k := skipSpaces(t, j)
	if k == j || k >= len(t) || t[k] == '-' || endsWord(t[k]) {
		return
	}
	folded := strings.ToLower(name)
	switch {
	case folded == "requirepass" || folded == "masterauth" || folded == "convertto-securestring":
	case name[0] == '_' && i > 0 && t[i-1] == ':' && isSecretName(name): // //registry/:_authToken x
	case folded == "by" && f.identified(i):
	case !isSecretName(name) || isSwitch(name):
		return
	case isCompound(name) && f.isSet(i):
	case folded != "password" && folded != "passwd" && folded != "passphrase":
		return
	case isQuote(t[k]) && !f.inside(k), f.isLogin(i), f.isPlainSet(i):
	case isPlainWord(f.word(k)) || isFile(f.word(k)):
		return
	}
	f.value(k)
}

// word is the word that begins at a place.
func (f *finder) word(k int) string { return f.t[k:wordEnd(f.t, k)] }

// isPlainWord says whether a word could stand in any sentence.
func isPlainWord(s string) bool {
	s = strings.TrimRight(strings.Trim(s, "\"'`()[]{}"), ".,:!?")
	return isLetters(strings.Map(func(r rune) rune {
		if r == '-' || r == '\'' {
			return -1
		}
		return r
	}, s))
}

// isFile says whether a word looks like the name of a file.
func isFile(s string) bool {
	return strings.ContainsAny(s, "./") && strings.IndexFunc(s, func(r rune) bool {
		return r < 0x80 && !isNameByte(byte(r)) && r != '/' && r != '~'
	}) < 0
}

// isCompound says whether a name is made of several words, as in programs: nobody
// writes such a one in a sentence.
func isCompound(name string) bool {
	for i := 1; i < len(name); i++ {
		if name[i] == '_' || name[i] == '.' || isUpper(name[i]) && !isUpper(name[i-1]) {
			return true
		}
	}
	return name[0] == '_'
}

// setters are words that give a value to a name behind them.
var setters = []string{"set", "setx", "setenv", "put", "add", "update", "write", "assign", "config", "configure", "define", "config:set"}

// isSet says whether a setter is among the words in front of a name.
func (f *finder) isSet(i int) bool {
	for range 4 {
		word, from := before(f.t, i)
		if word == "" {
			return false
		}
		for _, s := range setters {
			if strings.EqualFold(word, s) {
				return true
			}
		}
		i = from
	}
	return false
}

// isPlainSet says whether a name stands right behind "set".
func (f *finder) isPlainSet(i int) bool {
	word, from := before(f.t, i)
	return word == "set" && strings.Trim(command(f.t, from), " \t") == ""
}

// isLogin says whether a name belongs to a login, as in a netrc file.
func (f *finder) isLogin(i int) bool {
	user, from := before(f.t, i)
	login, _ := before(f.t, from)
	return user != "" && (login == "login" || login == "user" || login == "account")
}

// identified says whether IDENTIFIED stands in front of a BY: SQL.
func (f *finder) identified(i int) bool {
	return strings.Contains(strings.ToLower(f.t[max(0, i-80):i]), "identified ")
}
