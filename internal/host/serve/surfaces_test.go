package serve

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
)

// An offer waits for somebody who may answer it and has looked where it is; for nobody
// else.
func TestForWhomAnOfferWaits(t *testing.T) {
	for name, test := range map[string]struct {
		scopes []string
		watch  string // the task that is looked at: "parent", "other" or all
		limit  string // the task that the token is limited to
		waits  bool
	}{
		"who may answer":                    {all, "", "", true},
		"who may only see":                  {[]string{"view", "operate"}, "", "", false},
		"who looks at its parent":           {all, "parent", "", true},
		"who looks elsewhere":               {all, "other", "", false},
		"who may answer there":              {all, "", "parent", true},
		"who may answer elsewhere":          {all, "", "other", false},
		"who may see there, and not answer": {[]string{"view"}, "", "parent", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, func(c *Config) { c.Offers = Offers{NoSurfaceAfter: Duration(time.Nanosecond)} })
			host := r.dial(r.token("host", []string{"view", "operate"}))
			host.watch()
			tasks := map[string]string{"": "", "parent": string(host.start("parent", "").ID), "other": string(host.start("other", "").ID)}
			var limit []string
			if test.limit != "" {
				limit = []string{tasks[test.limit]}
			}
			r.dial(r.token("person", test.scopes, limit...)).ask("state.watch", fmt.Sprintf(`{"task":%q}`, tasks[test.watch]), nil)

			var child wireTask
			host.ask("task.start", fmt.Sprintf(`{"title":"child","prompt":"shell","parent":%q}`, tasks["parent"]), &child)
			if !test.waits {
				host.says(child.ID, "Did not run")
				return
			}
			offer := host.opens(child.ID)
			r.dial(r.token("clerk", []string{"answer"})).ask("permission.resolve", offer.resolve(`{"choice":"allow"}`), nil)
			host.says(child.ID, "Ran: the shell command.")
			assert.Equal(t, "answered", host.closes(offer).Outcome)
		})
	}
}

// Who looked with a token that is deleted is nobody that an offer waits for, also when
// there is another one of that name; until that one looks.
func TestAnOfferWaitsForNoTokenThatIsGone(t *testing.T) {
	for name, test := range map[string]struct {
		anew  []string // scopes of the next token of that name
		looks bool
		waits bool
	}{
		"deleted":                      {nil, false, false},
		"made anew":                    {all, false, false},
		"made anew and may not answer": {[]string{"view", "operate"}, true, false},
		"made anew, and looks and may": {all, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, func(c *Config) { c.Offers = Offers{NoSurfaceAfter: Duration(time.Nanosecond)} })
			host := r.dial(r.token("host", []string{"view", "operate"}))
			host.watch()
			parent := string(host.start("parent", "").ID)
			r.dial(r.token("person", all, parent)).watch()
			require.Equal(t, 1, r.surfaces.count())
			require.NoError(t, r.tokens.Delete(t.Context(), "person"))
			if test.anew != nil {
				p := r.dial(r.token("person", test.anew, parent))
				if test.looks {
					p.watch()
				}
			}
			var child wireTask
			host.ask("task.start", fmt.Sprintf(`{"title":"child","prompt":"shell","parent":%q}`, parent), &child)
			if !test.waits {
				host.says(child.ID, "Did not run")
				return
			}
			offer := host.opens(child.ID)
			r.dial(r.token("clerk", []string{"answer"})).ask("permission.resolve", offer.resolve(`{"choice":"allow"}`), nil)
			assert.Equal(t, "answered", host.closes(offer).Outcome)
		})
	}
}

func (s *surfaces) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.limited)
}

// A request that is cut off says nothing about who is there.
func TestARequestThatIsCutOffLooksAtNothing(t *testing.T) {
	s := &surfaces{limited: map[looking]dispatch.Person{}, running: func() map[pending.InstanceID]task.ID { return nil }}
	p := dispatch.Person{Name: "person", Scopes: dispatch.Scopes{dispatch.ScopeAnswer}, Tasks: []string{"task"}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.watches(ended, p, "")
	assert.Empty(t, s.limited)
	s.watches(t.Context(), p, "")
	assert.Len(t, s.limited, 1)
	s.drop("other")
	assert.Len(t, s.limited, 1)
	s.drop("person")
	assert.Empty(t, s.limited)
}
