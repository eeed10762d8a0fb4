package pending

import (
	"slices"
	"strings"
)

// passwordFlags are short flags that mean a password with some commands only.
var passwordFlags = [...]struct {
	flag     string
	attached bool   // also without a space, and for some only so
	with     string // what the value has in it, if there is a secret
	commands []string
}{
	{"-p", true, "", []string{
		"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlsh", "mysqlshow", "mariadb", "mariadb-dump", "mariadb-admin", "sshpass",
		"mongo", "mongosh", "mongodump", "mongorestore", "7z", "7za", "7zz", "rar", "unrar",
	}},
	{"-p", false, "", []string{"login", "twine", "evil-winrm", "crackmapexec", "netexec", "smbmap", "rdesktop", "cqlsh", "kadmin"}},
	{"-P", false, "", []string{"zip", "unzip", "mosquitto_pub", "mosquitto_sub", "sqlcmd", "bcp", "isql", "tsql", "ipmitool", "ssh-keygen"}},
	{"-N", false, "", []string{"ssh-keygen"}},
	{"-a", false, "", []string{"redis-cli", "valkey-cli", "http", "https", "xh", "xhs"}},
	{"-w", false, "", []string{"ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami", "ldapcompare", "kadmin"}},
	{"-s", false, "", []string{"ldappasswd"}},
	{"-t", false, "", []string{"doctl"}},
	{"-c", false, "", []string{"snmpwalk", "snmpget", "snmpset", "snmpbulkwalk"}},
	{"-k", false, "", []string{"openssl"}},
	{"-K", false, "", []string{"openssl"}},
	{"-hp", true, "", []string{"rar"}},
	{"-pw", false, "", []string{"plink", "pscp", "psftp", "putty"}},
	{"-b", false, "=", []string{"curl"}},
	{"-E", false, ":", []string{"curl"}},
	{"--cert", false, ":", []string{"curl"}},
	{"--proxy-cert", false, ":", []string{"curl"}},
	{"--body", false, "", []string{"secret"}},
	{"-b", false, "", []string{"secret"}},
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
	if name == "--from-literal" || name == "--from-env" {
		f.literal(k)
	}
	for _, p := range passwordFlags {
		attached := p.attached && len(name) > len(p.flag) && strings.HasPrefix(name, p.flag) && name[1] != '-'
		if name != p.flag && !attached || !runs(command(f.t, i), p.commands) {
			continue
		}
		if at := k; attached {
			f.value(i + len(p.flag))
		} else if at < len(f.t) && f.t[at] != '-' && strings.Contains(f.word(at), p.with) {
			f.value(at)
		}
	}
}

// runs says whether one of the commands is among the words of a text.
func runs(text string, commands []string) bool {
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "\"'`$(){}")
		if slices.Contains(commands, word[strings.LastIndexByte(word, '/')+1:]) {
			return true
		}
	}
	return false
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
	at := strings.IndexAny(f.t[k:end], ":%")
	switch {
	case at < 0, // a name alone is no secret
		strings.HasPrefix(f.t[k+at:], ":/"),     // a URL, or a path on another machine
		isDigits(f.t[k:k+at] + f.t[k+at+1:end]): // ids of a user and a group
		f.spans = f.spans[:before]
	}
}

// literal finds the value of name=value, whatever the name.
func (f *finder) literal(k int) {
	if at := strings.IndexByte(f.word(k), '='); at >= 0 {
		f.value(k + at + 1)
	}
}
