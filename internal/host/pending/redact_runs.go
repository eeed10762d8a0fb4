package pending

import (
	"slices"
	"strings"
)

// tokenPrefixes begin the credentials of well-known services.
var tokenPrefixes = [...]string{
	"AGE-SECRET-KEY-", "AIza", "ATATT", "ATBB", "EAAC", "EAAG", "GOCSPX-", "PMAK-", "SG.",
	"dckr_pat_", "doo_v1_", "dop_v1_", "dor_v1_", "eyJ", "figd_", "gho_", "ghp_", "ghr_", "ghs_", "ghu_",
	"github_pat_", "glpat-", "gldt-", "glrt-", "glsa_", "gsk_", "hf_", "hvb.", "hvs.", "lin_api_", "npm_", "nvapi-",
	"pk_live_", "pk_test_", "pul-", "pypi-", "r8_", "rk_live_", "rk_test_", "sbp_", "sk-", "sk_live_", "sk_test_",
	"sntrys_", "shpat_", "shpca_", "shppa_", "shpss_", "tfp_", "tvly-", "whsec_", "xai-", "xapp-", "xoxa-", "xoxb-",
	"xoxe", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "ya29.",
}

// awsPrefixes begin the ids of AWS keys; capitals and digits follow.
var awsPrefixes = [...]string{"AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ANPA", "ABIA", "ACCA"}

// runs looks at each run of letters, digits and the like: does it begin like a
// well-known credential, or is it too random for words?
func (f *finder) runs() {
	t := f.t
	for i := 0; i < len(t); {
		if !isRunByte(t[i]) {
			i++
			continue
		}
		j := i + 1
		for j < len(t) && isRunByte(t[j]) {
			j++
		}
		end := j // of what may still belong to a token
		for end < len(t) && (isRunByte(t[end]) || t[end] == '.' || t[end] == '=') {
			end++
		}
		for p := i; p < j && end-p >= minToken; p++ {
			if isAlnum(t[p]) && (p == i || !isAlnum(t[p-1])) {
				f.prefixed(p, end)
			}
		}
		for j < len(t) && t[j] == '=' && (j+1 == len(t) || !isAlnum(t[j+1])) {
			j++ // padding
		}
		f.random(i, j)
		i = j
	}
}

// minToken is the shortest credential of a well-known form.
const minToken = 11

// prefixed finds a credential of a well-known form that begins at the given
// place. The token that it may be in ends at the other one.
func (f *finder) prefixed(at, end int) {
	token := f.t[at:end]
	for _, prefix := range tokenPrefixes {
		if token[0] == prefix[0] && strings.HasPrefix(token, prefix) && len(token) >= len(prefix)+8 && !isName(token[len(prefix):]) {
			f.add(at, end)
			return
		}
	}
	for _, prefix := range awsPrefixes {
		if token[0] != prefix[0] || !strings.HasPrefix(token, prefix) {
			continue
		}
		n := len(prefix)
		for n < len(token) && (isUpper(token[n]) || token[n] >= '0' && token[n] <= '9') {
			n++
		}
		if n >= 16 {
			f.add(at, at+n)
		}
	}
}

// maxName is how much of a name is looked at, in bytes.
const maxName = 64

// isName says whether what follows a prefix is made of words, as in the names of
// variables and functions: npm_config_registry.
func isName(s string) bool {
	s = s[:min(len(s), maxName)]
	return strings.ContainsAny(s, "_-") && !strings.ContainsAny(s, "0123456789") && isWordy(s)
}

// minRun is the shortest run that is judged by its looks.
const minRun = 16

// random masks a run that no words make. A path is judged name by name, unless
// none of its names is made of words: base64 can begin with a slash.
func (f *finder) random(i, j int) {
	run := f.t[i:j]
	if len(run) < minRun {
		return
	}
	if run[0] != '/' {
		if isRandom(withoutUUIDs(run)) {
			f.add(i, j)
		}
		return
	}
	words := 0
	for at := i; at < j; {
		end := at
		for end < j && f.t[end] != '/' {
			end++
		}
		switch name := f.t[at:end]; {
		case isUUID(name): // of a thing with a path
			words++
		case len(name) >= minRun && isRandom(name):
			f.add(at, end)
		case name != "" && isWordy(name):
			words++
		}
		at = end + 1
	}
	if words == 0 && isRandom(run) {
		f.add(i, j)
	}
}

