package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSessionServers(t *testing.T) {
	const auth = "Bearer 0123"
	with := func(s MCPServer) MCPServer {
		s.Headers = []Header{{Name: "Authorization", Value: auth}}
		return s
	}
	left := func(code WarningCode, server string) Warning { return Warning{Code: code, Server: server} }
	rows := []struct {
		name string
		caps MCPCapabilities
		want SessionServers
	}{
		{"http and sse: one of the two, http", MCPCapabilities{HTTP: true, SSE: true},
			SessionServers{Servers: Servers{docs(), files(), events(), with(injected()[0])}, Injected: "http", Authorization: auth}},
		{"http", MCPCapabilities{HTTP: true},
			SessionServers{Servers: Servers{docs(), files(), with(injected()[0])}, Injected: "http", Authorization: auth, Warnings: []Warning{left(WarnTransport, "events")}}},
		{"sse", MCPCapabilities{SSE: true},
			SessionServers{Servers: Servers{files(), events(), with(injected()[1])}, Injected: "sse", Authorization: auth, Warnings: []Warning{left(WarnTransport, "docs")}}},
		{"neither, and it says so", MCPCapabilities{},
			SessionServers{Servers: Servers{files()}, Warnings: []Warning{left(WarnTransport, "docs"), left(WarnTransport, "events"), left(WarnNoInjection, "kandev")}}},
	}
	ic := instance(t, Config{MCPServers: Servers{docs(), files(), events()}}, InstanceOverrides{Port: 41001})
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, err := ic.SessionServers(r.caps, auth)
			require.NoError(t, err)
			assert.Equal(t, r.want, got)
		})
	}
	assert.Equal(t, append(Servers{docs(), files(), events()}, injected()...), ic.MCPServers, "the instance's own list stays without secrets")
}

func TestSessionServersWithoutInjection(t *testing.T) {
	own := MCPServer{Name: "kandev", Type: TypeHTTP, URL: "http://localhost:41001/mcp"}
	ic := instance(t, Config{MCPServers: Servers{own}}, InstanceOverrides{})
	got, err := ic.SessionServers(MCPCapabilities{HTTP: true}, "Bearer 0123")
	require.NoError(t, err)
	assert.Equal(t, SessionServers{Servers: Servers{own}}, got, "the user's server gets no secret of ours")

	got, err = InstanceConfig{}.SessionServers(MCPCapabilities{}, "")
	require.NoError(t, err)
	assert.Equal(t, SessionServers{Servers: Servers{}}, got, "an empty list, not null")
}

func TestSessionServersNeedASecret(t *testing.T) {
	ic := instance(t, Config{}, InstanceOverrides{Port: 41001})
	_, err := ic.SessionServers(MCPCapabilities{HTTP: true}, "")
	assert.ErrorIs(t, err, ErrNoAuthorization)
}
