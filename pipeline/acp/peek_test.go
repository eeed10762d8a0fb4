package acp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline/acp"
)

// peeked is what Peek says about a line.
type peeked struct {
	kind   acp.FrameKind
	id     string
	method string
	err    error
}

func peek(line string) peeked {
	f, err := acp.Peek([]byte(line))
	return peeked{f.Kind, f.ID.String(), f.Method, err}
}

const (
	isRequest      = acp.KindRequest
	isNotification = acp.KindNotification
	isResponse     = acp.KindResponse
)

func TestPeekKinds(t *testing.T) {
	tests := map[string]struct {
		line string
		want peeked
	}{
		"a request":                        {`{"jsonrpc":"2.0","id":1,"method":"fs/read","params":{}}`, peeked{isRequest, "1", "fs/read", nil}},
		"a notification":                   {`{"jsonrpc":"2.0","method":"session/update","params":{}}`, peeked{isNotification, "", "session/update", nil}},
		"a result":                         {`{"jsonrpc":"2.0","id":1,"result":{}}`, peeked{isResponse, "1", "", nil}},
		"a result that is null":            {`{"id":1,"result":null}`, peeked{isResponse, "1", "", nil}},
		"an error":                         {`{"id":1,"error":{"code":1}}`, peeked{isResponse, "1", "", nil}},
		"an error without an id":           {`{"id":null,"error":{"code":1}}`, peeked{isResponse, "null", "", nil}},
		"a response that names a method":   {`{"id":1,"result":{},"method":"session/request_permission"}`, peeked{isResponse, "1", "session/request_permission", nil}},
		"the method first":                 {`{"method":"session/request_permission","error":{},"id":1}`, peeked{isResponse, "1", "session/request_permission", nil}},
		"an empty object":                  {`{}`, peeked{}},
		"only an id":                       {`{"id":1}`, peeked{id: "1"}},
		"a method that is no string":       {`{"id":1,"method":5}`, peeked{id: "1"}},
		"an empty method":                  {`{"id":1,"method":""}`, peeked{id: "1"}},
		"a method of bad text":             {`{"id":1,"method":"\ud800"}`, peeked{id: "1"}},
		"a method of bad bytes":            {"{\"id\":1,\"method\":\"\xff\"}", peeked{id: "1"}},
		"a method that nobody keeps":       {`{"id":1,"method":"` + strings.Repeat("m", 300) + `"}`, peeked{id: "1"}},
		"a long method":                    {`{"id":1,"method":"` + strings.Repeat("m", 200) + `"}`, peeked{isRequest, "1", strings.Repeat("m", 200), nil}},
		"an escaped slash":                 {`{"id":1,"method":"session\/request_permission"}`, peeked{isRequest, "1", acp.MethodRequestPermission, nil}},
		"an escaped underscore":            {`{"id":1,"method":"session/request\u005fpermission"}`, peeked{isRequest, "1", acp.MethodRequestPermission, nil}},
		"every letter escaped":             {`{"\u0069\u0064":1,"\u006d\u0065\u0074\u0068\u006f\u0064":"session/cancel"}`, peeked{isRequest, "1", acp.MethodCancel, nil}},
		"capital digits in an escape":      {`{"id":1,"method":"session\u002Fcancel"}`, peeked{isRequest, "1", acp.MethodCancel, nil}},
		"a method in another case":         {`{"id":1,"method":"session/Request_permission"}`, peeked{isRequest, "1", "session/Request_permission", nil}},
		"keys in another case are others":  {`{"ID":1,"Method":"x","Result":{}}`, peeked{}},
		"members deeper down do not count": {`{"params":{"id":1,"method":"x","result":{}},"x":["method"]}`, peeked{}},
		"an escaped quote in a key":        {`{"a\"id":1,"id\\":2,"method":"x"}`, peeked{isNotification, "", "x", nil}},
		"braces and quotes in strings":     {`{"params":"}{][\"","id":1,"method":"x"}`, peeked{isRequest, "1", "x", nil}},
		"spaces everywhere":                {" \t{ \"id\" : 1 , \"method\" :\t\"x\" , \"params\" : [ 1 , 2 ] } \r\n", peeked{isRequest, "1", "x", nil}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, peek(test.line)) })
	}
}

// Ids keep their exact text, whatever their digits and escapes.
func TestPeekIDs(t *testing.T) {
	for _, id := range []string{
		`0`, `1`, `-1`, `1.0`, `1e2`, `-0`, `9007199254740993`, `123456789012345678901234567890`, `0.1`,
		`""`, `"1"`, `"a b"`, `"\u0061"`, `"a"`, `"\""`, `"\\"`, `"ü✓"`, `"\ud83d\ude00"`, `"5b0e6a64-8f0e-4c38-9d6e-000000000001"`, `"` + strings.Repeat("i", 1<<16) + `"`,
	} {
		assert.Equal(t, peeked{isRequest, id, "x", nil}, peek(`{"id":`+id+`,"method":"x"}`))
		assert.Equal(t, peeked{isRequest, id, "x", nil}, peek(`{"method":"x", "id" : `+id+` }`))
	}
	for _, id := range []string{`null`, `true`, `false`, `[]`, `[1]`, `{}`, `{"id":1}`} {
		assert.Equal(t, peeked{acp.KindUnanswerable, id, "x", nil}, peek(`{"id":`+id+`,"method":"x"}`))
	}
	assert.Equal(t, acp.ID{}, acp.NewID(""))
	assert.False(t, acp.NewID("").Present())
	assert.False(t, acp.NewID("").Valid())
	assert.True(t, acp.NewID("null").Present())
	assert.False(t, acp.NewID("null").Valid())
	assert.True(t, acp.NewID("0").Valid())
	assert.Equal(t, "0", acp.NewID("0").String())
}

