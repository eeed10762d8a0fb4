package serve

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/pipeline"
)

func (w Webhook) check() error {
	if w.URL == "" {
		if w.SecretEnv != "" {
			return errors.New("secret_env needs a url")
		}
		return nil
	}
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || !leadsSomewhere(u) || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("url is no http or https URL with a host, and a port of at most 65535 if there is one")
	case w.SecretEnv == "":
		return errors.New("secret_env is missing: name the environment variable with the key that calls are signed with")
	}
	return nil
}

// leadsSomewhere says whether a URL has a host, and no port that there cannot be.
func leadsSomewhere(u *url.URL) bool {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Hostname() != "" && (u.Port() == "" || err == nil && port > 0)
}

func (a *Agent) check() error {
	if len(a.Command) == 0 || a.Command[0] == "" {
		return errors.New(`command is missing: the program and its arguments, as in ["claude-agent-acp"]`)
	}
	if strings.HasPrefix(a.Command[0], "~") {
		return errors.New("command: its program begins with ~, which is not expanded: write the whole path")
	}
	if slices.ContainsFunc(a.Command, hasNUL) {
		return errors.New("command has a NUL in it, which no process can be given")
	}
	if a.Directory != "" && !filepath.IsAbs(a.Directory) {
		return errors.New("directory " + notAbsolute)
	}
	if hasNUL(a.Directory) {
		return errors.New("directory has a NUL in it, which no path has")
	}
	for name, value := range a.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return errors.New("env: a name of a variable is empty or has a = in it")
		}
		if hasNUL(value) {
			return errors.New("env: a value has a NUL in it, which no process can be given")
		}
	}
	if err := a.checkMCP(); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	if _, err := a.settings().NewInstanceConfig(config.InstanceOverrides{}); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "config: "))
	}
	return nil
}

func hasNUL(s string) bool { return strings.Contains(s, "\x00") }

// checkMCP refuses names that agents, or people, may take for one another.
func (a *Agent) checkMCP() error {
	reserved := alike(pipeline.DefaultReservedName)
	others := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(a.MCP)) {
		if alike(name) == reserved {
			return fmt.Errorf("%q is the name of the server that every agent gets: give yours another one", pipeline.DefaultReservedName)
		}
		if other, taken := others[alike(name)]; taken {
			return fmt.Errorf("the names %q and %q are too much alike: give one of them another one", other, name)
		}
		others[alike(name)] = name
		if u, err := url.Parse(a.MCP[name]); err == nil && !leadsSomewhere(u) {
			return fmt.Errorf("the url of %q is no URL with a host, and a port of at most 65535 if there is one", name)
		}
	}
	return nil
}

// alike is the same for names that differ only in case and in what is neither letter nor
// digit.
func alike(name string) string {
	flat := strings.ReplaceAll(pipeline.FlatName(strings.ToLower(name)), "-", "_")
	words := strings.FieldsFunc(flat, func(r rune) bool { return r == '_' })
	if len(words) == 0 {
		return name
	}
	return strings.Join(words, "_")
}
