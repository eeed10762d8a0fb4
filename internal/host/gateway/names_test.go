package gateway

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

// What no client can send is no host and no origin; the error says which it is and does
// not quote it.
func TestNamesThatNobodySends(t *testing.T) {
	for _, test := range []struct {
		check  func([]string) error
		entry  string
		reason string
	}{
		{CheckHosts, "", "is no host"},
		{CheckHosts, "*", "is a pattern"},
		{CheckHosts, "*.desk.example", "is a pattern"},
		{CheckHosts, "https://desk.example", "has a scheme"},
		{CheckHosts, " desk.example", "is no host"},
		{CheckHosts, "desk .example", "is no host"},
		{CheckHosts, "desk.example\n", "is no host"},
		{CheckHosts, "desk.example/", "is no host"},
		{CheckHosts, "me@desk.example", "is no host"},
		{CheckHosts, "desk.example:", "is no host"},
		{CheckHosts, "desk.example:0", "is no host"},
		{CheckHosts, "desk.example:65536", "is no host"},
		{CheckHosts, "desk.example:443:443", "is no host"},
		{CheckHosts, ":8443", "is no host"},
		{CheckHosts, "fd00::1", "is no host"},
		{CheckHosts, "[fd00::0001]", "is no host"},
		{CheckHosts, "[127.0.0.1]", "is no host"},
		{CheckHosts, "schreibtisch.büro.example", "is no host"},
		{CheckOrigins, "", "has no scheme"},
		{CheckOrigins, "*", "is a pattern"},
		{CheckOrigins, "https://*.desk.example", "is a pattern"},
		{CheckOrigins, "desk.example", "has no scheme"},
		{CheckOrigins, "://desk.example", "has no scheme"},
		{CheckOrigins, " https://desk.example", "has no scheme"},
		{CheckOrigins, "https://desk.example/", "has more than scheme, host and port"},
		{CheckOrigins, "https://desk.example/page", "has more than scheme, host and port"},
		{CheckOrigins, "https://desk.example?x", "has more than scheme, host and port"},
		{CheckOrigins, "https://", "has no good host"},
		{CheckOrigins, "https://desk.example ", "has no good host"},
		{CheckOrigins, "https://me:s3cret@desk.example", "has no good host"},
		{CheckOrigins, "https://desk.example:443", "names the port that its scheme has anyway"},
		{CheckOrigins, "HTTP://desk.example:80", "names the port that its scheme has anyway"},
	} {
		err := test.check([]string{"null", test.entry}) // a host of one word, and an origin
		require.ErrorContains(t, err, ": entry 2 "+test.reason, test.entry)
		assert.NotContains(t, err.Error(), "s3cret")
	}
	assert.EqualError(t, CheckHosts([]string{"a", "b", "A"}), "gateway: hosts: entry 3 is there already, as entry 1: leave it out")
	assert.EqualError(t, CheckOrigins([]string{"null", "NULL"}), "gateway: origins: entry 2 is there already, as entry 1: leave it out")
}

func TestNamesThatAreSent(t *testing.T) {
	assert.NoError(t, CheckHosts(nil))
	assert.NoError(t, CheckHosts([]string{"desk", "Desk.example", "desk.example:443", "desk.example.", "my_box.lan", "xn--bro-hoa.example", "192.0.2.1", "192.0.2.1:80", "[fd00::1]", "[fd00::1]:8443"}))
	assert.NoError(t, CheckOrigins([]string{
		"null", "https://Desk.example", "http://desk.example", "https://desk.example:8443", "https://desk.example:80", "http://[fd00::1]:3000",
		"http://localhost:5173", "chrome-extension://abcdefghijklmnop", "vscode-webview://0a1b",
	}))
}

// A gateway is not made with names that would only seem to let somebody in.
func TestTheGatewayChecksItsNames(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	o := Options{Listener: listener, Dispatcher: dispatch.New(nil), Tokens: &people{}, MaySee: maySee}
	o.Hosts = []string{"https://desk.example"}
	_, err = New(o)
	require.ErrorContains(t, err, "gateway: hosts: entry 1 has a scheme")
	o.Hosts, o.Origins = []string{"desk.example"}, []string{"desk.example"}
	_, err = New(o)
	require.ErrorContains(t, err, "gateway: origins: entry 1 has no scheme")
}
