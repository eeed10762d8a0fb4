package proxy

import (
	"io"
	"sync/atomic"
	"time"
)

// paced reads an agent that says a lot in many small writes, as when it streams
// what a tool prints. Woken for each of them, both sides would spend most of their
// time on waking up. So in such a flood it waits a moment before each read, and gets
// many lines at once. An agent that waits for an answer is never kept waiting: a
// line to it ends the flood.
type paced struct {
	r     io.Reader
	last  time.Time
	flood int          // small reads that followed one another at once
	calm  *atomic.Bool // the agent was told something
}

const (
	smallRead  = 8 << 10                // in bytes; more than that was worth a read
	atOnce     = 300 * time.Microsecond // between two reads of a flood
	floodAfter = 32                     // reads
	floodPause = 100 * time.Microsecond
)

// Read reads what is there.
func (p *paced) Read(b []byte) (int, error) {
	if p.calm.Swap(false) {
		p.flood = 0
	}
	if p.flood >= floodAfter {
		time.Sleep(floodPause)
	}
	n, err := p.r.Read(b)
	now := time.Now()
	switch {
	case now.Sub(p.last) > atOnce:
		p.flood = 0
	case n < smallRead && p.flood < floodAfter:
		p.flood++
	}
	p.last = now
	return n, err
}
