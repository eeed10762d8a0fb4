package serve

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/token"
	"github.com/kandev/assent/internal/testlog"
)

// command is `assent token`.
func command(t *testing.T, dir string, r TokenRequest) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := TokenCommand(t.Context(), Config{Data: dir}, r, &out, new(testlog.Buffer).Logger())
	return out.String(), err
}

var secretForm = regexp.MustCompile(`assent_[A-Za-z0-9_-]{43}`)

// Tokens are managed by the server that runs, and without one.
func TestTokensWithAndWithoutAServer(t *testing.T) {
	r := begin(t, nil)
	out, err := command(t, r.dir, TokenRequest{Command: "create", Name: "phone", Scopes: []string{"view"}})
	require.NoError(t, err)
	secret := secretForm.FindString(out)
	assert.Contains(t, out, r.URL()+"#token="+secret)
	assert.NotContains(t, out, "No server runs")
	p := r.dial(secret)
	p.watch()
	assert.Equal(t, "forbidden", p.refused("task.start", `{"title":"x"}`))
	_, err = command(t, r.dir, TokenRequest{Command: "create", Name: "phone", Scopes: []string{"view"}})
	assert.ErrorContains(t, err, "there is a token of that name")

	out, err = command(t, r.dir, TokenRequest{Command: "delete", Name: "phone"})
	require.NoError(t, err)
	assert.Contains(t, out, "phone is deleted")
	_, ok := p.call("task.list", "{}")
	assert.False(t, ok, "what was connected with it is cut off")
	_, err = tryDial(t, r.URL(), secret)
	assert.Error(t, err)
	r.stop()

	out, err = command(t, r.dir, TokenRequest{Command: "create", Name: "desk", Scopes: all, Tasks: []string{aTask}})
	require.NoError(t, err)
	secret = secretForm.FindString(out)
	assert.NotContains(t, out, "#token=", "there is no page")
	assert.Contains(t, out, "No server runs with "+r.dir+" now: this was done there. A server with another folder")
	out, err = command(t, r.dir, TokenRequest{Command: "list"})
	require.NoError(t, err)
	assert.Regexp(t, `^name +scopes +tasks +created\ndesk +view,operate,answer +task-abcdefghij234567 +20\d\d-`, out)
	_, err = command(t, r.dir, TokenRequest{Command: "delete", Name: "nobody"})
	assert.ErrorContains(t, err, "there is no token of that name: assent token list shows those that there are (data folder "+r.dir+")")
	_, err = command(t, r.dir, TokenRequest{Command: "steal"})
	assert.ErrorContains(t, err, "no such command")

	again := beginIn(t, r.dir, nil)
	assert.Empty(t, again.dial(secret).watch().Tasks)
}

// aTask could be the id of a task.
const aTask = "task-abcdefghij234567"

// A token that cannot be made is refused before anybody is asked, and says why.
func TestTokenRequests(t *testing.T) {
	for name, test := range map[string]struct {
		request TokenRequest
		says    string // empty: it is fine
	}{
		"good":             {TokenRequest{Command: "create", Name: "phone", Scopes: all}, ""},
		"limited":          {TokenRequest{Command: "create", Name: "phone", Scopes: all, Tasks: []string{aTask}}, ""},
		"without name":     {TokenRequest{Command: "create", Scopes: all}, "a name has 1 to 64"},
		"an odd name":      {TokenRequest{Command: "create", Name: "a b", Scopes: all}, "a name has 1 to 64"},
		"an empty scope":   {TokenRequest{Command: "create", Name: "phone", Scopes: []string{""}}, "a scope is view, operate or answer"},
		"no scope":         {TokenRequest{Command: "create", Name: "phone"}, "at least one scope"},
		"no id of a task":  {TokenRequest{Command: "create", Name: "phone", Scopes: all, Tasks: []string{aTask, "a b"}}, "task 2 of 2 is no id of a task"},
		"half an id":       {TokenRequest{Command: "create", Name: "phone", Scopes: all, Tasks: []string{"task-abc"}}, "task 1 of 1 is no id of a task"},
		"an empty id":      {TokenRequest{Command: "create", Name: "phone", Scopes: all, Tasks: []string{""}}, "the id of a task has"},
		"list":             {TokenRequest{Command: "list"}, ""},
		"delete whichever": {TokenRequest{Command: "delete", Name: "a b"}, ""},
	} {
		err := test.request.Check()
		if test.says == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorContains(t, err, test.says, name)
	}
}

