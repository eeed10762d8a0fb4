package console

import (
	"fmt"
	"strings"
	"sync"

	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
)

// ledger keeps what was decided, for the summary. It is bounded: a run of days
// has a summary of its first thousands of offers, and says so.
type ledger struct {
	mu       sync.Mutex
	entries  []*ledgerEntry
	byNumber map[uint64]*ledgerEntry
	more     int
	keys     callKeys
	arrivals []arrival
	open     int           // questions that nobody has answered yet
	changed  chan struct{} // told when that becomes less
}

type ledgerEntry struct {
	number  uint64
	verdict pipeline.Verdict
	call    callKey // of the agent's toolCallId
	tool    string  // of the injected server; empty for anything else
	what    string
	reason  pipeline.Reason
	ending  string
}

// arrival is a call at the injected server, by the keys of its tool and of the
// agent's id, where one was sent along.
type arrival struct {
	tool, call callKey
	named      bool
}

// maxLedger bounds the entries.
const maxLedger = 5000

func newLedger() *ledger {
	return &ledger{byNumber: map[uint64]*ledgerEntry{}, keys: newCallKeys(), changed: make(chan struct{}, 1)}
}

// asking says whether a question is open.
func (l *ledger) asking() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open > 0
}

func (l *ledger) decided(d process.Decided) {
	e := &ledgerEntry{
		number: d.Number, verdict: d.Result.Decision.Verdict, call: l.keys.of("", d.ToolCall),
		what: what(d.Result, d.Action()), reason: d.Result.Decision.Reason,
	}
	if d.Result.Facts.Injected {
		e.tool = strings.Clone(d.Result.Facts.Identity.Tool()) // and nothing of its frame
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.verdict == pipeline.Pend {
		l.open++
	}
	if len(l.entries) >= maxLedger {
		l.more++
		return
	}
	l.entries = append(l.entries, e)
	l.byNumber[d.Number] = e
}

func (l *ledger) answered(a process.Answered, how string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byNumber[a.Number]; e != nil {
		e.ending = how
	}
	l.open--
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Listed implements [endpoint.Observer].
func (l *ledger) Listed(endpoint.SessionID, []string) {}

// Arrived implements [endpoint.Observer].
func (l *ledger) Arrived(_ endpoint.SessionID, a endpoint.Arrival) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.arrivals) < maxLedger {
		id := a.ToolUseID + a.CallID
		l.arrivals = append(l.arrivals, arrival{l.keys.of("", a.Tool), l.keys.of("", id), id != ""})
	}
}

// arrived says whether an approved call reached the injected server: by the
// agent's own id where the agent sends one along, else by the tool's name.
func (l *ledger) arrived(e *ledgerEntry) bool {
	tool := l.keys.of("", e.tool)
	for i, a := range l.arrivals {
		if a.tool == tool && (!a.named || a.call == e.call) {
			l.arrivals = append(l.arrivals[:i], l.arrivals[i+1:]...) // it serves one call only
			return true
		}
	}
	return false
}

// summary shows what happened, and says whether every call that was approved for
// the injected server also reached it. It is for the end.
func (l *ledger) summary(s *screen) (whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var automatic, asked, other []string
	missing := 0
	for _, e := range l.entries {
		switch {
		case e.verdict == pipeline.Pend:
			asked = append(asked, fmt.Sprintf("#%d  %s  (%s): %s", e.number, e.what, e.reason, orElse(e.ending, "not answered")))
		case e.verdict == pipeline.Select && e.tool != "":
			text := "arrived at the injected server"
			if !l.arrived(e) {
				text = "did NOT arrive at the injected server"
				missing++
			}
			automatic = append(automatic, fmt.Sprintf("#%d  %s  (%s): %s", e.number, e.what, e.reason, text))
		default:
			other = append(other, fmt.Sprintf("#%d  %s  (%s): %s", e.number, e.what, e.reason, e.verdict))
		}
	}
	lines := []string{}
	for _, part := range []struct {
		title   string
		entries []string
	}{{"approved automatically", automatic}, {"asked", asked}, {"decided otherwise", other}} {
		if len(part.entries) > 0 {
			lines = append(lines, part.title)
		}
		for _, text := range part.entries {
			lines = append(lines, "  "+text)
		}
	}
	switch {
	case len(lines) == 0:
		lines = append(lines, "nothing was decided")
	case l.more > 0:
		lines = append(lines, fmt.Sprintf("and %d more", l.more))
	}
	s.block("summary", lines)
	return missing == 0
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
