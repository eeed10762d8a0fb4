package pending

import "github.com/kandev/assent/pipeline"

// ending is the way in which an offer ended.
type ending uint8

const (
	endNone ending = iota
	endAnswered
	endNotDelivered
	endExpired
	endNoSurface
	endWithdrawn
	endSession
	endInstance
	endClosed
)

// endings says what a late answer is told, and why the offer was cancelled.
var endings = [...]struct {
	code   Code
	reason pipeline.Reason
}{
	endNone:         {CodeNotFound, ""},
	endAnswered:     {CodeAlreadyResolved, ""},
	endNotDelivered: {CodeStale, ReasonNotDelivered},
	endExpired:      {CodeExpired, ReasonExpired},
	endNoSurface:    {CodeExpired, ReasonNoSurface},
	endWithdrawn:    {CodeWithdrawn, ReasonWithdrawn},
	endSession:      {CodeStale, ReasonSessionCancelled},
	endInstance:     {CodeStale, ReasonInstanceGone},
	endClosed:       {CodeStale, ReasonClosed},
}

// tombstone remembers how one offer ended. It holds nothing of the offer's text.
type tombstone struct {
	seq    uint64
	tuple  uint64 // hash of instance and session
	option uint64 // hash of the id of the selected option
	end    ending
	answer answerKind
	chose  bool // an option was selected
}

// tombstones is a table with one place per sequence number modulo its size, so
// about the last len(tombstones) offers are remembered and no memory is added
// however many there are. Its size is a power of two.
type tombstones []tombstone

func newTombstones(n int) tombstones {
	size := 1
	for size < n {
		size *= 2
	}
	return make(tombstones, size)
}

func (t tombstones) put(d tombstone) { t[d.seq&uint64(len(t)-1)] = d }

// get finds the tombstone of a sequence number; nil when it is forgotten.
func (t tombstones) get(seq uint64) *tombstone {
	d := &t[seq&uint64(len(t)-1)]
	if d.seq != seq || d.end == endNone {
		return nil
	}
	return d
}

// error is what an answer that came late is told.
func (d *tombstone) error(a Answer, option uint64) error {
	e := Error{Code: endings[d.end].code, Reason: endings[d.end].reason}
	if d.end == endAnswered {
		switch a.kind {
		case answerOption:
			e.Same = d.chose && d.option == option
		default:
			e.Same = d.answer == a.kind
		}
	}
	return e
}