// A server knows its tasks, and makes no token for one that it has not.
func TestATokenForATask(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	made := p.start("x", "")
	_, err := command(t, r.dir, TokenRequest{Command: "create", Name: "bot", Scopes: all, Tasks: []string{string(made.ID), aTask}})
	assert.ErrorContains(t, err, "task 2 of 2 does not exist")
	out, err := command(t, r.dir, TokenRequest{Command: "create", Name: "bot", Scopes: all, Tasks: []string{string(made.ID)}})
	require.NoError(t, err)
	assert.Contains(t, r.log.String(), `msg="a token was managed" command=create token=bot`)
	assert.NotContains(t, r.log.String(), secretForm.FindString(out))
}

// Who sees nothing gets no address of the page, and is told so.
func TestATokenWithoutView(t *testing.T) {
	r := begin(t, nil)
	out, err := command(t, r.dir, TokenRequest{Command: "create", Name: "bot", Scopes: []string{"operate", "answer"}})
	require.NoError(t, err)
	assert.NotContains(t, out, "#token=")
	assert.Contains(t, out, "It has not the scope view")
	out, err = command(t, r.dir, TokenRequest{Command: "create", Name: "desk", Scopes: []string{"view", "answer"}})
	require.NoError(t, err)
	assert.Contains(t, out, "#token=")
	assert.NotContains(t, out, "scope view")
}

// A token that is deleted elsewhere, as with a store that is shared, is cut off too;
// one of another name is not.
func TestATokenThatIsDeletedElsewhere(t *testing.T) {
	r := begin(t, nil)
	gone, stays := r.dial(r.token("phone", all)), r.dial(r.token("desk", all))
	gone.watch()
	elsewhere, err := token.Open(t.Context(), r.state, nil)
	require.NoError(t, err)
	defer elsewhere.Close()
	require.NoError(t, elsewhere.Delete(t.Context(), "phone"))
	select {
	case <-gone.gone:
	case <-time.After(patience):
		require.Fail(t, "it is still connected")
	}
	stays.watch()
}

// A folder that cannot be looked into says nothing about whether a server runs there.
func TestASocketThatCannotBeAsked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	_, running, err := AskControl(t.Context(), dir, TokenRequest{Command: "list"})
	require.NoError(t, err)
	assert.False(t, running, "there is none")
	deep := filepath.Join(dir, strings.Repeat("x", 120)) // longer than the path of a socket may be
	require.NoError(t, os.MkdirAll(deep, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(deep, controlName), nil, 0o600))
	_, err = command(t, deep, TokenRequest{Command: "list"})
	assert.ErrorContains(t, err, "cannot be told")
}

// The first start shows a token once, to a person; a later one, and one that writes to
// a log, says how to make another.
func TestGreeting(t *testing.T) {
	r := begin(t, nil)
	var journal, first, second bytes.Buffer
	require.NoError(t, r.Greet(t.Context(), &journal, false))
	assert.False(t, secretForm.MatchString(journal.String()), "a log is no place for it")
	assert.Contains(t, journal.String(), "assent token create NAME --data "+r.dir)
	assert.Empty(t, r.tokens.List(), "a token that nobody has been shown is of no use")
	require.NoError(t, r.Greet(t.Context(), &first, true))
	secret := secretForm.FindString(first.String())
	require.NotEmpty(t, secret)
	assert.Contains(t, first.String(), r.URL()+"#token="+secret)
	assert.Empty(t, r.dial(secret).watch().Tasks)
	require.NoError(t, r.Greet(t.Context(), &second, true))
	assert.False(t, secretForm.MatchString(second.String()))
	assert.Contains(t, second.String(), "assent token create NAME --data "+r.dir)
	assert.NotContains(t, r.log.String(), secret)
}

