package replay

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// injectedNew makes session s with the injected server; %HEADERS% is its headers.
	injectedNew = `{"dir":"client->agent","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"kandev","type":"http","url":"http://localhost:41001/mcp"%HEADERS%}]}}}
{"dir":"agent->client","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}
`
	offerLine  = `{"dir":"agent->client","frame":{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}}` + "\n"
	headerLine = `{"header":{"agent":"claude-acp","package":"p","version":"1","port":41001,"scenario":"x"}}` + "\n"
)

// recorded is a whole recording with the given headers of the injected entry.
func recorded(headers string) string {
	return headerLine + strings.Replace(injectedNew, "%HEADERS%", headers, 1) + offerLine
}

// What a recording must not be, with the line that is to blame. Each row has its
// twin in TestRecordingForms.
func TestRecordingInputErrors(t *testing.T) {
	const form = `: expected {"dir":"agent->client"|"client->agent","frame":{…}} or "raw":"…"`
	whole := recorded("")
	tests := map[string]struct{ text, want string }{
		"cut in the middle of the first line": {`{"header":{"agent":"cla`, "x.jsonl:1: this line is cut in the middle" + form},
		"cut in the middle of the last line":  {whole + offerLine[:len(offerLine)/2], "x.jsonl:5: this line is cut in the middle" + form},
		"no JSON":                             {whole + "hello\n" + offerLine, "x.jsonl:5: this line is no JSON object of the expected form" + form},
		"no object":                           {whole + "[1]\n", "x.jsonl:5: this line is no JSON object of the expected form" + form},
		"two objects on a line":               {whole + "{} {}\n", "x.jsonl:5: this line is no JSON object of the expected form" + form},
		"dir is a number":                     {headerLine + `{"dir":1,"frame":{}}`, "x.jsonl:2: this line has a wrong value at /dir" + form},
		"dir is unknown":                      {headerLine + "\n" + `{"dir":"agent","frame":{}}`, "x.jsonl:3: dir is neither agent->client nor client->agent" + form},
		"dir in another case":                 {headerLine + `{"dir":"Agent->Client","frame":{}}`, "x.jsonl:2: dir is neither agent->client nor client->agent" + form},
		"neither frame nor raw":               {headerLine + `{"dir":"agent->client"}`, "x.jsonl:2: this line has a dir but neither frame nor raw" + form},
		"raw is an object":                    {headerLine + `{"dir":"agent->client","raw":{}}`, "x.jsonl:2: this line has a wrong value at /raw" + form},
		"header is a string":                  {`{"header":"claude-acp"}`, "x.jsonl:1: this line has a wrong value at /header" + form},
		"port is a string":                    {`{"header":{"agent":"claude-acp","port":"41001"}}`, "x.jsonl:1: this line has a wrong value at /header/port" + form},
		"port is a fraction":                  {`{"header":{"agent":"claude-acp","port":1.5}}`, "x.jsonl:1: this line has a wrong value at /header/port" + form},
		"a header behind a frame":             {strings.TrimPrefix(recorded(""), headerLine) + headerLine, "x.jsonl:4: a header that is not the first of its file: replay recordings one by one"},
		"nothing at all":                      {"", "x.jsonl:1: there is no recorded line in this file" + form},
		"only a note":                         {`{"note":"x"}`, "x.jsonl:1: there is no recorded line in this file" + form},
		"a second header":                     {headerLine + headerLine, "x.jsonl:2: a header that is not the first of its file: replay recordings one by one"},
		"port of another is none":             {`{"header":{` + others("a", 70000) + `}}`, "x.jsonl:1: pipeline: port 70000 of the injected server: use 1 to 65535, or 0 for none"},
		"others are no list":                  {`{"header":{"others":5}}`, "x.jsonl:1: this line has a wrong value at /header/others" + form},
		"port is none":                        {`{"header":{"agent":"claude-acp","port":70000}}`, "x.jsonl:1: pipeline: port 70000 of the injected server: use 1 to 65535, or 0 for none"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := replay(t, test.text, Instance{})
			require.EqualError(t, err, test.want)
			_, is := errors.AsType[*InputError](err)
			assert.True(t, is)
		})
	}
}

// What came before a line that cannot be read was decided already.
func TestRecordingDecidesUpToTheError(t *testing.T) {
	decisions, err := replay(t, recorded("")+"{", Instance{})
	assert.Len(t, decisions, 1)
	assert.Error(t, err)
}

