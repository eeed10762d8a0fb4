package gateway

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
)

// readBodyTimeout is from the headers of a request to the last byte of its body.
const readBodyTimeout = 30 * time.Second

//go:embed page
var pageFiles embed.FS

// routes is everything behind the door.
func (g *Gateway) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", g.serveReady)
	g.routePage(mux)
	mux.HandleFunc("GET /ws", g.serveWebSocket)
	mux.Handle("GET /api/actions", g.known("api", g.serveCatalog))
	if g.opts.Metrics != nil {
		mux.Handle("GET /metrics", g.known("api", g.serveMetrics))
	}
	if g.opts.MCP != nil {
		mux.Handle("/mcp", g.known("mcp", g.serveMCP))
		mux.Handle("/mcp/sse", g.known("mcp", g.serveMCP))
	}
	mux.Handle("/", g.known("api", func(w http.ResponseWriter, _ *http.Request, _ dispatch.Person) {
		say(w, http.StatusNotFound, "not found")
	}))
	return mux
}

// routePage serves the files of the page to everybody: a browser cannot send a token
// with them, and they hold no data.
func (g *Gateway) routePage(mux *http.ServeMux) {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	serve := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, name) }
	}
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && name != "index.html" {
			mux.HandleFunc("GET /"+name, serve(name))
		}
		return err
	})
	mux.HandleFunc("GET /{$}", serve("index.html"))
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}

func (g *Gateway) serveReady(w http.ResponseWriter, _ *http.Request) {
	if g.draining() {
		say(w, http.StatusServiceUnavailable, "the server ends")
		return
	}
	if g.opts.Ready != nil {
		if err := g.opts.Ready(); err != nil {
			say(w, http.StatusServiceUnavailable, err.Error())
			return
		}
	}
	say(w, http.StatusOK, "ready")
}

// catalogNote is about every entry of the catalog that is marked internal.
const catalogNote = "Actions mcp.* are internal: they are listed, but raw clients can't dispatch them."

func (g *Gateway) serveCatalog(w http.ResponseWriter, _ *http.Request, _ dispatch.Person) {
	text, err := dispatch.Encode(struct {
		Note    string           `json:"note"`
		Actions []dispatch.Entry `json:"actions"`
	}{catalogNote, g.opts.Dispatcher.Catalog()})
	if err != nil {
		say(w, http.StatusInternalServerError, "the catalog cannot be written")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

func (g *Gateway) serveMetrics(w http.ResponseWriter, r *http.Request, p dispatch.Person) {
	if !p.Scopes.Has(dispatch.ScopeView) {
		say(w, http.StatusForbidden, "this token does not have the scope view")
		return
	}
	if p.Tasks != nil { // they count what all tasks do
		say(w, http.StatusForbidden, "this token is limited to tasks: the metrics are of all")
		return
	}
	g.opts.Metrics.ServeHTTP(w, r)
}

// serveMCP reads the whole body first, so that a client cannot hold a request open
// by sending it slowly. The token may be deleted meanwhile, so it is looked up again
// once [Gateway.DropToken] sees the request.
func (g *Gateway) serveMCP(w http.ResponseWriter, r *http.Request, p dispatch.Person) {
	control := http.NewResponseController(w)
	if r.Method != http.MethodGet {
		if !g.begin() {
			say(w, http.StatusServiceUnavailable, "the server ends")
			return
		}
		defer g.running.Done()
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(g.opts.Limits.MaxMessage)))
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			g.refuse(w, "body_too_large", http.StatusRequestEntityTooLarge)
			return
		} else if err != nil {
			say(w, http.StatusBadRequest, "the body could not be read")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	} else {
		if !g.beginStream(p.Name) {
			g.refuseToken(w, refusedClients)
			return
		}
		defer g.endStream(p.Name)
	}
	ctx, done := g.cuttable(w, r, p.Name)
	defer done()
	p, why := g.identify(bearer(r.Header), r.RemoteAddr, p.Surface)
	if why != "" {
		g.refuseToken(w, why)
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	g.opts.MCP.ServeHTTP(w, r.WithContext(context.WithValue(ctx, personKey{}, p)))
}

// beginStream counts a stream of MCP in; false when its token has too many.
func (g *Gateway) beginStream(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.streams[name] >= maxOfToken {
		return false
	}
	g.streams[name]++
	return true
}

func (g *Gateway) endStream(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.streams[name]--; g.streams[name] == 0 {
		delete(g.streams, name)
	}
}
