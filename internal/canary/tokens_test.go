package canary

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// place is where a secret is planted.
type place string

// The places. The agent process and the test make the same secret of each.
const (
	inTitle         place = "title"           // of a call
	inLaterTitle    place = "later title"     // of an update
	inCommand       place = "command"         // which everybody may see, but for credentials
	inPath          place = "path"            // likewise
	inURL           place = "url"             // likewise
	inLabel         place = "label"           // of an option
	inOptionKind    place = "option kind"     // one that ACP does not know
	inArguments     place = "arguments"       // raw input
	inContent       place = "content"         // a diff
	inMeta          place = "meta"            // of a call, and of a request
	inToolName      place = "tool name"       // one that no parser takes
	inDialectName   place = "dialect name"    // a name in the metadata that no parser takes
	inKind          place = "kind"            // of a call
	inCallID        place = "call id"         // toolCallId
	inMessage       place = "message"         // of the agent
	inNoise         place = "noise"           // a line that is no message
	inBatch         place = "batch"           // a batch
	inUnreadable    place = "unreadable"      // a request with a key twice
	inMethod        place = "method"          // of a request that nobody serves
	inRPCError      place = "rpc error"       // what the agent answers a session request with
	inStderr        place = "stderr"          // of the agent
	inStageError    place = "stage error"     // a stage quotes the title in its error
	inServerHeader  place = "server header"   // of an MCP server of the user
	inServerURL     place = "server url"      // likewise
	inServerEnv     place = "server env"      // likewise
	inServerArgs    place = "server args"     // likewise
	inAgentEnv      place = "agent env"       // the agent's environment
	inAgentArgs     place = "agent args"      // its command line
	inWrongBearer   place = "wrong bearer"    // what somebody tries at the endpoint
	inMCPTool       place = "mcp tool"        // a tool that the endpoint does not have
	inMCPArguments  place = "mcp arguments"   // of a call that reaches it
	inMCPPath       place = "mcp path"        // of a request to it
	inPanic         place = "panic"           // a tool panics with its input
	inOTLPHeader    place = "otlp header"     // of the receiver of telemetry
	inOTLPURL       place = "otlp url"        // likewise
	inWrongAnswer   place = "wrong answer"    // an option id that was not offered
	inWrongRequest  place = "wrong request"   // a request id that never was
	inOptionID      place = "option id"       // may be in snapshots and answers
	inEndpoint      place = "endpoint secret" // not planted: the endpoint makes it
	inUnseenOption  place = "unseen option"   // the id of an option of a request that nobody is asked about
	inStartupFailed place = "startup failed"  // what Codex says of a server that did not start
)

// Secrets that look like nothing but words. No mask knows them: what they are in
// must not be shown at all.
const (
	inPlainTitle     place = "marmalade zeppelin quixotic" // of a call that has its arguments in its title
	inPlainArguments place = "obsidian trombone waffle"    // of a tool of another server
)

// core is what is looked for: nothing else has it.
func (p place) core() string {
	if p == inPlainTitle || p == inPlainArguments {
		return string(p)
	}
	sum := sha256.Sum256([]byte("canary " + p))
	return hex.EncodeToString(sum[:12])
}

// token looks like a key of a well-known provider. Whatever is shown to everybody
// has to mask it.
func (p place) token() string { return "sk-proj-" + p.core() }

// word is the same for a place where a token would be no identifier.
func (p place) word() string { return strings.ReplaceAll(string(p), " ", "") + p.core() }
