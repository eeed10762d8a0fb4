package proxy

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// decided is one offer and what was decided.
type decided struct {
	number    uint64
	injection *injection
	offer     *acp.Offer
	result    pipeline.Result
	asked     *asked // nil for one that the client is not asked about, or that cannot be read
}

// reporter says what happened: to the log, to the audit file, and on stderr.
type reporter struct {
	stderr  io.Writer
	log     *slog.Logger
	audit   *audit.Log // may be nil
	agent   pipeline.Agent
	explain bool

	mu   sync.Mutex
	said map[string]bool // warnings that were given
}

// By and surface of an answer that the client gave.
const (
	byClient      = "client"
	clientSurface = "acp"
)

// say writes one line for a person. Words that are not ours are quoted in it.
func (p *reporter) say(text string) {
	_, _ = io.WriteString(p.stderr, "assent: proxy: "+text+"\n")
}

// warning says once what may be wrong.
func (p *reporter) warning(text string) { p.once("warning: " + text) }

// once says something once.
func (p *reporter) once(text string) {
	p.mu.Lock()
	again := p.said[text]
	p.said[text] = true
	p.mu.Unlock()
	if !again {
		p.say(text)
	}
}

// decided reports a decision.
func (p *reporter) decided(d decided) {
	kind := ""
	if d.result.Decision.Verdict == pipeline.Select {
		kind = d.offer.Request.Options[d.result.Decision.Option].Kind
	}
	p.log.Info("decision", "offer", d.number, "result", d.result, "option_kind", pipeline.KnownKind(kind))
	from := p.origin(d.offer.Request.SessionID, d.number)
	from.Kind = audit.CallKind(d.offer.Request.Call.Kind)
	p.audit.Append(audit.DecisionRecord(from, d.result, kind))
	d.injection.guard.Noticed(d.number, requestID(d.number), d.offer, d.result)
	if p.explain {
		p.say(explanation(d, kind))
	}
}

// explanation is the line of --explain: every stage that ran and what it said.
func explanation(d decided, kind string) string {
	var line strings.Builder
	verdict := map[pipeline.Verdict]string{pipeline.Select: "approved", pipeline.Cancel: "cancelled"}[d.result.Decision.Verdict]
	if verdict == "" {
		verdict = "asked"
	}
	if kind != "" && !pipeline.IsAllow(kind) {
		verdict = "answered"
	}
	fmt.Fprintf(&line, "offer %d: %s", d.number, verdict)
	if kind != "" {
		fmt.Fprintf(&line, " with %s", pipeline.KnownKind(kind))
	}
	if id := d.result.Facts.Identity; id.State() == pipeline.Named {
		fmt.Fprintf(&line, ", tool %s of %s", id.Tool(), id.Server())
	}
	fmt.Fprintf(&line, ", stage %s, reason %s", d.result.Stage, d.result.Decision.Reason)
	if steps := d.result.Trace.Steps(); len(steps) > 0 {
		words := make([]string, len(steps))
		for n, s := range steps {
			words[n] = fmt.Sprintf("%s %s", s.Stage, s.Decision.Verdict)
			if s.Decision.Reason != "" {
				words[n] += " " + string(s.Decision.Reason)
			}
		}
		fmt.Fprintf(&line, " (%s)", strings.Join(words, ", "))
	}
	return line.String()
}

func (p *reporter) origin(session string, number uint64) audit.Origin {
	o := audit.Origin{Instance: "1", Agent: p.agent, Session: session}
	if number > 0 {
		o.Request = requestID(number)
	}
	return o
}

// answered reports the client's answer to an offer.
func (p *reporter) answered(a *asked, verdict pipeline.Verdict, kind string, waited time.Duration) {
	reason := pending.ReasonSelected
	if verdict == pipeline.Cancel {
		reason = pending.ReasonCancelled
	}
	p.log.Info("answer", "offer", a.number, "verdict", verdict, "option_kind", pipeline.KnownKind(kind), "waited", waited)
	p.answer(a, audit.Record{Verdict: verdict, Reason: reason, OptionKind: kind, By: byClient, Surface: clientSurface, Waited: waited})
}

// cancelled reports an open offer of a session that the client cancelled.
func (p *reporter) cancelled(a *asked, waited time.Duration) {
	p.log.Info("answer", "offer", a.number, "verdict", pipeline.Cancel, "waited", waited)
	p.answer(a, audit.Record{Verdict: pipeline.Cancel, Reason: pending.ReasonSessionCancelled, Waited: waited})
}

func (p *reporter) answer(a *asked, r audit.Record) {
	o := p.origin(a.session, a.number)
	r.Event, r.Instance, r.Agent, r.Session, r.Request = audit.Answer, o.Instance, o.Agent, o.Session, o.Request
	r.Tool, r.Kind = a.tool, a.kind
	p.audit.Append(r)
}

// fired reports a net.
func (p *reporter) fired(f nets.Fired) {
	o := p.origin(f.Session, 0)
	p.audit.Append(audit.Record{
		Event: audit.NetFired, Instance: o.Instance, Agent: o.Agent, Session: o.Session, Request: f.Request, Net: f.Net, Reason: f.Reason, Tool: f.Tool,
	})
	switch {
	case f.Reason == nets.ReasonTripwireFired:
		p.log.Error("an approved call never arrived at the injected server", "net", f)
		p.say("an approved call never arrived at the injected server: nothing is approved automatically any more; start the agent again when you know why")
	case f.Net == audit.NeverAutomatic:
		p.log.Info("a net around the pipeline has fired", "net", f)
	default:
		p.log.Warn("a net around the pipeline has fired", "net", f)
	}
}

// unasked reports a call that ran and nobody was asked about.
func (p *reporter) unasked(u nets.Unasked) {
	o := p.origin(u.Session, 0)
	p.audit.Append(audit.Record{Event: audit.Unasked, Instance: o.Instance, Agent: o.Agent, Session: o.Session, Tool: u.Tool, Kind: u.Kind})
	if u.Arrived {
		p.log.Warn("a call reached the injected server and nobody had been asked", "call", u)
	} else {
		p.log.Info("a call ran and nobody had been asked", "call", u)
	}
}

// noise passes on what the agent printed that is no message.
func (p *reporter) noise(line []byte) {
	if !bytes.HasSuffix(line, []byte{'\n'}) {
		line = append(line[:len(line):len(line)], '\n')
	}
	_, _ = p.stderr.Write(line)
}

// tooLong says that a line was not relayed.
func (p *reporter) tooLong(of string, limit int) {
	p.say(fmt.Sprintf("a line of the %s is longer than %d bytes and was not relayed", of, limit))
}

// notInjected says that a session goes without the injected servers.
func (p *reporter) notInjected(method string, err error) {
	p.say(fmt.Sprintf("warning: a %s of the client gets no injected server: %v: every call of this session is asked about", method, err))
}

// replaced says that an entry of the client gave way.
func (p *reporter) replaced(name string) {
	p.warning(fmt.Sprintf("the client lists an MCP server named %s: the injected one takes its place", display.Quote(name, 100)))
}

// mode says that the agent is told to ask.
func (p *reporter) mode(mode string) {
	p.once(fmt.Sprintf("the agent begins in a mode that does not ask: it is set to mode %s", mode))
}

// modeRefused says that it does not.
func (p *reporter) modeRefused() {
	p.warning("the agent refused to be set to a mode in which it asks: it may run tools without asking")
}
