package task

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rulers says who may stop and interrupt "me": among tasks its direct parent alone.
var rulers = map[string]struct {
	who  func(ids map[string]ID) Actor
	want error
}{
	"its parent":                    {func(ids map[string]ID) Actor { return Session{ids["parent"]} }, nil},
	"itself":                        {func(ids map[string]ID) Actor { return Session{ids["me"]} }, ErrNotFound},
	"its child":                     {func(ids map[string]ID) Actor { return Session{ids["child"]} }, ErrNotFound},
	"its grandchild":                {func(ids map[string]ID) Actor { return Session{ids["grandchild"]} }, ErrNotFound},
	"its sibling":                   {func(ids map[string]ID) Actor { return Session{ids["sibling"]} }, ErrNotFound},
	"its grandparent":               {func(ids map[string]ID) Actor { return Session{ids["grandparent"]} }, ErrNotFound},
	"a stranger":                    {func(ids map[string]ID) Actor { return Session{ids["stranger"]} }, ErrNotFound},
	"a task that does not exist":    {func(ids map[string]ID) Actor { return Session{"task-unknown"} }, ErrNotFound},
	"a session without a task":      {func(ids map[string]ID) Actor { return Session{} }, ErrNotFound},
	"a person":                      {func(ids map[string]ID) Actor { return person("operate") }, nil},
	"a person with the task":        {func(ids map[string]ID) Actor { return person("operate", ids["grandparent"]) }, nil},
	"a person with another task":    {func(ids map[string]ID) Actor { return person("operate", ids["child"]) }, ErrNotFound},
	"a person without the scope":    {func(ids map[string]ID) Actor { return person("view") }, ErrForbidden},
	"a person who may answer alone": {func(ids map[string]ID) Actor { return person("answer", ids["me"]) }, ErrForbidden},
	"the host":                      {func(ids map[string]ID) Actor { return Host{} }, nil},
	"nobody":                        {func(ids map[string]ID) Actor { return nil }, ErrForbidden},
}

// atWork is a family in which "me" has a turn under way.
func atWork(t *testing.T) (*Service, *runner, map[string]ID) {
	t.Helper()
	s, r := newService(t)
	ids := family(t, s)
	_, err := s.Message(t.Context(), Host{}, ids["me"], "begin")
	require.NoError(t, err)
	r.told()
	return s, r, ids
}

func TestWhoMayInterrupt(t *testing.T) {
	for name, test := range rulers {
		t.Run(name, func(t *testing.T) {
			s, r, ids := atWork(t)
			outcome, err := s.Interrupt(t.Context(), test.who(ids), ids["me"])
			assert.Equal(t, test.want, err)
			assert.Equal(t, Running, get(t, s, ids["me"]).State, "the host reports what became of it")
			if test.want != nil {
				assert.Empty(t, r.told())
				return
			}
			assert.Equal(t, OutcomeStopped, outcome)
			assert.Equal(t, []string{"interrupt me"}, r.told())
		})
	}
}

func TestWhoMayStop(t *testing.T) {
	for name, test := range rulers {
		t.Run(name, func(t *testing.T) {
			s, r, ids := atWork(t)
			outcome, err := s.Stop(t.Context(), test.who(ids), ids["me"])
			assert.Equal(t, test.want, err)
			if test.want != nil {
				assert.Empty(t, r.told())
				assert.Equal(t, Running, get(t, s, ids["me"]).State)
				return
			}
			assert.Equal(t, OutcomeStopped, outcome)
			assert.Equal(t, Stopped, get(t, s, ids["me"]).State)
			assert.ElementsMatch(t, []string{"stop me", "stop child", "stop grandchild"}, r.told())
		})
	}
}

// A task at the top has no parent; a session without a task is not it.
func TestTopTasksAreStoppedByPeople(t *testing.T) {
	s, _ := newService(t)
	top := make1(t, s, "top", "")
	_, err := s.Stop(t.Context(), Session{""}, top)
	assert.Equal(t, ErrNotFound, err)
	_, err = s.Stop(t.Context(), person("operate"), top)
	assert.NoError(t, err)
}

