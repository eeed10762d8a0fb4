package pending

// index finds open offers by their sequence number. The numbers are dense, so
// their low bits spread them over the buckets better than any hash, and taking
// one out moves nothing. The runtime's map costs several times as much here.
type index struct {
	buckets []*entry // their number is a power of two
	count   int
}

func (x *index) get(seq uint64) *entry {
	if len(x.buckets) == 0 {
		return nil
	}
	e := x.buckets[seq&uint64(len(x.buckets)-1)]
	for e != nil && e.seq != seq {
		e = e.chain
	}
	return e
}

func (x *index) put(e *entry) {
	if x.count >= len(x.buckets) {
		x.grow()
	}
	x.count++
	x.push(e)
}

func (x *index) push(e *entry) {
	bucket := &x.buckets[e.seq&uint64(len(x.buckets)-1)]
	e.chain, *bucket = *bucket, e
}

func (x *index) remove(e *entry) {
	at := &x.buckets[e.seq&uint64(len(x.buckets)-1)]
	for *at != e {
		at = &(*at).chain
	}
	*at, e.chain = e.chain, nil
	x.count--
}

func (x *index) grow() {
	old := x.buckets
	x.buckets = make([]*entry, max(64, 2*len(old)))
	for _, e := range old {
		for e != nil {
			next := e.chain
			x.push(e)
			e = next
		}
	}
}
