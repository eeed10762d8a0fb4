package gateway

import (
	"net/http"
	"sync"
	"time"
)

// piecewise is an answer of MCP, which may last as long as it likes: each piece has to be
// read within [writeTimeout], and within [farewell] once it is to end.
type piecewise struct {
	http.ResponseWriter
	control *http.ResponseController
	begun   func() // called before each piece; nil for nothing

	mu      sync.Mutex
	writing bool
	hurried bool
}

// Write sends what is larger than the buffer at once.
func (p *piecewise) Write(b []byte) (int, error) {
	defer p.within()()
	return p.ResponseWriter.Write(b)
}

// FlushError is how [http.ResponseController] flushes.
func (p *piecewise) FlushError() error {
	defer p.within()()
	return p.control.Flush()
}

// Unwrap is how it does the rest.
func (p *piecewise) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// within sets the deadline of one piece, and gives what takes it away: with HTTP/2 it
// would end a stream that has nothing to say.
func (p *piecewise) within() func() {
	if p.begun != nil {
		p.begun()
	}
	p.set(true)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.writing = false
		_ = p.control.SetWriteDeadline(time.Time{})
	}
}

// finish sets the deadline of what is still to be sent when the handler is done.
func (p *piecewise) finish() { p.set(false) }

// set sets the deadline for what is written from now on.
func (p *piecewise) set(writing bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writing = writing
	most := writeTimeout
	if p.hurried {
		most = farewell
	}
	_ = p.control.SetWriteDeadline(time.Now().Add(most))
}

// hurry is for when the answer is to end: who does not read it is not waited for.
func (p *piecewise) hurry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hurried = true
	if p.writing {
		_ = p.control.SetWriteDeadline(time.Now().Add(farewell))
	}
}
