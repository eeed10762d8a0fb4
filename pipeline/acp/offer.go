package acp

import (
	"context"
	"errors"
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
	r, ok := read(f.Line, levelOffer)
	defer r.release()
	var shape offerShape
	if !ok || r.offer(req, &shape) != nil || shape.check() != nil {
		return readability(f)
	}
	return nil
}

func (r *reading) offer(req *pipeline.Request, shape *offerShape) error {
	return r.params(func(key []byte) error { return r.offerMember(key, req, shape) })
}

func (r *reading) offerMember(key []byte, req *pipeline.Request, shape *offerShape) (err error) {
	switch string(key) {
	case "sessionId":
		shape.session = true
		req.SessionID, err = r.required()
	case "toolCall":
		shape.toolCall, shape.needsCall = true, true
		err = r.toolCall(&req.Call, shape)
	case "subject":
		shape.subject = true
		err = r.subject(&req.Call, shape)
	case "options":
		shape.options = true
		req.Options, err = r.offered()
	case "_meta":
		req.Meta = r.meta(0)
	}
	return err
}

// subject is what ACP v2 asks about. Only the type tool_call is a tool call.
func (r *reading) subject(call *pipeline.ToolCall, shape *offerShape) error {
	if r.kind() == '{' && !isToolCallSubject(r.text, r.pos) {
		call.OtherSubject = true
		return nil
	}
	shape.needsCall = true
	return r.object(func(key []byte) error {
		if string(key) != "toolCall" {
			return nil
		}
		return r.toolCall(call, shape)
	})
}

func (r *reading) toolCall(call *pipeline.ToolCall, shape *offerShape) error {
	shape.call = true
	return r.object(func(key []byte) (err error) {
		switch string(key) {
		case "toolCallId":
			shape.callID = true
			call.ID, err = r.required()
		case "name":
			call.Name = r.member()
		case "title":
			call.Title = r.member()
		case "kind":
			call.Kind = r.member()
		case "_meta":
			call.OwnMeta = r.meta(0)
		}
		return err
	})
}

func (r *reading) offered() ([]pipeline.Option, error) {
	err := r.array(func() error {
		var o pipeline.Option
		named := false
		err := r.object(func(key []byte) (err error) {
			switch string(key) {
			case "optionId":
				named = true
				o.ID, err = r.required()
			case "kind":
				o.Kind = r.optional()
			case "name":
				o.Label = r.optional()
			}
			return err
		})
		if err == nil && !named {
			err = errShape
		}
		r.options = append(r.options, o)
		return err
	})
	return append([]pipeline.Option(nil), r.options...), err // empty is nil, whatever was pooled
}
