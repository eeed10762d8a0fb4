package pending

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// planted are texts that hold a credential, sorted by what gives it away. None of
// them may show it, whatever stands around it.
var planted = []string{
	// an assignment, in any syntax
	"PASSWORD=SECRET", "PASSWORD = SECRET", "PASSWORD          =          SECRET", "password:\t\tSECRET", "PASSWORD?=SECRET", "PASSWORD+=SECRET", "PASSWORD:=SECRET",
	"password == SECRET", "password->SECRET", "password -> SECRET", "password => SECRET", "Password=SECRET;", `Password="" SECRET`, "password is SECRET", "password is: SECRET",
	"password was = SECRET", "${PASSWORD:-SECRET}", "password=<SECRET>", `pass = <<"SECRET">>`, "export PASSWORD=$'SECRET'", `setPassword("SECRET")`, `("password", "SECRET")`,
	`os.environ["TOKEN"] = "SECRET"`, `headers.set('Authorization', 'Bearer SECRET')`, "password: |\n  SECRET", "db:\n  password: correct SECRET", "token: Bearer SECRET", "PASSWORD('SECRET')",
	"%2Fp%3Ftoken%3DSECRET", "/password:SECRET",

	// a name and a value beside each other
	`{"name":"DB_PASSWORD","value":"SECRET"}`, `{"value":"SECRET","name":"DB_PASSWORD"}`, `{"Key": "api_token", "Value": "SECRET"}`, `{\"name\":\"TOKEN\",\"value\":\"SECRET\"}`,
	"- name: DB_PASSWORD\n  value: SECRET", "- name: \"DB_PASSWORD\"\n  value: \"SECRET\"", `<add key="Password" value="SECRET"/>`, `<entry name="password" value="SECRET"/>`,
	"<property><name>db.password</name><value>SECRET</value></property>", "ParameterKey=DBPassword,ParameterValue=SECRET", "--name API_TOKEN --value SECRET",
	"<password>SECRET</password>", `<password type="x">SECRET</password>`, "<ns:password>SECRET</ns:password>", "<password><![CDATA[SECRET]]></password>",

	// a flag with a value
	"tool --password SECRET", "tool --password=SECRET", "tool -password SECRET", "curl -u bob:SECRET h", "curl --cert c.pem:SECRET h", "curl -E c:SECRET h", "http -a bob:SECRET h",
	"xh --auth bob:SECRET h", "mysql -pSECRET db", "mysqldump -u root -pSECRET db", "sshpass -p SECRET ssh h", "sshpass -pSECRET ssh h", "redis-cli -a SECRET ping", "docker login -u bob -p SECRET",
	"oc login --token SECRET", "unzip -P SECRET a.zip", "7z x -pSECRET a.7z", "mosquitto_pub -u bob -P SECRET", "ldapsearch -x -w SECRET", "plink -pw SECRET h", "openssl enc -k SECRET",
	"openssl rsa -passin pass:SECRET", "ssh-keygen -N SECRET", "/usr/bin/mysql -pSECRET", "kubectl create secret generic s --from-literal=k=SECRET", "kubectl create secret generic s --from-literal k=SECRET",
	"gh secret set NAME --body SECRET", "gh secret set NAME -b SECRET", "java -Dtoken=SECRET", "smbclient -U bob%SECRET", "curl -b 'a=SECRET' h",

	// an argument behind a known verb
	"aws configure set aws_secret_access_key SECRET", "npm config set //registry.example.com/:_authToken SECRET", "//registry.example.com/:_authToken SECRET", "git config --global github.token SECRET",
	"machine h login bob password SECRET", "set password SECRET", "requirepass SECRET", `ConvertTo-SecureString "SECRET" -AsPlainText`, "vault login SECRET", "vault kv put secret/app k=SECRET",
	"fly secrets set A=SECRET", "cargo login SECRET", "htpasswd -b f bob SECRET", "wpa_passphrase ssid SECRET", "net user bob SECRET", "sqlplus bob/SECRET@db",
	"ngrok authtoken SECRET", "ngrok config add-authtoken SECRET", "ngrok config add-api-key SECRET", "doctl auth init -t SECRET",
	"expect -c 'send SECRET'", `expect -c 'spawn su; expect "assword:"; send -- "SECRET\r"; interact'`, "expect <<X\nspawn ssh h\nsend SECRET\\r\nX",
	`const key = "SECRET"`, `let key = 'SECRET'`,
	"CREATE USER u IDENTIFIED BY 'SECRET'", "ALTER USER u IDENTIFIED WITH caching_sha2_password BY \"SECRET\"", "ALTER ROLE u WITH PASSWORD 'SECRET'",

	// an input
	"echo SECRET | sudo -S ls", "echo -n SECRET | docker login --password-stdin", "printf '%s\\n' SECRET | docker login -u u --password-stdin", "echo 'bob:SECRET' | chpasswd",
	"sudo -S ls <<< SECRET", "docker login --password-stdin <<<SECRET", "chpasswd <<EOF\nbob:SECRET\nEOF", "cat <<'X' | sudo -S ls\nSECRET\nX",

	// URLs and headers
	"https://bob:SECRET@h/p", "https://SECRET@h/p", "psql postgres://u:SECRET@h/db", "https://h/?token=SECRET&x=1", "https://h/#access_token=SECRET", "scp bob:SECRET@h:/x",
	`curl -H "Authorization: Bearer SECRET" h`, "Authorization: Basic SECRET", `curl -H "X-Auth-Token: a SECRET" h`, "Cookie: a=b; c=SECRET", "bearer SECRET", "Proxy-Authorization: SECRET",

	// by its looks
	"-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nSECRET", "use ghp_SECRET", "use sk-SECRET", "use xoxb-SECRET", "use eyJhbGciOi.SECRET.SECRET",
}

