package config

import (
	"fmt"
	"slices"

	"github.com/kandev/assent/pipeline"
)

// inject replaces every entry that has the reserved name, or has it for agents
// that replace special characters, by the two entries of the host's server, and
// sets the marker. Other entries keep order and content.
func (c *InstanceConfig) inject(port int) {
	kept := make(Servers, 0, len(c.MCPServers)+2)
	for _, s := range c.MCPServers {
		if pipeline.FlatName(s.Name) == c.ReservedName {
			c.warn(Warning{Code: WarnReplaced, Server: s.Name})
			continue
		}
		kept = append(kept, s)
	}
	c.MCPServers = append(kept,
		MCPServer{Name: c.ReservedName, Type: TypeHTTP, URL: pipeline.MCPURL(port)},
		MCPServer{Name: c.ReservedName, Type: TypeSSE, URL: pipeline.SSEURL(port)},
	)
	c.Port = port
	c.InjectedKandevMCP = true
}

// warn adds a warning once.
func (c *InstanceConfig) warn(w Warning) {
	if !slices.Contains(c.Warnings, w) {
		c.Warnings = append(c.Warnings, w)
	}
}

// isInjectedEntry says whether an entry is one of the two that inject put in.
func (c InstanceConfig) isInjectedEntry(s MCPServer) bool {
	if s.Name != c.ReservedName || s.Command != "" || len(s.Headers)+len(s.Args)+len(s.Env) > 0 {
		return false
	}
	return s.Type == TypeHTTP && s.URL == pipeline.MCPURL(c.Port) || s.Type == TypeSSE && s.URL == pipeline.SSEURL(c.Port)
}

// checkServers refuses lists that could not be sent or whose names are not
// unique, and warns of names that agents may confuse. It runs after injection.
func (c *InstanceConfig) checkServers() error {
	exact, flat := map[string]bool{}, map[string]string{}
	for i, s := range c.MCPServers {
		if c.InjectedKandevMCP && c.isInjectedEntry(s) {
			continue
		}
		if err := s.check(); err != nil {
			return fmt.Errorf("config: MCP server %d (%q): %w", i+1, printable(s.Name), err)
		}
		if exact[s.Name] {
			return fmt.Errorf("config: MCP server %d: the name %q is used twice: rename or remove one of the two", i+1, s.Name)
		}
		exact[s.Name] = true
		if other, ok := flat[pipeline.FlatName(s.Name)]; ok {
			c.warn(Warning{Code: WarnSameFlatName, Server: s.Name, Other: other})
		}
		flat[pipeline.FlatName(s.Name)] = s.Name
	}
	return nil
}
