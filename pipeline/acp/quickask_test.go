package acp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQuickAsk(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","name":"Bash","rawInput":{"name":"mcp__kandev__x"}},"options":[{"optionId":"a","kind":"allow_once"}]}}`
	for name, c := range map[string]struct {
		from, to string
		want     bool
	}{
		"good":                    {"", "", true},
		"an empty name":           {`"name":"Bash"`, `"name":""`, true},
		"id is a string":          {`"id":7`, `"id":"7"`, true},
		"line end":                {`}]}}`, "}]}}\r\n", true},
		"qualified":               {`"name":"Bash"`, `"name":"mcp__docs__x"`, false},
		"begins like one":         {`"name":"Bash"`, `"name":"mcp__"`, false},
		"escaped name":            {`"name":"Bash"`, `"name":"m\u0063p__kandev__x"`, false},
		"escaped key":             {`"name":"Bash"`, `"n\u0061me":"Bash"`, false},
		"name twice":              {`"name":"Bash"`, `"name":"Bash","name":"mcp__kandev__x"`, false},
		"name null":               {`"name":"Bash"`, `"name":null`, false},
		"no name":                 {`"name":"Bash",`, ``, false},
		"a long name":             {`"name":"Bash"`, `"name":"` + strings.Repeat("x", maxQuickName+1) + `"`, false},
		"no options":              {`[{"optionId":"a","kind":"allow_once"}]`, `[ ]`, false},
		"options twice":           {`"options":[`, `"options":[],"options":[`, false},
		"options missing":         {`,"options":[{"optionId":"a","kind":"allow_once"}]`, ``, false},
		"options no list":         {`"options":[{"optionId":"a","kind":"allow_once"}]`, `"options":{}`, false},
		"tool call twice":         {`"toolCall":{`, `"toolCall":{"name":"x"},"toolCall":{`, false},
		"a subject":               {`"options"`, `"subject":{},"options"`, false},
		"session twice":           {`"sessionId":"s"`, `"sessionId":"s","sessionId":"t"`, false},
		"session escaped":         {`"sessionId":"s"`, `"sessionId":"\u0073"`, false},
		"session no text":         {`"sessionId":"s"`, `"sessionId":7`, false},
		"session no UTF-8":        {`"sessionId":"s"`, "\"sessionId\":\"\xff\"", false},
		"params twice":            {`"params":{`, `"params":{},"params":{`, false},
		"params no object":        {`"params":{"sessionId"`, `"params":[],"x":{"sessionId"`, false},
		"id twice":                {`"id":7`, `"id":7,"id":8`, false},
		"id null":                 {`"id":7`, `"id":null`, false},
		"id no JSON":              {`"id":7`, `"id":7x`, false},
		"no id":                   {`"id":7,`, ``, false},
		"with a result":           {`"id":7`, `"id":7,"result":{}`, false},
		"with an error":           {`"id":7`, `"id":7,"error":null`, false},
		"another method":          {`request_permission"`, `update"`, false},
		"method escaped":          {`request_permission"`, `request\u005fpermission"`, false},
		"cut":                     {`}]}}`, `}]}`, false},
		"more behind":             {`}]}}`, `}]}}x`, false},
		"a name below is no name": {`"name":"Bash",`, `"x":{"name":"Bash"},`, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, ok := QuickAsk([]byte(strings.Replace(good, c.from, c.to, 1)))
			assert.Equal(t, c.want, ok)
			if ok {
				assert.Equal(t, "s", a.Session)
				assert.Contains(t, []string{"7", `"7"`}, a.ID.String())
			}
		})
	}
	for _, line := range []string{"", "[]", "x", `"x"`} {
		_, ok := QuickAsk([]byte(line))
		assert.False(t, ok, line)
	}
}
