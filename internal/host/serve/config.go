package serve

import (
	"crypto/tls"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/pending"
)

// Config is the configuration file of the daemon. Flags win over it.
type Config struct {
	// Listen is host and port; empty means [DefaultListen].
	Listen string `toml:"listen"`
	// Insecure allows to listen beyond the loopback without TLS.
	Insecure bool `toml:"insecure"`
	// Data is the folder for state, audit and the control socket.
	Data string `toml:"data"`
	// Hosts and Origins that are accepted beyond the loopback's own.
	Hosts   []string `toml:"hosts"`
	Origins []string `toml:"origins"`
	// DefaultAgent is the agent of tasks that name none; empty means the only one.
	DefaultAgent string `toml:"default_agent"`

	TLS     TLS              `toml:"tls"`
	NATS    NATS             `toml:"nats"`
	Agents  map[string]Agent `toml:"agents"`
	Webhook Webhook          `toml:"webhook"`
	Offers  Offers           `toml:"offers"`
}

// DefaultListen is where the daemon listens unless told otherwise.
const DefaultListen = "127.0.0.1:8421"

// TLS names the files of a certificate and its key, in PEM.
type TLS struct {
	Cert string `toml:"cert"`
	Key  string `toml:"key"`
}

// NATS is an external cluster for the state, in place of the embedded server.
type NATS struct {
	URL   string `toml:"url"` // can hold a password
	Creds string `toml:"creds"`
}

// Agent is one agent that tasks can have.
type Agent struct {
	// ID is the agent's id, such as "claude-acp": its dialect.
	ID string `toml:"id"`
	// Command is the program and its arguments.
	Command []string `toml:"command"`
	// Env is added to the daemon's environment. It can hold secrets.
	Env map[string]string `toml:"env"`
	// Directory that it works in, unless the task says otherwise; empty means that
	// of the daemon.
	Directory string `toml:"directory"`
	// AutoApprove is blanket approval.
	AutoApprove bool `toml:"auto_approve"`
	// MCP are servers of the user, by their names: their URLs, which can hold secrets.
	MCP map[string]string `toml:"mcp"`

	bundled bool // it is that of the demo
}

// Webhook is told of new offers.
type Webhook struct {
	URL string `toml:"url"` // can hold a secret
	// SecretEnv names the environment variable with the key of the signatures.
	SecretEnv string `toml:"secret_env"`
}

// Offers says how long offers wait.
type Offers struct {
	// Expiry after which an offer gets the outcome; 0 means never.
	Expiry Duration `toml:"expiry"`
	// Outcome of expired offers: "cancel", or "reject" like a denial.
	Outcome string `toml:"outcome"`
	// NoSurfaceAfter is how long an offer waits while nothing was ever connected
	// that could show it; 0 means [pending.DefaultUnseen], or [hookWithin] with a
	// webhook; below zero for ever.
	NoSurfaceAfter Duration `toml:"no_surface_after"`
}

// settings are those of the agent's instances.
func (a *Agent) settings() config.Config {
	c := config.Config{Agent: a.ID, AutoApprovePermissions: a.AutoApprove}
	for _, name := range slices.Sorted(maps.Keys(a.MCP)) {
		kind := config.TypeHTTP
		if strings.HasSuffix(a.MCP[name], "/sse") {
			kind = config.TypeSSE
		}
		c.MCPServers = append(c.MCPServers, config.MCPServer{Name: name, Type: kind, URL: a.MCP[name]})
	}
	return c
}

// environment is what an agent is started with: the daemon's with what the agent
// adds, and without the key of the webhook, which is the daemon's alone. Names of
// variables are the same in any case on Windows, so the key goes in any case.
func (c *Config) environment(a *Agent) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, replaced := a.Env[name]
		return replaced || c.Webhook.SecretEnv != "" && strings.EqualFold(name, c.Webhook.SecretEnv)
	})
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		env = append(env, name+"="+a.Env[name])
	}
	return env
}

// agent finds the agent of a task by its name; the empty name means the default.
func (c *Config) agent(name string) (string, Agent, bool) {
	if name == "" {
		name = c.DefaultAgent
	}
	if name == "" && len(c.Agents) == 1 {
		for name = range c.Agents {
		}
	}
	a, ok := c.Agents[name]
	return name, a, ok
}

// certificate reads the files; nil without any.
func (t TLS) certificate() (*tls.Config, error) {
	if t.Cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// pending is what the store of offers is made with.
func (c *Config) pending() pending.Config {
	o, unseen := c.Offers, time.Duration(c.Offers.NoSurfaceAfter)
	if unseen == 0 && c.Webhook.URL != "" {
		unseen = hookWithin
	}
	return pending.Config{
		Unseen: unseen,
		Expiry: pending.Expiry{After: time.Duration(o.Expiry), Reject: o.Outcome == "reject"},
	}
}
