package task

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ids are of one form, by which one that was copied in half is known.
func TestTheFormOfIDs(t *testing.T) {
	for range 100 {
		assert.True(t, newID().WellFormed())
	}
	for _, id := range []ID{"", "task-", "task-abc", "task-abcdefghij23456", "task-abcdefghij2345678", "task-abcdefghij23456!", "TASK-abcdefghij234567", "task-abcdefghij234567\n"} {
		assert.False(t, id.WellFormed(), id)
	}
}

func TestWhoMayCreate(t *testing.T) {
	s, _ := newService(t)
	ids := family(t, s)
	for name, test := range map[string]struct {
		who    Actor
		parent string
		want   error
	}{
		"a session, below its own":           {Session{ids["me"]}, "me", nil},
		"a session, by default":              {Session{ids["me"]}, "", nil},
		"a session, below its child":         {Session{ids["me"]}, "child", ErrNotFound},
		"a session, below its parent":        {Session{ids["me"]}, "parent", ErrNotFound},
		"a session, below nothing":           {Session{ids["me"]}, "unknown", ErrNotFound},
		"a session of nothing":               {Session{}, "", ErrNotFound},
		"a person, at the top":               {person("operate"), "", nil},
		"a person, below a task":             {person("operate"), "me", nil},
		"a person, below nothing":            {person("operate"), "unknown", ErrNotFound},
		"a person without the scope":         {person("view"), "", ErrForbidden},
		"a limited person, at the top":       {person("operate", ids["me"]), "", ErrForbidden},
		"a limited person, below a task":     {person("operate", ids["me"]), "grandchild", nil},
		"a limited person, below another":    {person("operate", ids["me"]), "parent", ErrNotFound},
		"a limited person without the scope": {person("answer", ids["me"]), "", ErrForbidden},
		"the host, at the top":               {Host{}, "", nil},
		"the host, below a task":             {Host{}, "uncle", nil},
		"nobody":                             {nil, "", ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(s.tasks)
			made, err := s.Create(t.Context(), test.who, Spec{Title: "  new\t "[:6], Parent: ids[test.parent]})
			if test.want != nil {
				assert.Equal(t, test.want, err)
				assert.Len(t, s.tasks, before)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "new", made.Title)
			assert.Equal(t, Created, made.State)
			assert.Equal(t, made, get(t, s, made.ID))
			want := ids[test.parent]
			if own, ok := test.who.(Session); ok {
				want = own.Task
			}
			assert.Equal(t, want, made.Parent)
			if want != "" {
				assert.Contains(t, s.tasks[want].children, made.ID)
			}
		})
	}
}

func TestWhatATaskMayBe(t *testing.T) {
	s, r := newService(t)
	for name, test := range map[string]struct {
		spec Spec
		want string // of the error; empty: it is made
	}{
		"all":          {Spec{Title: strings.Repeat("é", MaxTitle), Prompt: strings.Repeat("é", MaxText), Agent: "claude-acp", Directory: "/a b"}, ""},
		"no title":     {Spec{Title: " "}, "the title is empty"},
		"long title":   {Spec{Title: strings.Repeat("é", MaxTitle+1)}, "the title has 201 characters, at most 200"},
		"two lines":    {Spec{Title: "a\nb"}, "put it in one line"},
		"escape":       {Spec{Title: "a\x1b[2J"}, "control characters"},
		"bytes":        {Spec{Title: "\xff"}, "the title is not UTF-8"},
		"long prompt":  {Spec{Title: "t", Prompt: strings.Repeat("x", MaxText+1)}, "the prompt has 65537 characters"},
		"long agent":   {Spec{Title: "t", Agent: strings.Repeat("x", maxName+1)}, "the name of the agent has"},
		"odd agent":    {Spec{Title: "t", Agent: " "}, "the name of the agent is empty"},
		"long folder":  {Spec{Title: "t", Directory: strings.Repeat("x", maxDirectory+1)}, "the directory has"},
		"odd folder":   {Spec{Title: "t", Directory: "/a\x00"}, "the directory has line breaks or control"},
		"prompt bytes": {Spec{Title: "t", Prompt: "\xff"}, "the prompt is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Create(t.Context(), Host{}, test.spec)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorIs(t, err, ErrInvalid)
			assert.ErrorContains(t, err, test.want)
		})
	}
	assert.Len(t, s.tasks, 1)
	assert.Len(t, r.told(), 1)
}

func TestTreesAreBounded(t *testing.T) {
	s, _ := newService(t)
	var lowest ID
	for range MaxDepth {
		lowest = make1(t, s, "deeper", lowest)
	}
	_, err := s.Create(t.Context(), Session{lowest}, Spec{Title: "too deep"})
	assert.ErrorIs(t, err, ErrFull)
	assert.ErrorContains(t, err, "8 levels deep")

	wide := make1(t, s, "wide", "")
	for range MaxChildren {
		make1(t, s, "one more", wide)
	}
	_, err = s.Create(t.Context(), Session{wide}, Spec{Title: "too many"})
	assert.ErrorIs(t, err, ErrFull)
	assert.ErrorContains(t, err, "100 tasks below it")
	assert.Len(t, s.tasks, MaxDepth+1+MaxChildren)
}

func TestCreateWithAPromptBegins(t *testing.T) {
	s, r := newService(t)
	r.during = func(_ string, task Task) {
		assert.Equal(t, Running, get(t, s, task.ID).State, "it is stored before the agent hears of it")
	}
	made, err := s.Create(t.Context(), person("operate"), Spec{Title: "new", Prompt: "begin"})
	require.NoError(t, err)
	assert.Equal(t, Running, made.State)
	assert.Equal(t, []string{"prompt new"}, r.told())

	r.broken = errBroken
	failed, err := s.Create(t.Context(), person("operate"), Spec{Title: "bad", Prompt: "begin"})
	assert.ErrorIs(t, err, errBroken)
	assert.Equal(t, Failed, failed.State)
	assert.Equal(t, failed, get(t, s, failed.ID))
}

func TestEndedTasksGetNoChildren(t *testing.T) {
	s, _ := newService(t)
	ids := family(t, s)
	_, err := s.Stop(t.Context(), Host{}, ids["me"])
	require.NoError(t, err)
	for _, who := range []Actor{Session{ids["me"]}, Host{}, person("operate")} {
		_, err := s.Create(t.Context(), who, Spec{Title: "late", Parent: ids["me"]})
		assert.Equal(t, ErrEnded, err, name(who))
	}
	_, err = s.Create(t.Context(), Host{}, Spec{Title: "beside", Parent: ids["parent"]})
	assert.NoError(t, err)
}