func TestRecordingForms(t *testing.T) {
	selected := []string{"select injected_mcp"}
	titleOnly := strings.ReplaceAll(recorded(""), `"name":"mcp__kandev__list_tasks"`, `"title":"mcp__kandev__list_tasks","kind":"other"`)
	tests := map[string]struct {
		text string
		over Instance
		want []string
	}{
		"whole":                    {recorded(""), Instance{}, selected},
		"no line end at the end":   {strings.TrimSuffix(recorded(""), "\n"), Instance{}, selected},
		"CR LF":                    {strings.ReplaceAll(recorded(""), "\n", "\r\n"), Instance{}, selected},
		"blank lines":              {strings.ReplaceAll(recorded(""), "\n", "\n \n\n"), Instance{}, selected},
		"notes are skipped":        {`{"note":"x"}` + "\n" + offerLine + `{"note":{"dir":5}}`, Instance{}, []string{"pend nothing_injected"}},
		"raw instead of frame":     {headerLine + `{"dir":"agent->client","raw":"{\"id\":1,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",\"toolCall\":{\"toolCallId\":\"c\"},\"options\":[]}}"}`, Instance{}, []string{"cancel no_options"}},
		"raw that is no message":   {headerLine + `{"dir":"agent->client","raw":"npm notice"}` + "\n" + `{"dir":"client->agent","raw":""}`, Instance{}, nil},
		"raw wins over frame":      {headerLine + `{"dir":"agent->client","raw":"x","frame":{"id":1,"method":"session/request_permission"}}`, Instance{}, nil},
		"bytes in base64":          {headerLine + `{"dir":"agent->client","raw_b64":"eyJqc29ucnBjIjoiMi4wIiwiaWQiOjcsIm1ldGhvZCI6InNlc3Npb24vcmVxdWVzdF9wZXJtaXNzaW9uIiwicGFyYW1zIjp7InNlc3Npb25JZCI6Iv8ifX0="}`, Instance{}, []string{"cancel unreadable_offer"}},
		"frame of a wrong form":    {headerLine + `{"dir":"agent->client","frame":{"id":1,"method":"session/request_permission","method":1}}`, Instance{}, []string{"cancel unreadable_offer"}},
		"no header":                {strings.TrimPrefix(recorded(""), headerLine), Instance{}, []string{"pend nothing_injected"}},
		"no header, but flags":     {strings.TrimPrefix(recorded(""), headerLine), Instance{Agent: "claude-acp", Port: 41001}, selected},
		"port 0 in the header":     {strings.Replace(recorded(""), `"port":41001`, `"port":0`, 1), Instance{}, []string{"pend nothing_injected"}},
		"flags win: port":          {recorded(""), Instance{Port: 41002}, []string{"pend reserved_entry_address"}},
		"flags win: blanket":       {recorded(""), Instance{AutoApprove: true}, []string{"select blanket_approval"}},
		"flags win: agent":         {titleOnly, Instance{Agent: "pi-acp"}, []string{"pend pi_extension_title"}},
		"its twin with the header": {titleOnly, Instance{}, selected},
		"a second server":          {strings.Replace(recorded(""), `"port":41001`, others("kandev", 41001), 1), Instance{}, selected},
		"it is another one":        {strings.Replace(recorded(""), `"port":41001`, others("other", 41001), 1), Instance{}, []string{"pend server_is_not_the_hosts"}},
		"it is somewhere else":     {strings.Replace(recorded(""), `"port":41001`, others("kandev", 41003), 1), Instance{}, []string{"pend reserved_entry_address"}},
		"flags win: its neighbour": {strings.Replace(recorded(""), `"port":41001`, others("kandev", 41001), 1), Instance{Port: 41004}, selected},
		"a guessed agent":          {strings.Replace(titleOnly, `"agent"`, `"guessed"`, 1), Instance{}, []string{"pend agent_not_configured"}},
		"a guess and a flag":       {strings.Replace(titleOnly, `"agent"`, `"guessed"`, 1), Instance{Agent: "claude-acp"}, selected},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			decisions, err := replay(t, test.text, test.over)
			require.NoError(t, err)
			var got []string
			for _, d := range decisions {
				got = append(got, d.Verdict+" "+d.Reason)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// In a recording the injected entry has no headers, or exactly the placeholder.
func TestRecordedAuthorization(t *testing.T) {
	const bad = "pend reserved_entry_headers"
	for headers, want := range map[string]string{
		``:                "select injected_mcp",
		`,"headers":[]`:   "select injected_mcp",
		`,"headers":null`: "select injected_mcp",
		`,"headers":[{"name":"Authorization","value":"Bearer redacted"}]`:                                                    "select injected_mcp",
		`,"headers":[{"value":"Bearer redacted","name":"Authorization"}]`:                                                    "select injected_mcp",
		`,"headers":[{"name":"Authorization","value":"Bearer redacted "}]`:                                                   bad,
		`,"headers":[{"name":"Authorization","value":"bearer redacted"}]`:                                                    bad,
		`,"headers":[{"name":"Authorization","value":"Bearer abc"}]`:                                                         bad,
		`,"headers":[{"name":"authorization","value":"Bearer redacted"}]`:                                                    bad,
		`,"headers":[{"name":"X-Authorization","value":"Bearer redacted"}]`:                                                  bad,
		`,"headers":[{"name":"Authorization","value":""}]`:                                                                   bad,
		`,"headers":[{"name":"Authorization","value":"Bearer redacted"},{"name":"Authorization","value":"Bearer redacted"}]`: bad,
		`,"headers":[{"name":"Authorization","value":"Bearer redacted"},{"name":"X","value":"y"}]`:                           bad,
		`,"headers":[{"name":"Authorization","value":"Bearer redacted","x":1}]`:                                              "pend reserved_entry_malformed",
		`,"headers":{"Authorization":"Bearer redacted"}`:                                                                     "pend reserved_entry_malformed",
		`,"headers":["Bearer redacted"]`:                                                                                     "pend reserved_entry_malformed",
	} {
		t.Run(headers, func(t *testing.T) {
			decisions, err := replay(t, recorded(headers), Instance{})
			require.NoError(t, err)
			require.Len(t, decisions, 1)
			assert.Equal(t, want, decisions[0].Verdict+" "+decisions[0].Reason)
		})
	}
}

func TestCaseInputErrors(t *testing.T) {
	const form = `: expected {"id":"…","instance":{…},"lines":[…],"want":[…]}`
	good := plainCase(offerOfTheHost, `{"id":7,"verdict":["select"]}`) + "\n"
	tests := map[string]struct{ text, want string }{
		"cut in the middle": {good + good[:len(good)/2], "x.jsonl:2: this line is cut in the middle" + form},
		"no JSON":           {good + good + "nothing\n" + good, "x.jsonl:3: this line is no JSON object of the expected form" + form},
		"no id":             {strings.Replace(good, `"id":"T"`, `"di":"T"`, 1), "x.jsonl:1: a case needs id, lines and want" + form},
		"an empty id":       {strings.Replace(good, `"id":"T"`, `"id":""`, 1), "x.jsonl:1: a case needs id, lines and want" + form},
		"no lines":          {plainCase("", `{"id":7,"verdict":["select"]}`), "x.jsonl:1: a case needs id, lines and want" + form},
		"no want":           {plainCase(offerOfTheHost, ""), "x.jsonl:1: a case needs id, lines and want" + form},
		"an id of a number": {strings.Replace(good, `"id":"T"`, `"id":5`, 1), "x.jsonl:1: this line has a wrong value at /id" + form},
		"an unknown dir": {
			strings.Replace(good, "agent->client", "agent", 1),
			"x.jsonl:1: dir is neither agent->client nor client->agent" + form,
		},
		"a line without raw":  {strings.Replace(good, `"raw"`, `"row"`, 1), "x.jsonl:1: a line of a case needs raw or raw_b64" + form},
		"bad base64":          {plainCase(`{"dir":"agent->client","raw_b64":"?"}`, `{"id":7,"verdict":["none"]}`), "x.jsonl:1: this line has a wrong value at /lines/0/raw_b64" + form},
		"a wrong port":        {strings.Replace(good, "41001", "70000", 1), "x.jsonl:1: pipeline: port 70000 of the injected server: use 1 to 65535, or 0 for none"},
		"servers is a string": {strings.Replace(good, `"servers":[]`, `"servers":"x"`, 1), "x.jsonl:1: acp: mcpServers is no list of server objects with unique keys"},
		"an entry is a string": {
			strings.Replace(good, `"servers":[]`, `"servers_exact":["x"]`, 1), "x.jsonl:1: acp: mcpServers is no list of server objects with unique keys",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := check(t, test.text)
			require.EqualError(t, err, test.want)
			_, is := errors.AsType[*InputError](err)
			assert.True(t, is)
		})
	}
	outcomes, err := check(t, good+"\r\n \n"+strings.TrimSpace(good))
	require.NoError(t, err)
	assert.Len(t, outcomes, 2)
}

// An error of the one who visits, or of the file, ends the run as it is.
func TestOtherErrors(t *testing.T) {
	stop := errors.New("enough")
	r := newRunner(t)
	err := r.Recording(t.Context(), "x", strings.NewReader(recorded("")), Instance{}, func(Decision) error { return stop })
	assert.Equal(t, stop, err)
	err = r.Cases(t.Context(), "x", strings.NewReader(plainCase(offerOfTheHost, `{"id":7,"verdict":["select"]}`)), func([]Outcome) error { return stop })
	assert.Equal(t, stop, err)
	broken := io.MultiReader(strings.NewReader(recorded("")), iotest.ErrReader(errors.New("disk on fire")))
	err = r.Recording(t.Context(), "x", broken, Instance{}, func(Decision) error { return nil })
	assert.EqualError(t, err, "x:5: disk on fire")
}

// A decision line can be written whatever the request's id is.
func TestIDThatCannotBeWritten(t *testing.T) {
	decisions, err := replay(t, headerLine+`{"dir":"agent->client","raw":"{\"id\":\"\\ud800\",\"method\":\"session/request_permission\",\"params\":{}}"}`, Instance{})
	require.NoError(t, err)
	require.Len(t, decisions, 1)
	assert.Equal(t, "\"\ufffd\"", string(decisions[0].ID))
	_, err = json.Marshal(decisions[0])
	assert.NoError(t, err)
}

// others are the members of a header with a second injected server beside the first.
func others(name string, port int) string {
	return fmt.Sprintf(`"name":"first","port":41002,"others":[{"name":%q,"port":%d}]`, name, port)
}
