package frame

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asked is a request of version 1 with this tool call.
func asked(call string) Frame {
	return Read([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":` + call + `}}`))
}

// withInput is a call with this raw input.
func withInput(input string) Call {
	return asked(`{"toolCallId":"t","rawInput":` + input + `}`).Call
}

func TestInput(t *testing.T) {
	for name, test := range map[string]struct {
		input string
		want  Call
	}{
		"a command, a directory":         {`{"command":"ls","cwd":"/w"}`, Call{Commands: []string{"ls"}, InputPaths: []string{"/w"}}},
		"a list of arguments":            {`{"command":["/bin/sh","-c","it's ok"]}`, Call{Commands: []string{`/bin/sh -c 'it'\''s ok'`}}},
		"a list of commands":             {`{"commands":["a b","c"]}`, Call{Commands: []string{"a b", "c"}}},
		"one command, said twice":        {`{"command":"ls","commands":["ls"]}`, Call{Commands: []string{"ls"}}},
		"two commands":                   {`{"command":"ls","cmd":"rm"}`, Call{Commands: []string{"ls", "rm"}}},
		"a key twice":                    {`{"command":"ls","command":"rm"}`, Call{Commands: []string{"ls", "rm"}}},
		"an escaped key":                 {`{"comm\u0061nd":"rm"}`, Call{Commands: []string{"rm"}}},
		"arguments apart":                {`{"args":["-rf","/a b"],"command":"rm"}`, Call{Commands: []string{"rm -rf '/a b'"}}},
		"arguments of two commands":      {`{"command":"ls","cmd":"rm","args":["x"]}`, Call{Commands: []string{"ls", "rm"}, Rest: `{"args":["x"]}`}},
		"arguments of nothing":           {`{"args":["x"]}`, Call{Rest: `{"args":["x"]}`}},
		"arguments that are no texts":    {`{"command":"rm","args":[7]}`, Call{Commands: []string{"rm"}, Rest: `{"args":[7]}`}},
		"a command of another form":      {`{"command":[1,"x"],"script":{"a":1}}`, Call{Commands: []string{`[1,"x"]`, `{"a":1}`}}},
		"a command that is none":         {`{"command":7,"url":{},"path":[1,"/a"]}`, Call{InputPaths: []string{"/a"}, Rest: `{"command":7,"url":{},"path":[1,"/a"]}`}},
		"an address":                     {`{"url":"https://h/","prompt":"read"}`, Call{Destinations: []string{"https://h/"}, Rest: `{"prompt":"read"}`}},
		"a move":                         {`{"path":"/a","new_path":"/b"}`, Call{InputPaths: []string{"/a"}, Destinations: []string{"/b"}}},
		"directories":                    {`{"directories":["/usr","/usr"],"patterns":["/usr/*"]}`, Call{InputPaths: []string{"/usr"}, Rest: `{"patterns":["/usr/*"]}`}},
		"a key that is nearly one":       {`{"Command":"rm","command":"ls"}`, Call{Commands: []string{"ls"}, Rest: `{"Command":"rm"}`}},
		"null says nothing":              {`{"command":null,"timeout":null}`, Call{}},
		"a list":                         {`["rm"]`, Call{Rest: `["rm"]`}},
		"a text":                         {`"rm"`, Call{Rest: `"rm"`}},
		"a half of a character":          {`{"command":"ls \ud800"}`, Call{Commands: []string{"ls \ufffd"}}},
		"nothing":                        {`{}`, Call{}},
		"a nested command stays nested":  {`{"mcpInput":{"command":"ls"}}`, Call{Rest: `{"mcpInput":{"command":"ls"}}`}},
		"a destination, and its address": {`{"host":"h","domain":"h","uri":"u"}`, Call{Destinations: []string{"h", "u"}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.want.ID, test.want.Arguments = "t", []byte(test.input)
			assert.Equal(t, test.want, withInput(test.input))
		})
	}
	assert.Equal(t, Call{ID: "t"}, withInput("null"))
}

func TestPathsBesideTheArguments(t *testing.T) {
	f := asked(`{"title":"x","locations":[{"path":"/a","line":1},{"path":"/a"},7],"content":[{"type":"diff","path":"/b"},{"type":"diff","changes":[{"path":"/c"}]}]}`)
	assert.Equal(t, []string{"/a", "/b", "/c"}, f.Paths)
	assert.Equal(t, `"x"`, string(f.RawTitle))
	assert.False(t, f.Cut)
}

func TestSubjects(t *testing.T) {
	of := func(subject string) Frame {
		return Read([]byte(`{"method":"session/request_permission","params":{"sessionId":"s","title":"x","description":"y","subject":` + subject + `}}`))
	}
	f := of(`{"type":"tool_call","toolCall":{"toolCallId":"t","title":"z","kind":"execute","rawInput":{"command":"ls"}}}`)
	assert.Nil(t, f.Subject)
	assert.Equal(t, []string{"x", "y", "z", "execute", "t"}, []string{f.Prompt, f.Description, f.Title, f.Kind, f.ID})
	assert.Equal(t, []string{"ls"}, f.Commands)

	command := `{"type":"command","command":"make","args":["x y"],"cwd":"/w","timeout":7,"_meta":{"s":1}}`
	f = of(command)
	assert.Equal(t, command, string(f.Subject))
	assert.Equal(t, Call{Kind: "command", Commands: []string{"make 'x y'"}, InputPaths: []string{"/w"}}, f.Call)
	assert.Equal(t, `{"timeout":7}`, f.SubjectRest)

	f = of(`{"type":"network","host":"h"}`)
	assert.Equal(t, Call{Kind: "network", Destinations: []string{"h"}}, f.Call)
}

func TestUpdates(t *testing.T) {
	of := func(update string) Frame {
		return Read([]byte(`{"method":"session/update","params":{"sessionId":"s","update":` + update + `}}`))
	}
	f := of(`{"sessionUpdate":"tool_call","toolCallId":"t","status":"failed","rawInput":{"command":"ls"}}`)
	assert.Equal(t, []string{"s", "tool_call", "t", "failed"}, []string{f.Session, f.Update, f.ID, f.Status})
	assert.Equal(t, "hi", of(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}`).Spoken)
	plan := of(`{"sessionUpdate":"plan","entries":[{"content":"one","status":"pending","priority":1},7` + strings.Repeat(`,{}`, 2*maxPlan) + `]}`).Plan
	assert.Equal(t, PlanEntry{"one", "pending"}, plan[0])
	assert.Len(t, plan, maxPlan)
}

func TestRequestID(t *testing.T) {
	assert.Equal(t, `"7"`, string(Read([]byte(`{"method":"$/cancel_request","params":{"requestId":"7"}}`)).RequestID))
	assert.Nil(t, Read([]byte(`{"method":"$/cancel_request","params":{"requestId":"7"}`)).RequestID, "a line that is cut")
	assert.Nil(t, Read([]byte(`{"method":"x"}`)).RequestID)
}

func TestContents(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		want    []Content
	}{
		"a change":          {`[{"type":"diff","path":"/a","oldText":"o","newText":"n","_meta":{"x":1}}]`, []Content{{Paths: []string{"/a"}, Old: "o", New: "n"}}},
		"a patch":           {`[{"type":"diff","changes":[{"path":"/a"},{"path":"/b"}],"patch":{"text":"+x"}}]`, []Content{{Paths: []string{"/a", "/b"}, Patch: "+x"}}},
		"a text":            {`[{"type":"content","content":{"type":"text","text":"hi"}}]`, []Content{{Note: "hi"}}},
		"a resource":        {`[{"type":"content","content":{"type":"resource","_meta":{},"uri":"x"}}]`, []Content{{Note: `{"type":"resource","uri":"x"}`}}},
		"something else":    {`[{"type":"image", "data":"x"},7]`, []Content{{Note: `{"type":"image", "data":"x"}`}, {Note: "7"}}},
		"a terminal":        {`[{"type":"terminal","terminalId":"t"}]`, nil},
		"more than allowed": {`[{"type":"content","content":{"type":"text","text":"` + strings.Repeat("x", 99) + `"}}]`, []Content{{Note: strings.Repeat("x", 50), Cut: true}}},
		"no list":           {`{"type":"text"}`, nil},
		"nothing":           {``, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, slices.Collect(Contents([]byte(test.content), 50)))
		})
	}
	for range Contents([]byte(`[7,8]`), 50) {
		break // and no more is asked for
	}
	assert.True(t, IsList([]byte(`[{}]`)))
	assert.False(t, IsList([]byte(`[{}`)))
	assert.False(t, IsList([]byte(`{}`)))
}

func TestListsAreBounded(t *testing.T) {
	files := strings.TrimSuffix(strings.Repeat(`{"path":"/%"},`, 2*maxTexts), ",")
	var want []string
	for n := range 2 * maxTexts {
		name := strings.Repeat("x", n+1)
		files, want = strings.Replace(files, "%", name, 1), append(want, "/"+name)
	}
	f := asked(`{"locations":[` + files + `]}`)
	assert.True(t, f.Cut)
	assert.Equal(t, want[:len(f.Paths)], f.Paths)
	assert.Greater(t, len(f.Paths), 200)

	f = asked(`{"rawInput":{"commands":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 100_000), ",") + `,"rm"]}}`)
	assert.Equal(t, []string{"x"}, f.Commands)
	assert.True(t, f.Cut, "there is one more, which was not looked at")
	f = asked(`{"rawInput":{"command":[` + strings.TrimSuffix(strings.Repeat(`"word",`, 100_000), ",") + `]}}`)
	assert.True(t, f.Cut)
	assert.Len(t, f.Commands[0], MaxText)
	f = asked(`{"rawInput":{"a":"` + strings.Repeat("x", 2*MaxRest) + `","b":1,"c":2}}`)
	assert.True(t, f.Cut)
	assert.LessOrEqual(t, len(f.Rest), MaxRest)
}

func TestTextsAreBounded(t *testing.T) {
	for _, part := range []string{"x", "é", `\u00e9`, `\ud83d\ude80`, `\n`} {
		v := []byte(`"` + strings.Repeat(part, 5000) + `"`)
		text, cut := Text(v, 100)
		assert.True(t, cut)
		assert.True(t, utf8.ValidString(text))
		assert.Greater(t, len(text), 96)
		assert.LessOrEqual(t, len(text), 100)
		whole, cut := Text(v, len(v))
		assert.False(t, cut)
		assert.True(t, strings.HasPrefix(whole, text))
	}
}

func TestWithoutMeta(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1,"_meta":{"s":1},"b":"x"}`: `{"a":1,"b":"x"}`,
		`{"\u005fmeta":{"s":1}}`:           `{}`,
		`{"a": 1}`:                         `{"a": 1}`,
		`[{"_meta":1}]`:                    `[{"_meta":1}]`,
	} {
		assert.Equal(t, want, string(WithoutMeta([]byte(in))))
	}
}

// checkRead reads any line, and checks what it makes of it.
func checkRead(t interface{ Fatalf(string, ...any) }, line []byte) {
	f := Read(line)
	texts := slices.Concat([]string{f.Session, f.Update, f.Spoken, f.Prompt, f.Description, f.SubjectRest, f.ID, f.Kind, f.Title, f.Rest}, f.Commands, f.Paths, f.InputPaths, f.Destinations)
	for c := range Contents(f.Content, 1000) {
		texts = append(append(texts, c.Paths...), c.Old, c.New, c.Patch, c.Note)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) || len(text) > maxSpoken {
			t.Fatalf("%q in %q", text, line)
		}
	}
}

const wholeFrame = `{"method":"session/update","params":{"sessionId":"s","requestId":7,"title":"p","description":"d","subject":{"type":"command","command":"x","args":["y"],"toolCall":{"title":"z"}},` +
	`"update":{"sessionUpdate":"plan","entries":[{"content":"x","status":"done"},7],"content":[{"type":"diff","path":"p","newText":"n"}],"locations":[{"path":"/x"}],"rawInput":{"command":["\ud83d\ude80"],"url":"u"}}}}`

func TestAnyLineCanBeRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := []byte(wholeFrame)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
			line[at] = rapid.SampledFrom([]byte(`{}[]",:\u0x1`+"\xff")).Draw(t, "byte")
		}
		checkRead(t, line[:rapid.IntRange(0, len(line)).Draw(t, "length")])
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(wholeFrame))
	f.Add([]byte(`{"params":{"toolCall":{"content":{"type":"text","text":"x"},"rawInput":"ls"}}}`))
	f.Fuzz(func(t *testing.T, line []byte) { checkRead(t, line) })
}
