package serve

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
)

// whole is a file with every setting.
const whole = `listen = "127.0.0.1:9000"
data = "/var/lib/assent"
hosts = ["desk.example"]
origins = ["https://desk.example"]
default_agent = "claude"

[tls]
cert = "/etc/cert.pem"
key = "/etc/key.pem"

[nats]
url = "nats://nats.example"
creds = "/etc/nats.creds"

[agents.claude]
id = "claude-acp"
command = ["claude-agent-acp", "--verbose"]
env = { TOKEN = "s3cret" }
directory = "/src"
auto_approve = true
mcp = { docs = "http://localhost:8000/mcp", notes = "http://localhost:8001/sse" }

[webhook]
url = "https://hook.example/assent"
secret_env = "HOOK_KEY"

[offers]
expiry = "2h"
outcome = "reject"
no_surface_after = "90s"
`

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "serve.toml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestConfig(t *testing.T) {
	c, err := ReadConfig(write(t, whole))
	require.NoError(t, err)
	assert.Equal(t, Config{
		Listen: "127.0.0.1:9000", Data: "/var/lib/assent", Hosts: []string{"desk.example"}, Origins: []string{"https://desk.example"}, DefaultAgent: "claude",
		TLS: TLS{"/etc/cert.pem", "/etc/key.pem"}, NATS: NATS{"nats://nats.example", "/etc/nats.creds"},
		Agents: map[string]Agent{"claude": {
			ID: "claude-acp", Command: []string{"claude-agent-acp", "--verbose"}, Env: map[string]string{"TOKEN": "s3cret"}, Directory: "/src", AutoApprove: true,
			MCP: map[string]string{"docs": "http://localhost:8000/mcp", "notes": "http://localhost:8001/sse"},
		}},
		Webhook: Webhook{"https://hook.example/assent", "HOOK_KEY"},
		Offers:  Offers{Duration(2 * time.Hour), "reject", Duration(90 * time.Second)},
	}, c)
	assert.Equal(t, pending.Config{Unseen: 90 * time.Second, Expiry: pending.Expiry{After: 2 * time.Hour, Reject: true}}, c.pending())
	_, agent, ok := c.agent("")
	require.True(t, ok)
	assert.Equal(t, config.Config{Agent: "claude-acp", AutoApprovePermissions: true, MCPServers: config.Servers{
		{Name: "docs", Type: config.TypeHTTP, URL: "http://localhost:8000/mcp"}, {Name: "notes", Type: config.TypeSSE, URL: "http://localhost:8001/sse"},
	}}, agent.settings())
	t.Setenv("TOKEN", "another")
	t.Setenv("HOOK_KEY", "k3y")
	t.Setenv("HOOK_KEY_TOO", "another's")
	for name, added := range map[string]map[string]string{"with variables": agent.Env, "without any": nil} {
		agent.Env = added
		env := c.environment(&agent)
		assert.Equal(t, added != nil, slices.Contains(env, "TOKEN=s3cret"), name)
		assert.Equal(t, added == nil, slices.Contains(env, "TOKEN=another"), name)
		assert.NotContains(t, env, "HOOK_KEY=k3y", name)
		assert.Contains(t, env, "HOOK_KEY_TOO=another's", "%s: the rest is the daemon's", name)
	}
	without := Config{}
	assert.Contains(t, without.environment(&agent), "HOOK_KEY=k3y", "it is no key without a webhook")
}

