package proxy

import (
	"io"
	"os"
	"time"
)

// hangUpPause is how often it is looked for a client that has gone, in times when
// its lines are not read.
const hangUpPause = time.Second

// watchClient tells of a client that has gone while a line of its is waiting for an
// agent that does not read: then nobody reads the client either, and sees its end.
func (r *relay) watchClient(client io.Reader, ended <-chan struct{}) (gone <-chan struct{}) {
	told := make(chan struct{})
	file, ok := client.(*os.File)
	if !ok {
		return told
	}
	go func() {
		tick := time.NewTicker(hangUpPause)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				if r.agent.stuck(hangUpPause) && hungUp(file) {
					close(told)
					return
				}
			}
		}
	}()
	return told
}
