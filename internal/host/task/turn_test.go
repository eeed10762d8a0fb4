package task

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhoMayMessage(t *testing.T) {
	s, r := newService(t)
	ids := family(t, s)
	for name, test := range map[string]struct {
		who  Actor
		to   string
		want error
	}{
		"the parent":                 {Session{ids["me"]}, "parent", nil},
		"a child":                    {Session{ids["me"]}, "child", nil},
		"a grandchild":               {Session{ids["me"]}, "grandchild", nil},
		"itself":                     {Session{ids["me"]}, "me", ErrNotFound},
		"a sibling":                  {Session{ids["me"]}, "sibling", ErrNotFound},
		"a grandparent":              {Session{ids["me"]}, "grandparent", ErrNotFound},
		"a stranger":                 {Session{ids["me"]}, "stranger", ErrNotFound},
		"nothing":                    {Session{ids["me"]}, "unknown", ErrNotFound},
		"from a person":              {person("operate"), "me", nil},
		"from a limited person":      {person("operate", ids["me"]), "child", nil},
		"from another person":        {person("operate", ids["child"]), "me", ErrNotFound},
		"from a person who may look": {person("view"), "me", ErrForbidden},
		"from the host":              {Host{}, "me", nil},
		"from nobody":                {nil, "me", ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Message(t.Context(), test.who, ids[test.to], "go on")
			if test.want != nil {
				assert.Equal(t, test.want, err)
				assert.Empty(t, r.told())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []string{"prompt " + test.to}, r.told())
			assert.Equal(t, Running, get(t, s, ids[test.to]).State)
		})
	}
}

func TestMessagesAreBounded(t *testing.T) {
	s, r := newService(t)
	id := make1(t, s, "task", "")
	for _, text := range []string{"", " \n ", "\xff", strings.Repeat("x", MaxText+1)} {
		_, err := s.Message(t.Context(), Host{}, id, text)
		assert.ErrorIs(t, err, ErrInvalid)
	}
	assert.Empty(t, r.told())
	_, err := s.Message(t.Context(), Host{}, id, strings.Repeat("é", MaxText))
	assert.NoError(t, err)
}

// What the agent does not take leaves a task as it was; one that never ran failed.
func TestAgentThatIsNotPrompted(t *testing.T) {
	for before, want := range map[State]State{Created: Failed, Idle: Idle, Running: Running, Waiting: Waiting} {
		t.Run(string(before), func(t *testing.T) {
			s, r := newService(t)
			id := make1(t, s, "task", "")
			if before != Created {
				_, err := s.Report(t.Context(), Host{}, id, Report{State: before})
				require.NoError(t, err)
			}
			r.broken = errBroken
			got, err := s.Message(t.Context(), Host{}, id, "go on")
			assert.ErrorIs(t, err, errBroken)
			assert.Equal(t, want, got.State)
			assert.Equal(t, want, get(t, s, id).State)
		})
	}
}

// A caller who gives up leaves no task that seems to run.
func TestPromptWithACallerWhoGivesUp(t *testing.T) {
	s, r := newService(t)
	id := make1(t, s, "task", "")
	ctx, cancel := context.WithCancel(t.Context())
	r.broken, r.during = errBroken, func(string, Task) { cancel() }
	_, err := s.Message(ctx, Host{}, id, "go on")
	assert.ErrorIs(t, err, errBroken)
	assert.Equal(t, Failed, get(t, s, id).State)
	_, err = s.Message(ctx, Host{}, make1(t, s, "other", ""), "go on")
	assert.Error(t, err)
}

func TestReports(t *testing.T) {
	s, _ := newService(t)
	id := make1(t, s, "task", "")
	for _, who := range []Actor{nil, Session{id}, person("all"), &Host{}} {
		_, err := s.Report(t.Context(), who, id, Report{State: Failed})
		assert.Equal(t, ErrForbidden, err, name(who))
	}
	for _, r := range []Report{{}, {State: Created}, {State: Stopped}, {State: Completed}, {State: "odd"}, {State: Idle, Instance: strings.Repeat("x", maxName+1)}, {State: Idle, Session: "\xff"}, {State: Idle, Note: strings.Repeat("x", maxNote+1)}} {
		_, err := s.Report(t.Context(), Host{}, id, r)
		assert.ErrorIs(t, err, ErrInvalid)
	}
	_, err := s.Report(t.Context(), Host{}, "task-unknown", Report{State: Idle})
	assert.Equal(t, ErrNotFound, err)
	assert.Equal(t, Created, get(t, s, id).State)

	got, err := s.Report(t.Context(), Host{}, id, Report{Running, "3", "session-1", "noted"})
	require.NoError(t, err)
	assert.Equal(t, []any{Running, "3", "session-1", "noted"}, []any{got.State, got.Instance, got.Session, got.Note})
	got, err = s.Report(t.Context(), Host{}, id, Report{State: Idle})
	require.NoError(t, err)
	assert.Equal(t, []any{Idle, "", "session-1", ""}, []any{got.State, got.Instance, got.Session, got.Note}, "the session can be resumed")
	assert.Equal(t, got, get(t, s, id))
	revision := s.tasks[id].revision
	_, err = s.Report(t.Context(), Host{}, id, Report{State: Idle})
	require.NoError(t, err)
	assert.Equal(t, revision, s.tasks[id].revision, "nothing new is not written")
	got, err = s.Report(t.Context(), Host{}, id, Report{State: Failed, Instance: "3"})
	require.NoError(t, err)
	assert.Equal(t, []any{Failed, ""}, []any{got.State, got.Instance})
}
