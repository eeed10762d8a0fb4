package replay

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

// Runner holds what every replay needs.
type Runner struct {
	// Pipelines makes the pipeline of an instance.
	Pipelines stages.PipelineFactory
	// Dialects are those that the pipelines were built with.
	Dialects dialects.Set
}

// Decision is one permission request and what was decided, a decision line of
// --json. Its field names are a public contract.
type Decision struct {
	ID       jsontext.Value `json:"id"`
	Session  *string        `json:"session"`
	ToolCall *string        `json:"tool_call"`
	Verdict  string         `json:"verdict"`
	Option   *string        `json:"option"`
	Kind     *string        `json:"kind"`
	Stage    string         `json:"stage"`
	Reason   string         `json:"reason"`
	Server   *string        `json:"server"`
	Tool     *string        `json:"tool"`

	// Result is the decision with its trace.
	Result pipeline.Result `json:"-"`
}

// connection is one agent connection under replay.
type connection struct {
	deciders []decider // one for each injected server; one that trusts nothing without any
	messages []acp.Message
}

// decider decides by one injected server.
type decider struct {
	decoder  *acp.Decoder
	pipeline *pipeline.Pipeline
	reserved string
}

func (r Runner) connect(instance pipeline.Instance, options acp.Options) (*connection, error) {
	d, err := r.decider(instance, options)
	if err != nil {
		return nil, err
	}
	return &connection{deciders: []decider{d}}, nil
}

func (r Runner) decider(instance pipeline.Instance, options acp.Options) (decider, error) {
	p, err := r.Pipelines(instance)
	if err != nil {
		return decider{}, err
	}
	if d, ok := r.Dialects.For(instance); ok {
		options.Dialect = d
	}
	options.Reserved = instance.ReservedName()
	return decider{acp.NewDecoder(options), p, options.Reserved}, nil
}

// line takes one line. It returns a decision when the line asked for one. Lines
// that are no messages are skipped, as in a live run.
func (c *connection) line(ctx context.Context, direction string, line []byte) (Decision, bool) {
	c.messages = c.messages[:0]
	for _, d := range c.deciders {
		if direction == record.FromClient {
			_, _ = d.decoder.FromClient(line, "") // what is no message says nothing about a session
			continue
		}
		message, err := d.decoder.FromAgent(line)
		if err != nil { // for all of them: it is about the line
			return Decision{}, false
		}
		c.messages = append(c.messages, message)
	}
	if len(c.messages) == 0 || c.messages[0].Offer == nil {
		return Decision{}, false
	}
	return c.decide(ctx), true
}

// decide asks by one injected server after the other, as the proxy does: the first that
// decides does, and else the reason is that of the server that the tool is of.
func (c *connection) decide(ctx context.Context) (decision Decision) {
	for n, d := range c.deciders {
		r := c.messages[n].Offer.Decide(ctx, d.pipeline)
		id := r.Facts.Identity
		if n == 0 || r.Decision.Verdict != pipeline.Pend || id.State() == pipeline.Named && id.Server() == d.reserved {
			decision = decisionOf(c.messages[n].Offer, r)
		}
		if r.Decision.Verdict != pipeline.Pend {
			break
		}
	}
	return decision
}

func decisionOf(o *acp.Offer, result pipeline.Result) Decision {
	d := Decision{
		ID:      writable(o.ID),
		Verdict: result.Decision.Verdict.String(),
		Stage:   string(result.Stage),
		Reason:  string(result.Decision.Reason),
		Result:  result,
	}
	if o.Reason != acp.ReasonUnreadable {
		d.Session, d.ToolCall = &o.Request.SessionID, &o.Request.Call.ID
		if o.Request.Call.OtherSubject {
			d.ToolCall = nil
		}
	}
	if result.Decision.Verdict == pipeline.Select {
		option := &o.Request.Options[result.Decision.Option]
		d.Option, d.Kind = &option.ID, &option.Kind
	}
	if identity := result.Facts.Identity; identity.State() == pipeline.Named {
		server, tool := identity.Server(), identity.Tool()
		d.Server, d.Tool = &server, &tool
	}
	return d
}

// writable is an id as it came, unless it holds what cannot be written: half of a
// surrogate pair becomes U+FFFD.
func writable(id acp.ID) jsontext.Value {
	text := jsontext.Value(id.String())
	if text.IsValid() {
		return text
	}
	unquoted, _ := jsontext.AppendUnquote(nil, text) // the error says that it was replaced
	quoted, err := jsontext.AppendQuote(nil, unquoted)
	if err != nil {
		return jsontext.Value("null")
	}
	return quoted
}

// InputError is an input that cannot be read, and where.
type InputError struct {
	File string
	Line int
	Why  string
}

// Error gives file, line and reason.
func (e *InputError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why) }