// A planted secret never survives.
func TestRedactPlanted(t *testing.T) {
	const secret = "hunter2hunter2"
	for _, form := range planted {
		text := strings.ReplaceAll(form, "SECRET", secret)
		got := Redact(text, roomy)
		assert.NotContains(t, got, secret, "from %q", text)
		assert.Contains(t, got, "[hidden:", "from %q", text)
		assert.Equal(t, got, Redact(got, roomy))
	}
}

func TestRedactPlantedAnywhere(t *testing.T) {
	secret := rapid.StringMatching(`[A-Za-z][A-Za-z0-9]{6,20}[0-9]`)
	around := rapid.SampledFrom([]string{"", "ls; ", "sudo ", `echo "a"; `, "größe; ", "\n", "cd /w && ", "'x' ; "})
	rapid.Check(t, func(t *rapid.T) {
		s := secret.Draw(t, "secret")
		text := around.Draw(t, "before") + strings.ReplaceAll(rapid.SampledFrom(planted).Draw(t, "form"), "SECRET", s) + " " + around.Draw(t, "after")
		limit := rapid.SampledFrom([]int{roomy, 40, 80, 160}).Draw(t, "limit")
		got := Redact(text, limit)
		if strings.Contains(got, s) || limit < roomy && strings.Contains(got, s[:len(s)-1]) {
			t.Fatalf("%q shows as %q", text, got)
		}
		if again := Redact(got, limit); again != got {
			t.Fatalf("%q, and then %q", got, again)
		}
	})
}

