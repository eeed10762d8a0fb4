package stages

import (
	"context"

	"github.com/kandev/assent/pipeline"
)

// ProvenanceName is the name of the stage [Provenance].
const ProvenanceName pipeline.Name = "provenance"

// Reasons of [Provenance].
const (
	ReasonInjected         pipeline.Reason = "server_is_injected"          // the server is the injected one: marker, list and header are the injector's
	ReasonNotNamed         pipeline.Reason = "tool_not_identified"         // the tool is not identified, so there is no server to prove anything about
	ReasonOtherServer      pipeline.Reason = "server_is_not_the_hosts"     // the tool is of a server that the host did not inject
	ReasonNothingInjected  pipeline.Reason = "nothing_injected"            // the host injected no server, or without a port
	ReasonStartupAlarm     pipeline.Reason = "injected_server_not_started" // the agent said that the injected server did not start
	ReasonListUntrusted    pipeline.Reason = "server_list_untrusted"       // a message gave the session's list of servers ambiguously
	ReasonListUnsettled    pipeline.Reason = "server_list_unsettled"       // a request that may change the session's list of servers is open
	ReasonListUnknown      pipeline.Reason = "server_list_unknown"         // no session request has been seen, so the list of servers is not known
	ReasonEntryMissing     pipeline.Reason = "injected_entry_missing"      // the session's list of servers lacks the injected one
	ReasonEntryLookalike   pipeline.Reason = "reserved_name_lookalike"     // the list has a server whose name agents turn into the injected one's
	ReasonEntryMalformed   pipeline.Reason = "reserved_entry_malformed"    // the injected server's entry in the list has members of a wrong type
	ReasonEntryRunsCommand pipeline.Reason = "reserved_entry_command"      // the entry of that name in the list has command, args or env: it is a local program
	ReasonEntryOtherURL    pipeline.Reason = "reserved_entry_address"      // the entry of that name in the list has not exactly type and URL of the injected server
	ReasonEntryHeaders     pipeline.Reason = "reserved_entry_headers"      // the entry of that name in the list has not exactly the header of the injector
)

// Provenance proves that the server of a named tool is the one that the host
// injected: by the injector's own marker, and by the server list that this
// session was really given. Lists are compared as text, nothing is normalised: a
// URL that merely means the same is not the injector's.
type Provenance struct {
	reserved  string
	injected  bool
	http, sse string
}

// NewProvenance makes the stage of one instance.
func NewProvenance(instance pipeline.Instance) *Provenance {
	return &Provenance{
		reserved: instance.ReservedName(),
		injected: instance.Injected && instance.Port > 0,
		http:     pipeline.MCPURL(instance.Port),
		sse:      pipeline.SSEURL(instance.Port),
	}
}

// ProvenanceFactory makes the stage for each instance.
func ProvenanceFactory() Factory { return PerInstance(ProvenanceName, NewProvenance) }

// Name is [ProvenanceName].
func (*Provenance) Name() pipeline.Name { return ProvenanceName }

// Evaluate always continues, with the fact that the server is the injected one
// or with the reason why that is not proven.
func (s *Provenance) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	reason := s.judge(ev.Request, &ev.Facts)
	if reason != ReasonInjected {
		return keep(ev, reason), nil
	}
	return pipeline.Decision{
		Verdict: pipeline.Continue,
		Learned: pipeline.Facts{Injected: true},
		Reason:  reason,
	}, nil
}

func (s *Provenance) judge(req *pipeline.Request, facts *pipeline.Facts) pipeline.Reason {
	session := &req.Session
	switch identity := &facts.Identity; {
	case identity.State() != pipeline.Named:
		return ReasonNotNamed
	case identity.Server() != s.reserved:
		return ReasonOtherServer
	case !s.injected:
		return ReasonNothingInjected
	case session.StartupAlarm:
		return ReasonStartupAlarm
	case session.Untrusted:
		return ReasonListUntrusted
	case session.Unsettled:
		return ReasonListUnsettled
	case len(session.Lists) == 0:
		return ReasonListUnknown
	}
	// For a session that was never announced these are the lists of all live
	// ones: nobody knows which of them it inherited.
	for i := range session.Lists {
		if reason := s.list(&session.Lists[i]); reason != ReasonInjected {
			return reason
		}
	}
	return ReasonInjected
}

// list wants the injected entry, and nothing else under the reserved name.
func (s *Provenance) list(l *pipeline.ServerList) pipeline.Reason {
	reason := ReasonEntryMissing
	for i := range l.Servers {
		server := &l.Servers[i]
		if !s.reservedLooking(server) {
			continue
		}
		if reason = s.entry(server, l.Authorization); reason != ReasonInjected {
			return reason
		}
	}
	return reason
}

func (s *Provenance) entry(e *pipeline.Server, authorization string) pipeline.Reason {
	switch {
	case e.Malformed:
		return ReasonEntryMalformed
	case e.Name != s.reserved:
		return ReasonEntryLookalike
	case e.Command != "" || e.Args > 0 || e.Env > 0:
		return ReasonEntryRunsCommand
	case !(e.Type == "http" && e.URL == s.http) && !(e.Type == "sse" && e.URL == s.sse):
		return ReasonEntryOtherURL
	case !injectorsHeaders(e.Headers, authorization):
		return ReasonEntryHeaders
	}
	return ReasonInjected
}

// injectorsHeaders: exactly the one header with the session's secret, or none
// where the injector put none.
func injectorsHeaders(headers []pipeline.Header, authorization string) bool {
	if authorization == "" {
		return len(headers) == 0
	}
	return len(headers) == 1 && headers[0] == pipeline.Header{Name: "Authorization", Value: authorization}
}

// reservedLooking says whether agents may take the entry for the reserved name,
// or whether it has a name that could not be read.
func (s *Provenance) reservedLooking(e *pipeline.Server) bool {
	return e.Malformed && e.Name == "" || pipeline.FlatName(e.Name) == s.reserved
}
