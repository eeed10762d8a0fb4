package state

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
)

// cluster is a NATS server on a port that lets in those who have its credentials.
type cluster struct {
	options server.Options
	server  *server.Server
	creds   string // a file
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{options: server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir()}}
	c.letIn(t)
	c.start(t)
	c.options.Port = c.server.Addr().(*net.TCPAddr).Port
	t.Cleanup(c.stop)
	return c
}

// letIn makes an operator, an account with JetStream, and a user's file.
func (c *cluster) letIn(t *testing.T) {
	t.Helper()
	operator, operatorID := newKey(t, nkeys.CreateOperator)
	system, systemID := newKey(t, nkeys.CreateAccount)
	account, accountID := newKey(t, nkeys.CreateAccount)
	user, userID := newKey(t, nkeys.CreateUser)
	_ = system

	claims := jwt.NewAccountClaims(accountID)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	resolver := &server.MemAccResolver{}
	for id, claim := range map[string]*jwt.AccountClaims{accountID: claims, systemID: jwt.NewAccountClaims(systemID)} {
		token, err := claim.Encode(operator)
		require.NoError(t, err)
		require.NoError(t, resolver.Store(id, token))
	}
	c.options.TrustedKeys, c.options.SystemAccount, c.options.AccountResolver = []string{operatorID}, systemID, resolver
	c.creds = credsFile(t, account, user, userID)
}

func newKey(t *testing.T, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := create()
	require.NoError(t, err)
	id, err := pair.PublicKey()
	require.NoError(t, err)
	return pair, id
}

func credsFile(t *testing.T, account, user nkeys.KeyPair, userID string) string {
	t.Helper()
	token, err := jwt.NewUserClaims(userID).Encode(account)
	require.NoError(t, err)
	seed, err := user.Seed()
	require.NoError(t, err)
	text, err := jwt.FormatUserConfig(token, seed)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "user.creds")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

func (c *cluster) start(t *testing.T) {
	t.Helper()
	options := c.options
	s, err := server.NewServer(&options)
	require.NoError(t, err)
	s.Start()
	require.True(t, s.ReadyForConnections(10*time.Second))
	c.server = s
}

func (c *cluster) stop() {
	c.server.Shutdown()
	c.server.WaitForShutdown()
}

func (c *cluster) url() string { return "nats://127.0.0.1:" + strconv.Itoa(c.options.Port) }

func TestClusterThatCannotBeUsed(t *testing.T) {
	good := startCluster(t)
	other := startCluster(t)
	plain := &cluster{options: server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true}}
	plain.start(t)
	plain.options.Port = plain.server.Addr().(*net.TCPAddr).Port
	t.Cleanup(plain.stop)
	dead := startCluster(t)
	dead.stop()
	junk := filepath.Join(t.TempDir(), "junk")
	require.NoError(t, os.WriteFile(junk, []byte("sesame"), 0o600))
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"without credentials":   {Options{URL: good.url()}, "does not let us in: check --nats-creds"},
		"another's credentials": {Options{URL: good.url(), Creds: other.creds}, "does not let us in: check --nats-creds"},
		"no such file":          {Options{URL: good.url(), Creds: junk + "-not"}, "state: the credentials file of --nats-creds: "},
		"not such a file":       {Options{URL: good.url(), Creds: junk}, "check --nats and --nats-creds"},
		"without JetStream":     {Options{URL: plain.url()}, "start it with JetStream (nats-server -js)"},
		"nobody there":          {Options{URL: dead.url(), Creds: good.creds}, "is it running, and is --nats right?"},
		"no address":            {Options{URL: "nats://me:sesame@%zz"}, "at (unreadable address): check --nats"},
		"a password":            {Options{URL: "nats://me:sesame@127.0.0.1:" + strconv.Itoa(dead.options.Port)}, "no NATS server answers at 127.0.0.1:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), test.options)
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "sesame")
		})
	}
}

// A cluster that goes away and comes back: operations fail at once meanwhile,
// and what was watched goes on.
func TestClusterComesBack(t *testing.T) {
	var log testlog.Buffer
	c := startCluster(t)
	s := open(t, Options{URL: c.url(), Creds: c.creds, Logger: log.Logger()})
	b := bucket(t, s, "things")
	m, kept := mirror(t, b)
	require.NoError(t, m.Create(t.Context(), "a", []byte("1")))

	c.stop()
	assert.Eventually(t, func() bool { return log.Count("the connection to the NATS server is lost") == 1 }, 20*time.Second, time.Millisecond)
	began := time.Now()
	assert.ErrorIs(t, m.Create(t.Context(), "b", nil), ErrUnavailable)
	assert.Less(t, time.Since(began), answerWithin/2)

	c.start(t)
	assert.Eventually(t, func() bool { return m.Create(t.Context(), "c", []byte("3")) == nil }, 30*time.Second, 10*time.Millisecond)
	assert.Equal(t, map[string]string{"a": "1", "c": "3"}, values(t, b))
	_, err := b.Create(t.Context(), "d", []byte("4")) // past the mirror
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return kept.all()["d"] == "4" }, 60*time.Second, 10*time.Millisecond)
	assert.NotZero(t, log.Count("the connection to the NATS server is back"))
}
