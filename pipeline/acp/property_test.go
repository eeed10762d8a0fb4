package acp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// pieces gives a stream in parts of the given lengths, over and over.
type pieces struct {
	rest    []byte
	lengths []int
	n       int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	length := p.lengths[p.n%len(p.lengths)]
	p.n++
	n := copy(b[:min(length, len(b))], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// plainLines takes a stream apart without any buffer.
func plainLines(stream string, limit int) (reads []read) {
	for stream != "" {
		line, rest, whole := strings.Cut(stream, "\n")
		stream = rest
		if whole {
			line = strings.TrimSuffix(line, "\r")
		}
		switch {
		case len(line) > limit:
			reads = append(reads, read{"", &acp.LineTooLongError{Limit: limit}})
		case whole:
			reads = append(reads, read{line, nil})
		default:
			reads = append(reads, read{line, acp.ErrCutLine})
		}
	}
	return reads
}

// However a stream is cut into reads, its lines are the same.
func TestReaderProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(
			rapid.SampledFrom([]string{"\n", "\r\n", "\r", "x", `{"id":1}`, "\x00", "ü"}),
			rapid.StringN(0, 20, 40),
			rapid.Map(rapid.IntRange(65_500, 65_600), func(n int) string { return strings.Repeat("y", n) }),
		)
		stream := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "stream"), "")
		limit := rapid.SampledFrom([]int{1, 5, 64, 65_535, 65_536, 1 << 20}).Draw(t, "limit")
		lengths := rapid.SliceOfN(rapid.IntRange(1, 70_000), 1, 8).Draw(t, "lengths")
		got := readAll(acp.NewReader(&pieces{rest: []byte(stream), lengths: lengths}, limit))
		if !assert.ObjectsAreEqual(plainLines(stream, limit), got) {
			t.Fatalf("%d reads, wanted %d", len(got), len(plainLines(stream, limit)))
		}
	})
}

// What a Writer writes, a Reader reads.
func TestWriterProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[^\n\r]*`)).Draw(t, "lines")
		var stream bytes.Buffer
		w := acp.NewWriter(&stream)
		var want []read
		for _, line := range lines {
			require.NoError(t, w.WriteLine([]byte(line)))
			want = append(want, read{line, nil})
		}
		require.Equal(t, want, readAll(acp.NewReader(iotest.HalfReader(&stream), 0)))
	})
}

// jsonText draws JSON values with many keys that matter, duplicates included.
func jsonText() *rapid.Generator[string] {
	scalar := rapid.OneOf(
		rapid.SampledFrom([]string{
			`null`, `true`, `0`, `-1.5e3`, `9007199254740993`, `""`, `"1"`, `"x"`, `"\u0061\/"`, `"session/request_permission"`, `"session\/update"`,
			`"session/request\u005fpermission"`, `"}{\"]["`, `"\\"`, `"\\\""`, `"ü"`,
		}),
		rapid.Map(rapid.String(), func(s string) string {
			quoted, _ := json.Marshal(s)
			return string(quoted)
		}),
	)
	key := rapid.SampledFrom([]string{
		`"id"`, `"method"`, `"params"`, `"result"`, `"error"`, `"jsonrpc"`, `"ID"`, `"i\u0064"`, `"m\u0065thod"`, `"Method"`, `"x"`, `""`, `"a\"b"`, `"id\\"`,
	})
	space := rapid.SampledFrom([]string{"", "", "", " ", "\t", "\r", " \n "})
	var value func(depth int) *rapid.Generator[string]
	object := func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			var b strings.Builder
			for i := range rapid.IntRange(0, 5).Draw(t, "members") {
				if i > 0 {
					b.WriteString(",")
				}
				s := space.Draw(t, "space")
				b.WriteString(s + key.Draw(t, "key") + s + ":" + s + value(depth-1).Draw(t, "value") + s)
			}
			return "{" + b.String() + "}"
		})
	}
	value = func(depth int) *rapid.Generator[string] {
		if depth <= 0 {
			return scalar
		}
		list := rapid.Map(rapid.SliceOfN(scalar, 0, 3), func(s []string) string { return "[" + strings.Join(s, " , ") + "]" })
		return rapid.OneOf(scalar, scalar, object(depth), list)
	}
	return object(3)
}

// strictly reads the top level with the library: how often each key is there, and
// the last value of it.
func strictly(t require.TestingT, line string) (count map[string]int, last map[string]string) {
	count, last = map[string]int{}, map[string]string{}
	dec := jsontext.NewDecoder(strings.NewReader(line), jsontext.AllowDuplicateNames(true))
	_, err := dec.ReadToken()
	require.NoError(t, err)
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		require.NoError(t, err)
		name := key.String()
		value, err := dec.ReadValue()
		require.NoError(t, err)
		count[name]++
		last[name] = string(value)
	}
	return count, last
}

// For valid JSON, Peek agrees with a strict decoder about ids, methods and kinds.
func TestPeekProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := jsonText().Draw(t, "line")
		f, err := acp.Peek([]byte(line))
		require.NoError(t, err)
		require.Equal(t, strings.Trim(line, " \t\r\n"), string(f.Line))
		count, last := strictly(t, line)
		require.Equal(t, last["id"], f.ID.String())
		require.Equal(t, count["id"] > 0, f.ID.Present())
		if count["method"] <= 1 {
			var method string
			_ = json.Unmarshal([]byte(last["method"]), &method) // no string is no method
			require.Equal(t, method, f.Method)
		}
		require.Equal(t, kindOf(count, last["id"], f.Method), f.Kind)
	})
}

func kindOf(count map[string]int, id, method string) acp.FrameKind {
	switch {
	case count["result"]+count["error"] > 0:
		return acp.KindResponse
	case method == "":
		return acp.KindInvalid
	case count["id"] == 0:
		return acp.KindNotification
	case strings.IndexByte(`"-0123456789`, id[0]) >= 0:
		return acp.KindRequest
	}
	return acp.KindUnanswerable
}

// Answers are always one valid JSON object, with the id as it came and an option
// that was offered.
func TestAnswerProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{`0`, `-7`, `1.50`, `12345678901234567890`, `"a"`, `"\u0061"`, `""`, `"\ud83d\ude00"`}).Draw(t, "id")
		o := &acp.Offer{ID: acp.NewID(id), Reason: rapid.SampledFrom([]pipeline.Reason{"", "", acp.ReasonUnreadable}).Draw(t, "reason")}
		for _, option := range rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "options") {
			o.Request.Options = append(o.Request.Options, pipeline.Option{ID: option})
		}
		index := rapid.IntRange(-1, 6).Draw(t, "index")
		line := o.Select(index)
		require.True(t, jsontext.Value(line).IsValid())
		var answer struct {
			JSONRPC string
			ID      json.RawMessage
			Result  struct {
				Outcome struct {
					Outcome  string
					OptionID *string
				}
			}
		}
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		require.NoError(t, dec.Decode(&answer))
		require.Equal(t, "2.0", answer.JSONRPC)
		require.Equal(t, id, string(answer.ID))
		if o.Reason == "" && index >= 0 && index < len(o.Request.Options) {
			require.Equal(t, "selected", answer.Result.Outcome.Outcome)
			require.Equal(t, o.Request.Options[index].ID, *answer.Result.Outcome.OptionID)
			return
		}
		require.Equal(t, "cancelled", answer.Result.Outcome.Outcome)
		require.Nil(t, answer.Result.Outcome.OptionID)
	})
}
