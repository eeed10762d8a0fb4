package replay

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCases(t *testing.T) {
	for _, file := range caseFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			outcomes, err := check(t, read(t, file))
			require.NoError(t, err)
			require.NotEmpty(t, outcomes)
			for _, o := range outcomes {
				assert.Empty(t, o.Problem, "%s: %s", o.Case.ID, o.Case.Why)
			}
		})
	}
}

// Every single expectation of every case can fail: with the verdicts turned into
// those that are not acceptable, each one is a problem.
func TestCasesWithWrongExpectations(t *testing.T) {
	all := []string{"select", "pend", "cancel", "none"}
	for _, file := range caseFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var wrong strings.Builder
			wants := 0
			for line := range strings.Lines(read(t, file)) {
				var c map[string]any
				dec := json.NewDecoder(strings.NewReader(line))
				dec.UseNumber() // ids keep their digits
				require.NoError(t, dec.Decode(&c))
				for _, w := range c["want"].([]any) {
					w := w.(map[string]any)
					right := fmt.Sprint(w["verdict"])
					var others []string
					for _, v := range all {
						if !strings.Contains(right, v) {
							others = append(others, v)
						}
					}
					w["verdict"] = others
					wants++
				}
				text, err := json.Marshal(c)
				require.NoError(t, err)
				wrong.Write(append(text, '\n'))
			}
			outcomes, err := check(t, wrong.String())
			require.NoError(t, err)
			assert.GreaterOrEqual(t, len(outcomes), wants)
			for _, o := range outcomes {
				assert.NotEmpty(t, o.Problem, o.Case.ID)
			}
		})
	}
}

// plainCase is a case of an instance with the injected server.
func plainCase(lines, want string) string {
	return `{"id":"T","why":"a test","instance":{"agent":"claude-acp","port":41001,"injected":true,"servers":[]},"lines":[` + lines + `],"want":[` + want + `]}`
}

const (
	offerOfTheHost = `{"dir":"agent->client","raw":"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",\"toolCall\":{\"toolCallId\":\"c\",\"name\":\"mcp__kandev__list_tasks\"},\"options\":[{\"optionId\":\"yes\",\"name\":\"Yes\",\"kind\":\"allow_once\"}]}}"}`
	offerOfAShell  = `{"dir":"agent->client","raw":"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",\"toolCall\":{\"toolCallId\":\"c\",\"name\":\"Bash\"},\"options\":[{\"optionId\":\"yes\",\"name\":\"Yes\",\"kind\":\"allow_once\"}]}}"}`
)

// A want is met by the fields that it has; what it does not have is free.
func TestCaseExpectations(t *testing.T) {
	tests := map[string]struct {
		lines, want string
		problems    []string
	}{
		"everything as wanted":         {offerOfTheHost, `{"id":7,"verdict":["select"],"option":"yes"}`, []string{""}},
		"one verdict without a list":   {offerOfTheHost, `{"id":7,"verdict":"select"}`, []string{""}},
		"one of several verdicts":      {offerOfTheHost, `{"id":7,"verdict":["pend","select"],"option":"yes"}`, []string{""}},
		"the other verdict":            {offerOfTheHost, `{"id":7,"verdict":["pend"],"option":null}`, []string{`verdict select, wanted ["pend"]`}},
		"another option":               {offerOfTheHost, `{"id":7,"verdict":["select"],"option":"no"}`, []string{`option "\"yes\"", wanted "\"no\""`}},
		"the option in another script": {offerOfTheHost, `{"id":7,"verdict":["select"],"option":"\u0079es"}`, []string{""}},
		"an option that is not chosen": {offerOfAShell, `{"id":7,"verdict":["pend"],"option":null}`, []string{""}},
		"the option of another verdict": {
			offerOfAShell, `{"id":7,"verdict":["select","pend"],"option":"yes"}`, []string{""},
		},
		"stage and reason":            {offerOfTheHost, `{"id":7,"verdict":["select"],"stage":"option","reason":"injected_mcp","tool":"list_tasks","server":"kandev","kind":"allow_once","session":"s","tool_call":"c"}`, []string{""}},
		"another reason":              {offerOfTheHost, `{"id":7,"verdict":["select"],"reason":"blanket_approval"}`, []string{`reason "\"injected_mcp\"", wanted "\"blanket_approval\""`}},
		"a field that nobody knows":   {offerOfTheHost, `{"id":7,"verdict":["select"],"mood":"good"}`, []string{`mood "", wanted "\"good\""`}},
		"no request of this id":       {offerOfTheHost, `{"id":"7","verdict":["select"]}`, []string{`verdict none, wanted ["select"]`, `nothing was expected for the request with id "7"`}},
		"none was wanted, none came":  {`{"dir":"agent->client","raw":"banner"}`, `{"id":7,"verdict":["none"],"option":null}`, []string{""}},
		"none was wanted, one came":   {offerOfTheHost, `{"id":7,"verdict":["none"],"option":null}`, []string{`verdict select, wanted ["none"]`}},
		"two came, one was wanted":    {offerOfTheHost + "," + offerOfAShell, `{"id":7,"verdict":["select"]}`, []string{"", `nothing was expected for the request with id "7"`}},
		"two of one id, in order":     {offerOfTheHost + "," + offerOfAShell, `{"id":7,"verdict":["select"]},{"id":7,"verdict":["pend"]}`, []string{"", ""}},
		"two of one id, out of order": {offerOfTheHost + "," + offerOfAShell, `{"id":7,"verdict":["pend"]},{"id":7,"verdict":["select"]}`, []string{`verdict select, wanted ["pend"]`, `verdict pend, wanted ["select"]`}},
		"a verdict that is a number":  {offerOfTheHost, `{"id":7,"verdict":5}`, []string{"the case wants no verdict that can be read"}},
		"a line of the client":        {strings.Replace(offerOfTheHost, "agent->client", "client->agent", 1), `{"id":7,"verdict":["none"]}`, []string{""}},
		"bytes in base64":             {`{"dir":"agent->client","raw_b64":"eyJqc29ucnBjIjoiMi4wIiwiaWQiOjcsIm1ldGhvZCI6InNlc3Npb24vcmVxdWVzdF9wZXJtaXNzaW9uIiwicGFyYW1zIjp7InNlc3Npb25JZCI6Iv8ifX0="}`, `{"id":7,"verdict":["cancel"],"reason":"unreadable_offer"}`, []string{""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			outcomes, err := check(t, plainCase(test.lines, test.want))
			require.NoError(t, err)
			var problems []string
			for _, o := range outcomes {
				problems = append(problems, o.Problem)
			}
			assert.Equal(t, test.problems, problems)
		})
	}
}

