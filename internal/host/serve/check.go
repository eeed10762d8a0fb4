package serve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kandev/assent/internal/host/gateway"
	"github.com/kandev/assent/internal/host/process"
)

// Check says what is wrong with a configuration, in words of its keys.
func (c *Config) Check() error {
	if c.Listen != "" {
		if err := gateway.CheckListen(c.Listen, c.TLS.Cert != "", c.Insecure); err != nil {
			return errors.New("listen: " + strings.TrimPrefix(err.Error(), "gateway: "))
		}
	}
	if err := cmp.Or(gateway.CheckHosts(c.Hosts), gateway.CheckOrigins(c.Origins)); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "gateway: "))
	}
	switch {
	case (c.TLS.Cert == "") != (c.TLS.Key == ""):
		return errors.New("tls: cert and key come together")
	case c.NATS.Creds != "" && c.NATS.URL == "":
		return errors.New("nats: creds need a url: the embedded server takes no credentials")
	case !slices.Contains([]string{"", "cancel", "reject"}, c.Offers.Outcome):
		return errors.New(`offers: outcome is "cancel" or "reject"`)
	case c.Offers.Expiry < 0:
		return errors.New("offers: expiry is below zero: leave it out for offers that never expire")
	}
	if err := c.checkPaths(); err != nil {
		return err
	}
	if err := c.Webhook.check(); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	for name, a := range c.Agents {
		if !agentNames.MatchString(name) {
			return errors.New("agents: a name has 1 to 64 letters, digits, dots, hyphens and underscores and begins with a letter or digit")
		}
		if err := a.check(); err != nil {
			return fmt.Errorf("agents.%s: %w", name, err)
		}
	}
	if _, known := c.Agents[c.DefaultAgent]; c.DefaultAgent != "" && !known {
		return errors.New("default_agent: there is no agent of that name")
	}
	return nil
}

// notAbsolute says what is wrong with a path that would depend on where the server is
// started.
const notAbsolute = "is no absolute path: write it whole, as in /home/me/x (~ is not expanded)"

// checkPaths wants every path whole.
func (c *Config) checkPaths() error {
	for _, p := range []struct{ name, path string }{
		{"data: it", c.Data}, {"tls: cert", c.TLS.Cert}, {"tls: key", c.TLS.Key}, {"nats: creds", c.NATS.Creds},
	} {
		if p.path != "" && !filepath.IsAbs(p.path) {
			return fmt.Errorf("%s %s", p.name, notAbsolute)
		}
	}
	return nil
}

// agentNames can be shown and typed anywhere.
var agentNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Ready is Check for a server that is to run: it needs an agent, and what the
// configuration names elsewhere.
func (c *Config) Ready() error {
	if len(c.Agents) == 0 {
		return errors.New("no agent is configured: name one in a file and give it with --config, or try --demo")
	}
	if err := c.Check(); err != nil {
		return err
	}
	if c.Webhook.URL != "" && os.Getenv(c.Webhook.SecretEnv) == "" {
		return c.Webhook.keyless()
	}
	if c.NATS.Creds != "" {
		if _, err := os.Stat(c.NATS.Creds); err != nil {
			return fmt.Errorf("nats: creds: %w", err)
		}
	}
	_, err := c.TLS.certificate()
	return err
}

// demoAgent is the name of the bundled agent.
const demoAgent = "demo"

// AddDemo adds the bundled agent, as the default. What it asks for waits until
// somebody has found the page.
func (c *Config) AddDemo(command process.Command) {
	agents := maps.Clone(c.Agents)
	if agents == nil {
		agents = map[string]Agent{}
	}
	agents[demoAgent] = Agent{ID: "claude-acp", Command: append([]string{command.Path}, command.Args...), bundled: true}
	c.Agents, c.DefaultAgent, c.Offers.NoSurfaceAfter = agents, demoAgent, -1
}
