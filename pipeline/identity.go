package pipeline

import "fmt"

// IdentityState says how much is known about the tool behind a request.
type IdentityState uint8

const (
	// Unknown: nothing named the tool. The zero value.
	Unknown IdentityState = iota
	// Named: server and tool are known exactly.
	Named
	// Other: a name was supplied that is no qualified name, such as "Bash".
	Other
	// Refused: malformed or contradictory; nothing may identify the tool any more.
	Refused
)

// String gives the state's name.
func (s IdentityState) String() string {
	return [...]string{"unknown", "named", "other", "refused"}[min(s, Refused)]
}

// Identity of the tool behind a request. It is comparable. It holds text only
// when that text passed the parser, so it can be logged.
type Identity struct {
	// text is server, separator and tool: small, since facts are copied often.
	text   string
	server uint8 // length of the server's name in text
	state  IdentityState
}

// State says how much is known.
func (i Identity) State() IdentityState { return i.state }

// Server is the MCP server's name; empty unless the state is [Named].
func (i Identity) Server() string { return i.text[:i.server] }

// Tool is the tool's name; empty unless the state is [Named].
func (i Identity) Tool() string {
	if i.state != Named {
		return ""
	}
	return i.text[int(i.server)+len(nameSeparator):]
}

// RefusedIdentity is the identity of a malformed or contradictory call.
func RefusedIdentity() Identity { return Identity{state: Refused} }

// OtherIdentity is the identity of a call with a supplied name that is no
// qualified name.
func OtherIdentity() Identity { return Identity{state: Other} }

// Claim is what a dialect or a frame says about the tool: either one qualified
// name, or server and tool apart.
type Claim struct {
	name  string // the whole name, or the server's where the two are apart
	tool  string
	apart bool
}

// ClaimName claims the tool with the given name, qualified or not.
func ClaimName(name string) Claim { return Claim{name: name} }

// ClaimTool claims a tool of a server where the agent gave the two apart.
func ClaimTool(server, tool string) Claim { return Claim{name: server, tool: tool, apart: true} }

// Names says whether the claim is exactly the given name.
func (c Claim) Names(name string) bool { return !c.apart && c.name == name }

// NewIdentity is the only way from a claim to an identity. It is Named when the
// claim is unambiguous, else Other; the reason says which way it is not.
func NewIdentity(c Claim) (Identity, Reason) {
	if !c.apart {
		server, _, reason := ParseQualifiedName(c.name)
		if reason != ReasonQualified {
			return Identity{state: Other}, reason
		}
		return Identity{text: c.name[len(namePrefix):], server: uint8(len(server)), state: Named}, reason
	}
	reason := checkServer(c.name)
	if reason == ReasonQualified {
		reason = checkTool(c.tool)
	}
	if reason != ReasonQualified {
		return Identity{state: Other}, reason
	}
	return Identity{text: c.name + nameSeparator + c.tool, server: uint8(len(c.name)), state: Named}, reason
}

// Reasons of the qualified-name parser.
const (
	ReasonQualified        Reason = "qualified_name"             // the name has exactly one reading
	ReasonNoPrefix         Reason = "name_without_mcp_prefix"    // the name of what is asked for does not begin with mcp__, so it is not taken for a tool of an MCP server
	ReasonNoSeparator      Reason = "name_without_separator"     // the name has no second separator: mcp__x
	ReasonEmptySegment     Reason = "name_with_empty_segment"    // the name has no server or no tool
	ReasonSegmentTooLong   Reason = "name_segment_too_long"      // the name of the server or of the tool is over 128 bytes
	ReasonForeignCharacter Reason = "name_with_foreign_bytes"    // the name has characters outside [A-Za-z0-9_-]
	ReasonSecondSeparator  Reason = "name_with_second_separator" // the name can be read in two ways: mcp__a__b__c is a + b__c, or a__b + c
	ReasonTouchingUnders   Reason = "name_separator_touches"     // the name can be read in two ways: in mcp__a___b, where does the separator begin?
)

// maxSegment is the longest server or tool name in bytes (MCP's own limit).
const maxSegment = 128

const (
	namePrefix    = "mcp__"
	nameSeparator = "__"
)

// ParseQualifiedName takes mcp__<server>__<tool> apart. Server and tool are 1 to
// 128 bytes of [A-Za-z0-9_-]; neither contains "__"; the server neither starts
// nor ends with "_", the tool does not start with one. Bytes are exact: nothing
// is trimmed or folded. The reason is [ReasonQualified], or says why the text is
// no unambiguous name. It does not allocate.
func ParseQualifiedName(name string) (server, tool string, reason Reason) {
	if len(name) < len(namePrefix) || name[:len(namePrefix)] != namePrefix {
		return "", "", ReasonNoPrefix
	}
	rest := name[len(namePrefix):]
	cut := indexSeparator(rest)
	if cut < 0 {
		return "", "", ReasonNoSeparator
	}
	server, tool = rest[:cut], rest[cut+len(nameSeparator):]
	if reason = checkServer(server); reason != ReasonQualified {
		return "", "", reason
	}
	if reason = checkTool(tool); reason != ReasonQualified {
		return "", "", reason
	}
	return server, tool, ReasonQualified
}

func indexSeparator(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '_' && s[i-1] == '_' {
			return i - 1
		}
	}
	return -1
}

func checkServer(s string) Reason {
	if s != "" && (s[0] == '_' || s[len(s)-1] == '_') {
		return ReasonTouchingUnders
	}
	return checkSegment(s)
}

// checkTool lets a tool end with "_": no separator follows that it could touch.
func checkTool(s string) Reason {
	if s != "" && s[0] == '_' {
		return ReasonTouchingUnders
	}
	return checkSegment(s)
}

func checkSegment(s string) Reason {
	switch {
	case s == "":
		return ReasonEmptySegment
	case len(s) > maxSegment:
		return ReasonSegmentTooLong
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
		case c == '_':
			if i > 0 && s[i-1] == '_' {
				return ReasonSecondSeparator
			}
		default:
			return ReasonForeignCharacter
		}
	}
	return ReasonQualified
}

// CheckReservedName refuses a reserved server name that could be ambiguous in a
// qualified name.
func CheckReservedName(name string) error {
	if reason := checkServer(name); reason != ReasonQualified {
		return fmt.Errorf("pipeline: reserved name %q: %s: use 1 to %d of A-Z a-z 0-9 _ -, without __ and without _ at either end", name, reason, maxSegment)
	}
	return nil
}
