package token

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/testlog"
)

func many(n int) []string {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprint("task-", i))
	}
	return ids
}

func TestWhatATokenMayBe(t *testing.T) {
	s := openStore(t, openState(t, t.TempDir()), &testlog.Buffer{})
	view := []string{"view"}
	for name, test := range map[string]struct {
		name   string
		scopes []string
		tasks  []string
		want   string // of the error; empty: it is made
	}{
		"all tasks":        {"wall", view, nil, ""},
		"some tasks":       {"wall.2_b-c", []string{"answer", "operate", "view"}, many(maxTasks), ""},
		"longest":          {strings.Repeat("x", 64), view, []string{strings.Repeat("x", maxTaskID)}, ""},
		"no name":          {"", view, nil, "a name has"},
		"long name":        {strings.Repeat("x", 65), view, nil, "a name has"},
		"odd name":         {"a b", view, nil, "a name has"},
		"name of an arrow": {"-x", view, nil, "a name has"},
		"line":             {"a\n", view, nil, "a name has"},
		"no scope":         {"n", nil, nil, "at least one scope"},
		"unknown scope":    {"n", []string{"view", "admin"}, nil, "a scope is"},
		"case":             {"n", []string{"View"}, nil, "a scope is"},
		"twice":            {"n", []string{"view", "view"}, nil, "a scope is"},
		"no tasks at all":  {"n", view, []string{}, "1 to 100 tasks"},
		"too many tasks":   {"n", view, many(maxTasks + 1), "1 to 100 tasks"},
		"empty task":       {"n", view, []string{"a", ""}, "the id of a task"},
		"long task":        {"n", view, []string{strings.Repeat("x", maxTaskID+1)}, "the id of a task"},
		"bytes":            {"n", view, []string{"\xff"}, "the id of a task"},
	} {
		t.Run(name, func(t *testing.T) {
			secret, token, err := s.Create(t.Context(), test.name, test.scopes, test.tasks)
			if test.want == "" {
				require.NoError(t, err)
				assert.Regexp(t, `^assent_[A-Za-z0-9_-]{43}$`, secret)
				assert.Equal(t, test.tasks, token.Tasks)
				return
			}
			assert.ErrorIs(t, err, ErrInvalid)
			assert.ErrorContains(t, err, test.want)
			assert.Empty(t, secret)
		})
	}
	assert.Len(t, s.List(), 3)
}

func TestParseScopes(t *testing.T) {
	got, err := ParseScopes([]string{"answer", "view"})
	require.NoError(t, err)
	assert.Equal(t, dispatch.Scopes{dispatch.ScopeAnswer, dispatch.ScopeView}, got)
	for _, list := range [][]string{nil, {""}, {"view "}, {"view", "view"}} {
		_, err := ParseScopes(list)
		assert.ErrorIs(t, err, ErrInvalid, "%q", list)
	}
}

func TestPersonOfAToken(t *testing.T) {
	token := Token{Name: "wall", Scopes: dispatch.Scopes{dispatch.ScopeView}, Tasks: []string{"a"}}
	person := token.Person()
	assert.Equal(t, dispatch.Person{Name: "wall", Scopes: dispatch.Scopes{dispatch.ScopeView}, Tasks: []string{"a"}}, person)
	person.Tasks[0], person.Scopes[0] = "b", dispatch.ScopeAnswer
	assert.Equal(t, []string{"a"}, token.Tasks)
	assert.False(t, token.Scopes.Has(dispatch.ScopeAnswer))
	assert.Nil(t, Token{}.Person().Tasks, "all stays all")
}

func TestTokensPrintTheirNameAlone(t *testing.T) {
	token := Token{Name: "wall", Tasks: []string{"sesame"}, digest: digestOf("sesame")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		assert.Equal(t, `token "wall"`, fmt.Sprintf(verb, token))
	}
	assert.Equal(t, "wall", token.LogValue().String())
}

// What is stored gives the same token back.
func TestRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := Token{
			Name:    rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,63}`).Draw(t, "name"),
			Scopes:  rapid.SliceOfNDistinct(rapid.SampledFrom([]dispatch.Scope{dispatch.ScopeView, dispatch.ScopeOperate, dispatch.ScopeAnswer}), 1, 3, rapid.ID).Draw(t, "scopes"),
			Tasks:   rapid.OneOf(rapid.Just([]string(nil)), rapid.SliceOfN(rapid.StringN(1, 20, maxTaskID), 1, 5)).Draw(t, "tasks"),
			Created: time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "created"), 0).UTC(),
			digest:  digestOf(rapid.String().Draw(t, "secret")),
		}
		text, err := token.encode()
		require.NoError(t, err)
		got, err := decode(token.Name, text)
		require.NoError(t, err)
		assert.True(t, assert.ObjectsAreEqual(token, got), "%s", text)
	})
}

func TestRecordsThatAreNone(t *testing.T) {
	const good = `{"name":"n","scopes":["view"],"all_tasks":true,"tasks":[],"created":"2026-01-02T03:04:05Z","sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`
	_, err := decode("n", []byte(good))
	require.NoError(t, err)
	for _, change := range [][2]string{
		{`"all_tasks":true`, `"all_tasks":false`}, {`"all_tasks":true,`, ``}, {`"tasks":[]`, `"tasks":["a"]`},
		{`["view"]`, `["root"]`}, {`["view"]`, `[]`}, {`"name":"n"`, `"name":"m"`}, {`"name"`, `"Name"`},
		{`AAAA=`, `AA==`}, {`{"name"`, `{"more":1,"name"`}, {`{"name"`, `{"name":"n","name"`}, {`}`, ``},
	} {
		_, err := decode("n", []byte(strings.Replace(good, change[0], change[1], 1)))
		assert.Error(t, err, "%s", change)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name":"n","scopes":["view"],"all_tasks":true,"tasks":[],"created":"2026-01-02T03:04:05Z","sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`))
	f.Add([]byte(`{"name":"n"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		token, err := decode("n", text)
		if err != nil {
			return
		}
		if token.check() != nil {
			t.Fatal("a token was read that cannot be made")
		}
		again, err := token.encode()
		if err != nil {
			t.Skip("a time beyond what JSON can say")
		}
		if same, err := decode("n", again); err != nil || !assert.ObjectsAreEqual(token, same) {
			t.Fatalf("%s is read as another token than %s", again, text)
		}
	})
}