// withoutUUIDs leaves out the names of a path that are UUIDs. One that stands alone
// is no path.
func withoutUUIDs(run string) string {
	if strings.IndexByte(run, '/') < 0 {
		return run
	}
	names := strings.Split(run, "/")
	return strings.Join(slices.DeleteFunc(names, isUUID), "/")
}

// isUUID says whether a name is a UUID in its usual form.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	hexDigits, _ := countHex(s)
	return hexDigits == 32 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
}

// isRandom says whether a run has too much in it that no words make.
func isRandom(run string) bool {
	if hexDigits, digits := countHex(run); hexDigits >= 20 && (hexDigits >= 32 || digits > 0) {
		return true
	}
	if changesClass(run) {
		return true
	}
	odd := 0
	for part := range strings.FieldsFuncSeq(run, isJoint) {
		if !isWordPart(part) {
			odd += len(part)
		}
	}
	return odd >= minRun || odd >= 12 && 2*odd >= len(run)
}

// changesClass says whether small letters, capitals and digits are mixed as no
// names mix them. A capital in front of small letters is how words begin.
func changesClass(run string) bool {
	const small, capital, digit = 1, 2, 4
	changes, seen, last := 0, 0, 0
	for i := range len(run) {
		class := 0
		switch c := run[i]; {
		case c >= 'a' && c <= 'z':
			class = small
		case isUpper(c):
			class = capital
		case isAlnum(c):
			class = digit
		}
		if last != 0 && class != 0 && class != last && !(last == capital && class == small) {
			changes++
		}
		seen, last = seen|class, class
	}
	return seen == small|capital|digit && 4*changes >= len(run)
}

// isWordy says whether a run is made of words and numbers only.
func isWordy(run string) bool {
	for part := range strings.FieldsFuncSeq(run, isJoint) {
		if !isWordPart(part) {
			return false
		}
	}
	return true
}

func isJoint(r rune) bool { return strings.ContainsRune("_-+/=.:~", r) }

// countHex counts the digits of a hexadecimal number, hyphens left out; none
// when it is not one.
func countHex(run string) (hexDigits, digits int) {
	for i := range len(run) {
		switch c := run[i]; {
		case c >= '0' && c <= '9':
			digits++
			hexDigits++
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			hexDigits++
		case c != '-':
			return 0, 0
		}
	}
	return hexDigits, digits
}

// isWordPart says whether a part of a run reads like a word, a number, or a word
// with a short number before or behind it.
func isWordPart(s string) bool {
	letters := strings.Trim(s, "0123456789")
	numbers := len(s) - len(letters)
	switch {
	case letters == "":
		return numbers <= 12
	case numbers > 4 || !isLetters(letters):
		return false
	case len(s) <= 3: // v2, rc, x86
		return true
	}
	return readsLikeWords(letters)
}

func isLetters(s string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) || s[i] <= '9' {
			return false
		}
	}
	return true
}

// readsLikeWords judges letters: not too many changes between small and capital
// ones, enough vowels, and never many consonants in a row.
func readsLikeWords(s string) bool {
	humps, vowels, consonants := 1, 0, 0
	for i := range len(s) {
		if i > 0 && isUpper(s[i]) && (!isUpper(s[i-1]) || i+1 < len(s) && !isUpper(s[i+1])) {
			humps++
			consonants = 0
		}
		if strings.IndexByte("aeiouyAEIOUY", s[i]) >= 0 {
			vowels++
			consonants = 0
			continue
		}
		if consonants++; consonants >= 5 && len(s) > 6 {
			return false
		}
	}
	return humps*4 <= len(s)+4 && (len(s) <= 6 || vowels*4 >= len(s))
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// isRunByte says whether a byte may stand in the middle of a credential.
func isRunByte(c byte) bool { return isAlnum(c) || strings.IndexByte("_-+/", c) >= 0 }
