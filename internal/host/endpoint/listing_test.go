package endpoint

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func page(next string, names ...string) json.RawMessage {
	tools := []map[string]string{}
	for _, n := range names {
		tools = append(tools, map[string]string{"name": n})
	}
	body, _ := json.Marshal(map[string]any{"tools": tools, "nextCursor": next})
	return body
}

func TestListingPageByPage(t *testing.T) {
	var l listing
	for i, step := range []struct {
		cursor string
		body   json.RawMessage
		want   []string
	}{
		{"", page("2", "a", "b"), []string{"a", "b"}},
		{"2", page("3", "c"), []string{"a", "b", "c"}},
		{"3", page("", "d"), []string{"a", "b", "c", "d"}},
		{"", page("2", "a", "new"), []string{"a", "b", "c", "d", "new"}}, // the old ones count until this one is whole
		{"2", page("", "e"), []string{"a", "new", "e"}},
		{"", page("x", "f"), []string{"a", "e", "f", "new"}},
		{"", page("y", "g"), []string{"a", "e", "f", "g", "new"}}, // another listing at the same time
		{"x", page("", "h"), []string{"f", "h"}},
		{"y", page("", "i"), []string{"g", "i"}},
		{"unknown", page("", "j"), []string{"g", "i", "j"}},
		{"", page(""), []string{}},
	} {
		got, err := l.page(step.cursor, step.body)
		require.NoError(t, err)
		assert.ElementsMatch(t, step.want, got, "step %d", i)
	}
	for _, bad := range []string{`{}`, `{"tools":null}`, `{"tools":{}}`, `{"tools":[{"name":1}]}`, `{"Tools":[]}`, `[]`, `{"tools":[],"tools":[]}`, `{"tools":[],"nextCursor":1}`, ``} {
		_, err := l.page("", json.RawMessage(bad))
		require.Error(t, err, bad)
	}
	got, err := l.page("", json.RawMessage(`{"tools":[{"name":"k","description":"`+"\xff"+`","Name":"no"}]}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"k"}, got)
}

// However a list is cut into pages, in the end it is the whole list.
func TestListingIsTheWholeList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l listing
		for round := range rapid.IntRange(1, 4).Draw(t, "rounds") {
			all := rapid.SliceOfDistinct(rapid.StringMatching(`[a-z]{1,3}`), func(s string) string { return s }).Draw(t, "tools")
			cursor, given := "", []string{}
			for rest := slices.Clone(all); ; {
				n := rapid.IntRange(0, len(rest)).Draw(t, "page")
				next := ""
				if n < len(rest) {
					next = fmt.Sprint(round, "-", len(given), "-", len(rest)-n, rapid.IntRange(0, 1<<30).Draw(t, "cursor"))
				}
				given = append(given, rest[:n]...)
				got, err := l.page(cursor, page(next, rest[:n]...))
				require.NoError(t, err)
				assert.Subset(t, got, given)
				rest, cursor = rest[n:], next
				if next == "" {
					assert.ElementsMatch(t, all, got)
					break
				}
			}
		}
	})
}

func TestListingIsBounded(t *testing.T) {
	var l listing
	for i := range 10 * maxChains {
		_, err := l.page("", page(fmt.Sprint(i), fmt.Sprint("t", i)))
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, len(l.chains), maxChains)
}

func FuzzListing(f *testing.F) {
	f.Add("", []byte(`{"tools":[{"name":"a"}],"nextCursor":"x"}`))
	f.Fuzz(func(t *testing.T, cursor string, body []byte) {
		var l listing
		got, err := l.page(cursor, body)
		assert.True(t, err == nil || got == nil)
	})
}

func TestHandedOn(t *testing.T) {
	for _, c := range []struct {
		body, method string
		modern       bool
		want         string
	}{
		{`{"a":9007199254740993}`, "tools/call", false, `{"a":9007199254740993}`},
		{`{"a":1}`, "tools/call", true, `{"resultType":"complete","a":1}`},
		{` { } `, "tools/call", true, `{"resultType":"complete"}`},
		{`{"resultType":"input_required"}`, "tools/call", true, `{"resultType":"input_required"}`},
		{`{"tools":[]}`, "tools/list", true, `{"cacheScope":"private","resultType":"complete","ttlMs":0,"tools":[]}`},
		{`{"ttlMs":5,"cacheScope":"public","resultType":"complete"}`, "resources/read", true, `{"ttlMs":5,"cacheScope":"public","resultType":"complete"}`},
		{`[]`, "tools/call", false, ""},
		{`null`, "tools/call", false, ""},
		{``, "tools/call", false, ""},
		{`{"a":1`, "tools/call", true, ""},
	} {
		r, err := newHandedOn(json.RawMessage(c.body), c.method, c.modern)
		if c.want == "" {
			require.Error(t, err, c.body)
			continue
		}
		require.NoError(t, err, c.body)
		assert.Equal(t, c.want, string(r.body))
		r.SetMeta(map[string]any{"x": 1})
		out, err := json.Marshal(r)
		require.NoError(t, err)
		assert.JSONEq(t, c.want, string(out))
	}
}
