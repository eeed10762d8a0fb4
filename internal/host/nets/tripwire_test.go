package nets_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/kandev/assent/internal/host/nets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func call(id, tool string) nets.Call { return nets.Call{ID: id, Tool: tool, Automatic: true} }

func TestTripwire(t *testing.T) {
	list := call("c-1", "list_tasks")
	byPerson := nets.Call{ID: "c-1", Tool: "list_tasks"}
	for name, c := range map[string]struct {
		expect   []nets.Call
		arrivals []nets.Arrival
		known    []bool // what Arrived says
		missed   []nets.Call
	}{
		"it arrived":                      {[]nets.Call{list}, []nets.Arrival{{Tool: "list_tasks"}}, []bool{true}, nil},
		"with its id":                     {[]nets.Call{list}, []nets.Arrival{{Tool: "list_tasks", IDs: []string{"c-1", ""}}}, []bool{true}, nil},
		"with both ids":                   {[]nets.Call{list}, []nets.Arrival{{Tool: "list_tasks", IDs: []string{"c-1", "c-1"}}}, []bool{true}, nil},
		"the endpoint's name has a dot":   {[]nets.Call{list}, []nets.Arrival{{Tool: "list.tasks"}}, []bool{true}, nil},
		"it did not arrive":               {[]nets.Call{list}, nil, nil, []nets.Call{list}},
		"another tool did":                {[]nets.Call{list}, []nets.Arrival{{Tool: "create_task"}}, []bool{false}, []nets.Call{list}},
		"another call did":                {[]nets.Call{list}, []nets.Arrival{{Tool: "list_tasks", IDs: []string{"c-2"}}}, []bool{false}, []nets.Call{list}},
		"its ids disagree":                {[]nets.Call{list}, []nets.Arrival{{Tool: "list_tasks", IDs: []string{"c-1", "c-2"}}}, []bool{false}, []nets.Call{list}},
		"one arrival, two calls":          {[]nets.Call{list, list}, []nets.Arrival{{Tool: "list_tasks"}}, []bool{true}, []nets.Call{list}},
		"two arrivals, two calls":         {[]nets.Call{list, list}, []nets.Arrival{{Tool: "list_tasks"}, {Tool: "list_tasks"}}, []bool{true, true}, nil},
		"one arrival too many":            {[]nets.Call{list}, []nets.Arrival{{Tool: "list_tasks"}, {Tool: "list_tasks"}}, []bool{true, false}, nil},
		"a person's call trips nothing":   {[]nets.Call{byPerson}, nil, nil, nil},
		"but uses up its arrival":         {[]nets.Call{byPerson, list}, []nets.Arrival{{Tool: "list_tasks"}}, []bool{true}, []nets.Call{list}},
		"an arrival that nobody expected": {nil, []nets.Arrival{{Tool: "list_tasks"}}, []bool{false}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := nets.NewTripwire()
			for _, e := range c.expect {
				assert.True(t, w.Expect("s", e))
			}
			var known []bool
			for _, a := range c.arrivals {
				known = append(known, w.Arrived("s", a))
			}
			assert.Equal(t, c.known, known)
			assert.Empty(t, w.Ended("s", "another"))
			assert.Empty(t, w.TurnEnded("another session"))
			assert.Equal(t, c.missed, w.Ended("s", "c-1"))
			assert.Empty(t, w.TurnEnded("s"), "reported once")
		})
	}
}

func TestTripwireKeepsSessionsApart(t *testing.T) {
	w := nets.NewTripwire()
	w.Expect("one", call("c-1", "list_tasks"))
	w.Expect("two", call("c-1", "list_tasks"))
	assert.True(t, w.Arrived("two", nets.Arrival{Tool: "list_tasks"}))
	assert.False(t, w.Arrived("two", nets.Arrival{Tool: "list_tasks"}), "that one is not this session's")
	assert.Empty(t, w.TurnEnded("two"))
	assert.Equal(t, []nets.Call{call("c-1", "list_tasks")}, w.TurnEnded("one"))
}

func TestTripwireWithdraw(t *testing.T) {
	w := nets.NewTripwire()
	w.Expect("s", call("c-1", "a"))
	w.Expect("s", call("c-2", "a"))
	w.Withdraw("s", "c-1")
	w.Withdraw("s", "unknown")
	assert.Equal(t, []nets.Call{call("c-2", "a")}, w.TurnEnded("s"))
}

func TestTripwireIsBounded(t *testing.T) {
	w := nets.NewTripwire()
	taken := 0
	for w.Expect("s", call("c", "a")) {
		taken++
	}
	assert.GreaterOrEqual(t, taken, 1024)
	assert.True(t, w.Expect("another", call("c", "a")))
	assert.Len(t, w.TurnEnded("s"), taken)
	assert.True(t, w.Expect("s", call("c", "a")))
}

// However expectations and arrivals come, as many calls are missed as lack one.
func TestTripwireCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := nets.NewTripwire()
		tools := rapid.SampledFrom([]string{"a", "b"})
		expected, arrived := map[string]int{}, map[string]int{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			tool := tools.Draw(t, "tool")
			if rapid.Bool().Draw(t, "expect") {
				w.Expect("s", call("c", tool))
				expected[tool]++
				continue
			}
			free := arrived[tool] < expected[tool]
			if w.Arrived("s", nets.Arrival{Tool: tool}) != free {
				t.Fatalf("an arrival of %s with %d of %d expectations used", tool, arrived[tool], expected[tool])
			}
			if free {
				arrived[tool]++
			}
		}
		missed := w.TurnEnded("s")
		for _, tool := range []string{"a", "b"} {
			got := len(slices.DeleteFunc(slices.Clone(missed), func(c nets.Call) bool { return c.Tool != tool }))
			if got != expected[tool]-arrived[tool] {
				t.Fatalf("%d of %s missed, want %d", got, tool, expected[tool]-arrived[tool])
			}
		}
	})
}
