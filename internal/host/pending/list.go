package pending

import "strings"

// MaxList is the most that one call of [Store.List] returns.
const MaxList = 1000

// Query says which offers to list. The zero value lists the oldest ones.
type Query struct {
	// Scope narrows the list.
	Scope Scope
	// After is the sequence number of the last snapshot that the reader has.
	After uint64
	// Limit is at most [MaxList], which 0 stands for.
	Limit int
}

// List gives the open offers, oldest first. A reader that gets as many as it
// asked for goes on with the last one's sequence number as After.
func (s *Store) List(q Query) []Snapshot {
	limit := q.Limit
	if limit <= 0 || limit > MaxList {
		limit = MaxList
	}
	s.mu.Lock()
	found := s.collect(q, limit)
	s.mu.Unlock()
	// An entry's text, number and instance never change, so the snapshots are
	// made without the lock. Their request ids share one string, which has room
	// for all of them from the start.
	var ids strings.Builder
	ids.Grow(len(found) * idLength)
	out := make([]Snapshot, len(found))
	for i, e := range found {
		from := ids.Len()
		s.writeID(&ids, e.seq)
		e.writeSnapshot(&out[i], RequestID(ids.String()[from:]))
	}
	return out
}

// collect finds the entries of a page.
func (s *Store) collect(q Query, limit int) []*entry {
	from, size := &s.all, s.open.count
	if q.Scope.Instance != "" {
		in := s.instances[q.Scope.Instance]
		if in == nil {
			return nil
		}
		from, size = &in.open, in.count
	}
	found := make([]*entry, 0, min(limit, size))
	for e := s.behind(from, q.After); e != nil && len(found) < limit; e = from.after(e) {
		if q.Scope.covers(e) {
			found = append(found, e)
		}
	}
	return found
}

// behind is the first entry of a list that is newer than the given one, which
// may have ended. It looks from the head of the list and from the given number
// at the same time: the one is near for an old cursor, the other for a new one.
func (s *Store) behind(from *list, after uint64) *entry {
	if after >= s.last {
		return nil
	}
	probe := after
	for e := from.head; e != nil; e = from.after(e) {
		if e.seq > after {
			return e
		}
		p := s.open.get(probe)
		if p != nil && (from.by == byAge || p.instance == e.instance) {
			if p.seq == after {
				return from.after(p)
			}
			return p
		}
		probe++
	}
	return nil
}

// Get is the snapshot of one open offer. The error says what became of it.
func (s *Store) Get(key Key) (Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(key, Answer{})
	if err != nil {
		return Snapshot{}, err
	}
	return e.snapshot(s.id(e.seq)), nil
}

// Len is how many offers are open.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open.count
}
