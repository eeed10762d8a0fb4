package config

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/pipeline"
)

// Config are the settings of the host. They hold for each of its instances
// unless overrides say otherwise.
type Config struct {
	// ReservedName is the name of the injected MCP server; empty means
	// [pipeline.DefaultReservedName].
	ReservedName string `json:"reservedName,omitempty"`
	// Agent is the configured agent id, such as "claude-acp". Empty means that
	// the agent is not known: no dialect speaks for it, and it always asks.
	Agent string `json:"agent,omitempty"`
	// AutoApprovePermissions is blanket approval: the person's own choice.
	AutoApprovePermissions bool `json:"autoApprovePermissions,omitzero"`
	// NoTitleFallback switches off that a title alone can identify a tool of an
	// old Claude adapter.
	NoTitleFallback bool `json:"noTitleFallback,omitzero"`
	// MCPServers are the user's own servers. They are never trusted.
	MCPServers Servers `json:"mcpServers,omitempty"`
}

// InstanceOverrides are what one instance has different from the host's
// settings. A nil pointer, a nil list and an empty string override nothing.
type InstanceOverrides struct {
	// Agent is the configured agent id of this instance.
	Agent string `json:"agent,omitempty"`
	// AgentGuessed says that nobody configured the agent id: it was taken from
	// a command name or the agent's own words.
	AgentGuessed bool `json:"agentGuessed,omitzero"`
	// AutoApprovePermissions switches blanket approval on or off.
	AutoApprovePermissions *bool `json:"autoApprovePermissions,omitzero"`
	// NoTitleFallback switches the title fallback off or on.
	NoTitleFallback *bool `json:"noTitleFallback,omitzero"`
	// MCPServers replace the host's list of the user's servers.
	MCPServers Servers `json:"mcpServers,omitempty"`
	// Port is where this instance's own MCP server listens; 0 or below means
	// that there is none and nothing is injected. Only the host that opened the
	// port can say so, therefore it is never decoded.
	Port int `json:"-" toml:"-" yaml:"-" xml:"-"`
}

// LogValue shows the settings without anything that can hold a secret.
func (c Config) LogValue() slog.Value {
	return slog.GroupValue(slog.String("agent", c.Agent), slog.Any("servers", c.MCPServers))
}

// LogValue shows the overrides without anything that can hold a secret.
func (o InstanceOverrides) LogValue() slog.Value {
	return slog.GroupValue(slog.String("agent", o.Agent), slog.Int("port", o.Port), slog.Any("servers", o.MCPServers))
}

// InstanceConfig are the settings of one instance as they hold.
type InstanceConfig struct {
	// ReservedName of the injected server; never empty after NewInstanceConfig.
	ReservedName string `json:"reservedName,omitempty"`
	// Agent is the agent id; AgentGuessed says that nobody configured it.
	Agent        string `json:"agent,omitempty"`
	AgentGuessed bool   `json:"agentGuessed,omitzero"`
	// AutoApprovePermissions is blanket approval.
	AutoApprovePermissions bool `json:"autoApprovePermissions,omitzero"`
	// NoTitleFallback switches the title fallback off.
	NoTitleFallback bool `json:"noTitleFallback,omitzero"`
	// MCPServers are the user's servers in their order and, after injection,
	// the two entries of the injected server at the end. The latter are not
	// encoded: their port belongs to this run.
	MCPServers Servers `json:"mcpServers,omitempty"`
	// Port of the instance's own MCP server; 0 when there is none. It belongs to
	// this run and is neither encoded nor decoded.
	Port int `json:"-" toml:"-" yaml:"-" xml:"-"`
	// InjectedKandevMCP is the injector's marker. Only NewInstanceConfig sets
	// it, right after it injected the server. Nothing encodes or decodes it.
	InjectedKandevMCP bool `json:"-" toml:"-" yaml:"-" xml:"-"`
	// Warnings say what a person should know about how these settings came to be.
	Warnings []Warning `json:"-" toml:"-" yaml:"-" xml:"-"`
}

// NewInstanceConfig makes the settings of one instance, and injects the host's
// MCP server when the overrides give a positive port. The result shares nothing
// with c or the overrides.
func (c Config) NewInstanceConfig(o InstanceOverrides) (InstanceConfig, error) {
	ic := c.merge(o)
	if err := ic.checkSettings(o.Port); err != nil {
		return InstanceConfig{}, err
	}
	if o.Port > 0 {
		ic.inject(o.Port)
	}
	if err := ic.checkServers(); err != nil {
		return InstanceConfig{}, err
	}
	return ic, nil
}

// merge lays the overrides over the host's settings.
func (c Config) merge(o InstanceOverrides) InstanceConfig {
	ic := InstanceConfig{
		ReservedName:           c.ReservedName,
		Agent:                  c.Agent,
		AutoApprovePermissions: c.AutoApprovePermissions,
		NoTitleFallback:        c.NoTitleFallback,
		MCPServers:             c.MCPServers.clone(),
	}
	if ic.ReservedName == "" {
		ic.ReservedName = pipeline.DefaultReservedName
	}
	if o.Agent != "" {
		ic.Agent, ic.AgentGuessed = o.Agent, o.AgentGuessed
	}
	if o.AutoApprovePermissions != nil {
		ic.AutoApprovePermissions = *o.AutoApprovePermissions
	}
	if o.NoTitleFallback != nil {
		ic.NoTitleFallback = *o.NoTitleFallback
	}
	if o.MCPServers != nil {
		ic.MCPServers = o.MCPServers.clone()
	}
	return ic
}

// PipelineInstance gives the settings in the words of the decision.
func (c InstanceConfig) PipelineInstance() pipeline.Instance {
	return pipeline.Instance{
		Agent:           pipeline.Agent(c.Agent),
		Guessed:         c.AgentGuessed,
		Reserved:        c.ReservedName,
		Port:            max(c.Port, 0),
		Injected:        c.InjectedKandevMCP,
		AutoApprove:     c.AutoApprovePermissions,
		NoTitleFallback: c.NoTitleFallback,
	}
}

// MarshalJSON leaves the injected entries out, as it leaves out the marker and
// the port: nothing about the injection is persisted.
func (c InstanceConfig) MarshalJSON() ([]byte, error) {
	type plain InstanceConfig // without this method
	p := plain(c)
	if c.InjectedKandevMCP {
		p.MCPServers = slices.DeleteFunc(slices.Clone(c.MCPServers), c.isInjectedEntry)
	}
	data, err := json.Marshal(p)
	if err != nil {
		// The encoder's own text can quote the value that it choked on.
		return nil, errors.New("config: instance settings cannot be encoded: a text in them is no valid UTF-8")
	}
	return data, nil
}

// LogValue shows the settings without anything that can hold a secret.
func (c InstanceConfig) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("agent", c.Agent),
		slog.Bool("agent_guessed", c.AgentGuessed),
		slog.Int("port", c.Port),
		slog.Bool("injected", c.InjectedKandevMCP),
		slog.Bool("auto_approve", c.AutoApprovePermissions),
		slog.Int("servers", len(c.MCPServers)),
	)
}
