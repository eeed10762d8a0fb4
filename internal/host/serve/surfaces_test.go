package serve

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
