package pending

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIndex(t *testing.T) {
	var x index
	assert.Nil(t, x.get(1))
	rnd := rand.New(rand.NewPCG(1, 2))
	want := map[uint64]*entry{}
	for seq := uint64(1); seq < 5000; seq++ {
		e := &entry{seq: seq * (1 + seq%3*64)} // many in one bucket
		if want[e.seq] != nil {
			continue
		}
		x.put(e)
		want[e.seq] = e
		if rnd.IntN(3) == 0 {
			for _, gone := range want { // any
				x.remove(gone)
				delete(want, gone.seq)
				assert.Nil(t, x.get(gone.seq))
				break
			}
		}
	}
	for seq, e := range want {
		assert.Same(t, e, x.get(seq))
	}
	assert.Equal(t, len(want), x.count)
	assert.GreaterOrEqual(t, len(x.buckets), x.count, "it grows")
	assert.Less(t, len(x.buckets), 4*x.count)
}