func TestConfigErrors(t *testing.T) {
	const agent = "[agents.a]\ncommand = [\"x\"]\n"
	for name, test := range map[string]struct{ text, says string }{
		"an unknown setting":         {"listen = \"127.0.0.1:1\"\nlistem = \"x\"\n", `serve.toml:2: there is no setting "listem" (did you mean listen?)`},
		"an unknown setting below":   {agent + "\ncommando = 1\n", `serve.toml:4: there is no setting "agents.a.commando" (did you mean command?)`},
		"an unknown table":           {"[webhooks]\nurl = \"s3cret\"\n", `there is no setting "webhooks" (did you mean webhook?)`},
		"a setting in another case":  {"[offers]\nExpiry = 90\n", `serve.toml:2: there is no setting "offers.Expiry" (did you mean expiry?)`},
		"a setting in capitals":      {"LISTEN = \"127.0.0.1:1\"\n", `serve.toml:1: there is no setting "LISTEN" (did you mean listen?)`},
		"a table in another case":    {"[Offers]\nexpiry = \"90s\"\n", `serve.toml:1: there is no setting "Offers" (did you mean offers?)`},
		"one again, in another case": {agent + "auto_approve = false\nAuto_Approve = true\n", `serve.toml:4: there is no setting "agents.a.Auto_Approve" (did you mean auto_approve?)`},
		"another case, in braces":    {"agents = { a = { command = [\"x\"], Auto_approve = true } }\n", `serve.toml:1: there is no setting "agents.a.Auto_approve" (did you mean auto_approve?)`},
		"a setting without a name":   {agent + "\"\" = true\n", `serve.toml:3: there is no setting "agents.a."`},
		"a list":                     {"\n\nhosts = \"s3cret\"\n", `serve.toml:3: the value of "hosts" is not of the expected form: write a list of texts, such as ["x", "y"]`},
		"a text":                     {"listen = 5\n", `serve.toml:1: the value of "listen" is not of the expected form: write a text in quotes`},
		"a switch":                   {agent + "auto_approve = \"s3cret\"\n", `serve.toml:3: the value of "agents.a.auto_approve" is not of the expected form: write true or false`},
		"a variable's value":         {agent + "env = { A = 1 }\n", `serve.toml:3: the value of "agents.a.env" is not of the expected form: write a table of texts`},
		"an agent as a text":         {"[agents]\na = \"s3cret\"\n", `serve.toml:2: the value of "agents.a" is not of the expected form: write a table`},
		"an open quote":              {"listen = \"s3cret\n", `serve.toml:1: this is no TOML: basic strings cannot have new lines`},
		"no quotes":                  {"listen = s3cret\n", `serve.toml:1: this is no TOML: unexpected character`},
		"an open table":              {"[s3cret\n", `serve.toml:1: this is no TOML: expected ']' to close table name`},
		"a setting twice":            {"listen = \"127.0.0.1:1\"\nlisten = \"s3cret\"\n", `serve.toml:2: "listen" is there twice`},
		"a table twice":              {agent + agent, `serve.toml:3: "agents.a" is there twice`},
		"a wrong duration":           {"[offers]\nexpiry = \"s3cret\"\n", `serve.toml:2: the value of "offers.expiry" is not of the expected form: write a duration in quotes, such as "90s"`},
		"a duration as a number":     {"[offers]\nno_surface_after = 5\n", `serve.toml:2: offers: no_surface_after is not of the expected form: write a duration in quotes`},
		"beyond the loopback":        {"listen = \"0.0.0.0:80\"\n", "serve.toml:1: listen: \"0.0.0.0:80\" can be reached from other machines"},
		"no port":                    {"listen = \"127.0.0.1:99999\"\n", "serve.toml:1: listen: the address to listen at"},
		"a host with a scheme":       {"hosts = [\"desk.example\", \"https://s3cret.example\"]\n", "serve.toml:1: hosts: entry 2 has a scheme"},
		"an origin with a path":      {"origins = [\"https://s3cret.example/\"]\n", "serve.toml:1: origins: entry 1 has more than scheme, host and port"},
		"half a certificate":         {"[tls]\ncert = \"x\"\n", "serve.toml:2: tls: cert and key come together"},
		"credentials for nothing":    {"[nats]\ncreds = \"x\"\n", "serve.toml:2: nats: creds need a url"},
		"an outcome":                 {"[offers]\noutcome = \"s3cret\"\n", `serve.toml:2: offers: outcome is "cancel" or "reject"`},
		"an expiry":                  {"[offers]\nexpiry = \"-2h\"\n", "serve.toml:2: offers: expiry is below zero"},
		"a webhook without a key":    {"[webhook]\nurl = \"https://s3cret.example\"\n", "serve.toml:1: webhook: secret_env is missing"},
		"a webhook without a URL":    {"[webhook]\nsecret_env = \"X\"\n", "serve.toml:2: webhook: secret_env needs a url"},
		"a webhook elsewhere":        {"[webhook]\nurl = \"ftp://s3cret\"\nsecret_env = \"X\"\n", "serve.toml:2: webhook: url is no http or https URL"},
		"an agent without command":   {"[agents.a]\nid = \"claude-acp\"\n", "serve.toml:1: agents.a: command is missing"},
		"an agent's name":            {"[agents.\"a\\nb\"]\ncommand = [\"x\"]\n", "agents: a name has"},
		"a relative directory":       {agent + "directory = \"s3cret\"\n", "serve.toml:3: agents.a: directory is no absolute path: write it whole"},
		"a relative data folder":     {"listen = \"127.0.0.1:1\"\ndata = \"~/s3cret\"\n", "serve.toml:2: data: it is no absolute path: write it whole, as in /home/me/x (~ is not expanded)"},
		"a relative certificate":     {"[tls]\nkey = \"/x\"\ncert = \"s3cret\"\n", "serve.toml:3: tls: cert is no absolute path"},
		"a relative key":             {"[tls]\ncert = \"/x\"\nkey = \"s3cret\"\n", "serve.toml:3: tls: key is no absolute path"},
		"relative credentials":       {"[nats]\nurl = \"nats://x\"\ncreds = \"~/s3cret\"\n", "serve.toml:3: nats: creds is no absolute path"},
		"a program below ~":          {"[agents.a]\ncommand = [\"~/s3cret\"]\n", "serve.toml:2: agents.a: command: its program begins with ~"},
		"a variable":                 {agent + "env = { \"A=B\" = \"s3cret\" }\n", "serve.toml:3: agents.a: env: "},
		"a server's URL":             {agent + "mcp = { docs = \"s3cret\" }\n", "agents.a: "},
		"the injected server":        {agent + "mcp = { kandev = \"http://s3cret\" }\n", `serve.toml:3: agents.a: mcp: "kandev" is the name of the server that every agent gets`},
		"one that looks like it":     {agent + "mcp = { \"kandev\" = \"http://s3cret\" }\n", "agents.a: mcp: "},
		"a NUL in a command":         {"[agents.a]\ncommand = [\"x\", \"s3cret\\u0000\"]\n", "serve.toml:2: agents.a: command has a NUL in it"},
		"a NUL in a directory":       {agent + "directory = \"/s3cret\\u0000\"\n", "serve.toml:3: agents.a: directory has a NUL in it"},
		"a NUL in a variable":        {agent + "env = { A = \"s3cret\\u0000\" }\n", "serve.toml:3: agents.a: env: a value has a NUL in it"},
		"a webhook at no port":       {"[webhook]\nurl = \"https://s3cret:99999/\"\nsecret_env = \"X\"\n", "serve.toml:2: webhook: url is no http or https URL with a host, and a port of at most 65535"},
		"a webhook without a host":   {"[webhook]\nurl = \"https://:443/s3cret\"\nsecret_env = \"X\"\n", "serve.toml:2: webhook: url is no http or https URL with a host"},
		"a server at no port":        {agent + "mcp = { docs = \"http://s3cret:99999/mcp\" }\n", `serve.toml:3: agents.a: mcp: the url of "docs" is no URL with a host, and a port of at most 65535`},
		"a server at port 0":         {agent + "mcp = { docs = \"http://s3cret:0/mcp\" }\n", `serve.toml:3: agents.a: mcp: the url of "docs" is no URL`},
		"the injected, in capitals":  {agent + "mcp = { Kandev = \"http://s3cret\" }\n", `serve.toml:3: agents.a: mcp: "kandev" is the name of the server`},
		"the injected, with a space": {agent + "mcp = { \"kandev \" = \"http://s3cret\" }\n", `serve.toml:3: agents.a: mcp: "kandev" is the name of the server`},
		"names that are alike":       {agent + "mcp = { \"a b\" = \"http://s3cret\", \"A-b\" = \"http://s3cret\" }\n", `serve.toml:3: agents.a: mcp: the names "A-b" and "a b" are too much alike`},
		"no time at all":             {"[offers]\nno_surface_after = \"0s\"\n", "serve.toml:2: offers: no_surface_after is zero: leave it out"},
		"a default that is none":     {"default_agent = \"b\"\n" + agent, "serve.toml:1: default_agent: there is no agent of that name"},
		"an agent in braces":         {"listen = \"127.0.0.1:1\"\nagents = { a = { id = \"claude-acp\" } }\n", "serve.toml:2: agents.a: command is missing"},
		"an agent with a dot":        {"\n[agents.\"a.b\"]\nid = \"claude-acp\"\n", "serve.toml:2: agents.a.b: command is missing"},
	} {
		_, err := ReadConfig(write(t, test.text))
		assert.ErrorContains(t, err, test.says, name)
		assert.NotContains(t, err.Error(), "s3cret", name)
	}
	_, err := ReadConfig(filepath.Join(t.TempDir(), "none.toml"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Names that are not those of settings are in any case.
func TestNamesInAnyCase(t *testing.T) {
	c, err := ReadConfig(write(t, "[agents.A]\ncommand = [\"x\"]\nenv = { Token = \"x\", TOKEN = \"y\" }\n[agents.a]\ncommand = [\"x\"]\n[agents.a.mcp]\nDocs = \"http://localhost:1/mcp\"\n"))
	require.NoError(t, err)
	assert.Equal(t, map[string]Agent{
		"A": {Command: []string{"x"}, Env: map[string]string{"Token": "x", "TOKEN": "y"}},
		"a": {Command: []string{"x"}, MCP: map[string]string{"Docs": "http://localhost:1/mcp"}},
	}, c.Agents)
}

// What the configuration names elsewhere has to be there before a server starts.
func TestReady(t *testing.T) {
	c := Config{Agents: map[string]Agent{"a": {Command: []string{"x"}}}, Webhook: Webhook{"https://s3cret.example", "HOOK_KEY"}}
	t.Setenv("HOOK_KEY", "")
	assert.ErrorContains(t, c.Ready(), "webhook: the environment variable HOOK_KEY is empty")
	t.Setenv("HOOK_KEY", "k3y")
	assert.NoError(t, c.Ready())
	c.TLS = TLS{filepath.Join(t.TempDir(), "none.pem"), filepath.Join(t.TempDir(), "none.pem")}
	assert.ErrorIs(t, c.Ready(), os.ErrNotExist)
	assert.ErrorContains(t, c.Ready(), "tls: ")
	c.TLS, c.NATS = TLS{}, NATS{"nats://x", filepath.Join(t.TempDir(), "none.creds")}
	assert.ErrorIs(t, c.Ready(), os.ErrNotExist)
	assert.ErrorContains(t, c.Ready(), "nats: creds: ")
	require.NoError(t, os.WriteFile(c.NATS.Creds, nil, 0o600))
	assert.NoError(t, c.Ready())
}

// What is near to what is refused is taken.
func TestConfigAtTheEdges(t *testing.T) {
	for name, text := range map[string]string{
		"the last port":      "[agents.a]\ncommand = [\"x\"]\nmcp = { docs = \"http://localhost:65535/mcp\", docs2 = \"http://[::1]/mcp\" }\n[webhook]\nurl = \"https://x:65535/\"\nsecret_env = \"X\"\n",
		"names that differ":  "[agents.a]\ncommand = [\"x\"]\nmcp = { \"a b\" = \"http://x\", ab = \"http://y\", kandev2 = \"http://z\", \"--\" = \"http://u\", \"-\" = \"http://v\" }\n",
		"for ever":           "[offers]\nno_surface_after = \"-1s\"\nexpiry = \"0s\"\n",
		"as soon as can be":  "[offers]\nno_surface_after = \"1ns\"\n",
		"no time is written": "[offers]\noutcome = \"reject\"\n",
	} {
		_, err := ReadConfig(write(t, text))
		assert.NoError(t, err, name)
	}
}

func TestWhichAgent(t *testing.T) {
	one, two := Agent{ID: "one"}, Agent{ID: "two"}
	for _, test := range []struct {
		config Config
		name   string
		want   string // empty: none
	}{
		{Config{Agents: map[string]Agent{"a": one}}, "", "a"},
		{Config{Agents: map[string]Agent{"a": one}}, "a", "a"},
		{Config{Agents: map[string]Agent{"a": one}}, "b", ""},
		{Config{Agents: map[string]Agent{"a": one, "b": two}}, "", ""},
		{Config{Agents: map[string]Agent{"a": one, "b": two}, DefaultAgent: "b"}, "", "b"},
		{Config{}, "", ""},
	} {
		name, got, ok := test.config.agent(test.name)
		assert.Equal(t, test.want != "", ok)
		if ok {
			assert.Equal(t, test.want, name)
			assert.Equal(t, test.config.Agents[test.want], got)
		}
	}
}

func TestTheDemo(t *testing.T) {
	var c Config
	assert.ErrorContains(t, c.Ready(), "no agent is configured")
	c.AddDemo(process.Command{Path: "/bin/assent", Args: []string{"demo-agent"}})
	require.NoError(t, c.Ready())
	name, agent, ok := c.agent("")
	assert.True(t, ok)
	assert.Equal(t, "demo", name)
	assert.Equal(t, []string{"/bin/assent", "demo-agent"}, agent.Command)
	assert.Negative(t, c.pending().Unseen, "the page has to be found first")
}

// Whatever is in a file, it is a configuration or one line about what is wrong.
func FuzzReadConfig(f *testing.F) {
	f.Add(whole)
	f.Add("[agents.a]\ncommand = [\"x\"]\nenv = { \"\" = \"\" }\n")
	f.Add("listen = \"\x00\"\n[[agents]]\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := parseConfig("serve.toml", []byte(text))
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
			assert.True(t, strings.HasPrefix(err.Error(), "serve.toml"), err.Error())
		}
	})
}