// The instance's list: the user's entries, with the injection applied.
func TestCaseServers(t *testing.T) {
	injected := `{"name":"kandev","type":"http","url":"http://localhost:41001/mcp"}`
	tests := map[string]struct{ instance, verdict string }{
		"injected":                               {`{"agent":"claude-acp","port":41001,"injected":true,"servers":[]}`, "select"},
		"injected without a list":                {`{"agent":"claude-acp","port":41001,"injected":true}`, "select"},
		"not injected":                           {`{"agent":"claude-acp","port":41001,"injected":false,"servers":[]}`, "pend"},
		"not injected, the user wrote the entry": {`{"agent":"claude-acp","port":41001,"injected":false,"servers":[` + injected + `]}`, "pend"},
		"no port":                                {`{"agent":"claude-acp","port":0,"injected":true,"servers":[]}`, "pend"},
		"a user entry of the name is replaced":   {`{"agent":"claude-acp","port":41001,"injected":true,"servers":[{"name":"kandev","type":"stdio","command":"x"}]}`, "select"},
		"a similar name is another server":       {`{"agent":"claude-acp","port":41001,"injected":true,"servers":[{"name":"k_ndev","type":"stdio","command":"x"}]}`, "select"},
		"the list as it stands":                  {`{"agent":"claude-acp","port":41001,"injected":true,"servers_exact":[` + injected + `]}`, "select"},
		"the list as it stands wins":             {`{"agent":"claude-acp","port":41001,"injected":true,"servers":[` + injected + `],"servers_exact":[]}`, "pend"},
		"the list as it stands, of another port": {`{"agent":"claude-acp","port":41002,"injected":true,"servers_exact":[` + injected + `]}`, "pend"},
		"blanket approval":                       {`{"agent":"claude-acp","auto_approve":true}`, "select"},
		"the recorded placeholder, in a case":    {`{"agent":"claude-acp","port":41001,"injected":true,"servers_exact":[{"name":"kandev","type":"http","url":"http://localhost:41001/mcp","headers":[{"name":"Authorization","value":"Bearer redacted"}]}]}`, "pend"},
		"a second entry with another address":    {`{"agent":"claude-acp","port":41001,"injected":true,"servers_exact":[` + injected + `,{"name":"kandev","type":"http","url":"http://localhost:9/mcp"}]}`, "pend"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			outcomes, err := check(t, `{"id":"T","instance":`+test.instance+`,"lines":[`+offerOfTheHost+`],"want":[{"id":7,"verdict":["`+test.verdict+`"]}]}`)
			require.NoError(t, err)
			require.Len(t, outcomes, 1)
			assert.Empty(t, outcomes[0].Problem)
		})
	}
}
