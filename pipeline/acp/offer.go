package acp

import (
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
)

// Stage is the name under which this package reports what it decides before any
// stage runs.
const Stage pipeline.Name = "acp"

// Reasons of the edge. Each of them comes with the verdict cancel.
const (
	// ReasonUnreadable: the offer can be read in more than one way, or lacks what
	// an answer needs. It is never decided automatically.
	ReasonUnreadable pipeline.Reason = "unreadable_offer"
	// ReasonNoOptions: an empty list of options; there is nothing to ask.
	ReasonNoOptions pipeline.Reason = "no_options"
)

// errUnreadable is an offer or update that is well-formed JSON, but ambiguous.
var errUnreadable = errors.New("acp: the message can be read in more than one way")

// Offer is one permission request of an agent.
type Offer struct {
	// ID to answer with.
	ID ID
	// Request for the pipeline; meaningless when Reason is set.
	Request pipeline.Request
	// Reason is set when the offer is answered "cancelled" before any stage:
	// [ReasonUnreadable] or [ReasonNoOptions].
	Reason pipeline.Reason
}

// Decide asks the pipeline, unless the offer was decided by its form already.
func (o *Offer) Decide(ctx context.Context, p *pipeline.Pipeline) pipeline.Result {
	if o.Reason != "" {
		return o.decidedByForm()
	}
	return p.Decide(ctx, &o.Request)
}

// DecideUntraced is Decide without a trace.
func (o *Offer) DecideUntraced(ctx context.Context, p *pipeline.Pipeline) pipeline.Result {
	if o.Reason != "" {
		return o.decidedByForm()
	}
	return p.DecideUntraced(ctx, &o.Request)
}

func (o *Offer) decidedByForm() pipeline.Result {
	return pipeline.Result{Decision: pipeline.Decision{Verdict: pipeline.Cancel, Reason: o.Reason}, Stage: Stage}
}

// Answer is the answer line for a result, without a line feed. It is nil for
// [pipeline.Pend]: then a person's answer goes through [Offer.Select] or
// [Offer.Cancelled].
func (o *Offer) Answer(r pipeline.Result) []byte {
	switch r.Decision.Verdict {
	case pipeline.Select:
		return o.Select(r.Decision.Option)
	case pipeline.Cancel:
		return o.Cancelled()
	}
	return nil
}

// Select is the answer line that selects the option with the given index. An
// index outside the offer is answered "cancelled".
func (o *Offer) Select(index int) []byte {
	if o.Reason != "" || index < 0 || index >= len(o.Request.Options) {
		return o.Cancelled()
	}
	line := append(o.answer(), `{"outcome":{"outcome":"selected","optionId":`...)
	line, err := jsontext.AppendQuote(line, o.Request.Options[index].ID)
	if err != nil {
		return o.Cancelled()
	}
	return append(line, `}}}`...)
}

// Cancelled is the answer line with the outcome "cancelled".
func (o *Offer) Cancelled() []byte {
	return append(o.answer(), `{"outcome":{"outcome":"cancelled"}}}`...)
}

func (o *Offer) answer() []byte {
	line := make([]byte, 0, 128)
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = append(line, o.ID.String()...)
	return append(line, `,"result":`...)
}

// BatchRefusal is the answer to a JSON-RPC batch.
func BatchRefusal() []byte {
	return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported: send one message per line"}}`)
}

// offerShape is what can be judged only when all of params was read.
type offerShape struct {
	session, options        bool
	toolCall, subject       bool
	needsCall, call, callID bool
}

func (s offerShape) check() error {
	switch {
	case !s.session, !s.options, s.toolCall == s.subject:
		return errShape
	case s.needsCall && !(s.call && s.callID):
		return errShape
	}
	return nil
}

// readOffer decodes a permission request. It returns errUnreadable or ErrNoise.
func readOffer(f Frame, req *pipeline.Request) error {
	if f.deep || f.repeated || !utf8.Valid(f.Line) {
		return readability(f)
	}
	c := newCursor(f.Line)
	defer c.release()
	var shape offerShape
	err := c.object(func(key []byte) error {
		if string(key) != "params" {
			return c.skip()
		}
		return c.offerParams(req, &shape)
	})
	if err == nil {
		err = c.end()
	}
	if err == nil {
		err = shape.check()
	}
	if err != nil {
		return readability(f)
	}
	return nil
}

func (c *cursor) offerParams(req *pipeline.Request, shape *offerShape) error {
	return c.object(func(key []byte) (err error) {
		switch string(key) {
		case "sessionId":
			shape.session = true
			req.SessionID, err = c.string()
		case "toolCall":
			shape.toolCall, shape.needsCall = true, true
			err = c.toolCall(&req.Call, shape)
		case "subject":
			shape.subject = true
			err = c.subject(&req.Call, shape)
		case "options":
			shape.options = true
			req.Options, err = c.offered()
		case "_meta":
			req.Meta, err = c.meta(0)
		default:
			err = c.skip()
		}
		return err
	})
}

// subject is what ACP v2 asks about. Only the type tool_call is a tool call, and
// the type may stand behind it, so it is looked for before anything is decoded.
func (c *cursor) subject(call *pipeline.ToolCall, shape *offerShape) error {
	if c.dec.PeekKind() != '{' {
		return c.skipWrong()
	}
	if !c.subjectIsToolCall() {
		call.OtherSubject = true
		return c.skip()
	}
	shape.needsCall = true
	return c.object(func(key []byte) error {
		if string(key) == "toolCall" {
			return c.toolCall(call, shape)
		}
		return c.skip()
	})
}

func (c *cursor) subjectIsToolCall() bool {
	s := scanner{b: c.line, pos: int(c.dec.InputOffset())}
	for s.pos < len(s.b) && !s.at('{') { // over the colon
		s.pos++
	}
	s.pos++
	for s.nextMember() {
		if s.keyIs("type") {
			return unquoted(s.value, "tool_call")
		}
	}
	return false
}

func (c *cursor) toolCall(call *pipeline.ToolCall, shape *offerShape) error {
	shape.call = true
	return c.object(func(key []byte) (err error) {
		switch string(key) {
		case "toolCallId":
			shape.callID = true
			call.ID, err = c.string()
		case "name":
			call.Name, err = c.text()
		case "title":
			call.Title, err = c.text()
		case "kind":
			call.Kind, err = c.text()
		case "_meta":
			call.OwnMeta, err = c.meta(0)
		case "rawInput", "content", "locations":
			err = c.skipLenient()
		default:
			err = c.skip()
		}
		return err
	})
}

func (c *cursor) offered() ([]pipeline.Option, error) {
	err := c.array(func() error {
		var o pipeline.Option
		named := false
		err := c.object(func(key []byte) (err error) {
			switch string(key) {
			case "optionId":
				named = true
				o.ID, err = c.string()
			case "kind":
				o.Kind, err = c.optional()
			case "name":
				o.Label, err = c.optional()
			default:
				err = c.skip()
			}
			return err
		})
		if err == nil && !named {
			err = errShape
		}
		c.options = append(c.options, o)
		return err
	})
	return slices.Clone(c.options), err
}

// optional reads a string; what is no string counts as empty.
func (c *cursor) optional() (string, error) {
	if c.dec.PeekKind() != '"' {
		return "", c.skip()
	}
	return c.string()
}
