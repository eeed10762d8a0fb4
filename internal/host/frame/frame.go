// Package frame reads what a line of an agent says, for a person's eyes: which
// command would run, which files and addresses it is about, what would be
// written. It reads leniently and within bounds, and nothing is ever decided by
// it: that is the strict decoder's business.
//
// What is known is found by the names of members that agents share. A member
// whose name is not among them stays in the rest, which is for a person who asks
// for everything.
package frame

// Bounds of what is read, in bytes.
const (
	MaxText   = 4 << 10  // of one text
	MaxRest   = 16 << 10 // of the members that have no place of their own
	maxSpoken = 64 << 10 // of the text of a message
	maxPlan   = 50       // entries
)

// Frame is what one line says. Texts are bounded, valid UTF-8, and not escaped.
// Byte slices are JSON and point into the line.
type Frame struct {
	Session string
	// RequestID is the JSON-RPC id that a $/cancel_request takes back. It is there
	// only when the line could be read to its end.
	RequestID []byte
	// Update is the value of sessionUpdate, such as "tool_call".
	Update string
	// Spoken is the text of a message.
	Spoken string
	// Plan of the agent.
	Plan []PlanEntry
	// Prompt and Description are what the agent says beside the call itself, in
	// version 2 of ACP.
	Prompt, Description string
	// Subject is what version 2 asks about when it is no tool call. Its type is in
	// Kind, and what it says is found by the same names as in a call.
	Subject []byte
	// SubjectRest are the members of a subject that have no place of their own.
	SubjectRest string
	Call
	// RawTitle and RawPrompt are title and prompt at their whole length.
	RawTitle, RawPrompt []byte
	// Cut says that a text is not complete.
	Cut bool
}

// Call is what a frame says about a tool call.
type Call struct {
	ID, Kind, Title, Status string
	// Commands that would run. A list of arguments is written as a shell reads it;
	// what is neither a text nor a list of texts is given as JSON.
	Commands []string
	// InputPaths are those among the arguments, Paths those that the agent names
	// beside them.
	InputPaths, Paths []string
	// Destinations are addresses on the network, and where files would be moved to.
	Destinations []string
	// Rest are the arguments without all these, as a JSON object; empty for none.
	Rest string
	// Arguments is the raw input, and Content what the agent shows with the call:
	// see [Contents].
	Arguments, Content []byte
}

// PlanEntry is one line of an agent's plan.
type PlanEntry struct{ Text, Status string }

// Read reads a request for permission, an update of a session, or a request that
// takes another one back. In a line that is none of them it finds nothing.
func Read(line []byte) Frame {
	var r reader
	s := scan(line, &r.frame.Cut)
	s.object(func(key string) {
		if key == "params" {
			s.object(func(key string) { r.param(s, key) })
			return
		}
		s.Value()
	})
	if s.bad {
		r.frame.RequestID = nil
	}
	return r.finish()
}

// reader fills a frame.
type reader struct {
	frame              Frame
	arguments, subject input
	paths              texts
}

// finish puts together what was found.
func (r *reader) finish() Frame {
	f := &r.frame
	r.arguments.finish(&f.Cut)
	r.subject.finish(&f.Cut)
	both := func(a, b texts) []string {
		for _, text := range b.list {
			a.add(text, &f.Cut)
		}
		return a.list
	}
	f.Commands = both(r.subject.commands, r.arguments.commands)
	f.InputPaths = both(r.subject.paths, r.arguments.paths)
	f.Destinations = both(r.subject.destinations, r.arguments.destinations)
	f.Paths = r.paths.list
	f.Rest, f.SubjectRest = r.arguments.rest.object(), r.subject.rest.object()
	if len(f.Arguments) > 0 && f.Arguments[0] != '{' {
		f.Rest = Raw(f.Arguments, MaxRest)
	}
	return *f
}

func (r *reader) param(s *scanner, key string) {
	f := &r.frame
	switch key {
	case "sessionId":
		f.Session = s.text(MaxText)
	case "requestId":
		f.RequestID = s.Value()
	case "toolCall":
		r.call(s)
	case "update":
		s.object(func(key string) { r.updateMember(s, key) })
	case "subject":
		r.readSubject(s.Value())
	case "title":
		f.RawPrompt = s.Value()
		f.Prompt = s.unquote(f.RawPrompt, MaxText)
	case "description":
		f.Description = s.text(MaxText)
	default:
		s.Value()
	}
}

func (r *reader) updateMember(s *scanner, key string) {
	switch key {
	case "sessionUpdate":
		r.frame.Update = s.text(MaxText)
	case "entries":
		s.array(func() { r.planEntry(s) })
	default:
		r.callMember(s, key)
	}
}

func (r *reader) planEntry(s *scanner) {
	var e PlanEntry
	s.object(func(key string) {
		switch key {
		case "content":
			e.Text = s.text(MaxText)
		case "status":
			e.Status = s.text(MaxText)
		default:
			s.Value()
		}
	})
	if len(r.frame.Plan) < maxPlan {
		r.frame.Plan = append(r.frame.Plan, e)
	}
}
