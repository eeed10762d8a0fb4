package pending

import (
	"regexp"
	"slices"
	"strings"
)

// secretVerbs are commands that take a secret as an argument: the first words,
// and which argument behind them it is, flags left out.
var secretVerbs = [...]struct {
	command, sub string
	argument     int
}{
	{"vault", "login", 1}, {"vault", "unwrap", 1}, {"cargo", "login", 1}, {"bw", "unlock", 1}, {"bw", "login", 2}, {"rclone", "obscure", 1},
	{"wpa_passphrase", "", 2}, {"htpasswd", "", 3}, {"net", "user", 2}, {"mysqladmin", "password", 1}, {"sqlplus", "", 1},
	{"ngrok", "authtoken", 1}, {"add-authtoken", "", 1}, {"add-api-key", "", 1}, {"send", "", 1},
}

// expectScripts begin what expect(1) runs: there "send" types its argument.
var expectScripts = []string{"expect -", "expect <<", "bin/expect", "spawn "}

// verb finds secrets that are arguments of a command, by their place.
func (f *finder) verb(i, j int) {
	name := f.t[i:j]
	for _, v := range secretVerbs {
		if name != v.command {
			continue
		}
		k := j
		if v.sub != "" {
			if k = f.argument(j, 1); k < 0 || f.word(k) != v.sub {
				continue
			}
			k += len(v.sub)
		}
		if k = f.argument(k, v.argument); k >= 0 && f.gives(name, i, k) {
			f.value(k)
		}
	}
	if name == "secret" || name == "secrets" || name == "kv" {
		f.assigned(j)
	}
}

// gives says whether the argument at k of the command at i is a secret: of some it is
// only at times.
func (f *finder) gives(command string, i, k int) bool {
	switch command {
	case "sqlplus":
		return strings.Contains(f.word(k), "/")
	case "send":
		return slices.ContainsFunc(expectScripts, func(s string) bool { return strings.Contains(f.t[:i], s) })
	}
	return true
}

// argument is where the n-th argument behind a place begins, in the same command;
// below zero when there are fewer.
func (f *finder) argument(k, n int) int {
	for {
		if k = skipSpaces(f.t, k); k >= len(f.t) || endsWord(f.t[k]) {
			return -1
		}
		if f.t[k] != '-' {
			if n--; n == 0 {
				return k
			}
		}
		k = wordEnd(f.t, k)
	}
}

// assigners are what is done with secrets that are given as name=value.
var assigners = []string{"set", "put", "create", "patch", "write", "add", "import", "update"}

// assigned finds the values that a command stores as secrets.
func (f *finder) assigned(k int) {
	first := f.argument(k, 1)
	if first < 0 || !slices.Contains(assigners, f.word(first)) {
		return
	}
	for n := 2; n < 32; n++ {
		at := f.argument(k, n)
		if at < 0 {
			return
		}
		f.literal(at)
	}
}

// readers read a secret from their standard input.
var readers = []string{
	"password-stdin", "--stdin", "sudo -S", "sudo -kS", "sudo -Sk", "chpasswd", "smbpasswd", "cryptsetup", "--passphrase-fd", "--with-token", "pass insert",
	"secret set", "secret create", "secret put", "versions add", "vault login", "gh auth", "-passin stdin", "-pass stdin",
}

// findReader finds the last of them.
func (f *finder) findReader() {
	f.reader = -1
	for _, r := range readers {
		if at := strings.LastIndex(f.t, r); at >= 0 {
			f.reader = max(f.reader, at+len(r))
		}
	}
}

// piped finds what a command hands to another one that reads a secret.
func (f *finder) piped(i, j int) {
	if name := f.t[i:j]; f.reader < j || name != "echo" && name != "printf" || j >= len(f.t) || !isSpace(f.t[j]) {
		return
	}
	before, k := len(f.spans), skipSpaces(f.t, j)
	for k < len(f.t) && !endsWord(f.t[k]) {
		if f.t[k] == '-' && wordEnd(f.t, k) <= k+3 { // -n
			k = skipSpaces(f.t, wordEnd(f.t, k))
			continue
		}
		end := f.value(k)
		if end == k {
			break
		}
		k = skipSpaces(f.t, end)
	}
	if k >= len(f.t) || f.t[k] != '|' {
		f.spans = f.spans[:before] // it goes nowhere
	}
}

var hereDocument = regexp.MustCompile(`<<-?\s*["'\\]?([A-Za-z_][A-Za-z0-9_]*)`)

// redirected finds what is given to such a command as a text of its own.
func (f *finder) redirected() {
	if f.reader < 0 {
		return
	}
	for at := 0; ; at += 3 {
		n := strings.Index(f.t[at:], "<<<")
		if n < 0 {
			break
		}
		at += n
		f.value(skipSpaces(f.t, at+3))
	}
	for _, m := range hereDocument.FindAllStringSubmatchIndex(f.t, -1) {
		from := strings.IndexByte(f.t[m[1]:], '\n')
		if from < 0 || m[0] > 0 && f.t[m[0]-1] == '<' {
			continue
		}
		from += m[1] + 1
		to := from
		for line := range strings.Lines(f.t[from:]) {
			if strings.TrimSpace(line) == f.t[m[2]:m[3]] {
				to = max(from, to-1) // without the end of the line before
				break
			}
			to += len(line)
		}
		f.add(f.substitutions(from, to), to)
	}
}
