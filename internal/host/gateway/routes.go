package gateway

import (
	"embed"
	"io"
	"io/fs"
	"net/http"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
)

// readBodyTimeout is from the headers of a request to the last byte of its body.
const readBodyTimeout = 30 * time.Second

// writeTimeout is how long a client may take to read an answer, or a piece of a stream.
const writeTimeout = time.Minute

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
