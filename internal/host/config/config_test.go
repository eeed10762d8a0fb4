package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
)

func TestL42_NoPortInjectsNothing(t *testing.T) {
	own := MCPServer{Name: "kandev", Type: TypeHTTP, URL: "https://mine.example/mcp"}
	for _, port := range []int{0, -1, -41001} {
		ic := instance(t, Config{MCPServers: Servers{docs(), own}}, InstanceOverrides{Port: port})
		assert.False(t, ic.InjectedKandevMCP)
		assert.Zero(t, ic.Port)
		assert.Equal(t, Servers{docs(), own}, ic.MCPServers)
		assert.Empty(t, ic.Warnings)
		p := ic.PipelineInstance()
		assert.False(t, p.Injected)
		require.NoError(t, p.Check())
	}
}

func TestL43_UserEntriesOfTheReservedNameAreReplaced(t *testing.T) {
	entries := map[string]MCPServer{
		"http":       {Name: "kandev", Type: TypeHTTP, URL: "http://evil.example/mcp"},
		"sse":        {Name: "kandev", Type: TypeSSE, URL: "http://evil.example/sse"},
		"stdio":      {Name: "kandev", Command: "evil"},
		"same url":   {Name: "kandev", Type: TypeHTTP, URL: "http://localhost:41001/mcp"},
		"our header": {Name: "kandev", Type: TypeHTTP, URL: "http://localhost:41001/mcp", Headers: []Header{{Name: "Authorization", Value: "Bearer x"}}},
		"malformed":  {Name: "kandev", Type: "carrier pigeon"},
	}
	for name, entry := range entries {
		t.Run(name, func(t *testing.T) {
			ic := instance(t, Config{MCPServers: Servers{files(), entry, docs(), entry, events()}}, InstanceOverrides{Port: 41001})
			assert.True(t, ic.InjectedKandevMCP)
			assert.Equal(t, append(Servers{files(), docs(), events()}, injected()...), ic.MCPServers)
			assert.Equal(t, []Warning{{Code: WarnReplaced, Server: "kandev"}}, ic.Warnings)
		})
	}
}

func TestReservedNameAfterReplacingIsReplaced(t *testing.T) {
	named := func(name string) MCPServer { return MCPServer{Name: name, Command: "x"} }
	for _, name := range []string{"my server", "my.server", "my/server", "myéserver", "my\xffserver", "my_server"} {
		c := Config{ReservedName: "my_server", MCPServers: Servers{named(name), named("my-server")}}
		ic := instance(t, c, InstanceOverrides{Port: 7})
		assert.Equal(t, []Warning{{Code: WarnReplaced, Server: name}}, ic.Warnings)
		assert.Equal(t, Servers{
			named("my-server"), // another name, also after replacing
			{Name: "my_server", Type: "http", URL: "http://localhost:7/mcp"},
			{Name: "my_server", Type: "sse", URL: "http://localhost:7/sse"},
		}, ic.MCPServers)
	}
	// Near misses stay the user's.
	for _, name := range []string{"Kandev", "kandev_", "kandev__x", "kandev "} {
		ic := instance(t, Config{MCPServers: Servers{named(name)}}, InstanceOverrides{Port: 41001})
		assert.Equal(t, append(Servers{named(name)}, injected()...), ic.MCPServers)
	}
}

func TestInjectedEntriesCarryNoHeader(t *testing.T) {
	ic := instance(t, Config{}, InstanceOverrides{Port: 41001})
	assert.Equal(t, injected(), ic.MCPServers)
}

func TestOverridesWinAndNothingIsShared(t *testing.T) {
	yes, no := true, false
	c := Config{Agent: "claude-acp", AutoApprovePermissions: true, NoTitleFallback: true, MCPServers: Servers{docs()}}

	ic := instance(t, c, InstanceOverrides{})
	assert.Equal(t, pipeline.Instance{Agent: "claude-acp", Reserved: "kandev", AutoApprove: true, NoTitleFallback: true}, ic.PipelineInstance())

	o := InstanceOverrides{Agent: "codex-acp", AgentGuessed: true, AutoApprovePermissions: &no, NoTitleFallback: &no, MCPServers: Servers{files()}, Port: 41001}
	ic = instance(t, c, o)
	assert.Equal(t, pipeline.Instance{Agent: "codex-acp", Guessed: true, Reserved: "kandev", Port: 41001, Injected: true}, ic.PipelineInstance())
	assert.Equal(t, append(Servers{files()}, injected()...), ic.MCPServers)
	ic.MCPServers[0].Args[0], ic.MCPServers[0].Env[0].Value = "changed", "changed"
	assert.Equal(t, files(), o.MCPServers[0])

	ic = instance(t, c, InstanceOverrides{MCPServers: Servers{}})
	assert.Empty(t, ic.MCPServers, "an empty list overrides, a missing one does not")

	ic = instance(t, Config{}, InstanceOverrides{AutoApprovePermissions: &yes, AgentGuessed: true})
	assert.Equal(t, pipeline.Instance{Reserved: "kandev", AutoApprove: true}, ic.PipelineInstance(), "no agent, so none was guessed")
}

func TestNamesThatAgentsConfuseAreWarnedOf(t *testing.T) {
	ic := instance(t, Config{MCPServers: Servers{{Name: "a.b", Command: "x"}, {Name: "a_b", Command: "y"}}}, InstanceOverrides{Port: 1})
	assert.Equal(t, []Warning{{Code: WarnSameFlatName, Server: "a_b", Other: "a.b"}}, ic.Warnings)
	assert.Equal(t, `MCP server "a_b" has the same name as another server for agents that replace special characters: rename one of them (the other one: "a.b")`, ic.Warnings[0].String())
}
