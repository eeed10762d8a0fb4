package replay

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Unchanged, every recording and every case is decided alike by the pipeline and
// by the oracle, and the two agree on selecting as well as on asking.
func TestOracleOnRecordings(t *testing.T) {
	r := newRunner(t)
	verdicts := map[string]int{}
	for _, s := range scripts(t) {
		want := s.expected()
		assert.Equal(t, want, s.real(t, r), s.name)
		for _, x := range want {
			verdicts[x.verdict]++
		}
	}
	assert.Greater(t, verdicts["select"], 150)
	assert.Greater(t, verdicts["pend"], 250)
	assert.Greater(t, verdicts["cancel"], 25)
}

// compareWithOracle runs a changed script through both.
func compareWithOracle(t testing.TB, r Runner, s script) []said {
	want, got := s.expected(), s.real(t, r)
	if !assert.ObjectsAreEqual(want, got) {
		t.Fatalf("the pipeline says %v, the oracle %v\n%s", got, want, s)
	}
	return got
}

// Some thousand random programs, the same in every run.
func TestOracleOnMutations(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	r, all := newRunner(t), scripts(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	verdicts := map[string]int{}
	for range rounds {
		for _, s := range all {
			program := make([]byte, 4+rnd.IntN(36))
			for i := range program {
				program[i] = byte(rnd.Uint32())
			}
			for _, x := range compareWithOracle(t, r, s.mutate(program)) {
				verdicts[x.verdict]++
			}
		}
	}
	assert.Greater(t, verdicts["select"], 50*rounds)
}

func FuzzPipelineAgainstOracle(f *testing.F) {
	r, all := newRunner(f), scripts(f)
	for i := range all {
		f.Add(uint16(i), []byte{})
	}
	for op := range byte(16) {
		for i := range 16 {
			f.Add(uint16(int(op)*31+i*17), []byte{op, byte(i), byte(i * 7), byte(i * 13), op + 5, 1, byte(i * 3), 2})
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, program []byte) {
		compareWithOracle(t, r, all[int(which)%len(all)].mutate(program))
	})
}
