package dispatch

// Kind says which transport a dispatch came over.
type Kind uint8

// The kinds of origins.
const (
	Nowhere     Kind = iota // the zero value: refused everywhere
	AgentStream             // the MCP server of an instance, in task mode
	ExternalMCP             // the MCP server for clients that people set up
	InProcess               // a component of the host itself
	RawClient               // a WebSocket client: a browser, a script
)

func (k Kind) String() string {
	switch k {
	case AgentStream:
		return "agent_stream"
	case ExternalMCP:
		return "external_mcp"
	case InProcess:
		return "in_process"
	case RawClient:
		return "raw_client"
	default:
		return "nowhere"
	}
}

// Identity is whom an agent stream speaks for. It is bound when the stream is made.
type Identity struct {
	Instance string
	Task     string
	Session  string // empty for a stream that serves all sessions of its instance
}

// Person is whom a token stands for.
type Person struct {
	Name   string // of the token
	Scopes Scopes
	// Tasks are those that the person may see, with their descendants; nil for all.
	Tasks []string
	// Surface is where the person is: "page", "api" or "mcp".
	Surface string
}

// Origin says who dispatches. Its fields are unexported: the constructors below,
// called by transport adapters, are the only way to one that is accepted, and no
// decoder can fill it in.
type Origin struct {
	kind     Kind
	identity Identity
	person   Person
}

// FromAgentStream is the origin of the MCP server of an instance.
func FromAgentStream(i Identity) Origin { return Origin{kind: AgentStream, identity: i} }

// FromExternalMCP is the origin of a tool of the external MCP server.
func FromExternalMCP(p Person) Origin { return Origin{kind: ExternalMCP, person: p} }

// FromRawClient is the origin of a WebSocket client.
func FromRawClient(p Person) Origin { return Origin{kind: RawClient, person: p} }

// FromProcess is the origin of a component of the host, which is trusted.
func FromProcess(component string) Origin {
	return Origin{kind: InProcess, person: Person{Name: component}}
}

// Kind is the transport.
func (o Origin) Kind() Kind { return o.kind }

// Identity is that of an agent stream; false for every other origin.
func (o Origin) Identity() (Identity, bool) { return o.identity, o.kind == AgentStream }

// Person is the person behind the external MCP server or a WebSocket client; false
// for every other origin.
func (o Origin) Person() (Person, bool) {
	if o.kind != ExternalMCP && o.kind != RawClient {
		return Person{}, false
	}
	return o.person, true
}

// Component is the name of the component of the host; false for every other origin.
func (o Origin) Component() (string, bool) {
	if o.kind != InProcess {
		return "", false
	}
	return o.person.Name, true
}