// Of members that are there twice the last one counts, but for methods: there it
// is the one that needs more care, whichever comes first.
func TestPeekDuplicates(t *testing.T) {
	tests := map[string]struct {
		line string
		want peeked
	}{
		"two ids":                 {`{"id":1,"id":"2","method":"x"}`, peeked{isRequest, `"2"`, "x", nil}},
		"the second id is null":   {`{"id":1,"id":null,"method":"x"}`, peeked{acp.KindUnanswerable, "null", "x", nil}},
		"two methods":             {`{"method":"x","method":"y"}`, peeked{isNotification, "", "y", nil}},
		"a permission and more":   {`{"id":1,"method":"session/request_permission","method":"y"}`, peeked{isRequest, "1", acp.MethodRequestPermission, nil}},
		"more and a permission":   {`{"id":1,"method":"y","method":"session/request_permission"}`, peeked{isRequest, "1", acp.MethodRequestPermission, nil}},
		"it, written differently": {`{"id":1,"method":"session/request\u005fpermission","m\u0065thod":"y"}`, peeked{isRequest, "1", acp.MethodRequestPermission, nil}},
		"a load and more":         {`{"id":1,"method":"session/load","method":"y"}`, peeked{isRequest, "1", acp.MethodLoad, nil}},
		"an update and no string": {`{"method":"session/update","method":null}`, peeked{isNotification, "", acp.MethodUpdate, nil}},
		"two session methods":     {`{"id":1,"method":"session/load","method":"session/new"}`, peeked{isRequest, "1", acp.MethodNew, nil}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, peek(test.line)) })
	}
}

func TestPeekNoMessage(t *testing.T) {
	noise := peeked{err: acp.ErrNoise}
	tests := map[string]struct {
		line string
		want peeked
	}{
		"nothing":                     {"", peeked{err: acp.ErrBlank}},
		"blanks":                      {" \t\r\n", peeked{err: acp.ErrBlank}},
		"a banner":                    {"Starting agent...", noise},
		"a control sequence":          {"\x1b[2K\x1b[1G", noise},
		"a string":                    {`"hello"`, noise},
		"a number":                    {`42`, noise},
		"null":                        {`null`, noise},
		"cut":                         {`{"id":1,"method":"x"`, noise},
		"cut in a string":             {`{"id":1,"method":"x`, noise},
		"cut behind a backslash":      {`{"id":1,"method":"x\`, noise},
		"cut in a container":          {`{"id":1,"params":{"a":[`, noise},
		"cut behind a colon":          {`{"id":`, noise},
		"cut behind a key":            {`{"id"`, noise},
		"no value":                    {`{"id":,"method":"x"}`, noise},
		"no colon":                    {`{"id" 1}`, noise},
		"no comma":                    {`{"id":1 "method":"x"}`, noise},
		"a comma too many":            {`{"id":1,}`, noise},
		"a comma in front":            {`{,"id":1}`, noise},
		"a key that is no string":     {`{id:1}`, noise},
		"text behind it":              {`{"id":1,"method":"x"} done`, noise},
		"two objects":                 {`{"id":1}{"id":2}`, noise},
		"a byte order mark":           {"\ufeff{\"id\":1,\"method\":\"x\"}", noise},
		"a batch":                     {`[{"id":1,"method":"x"}]`, peeked{err: acp.ErrBatch}},
		"a batch with blanks":         {" [ {\"id\":1} , {} ] \r", peeked{err: acp.ErrBatch}},
		"an empty batch":              {`[]`, peeked{err: acp.ErrBatch}},
		"a batch with bad text":       {"[\"\xff\",\"\\ud800\",{\"a\":1,\"a\":2}]", peeked{err: acp.ErrBatch}},
		"a log line":                  {`[INFO] started`, noise},
		"a time":                      {`[12:30:01] "started"`, noise},
		"an array with text after it": {`[1] done`, noise},
		"a cut batch":                 {`[{"id":1,"method":"x"}`, noise},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, peek(test.line)) })
	}
}

// The frame is the line without blanks around it, not a copy.
func TestPeekKeepsTheLine(t *testing.T) {
	line := []byte(" {\"id\":1,\"method\":\"x\"}\r\n")
	f, err := acp.Peek(line)
	require.NoError(t, err)
	assert.Equal(t, `{"id":1,"method":"x"}`, string(f.Line))
	assert.Same(t, &line[1], &f.Line[0])
}

// Nesting costs nothing, length no more than reading.
func TestPeekLargeLines(t *testing.T) {
	for name, params := range map[string]string{
		"nested objects": strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000),
		"nested arrays":  strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
		"64 MiB of text": `"` + strings.Repeat("x", 64<<20) + `"`,
		"64 MiB escaped": `"` + strings.Repeat(`\\`, 32<<20) + `"`,
		"many members":   `{` + strings.Repeat(`"a":{},`, 1<<18) + `"b":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, peeked{isRequest, "1", "x", nil}, peek(`{"params":`+params+`,"id":1,"method":"x"}`))
		})
	}
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	assert.Equal(t, peeked{err: acp.ErrBatch}, peek(deep))
	assert.Equal(t, peeked{err: acp.ErrNoise}, peek(deep+"]"))
}
