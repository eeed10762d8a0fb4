package acp

import (
	"slices"

	"github.com/kandev/assent/pipeline"
)

// Bounds of what is kept of sessions. Beyond them nothing is trusted any more.
const (
	maxAnnounced = 4096
	maxInFlight  = 1024
)

// sessions knows which server list each session was really given: that of its
// session/new or fork, by the id in the response, or of its load or resume, by
// the id in the request, in force from its success.
type sessions struct {
	announced map[string]*announced
	inFlight  map[string]*sessionRequest // by request id
	alarms    map[string]struct{}
	doubtful  map[string]struct{} // sessions that a client frame named beside another one
	// distrusted: something happened that no single session can be blamed for.
	distrusted bool
	// nameless: a session got a list, but its id could not be read.
	nameless bool
}

type announced struct {
	lists     []pipeline.ServerList // one, as snapshots have it
	untrusted bool
}

// sessionRequest is one session/new, load, resume or fork of the client.
type sessionRequest struct {
	method    string
	sessions  []string // the ids of a load or resume; several when it is ambiguous
	list      pipeline.ServerList
	untrusted bool
}

// makes says that the session's id comes with the response.
func (r *sessionRequest) makes() bool { return r.method == MethodNew || r.method == MethodFork }

func newSessions() sessions {
	return sessions{announced: map[string]*announced{}, inFlight: map[string]*sessionRequest{}, alarms: map[string]struct{}{}, doubtful: map[string]struct{}{}}
}

func (s *sessions) distrustAll() { s.distrusted = true }

// doubt distrusts sessions for as long as the connection lasts: a frame of the
// client named several, and the agent may have taken any of them.
func (s *sessions) doubt(ids []string) {
	for _, id := range ids {
		if len(s.doubtful) >= maxAnnounced {
			s.distrusted = true
			return
		}
		s.doubtful[id] = struct{}{}
	}
}

// alarm raises the startup alarm of a session. It is false when it was raised
// before.
func (s *sessions) alarm(session string) bool {
	if _, raised := s.alarms[session]; raised {
		return false
	}
	if len(s.alarms) >= maxAnnounced {
		s.distrusted = true
		return false
	}
	s.alarms[session] = struct{}{}
	return true
}

// request takes a session request that is about to be sent.
func (s *sessions) request(f Frame, r *sessionRequest) {
	if f.repeated || f.Kind != KindRequest {
		r.untrusted = true
	}
	if f.Kind != KindRequest { // no response will ever settle it
		s.settle(r, "")
		return
	}
	for _, other := range s.inFlight {
		if slices.ContainsFunc(r.sessions, func(id string) bool { return slices.Contains(other.sessions, id) }) {
			r.untrusted, other.untrusted = true, true // which of the two comes last?
		}
	}
	key := f.ID.Key()
	if other := s.inFlight[key]; other != nil || len(s.inFlight) >= maxInFlight {
		s.distrusted = true
		return
	}
	s.inFlight[key] = r
}

// response takes a response of the agent; most are to other requests.
func (s *sessions) response(f Frame) error {
	key := f.ID.Key()
	r := s.inFlight[key]
	if r == nil {
		return nil
	}
	if readability(f) == ErrNoise { // nobody can have read it as a failure
		return ErrNoise
	}
	delete(s.inFlight, key)
	failed := len(f.failure) > 0 && f.failure[0] == '{'
	if failed && f.result == nil && !f.repeated {
		return nil // a failure changes nothing
	}
	if f.failure != nil || f.repeated { // with a result, or no error object: did it fail?
		r.untrusted = true
	}
	id := ""
	if r.makes() {
		id = readSessionID(f)
	}
	s.settle(r, id)
	return nil
}

// settle puts a list in force.
func (s *sessions) settle(r *sessionRequest, made string) {
	ids := r.sessions
	if r.makes() {
		if made == "" {
			s.nameless = true
			return
		}
		if s.announced[made] != nil { // one id for two sessions
			r.untrusted = true
		}
		ids = []string{made}
	}
	if len(ids) == 0 {
		s.nameless = true
	}
	for _, id := range ids {
		if s.announced[id] == nil && len(s.announced) >= maxAnnounced {
			s.distrusted = true
			return
		}
		s.announced[id] = &announced{lists: []pipeline.ServerList{r.list}, untrusted: r.untrusted}
	}
}

// replaying says whether updates of a session are the replay of its history.
func (s *sessions) replaying(session string) bool {
	return s.changing(session, func(r *sessionRequest) bool { return r.method == MethodLoad })
}

func (s *sessions) changing(session string, counts func(*sessionRequest) bool) bool {
	for _, r := range s.inFlight {
		if counts(r) && slices.Contains(r.sessions, session) {
			return true
		}
	}
	return false
}

// snapshot says what is known of a session now.
func (s *sessions) snapshot(session string, every []pipeline.ServerList) pipeline.Session {
	_, alarm := s.alarms[session]
	_, doubtful := s.doubtful[session]
	untrusted := doubtful || s.distrusted
	if every != nil {
		return pipeline.Session{Announced: true, Lists: every, StartupAlarm: alarm, Untrusted: untrusted}
	}
	unsettled := s.changing(session, func(*sessionRequest) bool { return true })
	if a := s.announced[session]; a != nil {
		return pipeline.Session{
			Announced: true, Lists: a.lists, StartupAlarm: alarm,
			Unsettled: unsettled, Untrusted: a.untrusted || untrusted,
		}
	}
	return s.unannounced(unsettled)
}

// unannounced is the snapshot of a session that the client never asked for: it
// may have the list of any live session, or of one that is being made.
func (s *sessions) unannounced(unsettled bool) pipeline.Session {
	out := pipeline.Session{
		StartupAlarm: len(s.alarms) > 0, Unsettled: unsettled, Untrusted: s.distrusted || s.nameless || len(s.doubtful) > 0,
	}
	for _, a := range s.announced {
		out.Lists = append(out.Lists, a.lists...)
		out.Untrusted = out.Untrusted || a.untrusted
	}
	if len(out.Lists) == 0 {
		return out
	}
	for _, r := range s.inFlight {
		if !r.makes() {
			out.Unsettled = true
			continue
		}
		out.Lists = append(out.Lists, r.list)
		out.Untrusted = out.Untrusted || r.untrusted
	}
	return out
}