func TestStopIsIdempotent(t *testing.T) {
	s, r := newService(t)
	ids := family(t, s)
	for n, want := range []Outcome{OutcomeStopped, OutcomeNotRunning, OutcomeNotRunning} {
		outcome, err := s.Stop(t.Context(), Session{ids["parent"]}, ids["me"])
		require.NoError(t, err)
		assert.Equal(t, want, outcome, n)
	}
	outcome, err := s.Interrupt(t.Context(), Session{ids["parent"]}, ids["me"])
	require.NoError(t, err)
	assert.Equal(t, OutcomeNotRunning, outcome)
	for _, call := range r.told() {
		assert.False(t, strings.HasPrefix(call, "prompt "), "%s: never a new turn", call)
	}
	for _, name := range []string{"me", "child", "grandchild"} {
		assert.Equal(t, Stopped, get(t, s, ids[name]).State, name)
	}
	for _, name := range []string{"parent", "sibling", "nephew", "stranger"} {
		assert.Equal(t, Created, get(t, s, ids[name]).State, name)
	}
}

func TestInterruptWithoutATurn(t *testing.T) {
	s, r := newService(t)
	id := make1(t, s, "task", "")
	outcome, err := s.Interrupt(t.Context(), person("operate"), id)
	require.NoError(t, err)
	assert.Equal(t, OutcomeNotRunning, outcome)
	r.broken = errBroken
	_, err = s.Interrupt(t.Context(), person("operate"), id)
	assert.ErrorIs(t, err, errBroken)
	assert.Equal(t, Created, get(t, s, id).State)
}

// An agent that does not end: the task has ended all the same, and so did those
// below it; the next stop tries again.
func TestStopThatFails(t *testing.T) {
	s, r := newService(t)
	ids := family(t, s)
	r.broken = errBroken
	outcome, err := s.Stop(t.Context(), Host{}, ids["me"])
	assert.ErrorIs(t, err, errBroken)
	assert.ErrorIs(t, err, ErrStays)
	assert.Equal(t, OutcomeStopped, outcome, "the tasks have ended")
	outcome, err = s.Stop(t.Context(), Host{}, ids["me"])
	assert.ErrorIs(t, err, ErrStays)
	assert.Equal(t, OutcomeNotRunning, outcome, "nothing more has")
	assert.ElementsMatch(t, slices.Repeat([]string{"stop me", "stop child", "stop grandchild"}, 2), r.told())
	_, err = s.Message(t.Context(), Host{}, ids["me"], "go on")
	assert.Equal(t, ErrEnded, err)
	r.broken = nil
	outcome, err = s.Stop(t.Context(), Host{}, ids["me"])
	require.NoError(t, err)
	assert.Equal(t, OutcomeNotRunning, outcome)
	assert.ElementsMatch(t, []string{"stop me", "stop child", "stop grandchild"}, r.told())
}

// A caller who leaves leaves no half of a stop behind, whether the stop had begun or not.
func TestStopGoesOnWithoutItsCaller(t *testing.T) {
	for name, gone := range map[string]bool{"in the middle": false, "before": true} {
		t.Run(name, func(t *testing.T) {
			s, r := newService(t)
			ids := family(t, s)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if gone {
				cancel()
			}
			r.during = func(string, Task) { cancel() }
			outcome, err := s.Stop(ctx, Host{}, ids["me"])
			require.NoError(t, err)
			assert.Equal(t, OutcomeStopped, outcome)
			assert.ElementsMatch(t, []string{"stop me", "stop child", "stop grandchild"}, r.told())
			assert.Equal(t, Stopped, get(t, s, ids["grandchild"]).State)
		})
	}
}

func TestWhoMayComplete(t *testing.T) {
	s, _ := newService(t)
	ids := family(t, s)
	for _, who := range []Actor{Host{}, person("all"), nil, &Session{ids["grandchild"]}} {
		_, err := s.Complete(t.Context(), who, "done")
		assert.Equal(t, ErrForbidden, err, name(who))
	}
	for _, who := range []Actor{Session{}, Session{"task-unknown"}} {
		_, err := s.Complete(t.Context(), who, "done")
		assert.Equal(t, ErrNotFound, err, name(who))
	}
	for _, summary := range []string{"", " \n", "\xff", strings.Repeat("x", MaxSummary+1)} {
		_, err := s.Complete(t.Context(), Session{ids["grandchild"]}, summary)
		assert.ErrorIs(t, err, ErrInvalid)
	}
	done, err := s.Complete(t.Context(), Session{ids["grandchild"]}, "two\nlines")
	require.NoError(t, err)
	assert.Equal(t, Completed, done.State)
	assert.Equal(t, "two\nlines", done.Summary)
	_, err = s.Complete(t.Context(), Session{ids["grandchild"]}, "again")
	assert.Equal(t, ErrEnded, err)
	assert.Equal(t, "two\nlines", get(t, s, ids["grandchild"]).Summary)
}

