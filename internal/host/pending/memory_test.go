package pending

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/frame"
)

// textSize is how much text a snapshot shows.
func textSize(s Snapshot) int {
	a := s.Action
	n := len(s.Session) + len(s.Reason) + len(s.Stage) + len(a.Type) + len(a.Title) + len(a.Command) + len(a.Path) + len(a.Destination) + len(a.Server) + len(a.Tool)
	for _, opt := range s.Options.All() {
		n += len(opt.ID) + len(opt.Kind) + len(opt.Label)
	}
	return n
}

// benchFrame is an offer with arguments, which are text that is kept for a person.
var benchFrame = read(lineOf(`"title":"go test ./...","kind":"execute","rawInput":{"command":"go test ./...","description":"Run the tests"}`))

// bytesPerOffer is what each of many open offers holds beyond its text.
func bytesPerOffer(open int, f *frame.Frame) float64 {
	s := roomyStore()
	defer s.Close()
	heap := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	deliver := func(Outcome) error { return nil }
	text := 0
	before := heap()
	for i := range open {
		o := benchOffer(i, deliver)
		o.Frame = f
		if _, err := s.Register(o); err != nil {
			panic(err)
		}
	}
	after := heap()
	for cursor := uint64(0); ; {
		page := s.List(Query{After: cursor})
		for _, snapshot := range page {
			detail, err := s.Detail(snapshot.Key)
			if err != nil {
				panic(err)
			}
			text += textSize(snapshot) + len(detail.Title) + len(detail.Arguments)
			cursor = snapshot.Sequence
		}
		if len(page) < MaxList {
			break
		}
	}
	return (after - before - float64(text)) / float64(open)
}

func TestMemoryPerOpenOffer(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(entry{}), uintptr(176), "the next size class is 192")
	assert.LessOrEqual(t, bytesPerOffer(5_000, nil), 256.0)
	assert.LessOrEqual(t, bytesPerOffer(5_000, benchFrame), 256.0)
}
