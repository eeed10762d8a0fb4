package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kandev/assent/pipeline"
)

// Event is the kind of a record. The set is closed.
type Event string

// The events.
const (
	// Decision: the pipeline has decided an offer, or decided to ask.
	Decision Event = "decision"
	// Answer: an offer that was asked about is over, answered or not.
	Answer Event = "answer"
	// NetFired: one of the nets around the pipeline has fired.
	NetFired Event = "net"
	// Unasked: a tool call ran and nobody had been asked.
	Unasked Event = "unasked"
	// Gap: the file is not complete here. [Log] writes these records.
	Gap Event = "gap"
	// Stop: somebody ended a task, with what its agent asked for.
	Stop Event = "stop"
	// Interrupt: somebody cancelled the turn of a task, with what its agent asked for.
	Interrupt Event = "interrupt"
	// Question: somebody answered a question of an agent.
	Question Event = "question"
	// Other stands for an event that is none of these.
	Other Event = "other"
)

// Net is one of the nets around the pipeline. The set is closed.
type Net string

// The nets.
const (
	Witness        Net = "witness"         // the session has not been seen at the injected server
	Tripwire       Net = "tripwire"        // an approved call never arrived there
	StartupAlarm   Net = "startup_alarm"   // the agent said that the injected server did not start
	NeverAutomatic Net = "never_automatic" // a tool that a person always answers for
	OtherNet       Net = "other"           // none of these
)

// Reasons of a [Gap].
const (
	// GapQueueFull: so many records waited for the disk that the next ones found
	// no room. Record.Dropped says how many.
	GapQueueFull pipeline.Reason = "queue_full"
	// GapWriteFailed: a write failed and was tried again. Nothing is missing
	// unless another gap says so; the line before can be cut.
	GapWriteFailed pipeline.Reason = "write_failed"
	// GapSyncFailed: the system could not promise that what was written since
	// Record.Since is on the disk.
	GapSyncFailed pipeline.Reason = "sync_failed"
	// GapLineCut: the line before was cut when its writer ended. What that writer
	// still had in its queue is missing.
	GapLineCut pipeline.Reason = "line_cut"
)

// Record is one line of the log. It is comparable but for its times. Members that
// say nothing are left out of the line.
type Record struct {
	// Time of the event; the zero value means the time of [Log.Append].
	Time time.Time
	// Event says which of the other members mean something.
	Event Event
	// Run tells the runs of the host apart; [Log] sets it.
	Run string
	// Instance is the host's name of the agent process, unique within a run.
	Instance string
	// Agent is the agent id that the instance was configured with.
	Agent pipeline.Agent
	// Task is the host's own id of the task that the agent works on; empty where
	// there are no tasks.
	Task string
	// Session as the agent named it.
	Session string
	// Request is our own id of the offer, never the agent's.
	Request string
	// Verdict counts in a [Decision] and an [Answer].
	Verdict pipeline.Verdict
	Stage   pipeline.Name
	Reason  pipeline.Reason
	// OptionKind is the kind of the selected option. Kinds that ACP does not
	// know are written as "other".
	OptionKind string
	// Tool is written only in the state [pipeline.Named].
	Tool pipeline.Identity
	// Kind of the tool call, as the agent says.
	Kind Kind
	// By is who answered, or ended something, Surface through what.
	By, Surface string
	// Waited is how long the offer was open, in whole milliseconds. It counts in
	// an [Answer].
	Waited time.Duration
	// Net that has fired.
	Net Net
	// Dropped is how many records are missing here, Since when that began. They
	// count in a [Gap].
	Dropped uint64
	Since   time.Time
}

// Origin says which offer a record is about.
type Origin struct {
	Instance string
	Agent    pipeline.Agent
	Task     string // empty where there are no tasks
	Session  string
	// Request is our own id of the offer.
	Request string
	// Kind of its tool call; empty where the agent does not say it.
	Kind Kind
}

// DecisionRecord is the record of what the pipeline said. OptionKind is the kind
// of the selected option, empty without one.
func DecisionRecord(o Origin, r pipeline.Result, optionKind string) Record {
	return Record{
		Event: Decision, Instance: o.Instance, Agent: o.Agent, Task: o.Task, Session: o.Session, Request: o.Request,
		Verdict: r.Decision.Verdict, Stage: r.Stage, Reason: r.Decision.Reason,
		OptionKind: optionKind, Tool: r.Facts.Identity, Kind: o.Kind,
	}
}

// Bounds of the texts in a record, in bytes before they are escaped. A longer
// text is cut and ends with a hash of the whole, so that two of them stay two.
const (
	maxSession = 256
	maxName    = 128
	maxWord    = 64
)

// clean brings a record into the form in which it is written: sets closed, texts
// bounded, times in UTC.
func (r Record) clean() Record {
	r.Time = r.Time.UTC().Round(0)
	if !r.Since.IsZero() {
		r.Since = r.Since.UTC().Round(0)
	}
	r.Event, r.Net = knownEvent(r.Event), knownNet(r.Net)
	if r.Event != Decision && r.Event != Answer || r.Verdict >= pipeline.Continue {
		r.Verdict = pipeline.Pend
	}
	r.Run, r.Instance, r.Task = bounded(r.Run, maxName), bounded(r.Instance, maxName), bounded(r.Task, maxName)
	r.Agent, r.Session = pipeline.Agent(bounded(string(r.Agent), maxName)), bounded(r.Session, maxSession)
	r.Request, r.By, r.Surface = bounded(r.Request, maxName), bounded(r.By, maxName), bounded(r.Surface, maxName)
	r.Stage, r.Reason = pipeline.Name(word(string(r.Stage))), pipeline.Reason(word(string(r.Reason)))
	r.OptionKind = pipeline.KnownKind(r.OptionKind)
	if r.Tool.State() != pipeline.Named {
		r.Tool = pipeline.Identity{}
	}
	if r.Kind != "" {
		r.Kind = KnownKind(string(r.Kind))
	}
	if r.Waited = r.Waited.Truncate(time.Millisecond); r.Waited < 0 || r.Event != Answer {
		r.Waited = 0
	}
	return r
}

func knownEvent(e Event) Event {
	switch e {
	case Decision, Answer, NetFired, Unasked, Gap, Stop, Interrupt, Question:
		return e
	}
	return Other
}

func knownNet(n Net) Net {
	switch n {
	case "", Witness, Tripwire, StartupAlarm, NeverAutomatic:
		return n
	}
	return OtherNet
}

// word is the name of a stage or a reason. Names are constants of whoever wrote
// the stage; anything else than a word could come from a request.
func word(s string) string {
	if len(s) > maxWord {
		return string(Other)
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.', c == '/':
		default:
			return string(Other)
		}
	}
	return s
}

// cutMark stands where a text was cut, before the hash of the whole.
const cutMark = "…"

// bounded is s in valid UTF-8 of at most limit bytes.
func bounded(s string, limit int) string {
	if len(s) > limit {
		sum := sha256.Sum256([]byte(s))
		hash := cutMark + hex.EncodeToString(sum[:8])
		end := limit - len(hash)
		for back := 1; back < utf8.UTFMax && !utf8.RuneStart(s[end]); back++ {
			end--
		}
		s = s[:end] + hash
	}
	if utf8.ValidString(s) {
		return s
	}
	return bounded(strings.ToValidUTF8(s, "?"), limit)
}
