package pipeline

import "log/slog"

// Agent is the configured id of an agent, such as "claude-acp".
type Agent string

// Request is one session/request_permission, decoded and joined with what the
// connection knew at that moment. It is read-only: stages share it.
type Request struct {
	// SessionID as the agent sent it.
	SessionID string
	// Call is the effective tool call.
	Call ToolCall
	// Meta is the _meta of the request's params.
	Meta Meta
	// Options as offered, in order.
	Options []Option
	// Session is what the edge or the host knew of the session and its
	// connection: an immutable snapshot.
	Session Session
}

// ToolCall is the effective tool call of a request. A permission frame's tool
// call is an update in ACP: a top-level field that is missing or null leaves
// what an earlier session/update of the same session and tool call id said.
type ToolCall struct {
	// ID is the agent's toolCallId. It identifies nothing by itself.
	ID string
	// Name is the programmatic name, Title the display text, Kind the ACP kind.
	Name, Title, Kind Text
	// Meta is the effective _meta, the frame's own or else the earlier one, as a whole.
	Meta Meta
	// OwnMeta is the _meta of the request's own frame.
	OwnMeta Meta
	// Facts are what the dialect kept of earlier updates of this call.
	Facts DialectFacts
	// Contradictory says that the frames of this call do not agree: names that
	// differ, duplicate keys, bad text. Nothing may identify such a call.
	Contradictory bool
	// OtherSubject says that the request is about no tool call (ACP v2: a
	// subject of another type, or none).
	OtherSubject bool
}

// Option is one offered answer.
type Option struct {
	// ID in the exact bytes offered.
	ID string
	// Kind as offered; empty when it is no string. Only the exact kinds below
	// mean something, any other is for display.
	Kind string
	// Label for people. It can hold secrets and is logged nowhere.
	Label string
}

// Kinds of options (ACP, PermissionOptionKind).
const (
	AllowOnce    = "allow_once"
	AllowAlways  = "allow_always"
	RejectOnce   = "reject_once"
	RejectAlways = "reject_always"
)

// IsAllow says whether an option of this kind allows the call.
func IsAllow(kind string) bool { return kind == AllowOnce || kind == AllowAlways }

// KnownKind is the kind of an option where it may not be one that an agent made up:
// one of ACP's four, empty for an empty one, and "other" for any other.
func KnownKind(kind string) string {
	switch kind {
	case "", AllowOnce, AllowAlways, RejectOnce, RejectAlways:
		return kind
	}
	return "other"
}

// Session is what was known of a session when its request was decoded.
type Session struct {
	// Announced says that the client created, loaded, resumed or forked this
	// session. Sub-agents use ids that were never announced.
	Announced bool
	// Lists are the server lists that must all qualify: the session's own, or
	// for a session never announced that of every live session.
	Lists []ServerList
	// Unsettled says that a request which may change a list in Lists is in flight.
	Unsettled bool
	// Untrusted says that a list in Lists cannot be known for sure.
	Untrusted bool
	// StartupAlarm says that the agent reported that it did not start the
	// injected server in this session.
	StartupAlarm bool
	// Contacted says that this session was seen to list the tools of the injected
	// server, with its own secret; OfferedTools are their exact names. Only a host
	// with a live endpoint knows.
	Contacted    bool
	OfferedTools []string
	// NameSeen says that some request on this connection carried a programmatic name.
	NameSeen bool
}

// ServerList is the mcpServers of one session request, as the agent got it.
type ServerList struct {
	// Servers in the order of the frame.
	Servers []Server
	// Authorization is the header value that the injector put into its own
	// entry of this list; empty when it put none. It is a secret.
	Authorization string
}

// LogValue keeps the list's secrets out of logs.
func (l ServerList) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("servers", len(l.Servers)))
}

// Server is one entry of mcpServers.
type Server struct {
	Name, Type, URL string
	// Command, Args, Env: a stdio server has them. Only their presence counts.
	Command   string
	Args, Env int
	// Headers may hold secrets.
	Headers []Header
	// Malformed says that some member had a type that ACP does not give it.
	Malformed bool
}

// LogValue keeps headers, URL and command out of logs.
func (s Server) LogValue() slog.Value {
	return slog.GroupValue(slog.String("type", s.Type), slog.Int("headers", len(s.Headers)))
}

// Header is one HTTP header of a server entry.
type Header struct{ Name, Value string }

// LogValue hides the value.
func (h Header) LogValue() slog.Value { return slog.StringValue("(hidden)") }