func TestCompletionNeedsAllChildren(t *testing.T) {
	ends := map[State]func(t *testing.T, s *Service, id ID){
		Completed: func(t *testing.T, s *Service, id ID) {
			_, err := s.Complete(t.Context(), Session{id}, "done")
			require.NoError(t, err)
		},
		Stopped: func(t *testing.T, s *Service, id ID) {
			_, err := s.Stop(t.Context(), Host{}, id)
			require.NoError(t, err)
		},
		Failed: func(t *testing.T, s *Service, id ID) {
			_, err := s.Report(t.Context(), Host{}, id, Report{State: Failed})
			require.NoError(t, err)
		},
	}
	for state, end := range ends {
		t.Run(string(state), func(t *testing.T) {
			s, _ := newService(t)
			parent := make1(t, s, "parent", "")
			children := []ID{make1(t, s, "one", parent), make1(t, s, "two", parent)}
			for _, child := range children {
				_, err := s.Complete(t.Context(), Session{parent}, "done")
				assert.Equal(t, ErrChildren, err)
				end(t, s, child)
				assert.Equal(t, state, get(t, s, child).State)
			}
			_, err := s.Complete(t.Context(), Session{parent}, "done")
			assert.NoError(t, err)
		})
	}
	for _, open := range []State{Running, Waiting, Idle} {
		t.Run(string(open), func(t *testing.T) {
			s, _ := newService(t)
			parent := make1(t, s, "parent", "")
			_, err := s.Report(t.Context(), Host{}, make1(t, s, "child", parent), Report{State: open})
			require.NoError(t, err)
			_, err = s.Complete(t.Context(), Session{parent}, "done")
			assert.Equal(t, ErrChildren, err)
		})
	}
}

// The session of an ended task may look and changes nothing.
func TestSessionOfAnEndedTask(t *testing.T) {
	for _, how := range []string{"completed", "stopped", "failed"} {
		t.Run(how, func(t *testing.T) {
			s, r := newService(t)
			ids := family(t, s)
			me := Session{ids["me"]}
			switch how {
			case "completed":
				for _, id := range []ID{ids["grandchild"], ids["child"], ids["me"]} {
					_, err := s.Complete(t.Context(), Session{id}, "done")
					require.NoError(t, err)
				}
			case "stopped":
				_, err := s.Stop(t.Context(), Host{}, ids["me"])
				require.NoError(t, err)
			default:
				_, err := s.Report(t.Context(), Host{}, ids["me"], Report{State: Failed})
				require.NoError(t, err)
			}
			r.told()
			_, err := s.Create(t.Context(), me, Spec{Title: "late"})
			assert.Equal(t, ErrEnded, err)
			_, err = s.Stop(t.Context(), me, ids["child"])
			assert.Equal(t, ErrEnded, err)
			_, err = s.Interrupt(t.Context(), me, ids["child"])
			assert.Equal(t, ErrEnded, err)
			_, err = s.Message(t.Context(), me, ids["parent"], "one more thing")
			assert.Equal(t, ErrEnded, err)
			_, err = s.Ask(t.Context(), me, "may I?", nil)
			assert.Equal(t, ErrEnded, err)
			_, err = s.Complete(t.Context(), me, "late")
			assert.Equal(t, ErrEnded, err)
			assert.Empty(t, r.told())
			_, err = s.Get(me, ids["child"])
			assert.NoError(t, err)
		})
	}
}

func TestEndedStatesStay(t *testing.T) {
	s, r := newService(t)
	id := make1(t, s, "task", "")
	_, err := s.Stop(t.Context(), Host{}, id)
	require.NoError(t, err)
	r.told()
	before := get(t, s, id)
	for _, state := range []State{Running, Waiting, Idle, Failed} {
		_, err := s.Report(t.Context(), Host{}, id, Report{State: state, Instance: "7"})
		assert.NoError(t, err, fmt.Sprint(state))
	}
	_, err = s.Message(t.Context(), person("operate"), id, "go on")
	assert.Equal(t, ErrEnded, err)
	assert.Equal(t, before, get(t, s, id))
	assert.Empty(t, r.told())
}