// A folder with an audit and without tokens was used before: whoever sees the greeting
// gets no token by that its store was lost.
func TestGreetingWithoutTheStore(t *testing.T) {
	first := begin(t, nil)
	p := first.dial(first.token("desk", all))
	p.watch()
	made := p.start("x", "shell")
	p.ask("permission.resolve", p.opens(made.ID).resolve(`{"choice":"deny"}`), nil)
	first.stop()
	require.NoError(t, os.RemoveAll(filepath.Join(first.dir, "state")))
	r := beginIn(t, first.dir, nil)
	var greeting bytes.Buffer
	require.NoError(t, r.Greet(t.Context(), &greeting, true))
	assert.False(t, secretForm.MatchString(greeting.String()))
	assert.Contains(t, greeting.String(), "assent token create NAME")
	assert.Empty(t, r.tokens.List())
	assert.Contains(t, r.log.String(), "is its store damaged?")
}

// A first start whose output goes into a log makes no token; then there is none at the
// second one either, which is no error and still makes none by itself.
func TestGreetingAfterAFirstStartIntoALog(t *testing.T) {
	first := begin(t, nil)
	var journal, greeting bytes.Buffer
	require.NoError(t, first.Greet(t.Context(), &journal, false))
	require.NoError(t, first.Begin(t.Context(), "demo", "shell"))
	require.Eventually(t, func() bool { return len(first.store.List(pending.Query{})) == 1 }, patience, time.Millisecond, "the audit has something")
	assert.NotContains(t, first.log.String(), "there is no token", "at the first start nothing is missing")
	first.stop()
	r := beginIn(t, first.dir, nil)
	require.NoError(t, r.Greet(t.Context(), &greeting, true))
	assert.Contains(t, greeting.String(), "assent token create NAME")
	assert.Contains(t, r.log.String(), `level=WARN msg="there is no token`)
	assert.NotContains(t, r.log.String(), "level=ERROR")
	assert.Empty(t, r.tokens.List())
}

// A data folder is for one server, and for its owner.
func TestTheDataFolder(t *testing.T) {
	r := begin(t, nil)
	_, err := openControl(r.dir, new(testlog.Buffer).Logger(), nil)
	assert.ErrorIs(t, err, ErrInUse)
	r.stop()
	path := filepath.Join(r.dir, controlName)
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	_, err = openControl(r.dir, new(testlog.Buffer).Logger(), nil)
	require.ErrorContains(t, err, "is something else: move it away")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text), "it stays as it is")
	require.NoError(t, os.Remove(path))
	abandonedSocket(t, path)
	again := beginIn(t, r.dir, nil)
	conn, err := net.Dial("unix", filepath.Join(r.dir, controlName))
	require.NoError(t, err)
	_, err = conn.Write([]byte(strings.Repeat("x", 10) + "\n"))
	require.NoError(t, err)
	n, _ := conn.Read(make([]byte, 1))
	assert.Zero(t, n, "what is no request has no answer")
	require.NoError(t, conn.Close())
	again.stop()

}

// abandonedSocket is what a kill leaves behind.
func abandonedSocket(t *testing.T, path string) {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	listener.SetUnlinkOnClose(false)
	require.NoError(t, listener.Close())
}

// A folder that no server knows is not made for a token that nobody would know.
func TestTokensWhereNoServerWas(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "typo")
	for _, r := range []TokenRequest{{Command: "list"}, {Command: "create", Name: "phone", Scopes: all}, {Command: "delete", Name: "phone"}} {
		_, err := command(t, dir, r)
		assert.ErrorContains(t, err, "no server was ever started with the data folder")
		assert.NoDirExists(t, dir)
	}
}
