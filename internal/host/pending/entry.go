package pending

import (
	"time"
)

// record is what is shown of an offer: all of its text in one string, and where
// the fields end in it. It never changes, so snapshots share the text.
type record struct {
	text        string
	ends        [fields]uint16
	options     uint16
	allow, deny choice
}

// The fields of a record's text; the options follow behind the last one.
const (
	fieldSession = iota
	fieldID
	fieldReason
	fieldStage
	fieldType
	fieldTitle
	fieldDescription
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

// entry is one open offer. What a snapshot needs comes first: lists are long, and
// memory is slow.
type entry struct {
	record
	seq      uint64
	at       time.Time // when it came
	instance *instance
	links    [2]link
	chain    *entry // the next one in its bucket of the index
	expires  int64  // when it expires: nanoseconds since the store's epoch; 0: never
	deliver  func(Outcome) error
	detail   string // for Store.Detail, packed
	place    int32  // in the heap; -1: not there
	reject   bool   // what its expiry does
}

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
