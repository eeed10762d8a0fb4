package pending

import (
	"crypto/rand"
	"encoding/binary"
	"hash/maphash"
	"strings"
)

// A request id is the sequence number of its offer, mixed with what only the store has: it
// says nothing of how many offers there are, none can be guessed, and none has to be kept.
const (
	idLength = 13 // of 64 bits, 5 in each character
	idText   = "abcdefghijklmnopqrstuvwxyz234567"
)

// idValue is what each character stands for; 32: nothing.
var idValue = func() (values [256]byte) {
	for i := range values {
		values[i] = 32
	}
	for value, c := range []byte(idText) {
		values[c] = byte(value)
	}
	return values
}()

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
	b.Grow(idLength)
	s.writeID(&b, seq)
	return RequestID(b.String())
}

func (s *Store) writeID(b *strings.Builder, seq uint64) {
	mixed := s.ids.mix(seq)
	var text [idLength]byte
	for at := idLength - 1; at >= 0; at-- {
		text[at] = idText[mixed&31]
		mixed >>= 5
	}
	b.Write(text[:])
}

// sequence reads a request id. There is one way to write each.
func (s *Store) sequence(id RequestID) (uint64, bool) {
	if len(id) != idLength || idValue[id[0]] >= 1<<(64%5) { // the first one has 4 bits
		return 0, false
	}
	var mixed uint64
	for at := range idLength {
		value := idValue[id[at]]
		if value == 32 {
			return 0, false
		}
		mixed = mixed<<5 | uint64(value)
	}
	return s.ids.unmix(mixed), true
}

// mixer maps each number to another one, which only it can undo: a Feistel network of
// three rounds, whose functions nobody else has.
type mixer struct {
	first, last affine
	middle      maphash.Seed
}

// affine is one of a family of functions whose values are independent in pairs.
type affine struct{ times, plus uint64 }

func newMixer() mixer {
	return mixer{newAffine(), newAffine(), maphash.MakeSeed()}
}

func newAffine() affine {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // it never fails
	return affine{binary.LittleEndian.Uint64(bits[:8]), binary.LittleEndian.Uint64(bits[8:])}
}

func (m *mixer) mix(n uint64) uint64 {
	left, right := uint32(n>>32), uint32(n)
	left ^= m.first.of(right)
	right ^= m.hash(left)
	left ^= m.last.of(right)
	return uint64(left)<<32 | uint64(right)
}

func (m *mixer) unmix(n uint64) uint64 {
	left, right := uint32(n>>32), uint32(n)
	left ^= m.last.of(right)
	right ^= m.hash(left)
	left ^= m.first.of(right)
	return uint64(left)<<32 | uint64(right)
}

func (a affine) of(half uint32) uint32 { return uint32((uint64(half)*a.times + a.plus) >> 32) }

func (m *mixer) hash(half uint32) uint32 {
	var text [4]byte
	binary.LittleEndian.PutUint32(text[:], half)
	return uint32(maphash.Bytes(m.middle, text[:]))
}
