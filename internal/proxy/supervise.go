package proxy

import (
	"context"
	"os"
	"time"

	"github.com/kandev/assent/internal/host/child"
)

// supervise waits for the agent to end and sees to it that it does, once the
// client has gone or a signal said so. It returns the exit code.
func (r *relay) supervise(o Options, p *child.Child, agentEnded chan error, clientEnded, clientGone <-chan struct{}) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ending := make(chan bool, 1) // told whether a signal was needed
	end := func(g child.Graces) {
		select {
		case <-ctx.Done(): // it is under way
		default:
			cancel()
			go func() { ending <- p.Stop(context.Background(), g) }()
		}
	}
	var killed <-chan time.Time
	for {
		select {
		case <-clientEnded:
			clientEnded = nil
			end(child.Graces{Close: o.Close, Term: o.Term})
		case <-clientGone:
			clientGone = nil
			end(child.Graces{Term: o.Term}) // it does not read, so it cannot see an end
		case err := <-agentEnded:
			agentEnded <- err // for whoever waits for the last words
			agentEnded = nil
			if err != nil { // the client has gone: its stdin may stay open for ever
				r.agent.stop()
				p.HangUp()
				end(child.Graces{Close: o.Close, Term: o.Term})
			}
		case s := <-o.Signals:
			p.Signal(s)
			if killed == nil && ends(s) {
				killed = time.After(o.Term)
			}
		case <-killed:
			p.Kill()
		case signalled := <-ending:
			return exitCode(p.State(), signalled)
		case <-exitedUnless(ctx, p):
			return exitCode(p.State(), false)
		}
	}
}

// exitedUnless is closed when the process has gone by itself.
func exitedUnless(ending context.Context, p *child.Child) <-chan struct{} {
	if ending.Err() != nil { // whoever ends it says so
		return nil
	}
	return p.Exited()
}

// exitCode is the agent's. One that was told to end because the client had gone,
// and did, ended well.
func exitCode(state *os.ProcessState, told bool) int {
	code := state.ExitCode()
	if signal := deathSignal(state); signal > 0 {
		code = exitSignalled + signal
	}
	if told && code != exitSignalled+killSignal {
		return exitGood
	}
	return code
}
