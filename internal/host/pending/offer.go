package pending

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// InstanceID names one agent process. A process that takes the place of another
// one needs an id of its own: the late end of the old one must not touch it.
type InstanceID string

// RequestID is our own id of one offer. It is never used twice, also not by the
// next run of the host.
type RequestID string

// Key is what an answer reaches an offer by, as a whole and byte for byte.
type Key struct {
	Instance InstanceID `json:"instance"`
	Session  string     `json:"session"`
	Request  RequestID  `json:"request_id"`
}

// Offer is one permission request that pends.
type Offer struct {
	// Instance that asks.
	Instance InstanceID
	// ID is the JSON-RPC id of the request, in its exact text.
	ID acp.ID
	// Request as decoded. It is read at registration and not kept.
	Request *pipeline.Request
	// Result says why the request pends, and which tool it is for.
	Result pipeline.Result
	// Hint tells equal options apart; it is the dialect's.
	Hint pipeline.OptionHint
	// Frame is what the request's line says; nil for nothing. It is not kept: the
	// snapshot takes command, path and destination of it, and a bounded copy of the
	// arguments and the diff is there for [Store.Detail] for as long as the offer is
	// open.
	Frame *frame.Frame
	// Expiry of this offer; the zero value means the store's.
	Expiry Expiry
	// Deliver writes the answer to the agent. It is called exactly once, without
	// any lock held, by the goroutine of whoever ended the offer; possibly before
	// Register returns. An error says that the answer could not be written: a
	// person who answered is told so. It may use the store, but must not close it,
	// and should not block: what was ended together is delivered one by one.
	Deliver func(Outcome) error
}

// LogValue keeps everything of the request out of logs.
func (o Offer) LogValue() slog.Value {
	return slog.GroupValue(slog.String("instance", string(o.Instance)), slog.Any("result", o.Result))
}

// Format prints nothing of the request.
func (o Offer) Format(w fmt.State, _ rune) {
	_, _ = fmt.Fprintf(w, "offer of instance %s", o.Instance)
}

// Expiry ends an offer that nobody answered. The zero value never does. On most
// systems the time in which the machine sleeps does not count.
type Expiry struct {
	// After is how long an offer may wait; below zero: forever, whatever the
	// store's own expiry.
	After time.Duration
	// Reject answers an expired offer like a denial, where that is clear, instead
	// of "cancelled".
	Reject bool
}

// Answer is what a person says to an offer. The zero value says nothing.
type Answer struct {
	kind   answerKind
	option string
}

type answerKind uint8

const (
	answerNone answerKind = iota
	answerOption
	answerAllow
	answerDeny
	answerCancel
)

// Allow takes the offered allow of the least reach.
func Allow() Answer { return Answer{kind: answerAllow} }

// Deny takes the offered reject_once; where none is offered the outcome is
// "cancelled". It never takes an option of another kind.
func Deny() Answer { return Answer{kind: answerDeny} }

// Cancel answers with the outcome "cancelled": the person neither allows nor
// denies. Many agents then end their turn; to deny goes on with it.
func Cancel() Answer { return Answer{kind: answerCancel} }

// Select takes the option with exactly this id, also one whose id happens to be
// "allow" or "deny".
func Select(optionID string) Answer { return Answer{kind: answerOption, option: optionID} }

// String says what kind of answer it is. It hides the option id.
func (a Answer) String() string {
	return [...]string{"none", "option", "allow", "deny", "cancel"}[a.kind]
}

// LogValue hides the option id.
func (a Answer) LogValue() slog.Value { return slog.StringValue(a.String()) }

// Format hides the option id, whatever the verb.
func (a Answer) Format(w fmt.State, _ rune) { _, _ = fmt.Fprint(w, a.String()) }

// Responder is who answered, and through which surface.
type Responder struct {
	Name    string `json:"name"`
	Surface string `json:"surface"`
}

// Outcome is how an offer ended.
type Outcome struct {
	Key      Key
	Sequence uint64
	// Verdict is [pipeline.Select] or [pipeline.Cancel].
	Verdict pipeline.Verdict
	// Option is the index of the selected option in the offer, OptionID its id in
	// the exact bytes offered. They count only with [pipeline.Select].
	Option   int
	OptionID string
	// OptionKind is the kind of the selected option: one of ACP's four, or "other".
	OptionKind string
	// Reason why the offer ended.
	Reason pipeline.Reason
	// By is set when a person answered.
	By Responder
	// Waited is how long the offer was open.
	Waited time.Duration
}

// LogValue is what a log may say about an outcome. The option id is left out.
func (o Outcome) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("request_id", string(o.Key.Request)),
		slog.String("instance", string(o.Key.Instance)),
		slog.String("verdict", o.Verdict.String()),
		slog.String("kind", o.OptionKind),
		slog.String("reason", string(o.Reason)),
		slog.String("surface", o.By.Surface),
		slog.Duration("waited", o.Waited),
	)
}

// Format leaves out the option id, as the log does.
func (o Outcome) Format(w fmt.State, _ rune) {
	_, _ = fmt.Fprintf(w, "%s of request %s (%s)", o.Verdict, o.Key.Request, o.Reason)
}

// Reasons why an offer ended.
const (
	ReasonSelected         pipeline.Reason = "person_selected"    // a person chose an option
	ReasonAllowed          pipeline.Reason = "person_allowed"     // a person said allow
	ReasonDenied           pipeline.Reason = "person_denied"      // a person said deny
	ReasonCancelled        pipeline.Reason = "person_cancelled"   // a person neither allowed nor denied
	ReasonExpired          pipeline.Reason = "expired"            // its expiry passed
	ReasonNoSurface        pipeline.Reason = "no_surface"         // nothing was ever there to show it
	ReasonWithdrawn        pipeline.Reason = "withdrawn"          // the agent took it back
	ReasonSessionCancelled pipeline.Reason = "session_cancelled"  // the client cancelled its session
	ReasonInstanceGone     pipeline.Reason = "instance_gone"      // its agent ended
	ReasonClosed           pipeline.Reason = "host_closed"        // the host ended
	ReasonTooManyOpen      pipeline.Reason = "too_many_open"      // it could not wait: no room
	ReasonTooLarge         pipeline.Reason = "offer_too_large"    // it could not wait: too much text
	ReasonNotDelivered     pipeline.Reason = "answer_not_written" // a person answered, but the agent could not be reached
)

// Reasons why an option has to be named.
const (
	ReasonNoAnswer        pipeline.Reason = "no_answer_given"            // neither an option nor allow nor deny was said
	ReasonAmbiguousOption pipeline.Reason = "option_id_of_several_kinds" // the id names an allow as well as something else
)
