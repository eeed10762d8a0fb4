package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/testlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var everything = dispatch.Scopes{dispatch.ScopeView, dispatch.ScopeOperate, dispatch.ScopeAnswer}

// people are tokens by their secret.
type people struct {
	mu sync.Mutex
	of map[string]dispatch.Person
}

func (p *people) Find(secret string) (dispatch.Person, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	person, ok := p.of[secret]
	return person, ok
}

func (p *people) add(secret string, person dispatch.Person) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of[secret] = person
}

func (p *people) remove(secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, secret)
}

// call is one that a handler got.
type call struct {
	action  string
	origin  dispatch.Origin
	payload string
}

// stand is a gateway that listens, and what its handlers were asked.
type stand struct {
	*Gateway
	d      *dispatch.Dispatcher
	people *people
	log    *testlog.Buffer
	host   string

	mu    sync.Mutex
	calls []call
}

// begin starts a gateway; change may be nil.
func begin(t testing.TB, change func(*Options)) *stand {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &stand{log: &testlog.Buffer{}, host: listener.Addr().String(), people: &people{of: map[string]dispatch.Person{
		"s3cret": {Name: "desk", Scopes: everything},
		"wall":   {Name: "wall", Scopes: dispatch.Scopes{dispatch.ScopeView}},
		"guest":  {Name: "guest", Scopes: everything, Tasks: []string{"t2"}},
	}}}
	s.d = dispatch.New(s.log.Logger())
	opts := Options{
		Listener: listener, Dispatcher: s.d, Tokens: s.people, MaySee: maySee, Run: "run-1", Logger: s.log.Logger(),
	}
	if change != nil {
		change(&opts)
	}
	s.Gateway, err = Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, s.Shutdown(ctx))
	})
	return s
}

// maySee lets everybody see their own tasks, without descendants.
func maySee(p dispatch.Person, watched, task string) bool {
	if watched != "" && watched != task {
		return false
	}
	if p.Tasks == nil {
		return true
	}
	for _, own := range p.Tasks {
		if own == task {
			return true
		}
	}
	return false
}

type anything struct {
	Task string `json:"task,omitempty"`
	Text string `json:"text,omitempty"`
}

// action registers one whose handler notes its calls and then does more, unless nil.
func (s *stand) action(t testing.TB, name string, scope dispatch.Scope, more dispatch.Handler) {
	t.Helper()
	schema, err := jsonschema.For[anything](nil)
	require.NoError(t, err)
	require.NoError(t, s.d.Register(dispatch.Action{
		Name: name, Doc: "Does " + name + ".", Schema: schema, Internal: dispatch.Internal(name), Scope: scope,
		Handler: func(ctx context.Context, o dispatch.Origin, payload jsontext.Value) (any, error) {
			s.mu.Lock()
			s.calls = append(s.calls, call{name, o, string(payload)})
			s.mu.Unlock()
			if more != nil {
				return more(ctx, o, payload)
			}
			return map[string]string{"did": name}, nil
		},
	}))
}

// asked are the calls so far.
func (s *stand) asked() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]call(nil), s.calls...)
}

// dial connects a client with a secret in its header; empty for none.
func (s *stand) dial(t testing.TB, secret string) *peer {
	t.Helper()
	header := http.Header{}
	if secret != "" {
		header.Set("Authorization", "Bearer "+secret)
	}
	p, answer, err := s.tryDial(t, header)
	require.NoError(t, err, answer)
	return p
}

func (s *stand) tryDial(t testing.TB, header http.Header) (*peer, *http.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	conn, answer, err := websocket.Dial(ctx, "ws://"+s.host+"/ws", &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		cancel()
		return nil, answer, err
	}
	conn.SetReadLimit(1 << 30)
	p := &peer{ctx, conn}
	t.Cleanup(func() { _ = conn.CloseNow(); cancel() })
	return p, answer, nil
}

// peer is a client's end.
type peer struct {
	ctx  context.Context
	conn *websocket.Conn
}

func (p *peer) send(t testing.TB, text string) {
	t.Helper()
	require.NoError(t, p.conn.Write(p.ctx, websocket.MessageText, []byte(text)))
}

func (p *peer) receive(t testing.TB) string {
	t.Helper()
	_, text, err := p.conn.Read(p.ctx)
	require.NoError(t, err)
	return string(text)
}

// ask sends a message and waits for the next one that comes.
func (p *peer) ask(t testing.TB, text string) string {
	t.Helper()
	p.send(t, text)
	return p.receive(t)
}

// closed reads until the connection is closed, and says why it was.
func (p *peer) closed(t testing.TB) websocket.CloseError {
	t.Helper()
	for {
		if _, _, err := p.conn.Read(p.ctx); err != nil {
			var why websocket.CloseError
			require.ErrorAs(t, err, &why)
			return why
		}
	}
}

// alive says that a connection still answers.
func (p *peer) alive(t testing.TB) {
	t.Helper()
	require.Contains(t, p.ask(t, `{"id":"alive","action":"no.such"}`), `{"id":"alive","action":"no.such","error":{"code":"unknown_action"`)
}

// codeOf is the code of the error in a reply.
func codeOf(t testing.TB, reply string) dispatch.Code {
	t.Helper()
	var message struct {
		Error struct {
			Code dispatch.Code `json:"code"`
		} `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(reply), &message))
	return message.Error.Code
}

// get sends a request of HTTP and returns the status and the body.
func (s *stand) get(t testing.TB, method, path string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprintf("http://%s%s", s.host, path), strings.NewReader(""))
	require.NoError(t, err)
	if change != nil {
		change(r)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return answer, ""
	}
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer, string(body)
}

// with sets headers; Host is one of them.
func with(headers ...string) func(*http.Request) {
	return func(r *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			if headers[i] == "Host" {
				r.Host = headers[i+1]
				continue
			}
			r.Header.Add(headers[i], headers[i+1])
		}
	}
}

// resolveOwn answers for what the person may see, as the daemon's handlers do.
func resolveOwn(_ context.Context, o dispatch.Origin, payload jsontext.Value) (any, error) {
	var ask anything
	if err := json.Unmarshal(payload, &ask); err != nil {
		return nil, err
	}
	p, _ := o.Person()
	if ask.Task != "t1" && ask.Task != "t2" || !maySee(p, "", ask.Task) {
		return nil, &dispatch.Error{Code: dispatch.CodeNotFound, Message: "there is no such offer"}
	}
	return map[string]bool{"answered": true}, nil
}
