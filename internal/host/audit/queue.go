package audit

import "time"

// queue holds the records that wait to be written, oldest first. It is bounded.
// What finds no room is counted, and a [Gap] takes its place: behind everything
// that was there before it, in front of everything that comes after.
type queue struct {
	limit int
	ring  []Record
	first int // index of the oldest record in ring
	n     int

	missing uint64    // records that found no room since the last gap
	since   time.Time // the first of them
}

// put adds a record. It says whether there was room, and whether this record is
// the first one that found none.
func (q *queue) put(r Record) (accepted, begins bool) {
	room := q.limit - q.n
	if q.missing > 0 {
		room-- // for the gap
	}
	if room <= 0 {
		if begins = q.missing == 0; begins {
			q.since = r.Time
		}
		q.missing++
		return false, begins
	}
	if gap, ok := q.gap(r.Time); ok {
		q.push(gap)
	}
	q.push(r)
	return true, false
}

// take removes the oldest record, or the gap at the end.
func (q *queue) take(now time.Time) (Record, bool) {
	if q.n == 0 {
		return q.gap(now)
	}
	r := q.ring[q.first]
	q.ring[q.first] = Record{}
	q.first = (q.first + 1) % len(q.ring)
	q.n--
	return r, true
}

// gap is the record of what is missing at this point.
func (q *queue) gap(now time.Time) (Record, bool) {
	if q.missing == 0 {
		return Record{}, false
	}
	r := Record{Time: now, Event: Gap, Reason: GapQueueFull, Dropped: q.missing, Since: q.since}
	q.missing = 0
	return r, true
}

// push adds a record that there is room for.
func (q *queue) push(r Record) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.first+q.n)%len(q.ring)] = r
	q.n++
}

func (q *queue) grow() {
	ring := make([]Record, max(16, 2*len(q.ring)))
	for i := range q.n {
		ring[i] = q.ring[(q.first+i)%len(q.ring)]
	}
	q.ring, q.first = ring, 0
}
