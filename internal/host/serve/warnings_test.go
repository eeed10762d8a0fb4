package serve

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/task"
)

// What the nets tell stays for those who connect later and see the task, however much
// was decided since.
func TestWarningsOfTheNetsStay(t *testing.T) {
	r := begin(t, nil)
	desk := r.dial(r.token("desk", all))
	desk.watch()
	mine, theirs := desk.start("mine", `plan "x"`), desk.start("theirs", "")
	desk.settles(mine.ID, task.Idle)
	instance := r.runner.working(mine.ID).id
	watcher{r.Server}.Fired(t.Context(), process.Fired{Instance: instance, Fired: nets.Fired{Net: audit.Tripwire, Reason: nets.ReasonTripwireFired}})
	watcher{r.Server}.Unasked(t.Context(), process.Unasked{Instance: instance, Unasked: nets.Unasked{Kind: "execute"}})
	fired := until(desk, "net", func(netView) bool { return true })
	ran := until(desk, "unasked", func(unaskedView) bool { return true })
	assert.False(t, fired.Time.IsZero())
	assert.False(t, ran.Time.Before(fired.Time))
	assert.Equal(t, [...]uint64{1, 1}, [...]uint64{fired.Number, ran.Number}, "each list has its own numbers")
	for range 2 * remembered {
		v := decisionView{Task: mine.ID}
		r.decisions.add(v.Task, &v, &v.Number)
	}
	type warnings struct {
		Nets    []netView     `json:"nets"`
		Unasked []unaskedView `json:"unasked"`
	}
	for token, want := range map[string]warnings{
		r.token("phone", all):                    {[]netView{fired}, []unaskedView{ran}},
		r.token("guest", all, string(mine.ID)):   {[]netView{fired}, []unaskedView{ran}},
		r.token("other", all, string(theirs.ID)): {[]netView{}, []unaskedView{}},
	} {
		var got warnings
		r.dial(token).ask("state.watch", "{}", &got)
		assert.Equal(t, want, got)
	}
}
