package task

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

func TestReachability(t *testing.T) {
	s, _ := newService(t)
	ids := family(t, s)
	everything := []string{"grandparent", "parent", "uncle", "me", "sibling", "nephew", "child", "grandchild", "stranger"}
	for name, test := range map[string]struct {
		who  Actor
		sees []string
	}{
		"a task sees itself, its parent, its descendants": {Session{ids["me"]}, []string{"parent", "me", "child", "grandchild"}},
		"one at the top":            {Session{ids["stranger"]}, []string{"stranger"}},
		"one at the bottom":         {Session{ids["grandchild"]}, []string{"child", "grandchild"}},
		"the host":                  {Host{}, everything},
		"a person":                  {person("view"), everything},
		"a person with a task":      {person("view", ids["parent"]), []string{"parent", "me", "sibling", "nephew", "child", "grandchild"}},
		"a person with two tasks":   {person("view", ids["nephew"], ids["child"]), []string{"nephew", "child", "grandchild"}},
		"a person with nothing":     {person("view", "task-unknown"), nil},
		"a person with an empty id": {person("view", ""), nil},
		"a person with no task":     {Person{Scopes: dispatch.Scopes{dispatch.ScopeView}, Tasks: []string{}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := s.List(test.who)
			require.NoError(t, err)
			assert.Equal(t, test.sees, titles(list), "oldest first")
			for _, name := range all {
				got, err := s.Get(test.who, ids[name])
				assert.Equal(t, slices.Contains(test.sees, name), s.MaySee(test.who, "", ids[name]), name)
				if !slices.Contains(test.sees, name) {
					assert.Equal(t, ErrNotFound, err, name)
					continue
				}
				require.NoError(t, err, name)
				assert.Equal(t, name, got.Title)
			}
		})
	}
}

func TestNobodySeesAnything(t *testing.T) {
	s, _ := newService(t)
	ids := family(t, s)
	for _, who := range []Actor{nil, &Session{ids["me"]}, &Host{}, outsider{Session{ids["me"]}}, Person{}, person("operate"), person("answer")} {
		_, err := s.List(who)
		assert.Equal(t, ErrForbidden, err, name(who))
		_, err = s.Get(who, ids["me"])
		assert.Equal(t, ErrForbidden, err, name(who))
		assert.False(t, s.MaySee(who, "", ids["me"]), name(who))
	}
	for _, who := range []Actor{person("operate"), person("answer"), person("answer", ids["me"]), person("view")} {
		assert.True(t, s.Reaches(who, "", ids["me"]), "%s: it is there for other actions", name(who))
	}
	for _, who := range []Actor{nil, &Session{ids["me"]}, &Host{}, person("answer", ids["child"]), Session{ids["grandchild"]}} {
		assert.False(t, s.Reaches(who, "", ids["me"]), name(who))
	}
	for _, who := range []Actor{Session{}, Session{"task-unknown"}} {
		_, err := s.List(who)
		assert.Equal(t, ErrNotFound, err, name(who))
	}
}

func TestWatchedTasks(t *testing.T) {
	s, _ := newService(t)
	ids := family(t, s)
	for _, test := range []struct {
		who         Actor
		watched, of string
		want        bool
	}{
		{person("view"), "", "stranger", true},
		{person("view"), "me", "me", true},
		{person("view"), "me", "grandchild", true},
		{person("view"), "me", "parent", false},
		{person("view"), "unknown", "me", false},
		{person("view", ids["me"]), "me", "grandchild", true},
		{person("view", ids["me"]), "", "grandchild", true},
		{person("view", ids["me"]), "", "parent", false},
		{person("view", ids["me"]), "parent", "child", false}, // it may not know that it is below
	} {
		assert.Equal(t, test.want, s.MaySee(test.who, ids[test.watched], ids[test.of]), "%s watches %q: %q", name(test.who), test.watched, test.of)
	}
}

// A method about one task, as everybody might call it.
var methods = map[string]func(t *testing.T, s *Service, who Actor, id ID) error{
	"get": func(t *testing.T, s *Service, who Actor, id ID) error { _, err := s.Get(who, id); return err },
	"stop": func(t *testing.T, s *Service, who Actor, id ID) error {
		_, err := s.Stop(t.Context(), who, id)
		return err
	},
	"interrupt": func(t *testing.T, s *Service, who Actor, id ID) error {
		_, err := s.Interrupt(t.Context(), who, id)
		return err
	},
	"message": func(t *testing.T, s *Service, who Actor, id ID) error {
		_, err := s.Message(t.Context(), who, id, "go on")
		return err
	},
	"create": func(t *testing.T, s *Service, who Actor, id ID) error {
		_, err := s.Create(t.Context(), who, Spec{Title: "new", Parent: id})
		return err
	},
}

// Nothing but the id tells a task that is not for somebody from one that does not
// exist: the errors are the same value.
func TestUnknownAndForbiddenLookTheSame(t *testing.T) {
	s, r := newService(t)
	ids := family(t, s)
	for method, call := range methods {
		for _, who := range []Actor{Session{ids["me"]}, person("all", ids["child"])} {
			for _, name := range []string{"unknown", "stranger", "sibling", "nephew", "uncle", "grandparent"} {
				assert.Equal(t, ErrNotFound, call(t, s, who, ids[name]), "%s %s", method, name)
			}
		}
	}
	assert.Empty(t, r.told())
}

// Who may never do something is told so before any task is looked up.
func TestForbiddenWhateverTheTask(t *testing.T) {
	s, r := newService(t)
	ids := family(t, s)
	for method, call := range methods {
		for _, who := range []Actor{nil, &Session{ids["parent"]}, outsider{Session{ids["parent"]}}, person(""), person("answer"), person("view")} {
			if method == "get" && who != nil && name(who) == name(person("view")) {
				continue
			}
			for _, name := range []string{"unknown", "me", "stranger"} {
				assert.Equal(t, ErrForbidden, call(t, s, who, ids[name]), "%s %s", method, name)
			}
		}
	}
	assert.Empty(t, r.told())
	assert.Len(t, s.tasks, 9)
}
