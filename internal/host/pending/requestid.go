package pending

import (
	"strconv"
	"strings"
)

// NextID is the request id of an offer that does not wait, for the records of it.
// Nothing can be answered by it.
func (s *Store) NextID() RequestID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.id(s.last)
}

// id is the request id of a sequence number.
func (s *Store) id(seq uint64) RequestID {
	var b strings.Builder
	b.Grow(len(s.prefix) + 8)
	s.writeID(&b, seq)
	return RequestID(b.String())
}

func (s *Store) writeID(b *strings.Builder, seq uint64) {
	var digits [20]byte
	b.WriteString(s.prefix)
	b.Write(strconv.AppendUint(digits[:0], seq, 10))
}

// sequence reads a request id of this store. There is one way to write each.
func (s *Store) sequence(id RequestID) (uint64, bool) {
	digits, ok := strings.CutPrefix(string(id), s.prefix)
	if !ok || digits == "" || len(digits) > maxDigits || digits[0] == '0' {
		return 0, false
	}
	var seq uint64
	for i := range len(digits) {
		c := digits[i] - '0'
		if c > 9 {
			return 0, false
		}
		seq = seq*10 + uint64(c)
	}
	return seq, true
}

// maxDigits are as many as fit without an overflow; no store lives that long.
const maxDigits = 19
