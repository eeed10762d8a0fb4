package demoagent

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"time"
)

// shellGrace is how long output is awaited after the shell itself has ended.
const shellGrace = 100 * time.Millisecond

// runShell runs a command in a directory. When ctx ends, the command and what it
// started are killed.
func runShell(ctx context.Context, dir, command string) output {
	cmd := shellCommand(ctx, command)
	cmd.Dir = dir
	cmd.WaitDelay = shellGrace
	var out boundedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	said := clean(out.String())
	if said == "" {
		said = "(no output)"
	}
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return output{text: "the command was cancelled", failed: true}
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return output{text: said, raw: said}
	case exited:
		return output{text: said + "\n(" + exit.String() + ")", failed: true}
	}
	return output{text: "the command could not be started", failed: true}
}

// boundedBuffer keeps the beginning of what is written to it.
type boundedBuffer struct {
	mu  sync.Mutex
	buf []byte
}

// Write never fails.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, p[:min(len(p), maxText+1-len(b.buf))]...) // one more, so that a cut shows
	return len(p), nil
}

func (b *boundedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.buf)
}
