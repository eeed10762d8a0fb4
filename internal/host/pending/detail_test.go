package pending

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func detailOf(t *testing.T, c Config, line string) Detail {
	t.Helper()
	s, w := watched(t, c), &wire{}
	got, err := s.Detail(register(t, s, decodedOffer(t, line, w)))
	require.NoError(t, err)
	return got
}

func TestDetail(t *testing.T) {
	for name, test := range map[string]struct {
		toolCall string
		want     Detail
	}{
		"arguments, unmasked": {
			`"title":"curl -u a:b h","rawInput":{"command":"curl -u a:b h","n":[1]}`,
			Detail{Title: "curl -u a:b h", Arguments: `{"command":"curl -u a:b h","n":[1]}`},
		},
		"a diff": {
			`"content":[{"type":"diff","path":"/x","oldText":"a\n\tb","newText":"c\u202e\u001b","_meta":{"k":"secret"}}]`,
			Detail{Changes: []Change{{Path: "/x", Old: "a\n    b", New: `c\u202e\x1b`}}},
		},
		"a new file":      {`"content":[{"type":"diff","path":"/x","oldText":null,"newText":"c"}]`, Detail{Changes: []Change{{Path: "/x", New: "c"}}}},
		"a patch":         {`"content":[{"type":"diff","changes":[{"path":"/x"},{"path":"/y"}],"patch":{"text":"+hi\n"}}]`, Detail{Changes: []Change{{Path: "/x, /y", Patch: "+hi\n"}}}},
		"a note":          {`"content":[{"type":"content","content":{"type":"text","text":"a\nb"}},{"type":"terminal","terminalId":"t"}]`, Detail{Notes: []string{"a\nb"}}},
		"something else":  {`"content":[{"type":"image","data":"x","_meta":{"k":"secret"}},7]`, Detail{Notes: []string{`{"type":"image","data":"x"}`, "7"}}},
		"no list":         {`"content":{"type":"text"}`, Detail{Notes: []string{`{"type":"text"}`}}},
		"an empty list":   {`"title":"t","content":[]`, Detail{Title: "t"}},
		"hidden in JSON":  {`"rawInput":{"a":"` + "\u202e" + `\u202e"}`, Detail{Arguments: `{"a":"\u202e\u202e"}`}},
		"metadata is not": {`"title":"t","_meta":{"k":"secret"}`, Detail{Title: "t"}},
		"nothing":         {`"status":"pending"`, Detail{}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, detailOf(t, Config{}, lineOf(test.toolCall)))
		})
	}
}

func TestDetailOfAnotherSubject(t *testing.T) {
	line := `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","title":"Run it?",` +
		`"subject":{"type":"command","command":"ls","_meta":{"k":"secret"}},` + optionsJSON + `}}`
	assert.Equal(t, Detail{Title: "Run it?", Arguments: `{"type":"command","command":"ls"}`}, detailOf(t, Config{}, line))

	line = `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","title":"Run it?","description":"all of it",` +
		`"subject":{"type":"tool_call","toolCall":{"toolCallId":"c","title":"ls","content":[{"type":"content","content":{"type":"text","text":"n"}}]}},` + optionsJSON + `}}`
	assert.Equal(t, Detail{Title: "ls", Notes: []string{"Run it?\nall of it", "n"}}, detailOf(t, Config{}, line))
}

func TestDetailIsBounded(t *testing.T) {
	line := lineOf(`"title":"t","rawInput":{"command":"` + strings.Repeat("é\u202e", 1000) + `"},"content":[{"type":"diff","path":"/x","newText":"` + strings.Repeat("x", 5000) + `"}]`)
	for limit := 1; limit < 200; limit++ {
		got := detailOf(t, Config{MaxDetail: limit}, line)
		assert.True(t, utf8.ValidString(got.Arguments))
		assert.NotContains(t, got.Arguments, "\u202e")
		assert.Positive(t, got.Left)
	}
	got := detailOf(t, Config{MaxDetail: 6000}, line)
	assert.Len(t, got.Changes, 0)
	assert.Len(t, got.Notes, 1, "half a diff is shown as it is")
	assert.True(t, strings.HasPrefix(got.Notes[0], `[{"type":"diff","path":"/x","newText":"xxx`))
	assert.Len(t, detailOf(t, Config{}, line).Changes, 1)
}

// What is kept for details is counted, bounded and given back.
func TestDetailsTogetherAreBounded(t *testing.T) {
	s, w := watched(t, Config{MaxDetails: 100_000}), &wire{}
	line := lineOf(`"rawInput":{"command":"` + strings.Repeat("x", 40_000) + `"}`)
	for range 10 {
		register(t, s, decodedOffer(t, line, w))
	}
	assert.Equal(t, int64(2*40_014+8*smallDetail+10*sourceHeader), s.details.Load())
	page := s.List(Query{})
	first, err := s.Detail(page[0].Key)
	require.NoError(t, err)
	assert.Zero(t, first.Left)
	last, err := s.Detail(page[9].Key)
	require.NoError(t, err)
	assert.Equal(t, 40_014-smallDetail, last.Left)
	assert.Len(t, last.Arguments, smallDetail)

	s.CancelSession("i", "s")
	assert.Zero(t, s.details.Load())
	_, err = s.Register(offer("i", strings.Repeat("s", maxText), "1", w))
	require.Error(t, err)
	s.Close()
	_, err = s.Register(decodedOffer(t, line, w))
	require.Error(t, err)
	assert.Zero(t, s.details.Load())
}