// The twins of the texts above: they have the same words in them, and no secret.
func TestRedactLeavesTwins(t *testing.T) {
	for _, s := range []string{
		// words
		`git commit -m "fix password prompt"`, "git commit -m 'add token support to the header'", "reset the password form", "token to file", "if password then", "passwd root", "passwd -l bob",
		"case $token in", "func token(name string)", "tokenize file.txt", "x=$(get_token) y", "the key of it", "CREATE TABLE a (id INT) PARTITION BY HASH", "ORDER BY name",
		// names that are no secrets
		"max_tokens=4096", "tool --max-tokens 4096", "make bypass=1", "--token-file ./x", "PASSWORD_FILE=/run/secrets/x", "passwordFile: /x", "--no-password x", "--with-token x", "secretName: app",
		"token_url=https://h/t", "npm_config_registry=https://r npm i", "hf_hub_download model", `{"name":"USER","value":"bob"}`, "name: build value: 3", `[{"name":"A","value":"b"}]`,
		`const key = "id"`, `let key = 'name';`, "var key = \"user\", n = 1",
		// flags with another meaning
		"docker run -u 1000:1000 img", "docker run -p 8080:80 img && docker login reg", "rsync -au host:/x .", "docker login --password-stdin reg.example.com", "docker login -u u --password-stdin < token.txt",
		"go test -run TestPassword -p 4", "mysql -P 3306 -h h", "curl -X POST -k https://h", "psql -p 5432", "unzip a.zip -d out", "ssh -p 22 h", "mkdir -p a/b", "zip -r a.zip b", "sort -k 2 file",
		"curl -b cookies.txt h", "curl --cert c.pem h", "ssh-keygen -t ed25519 -f id", "http GET https://h", "git log --author=bob",
		// verbs with another meaning
		"kubectl get secret s -o yaml", "kubectl delete secret s", "kubectl create secret generic s --from-file=./x", "vault kv get secret/app", "vault login -method=oidc", "gh secret list", "cargo build",
		"ngrok http 80", "ngrok config check", "doctl auth init", "send mail to bob", `git commit -m "expect them to send mail"`, "tar -t x", "grep password config.yaml", "grep -rn aws_secret_access_key src/", "cat passwd", "cp secret_token other_file", "python manage.py changepassword bob", "sed -n '1,10p' passwords_test.go", "rm -rf secrets/",
		// inputs of others
		"echo start; cat pw | sudo -S ls", "grep x <<< text", "echo hello | tee out",
		// paths with ids
		"ls /tmp/123e4567-e89b-12d3-a456-426614174000/x", "cat .cache/123e4567-e89b-12d3-a456-426614174000/log", "curl https://h.example.com/tasks/123e4567-e89b-12d3-a456-426614174000",
		"~/.ssh/config", "https://example.com/@user", "git@github.com:owner/repository.git",
		// an empty value, and a command behind it
		"PASSWORD= make",
		// what was masked before
		"password=[hidden:7] make", `{"password": [hidden:9], "user": "bob"}`, `curl -H "Authorization: [hidden:14]" http://h`, "https://[hidden:13]@h/r",
	} {
		assert.Equal(t, s, Redact(s, roomy))
	}
}

// The number is that of the characters, also of those that were hidden before.
func TestRedactCountsWhatMasksHide(t *testing.T) {
	for in, want := range map[string]string{
		"password=abc":                  "password=[hidden:3]",
		"password=größe大":               "password=[hidden:6]",
		"password=[hidden:7]abc":        "password=[hidden:10]",
		"password=[hidden:123456]":      "password=[hidden:15]", // more than any text has: no mask
		"password=[hidden:]":            "password=[hidden:9]",
		"password=ab\u200bc [hidden:2]": "password=[hidden:3] [hidden:2]",
	} {
		assert.Equal(t, want, Redact(in, roomy))
	}
}

// A cut never leaves a part of a mask, nor of what is behind it.
func TestRedactCutsBesideMasks(t *testing.T) {
	text := "run a tool with password=hunter2hunter2 and more words behind it"
	whole := Redact(text, roomy)
	assert.Equal(t, "run a tool with password=[hidden:14] and more words behind it", whole)
	for limit := range len(whole) {
		got := Redact(text, limit)
		assert.LessOrEqual(t, len(got), limit)
		assert.False(t, strings.Contains(got, "[") && !strings.Contains(got, "[hidden:14]"), "%d: %q", limit, got)
		assert.Equal(t, got, Redact(got, limit))
	}
}
