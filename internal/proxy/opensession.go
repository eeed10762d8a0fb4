package proxy

import (
	"github.com/kandev/assent/pipeline/acp"
)

// openSession relays a session request with the injected servers in it. One that
// cannot be changed in exactly one way goes to the agent as it is; then nothing is
// injected, and the decoder trusts nothing that it lists.
func (r *relay) openSession(f acp.Frame, line []byte) {
	if !r.gate.injects() {
		r.passSession(f, line)
		return
	}
	grants, err := r.gate.grant(r.sessions.takes())
	if err != nil {
		r.report.notInjected(f.Method, err)
		r.passSession(f, line)
		return
	}
	for _, w := range grants.warnings {
		r.report.warning(w.String())
	}
	if len(grants.entries) == 0 { // the agent takes none
		r.passSession(f, line)
		return
	}
	changed, replaced, err := inject(line, grants.entries, grants.names)
	if err == nil && (f.Kind != acp.KindRequest || !r.sessions.begin(f, grants.list)) {
		err = errNotFollowed
	}
	if err != nil {
		revoke(grants.list)
		r.report.notInjected(f.Method, err)
		r.passSession(f, line)
		return
	}
	for _, name := range replaced {
		r.report.replaced(name)
	}
	r.gate.fromClient(trimEnd(changed), grants.authorizations)
	r.agent.relay(changed)
}

// passSession relays a session request as it is. It is followed all the same: its
// agent may have to be told to ask.
func (r *relay) passSession(f acp.Frame, line []byte) {
	if f.Kind == acp.KindRequest {
		r.sessions.begin(f, nil)
	}
	r.pass(line)
}
