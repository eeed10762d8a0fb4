package pending

import (
	"time"

	"github.com/kandev/assent/pipeline"
)

// record is what is kept of an offer: all of its text in one string, and where
// the fields end in it. It never changes, so snapshots share the text.
type record struct {
	text          string
	reason        pipeline.Reason
	stage         pipeline.Name
	ends          [fields]uint16
	options       uint16
	allow, deny   int16 // index of an option, or one of the choices below
	allowReason   uint8 // index into choiceReasons: why allow names no option
	reject, never bool  // the expiry's outcome; no expiry whatever the store's
}

// The fields of a record's text; the options follow behind the last one.
const (
	fieldSession = iota
	fieldID
	fieldType
	fieldTitle
	fieldCommand
	fieldPath
	fieldDestination
	fieldServer
	fieldTool
	fields
)

func (r *record) field(i int) string {
	from := 0
	if i > 0 {
		from = int(r.ends[i-1])
	}
	return r.text[from:r.ends[i]]
}

func (r *record) optionList() Options {
	return Options{text: r.text[r.ends[fields-1]:], n: int(r.options)}
}

// entry is one open offer.
type entry struct {
	record
	seq      uint64
	opened   int64 // nanoseconds since the store's epoch, by the monotonic clock
	wall     int64 // Unix time in nanoseconds
	due      int64 // when the clock looks at it next, like opened
	expires  int64 // when it expires, like opened; 0: never
	links    [2]link
	instance *instance
	deliver  func(Outcome) error
	detail   *source
	place    int32 // in the heap; -1: not there
}

func (e *entry) time() time.Time { return time.Unix(0, e.wall) }

// instance groups the open offers of one agent process.
type instance struct {
	id    InstanceID
	hash  uint64
	open  list
	count int
}

type link struct{ prev, next *entry }

// The two lists that an entry is in.
const (
	byAge = iota
	byInstance
)

// list is an intrusive list, oldest first.
type list struct {
	head, tail *entry
	by         uint8
}

func (l *list) push(e *entry) {
	e.links[l.by] = link{prev: l.tail}
	if l.tail == nil {
		l.head = e
	} else {
		l.tail.links[l.by].next = e
	}
	l.tail = e
}

func (l *list) remove(e *entry) {
	at := e.links[l.by]
	if at.prev == nil {
		l.head = at.next
	} else {
		at.prev.links[l.by].next = at.next
	}
	if at.next == nil {
		l.tail = at.prev
	} else {
		at.next.links[l.by].prev = at.prev
	}
	e.links[l.by] = link{}
}

func (l *list) after(e *entry) *entry { return e.links[l.by].next }
