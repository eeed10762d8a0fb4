package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/kandev/assent/internal/host/child"
	"github.com/kandev/assent/internal/host/config"
)

// Terminal is what a passthrough launch hands to the agent.
type Terminal struct {
	Stdin          *os.File
	Stdout, Stderr *os.File
	// Warn is told what a person should know before the agent takes the terminal.
	Warn func(config.Warning)
}

// Passthrough runs Codex in the caller's terminal, with the injected MCP server
// in its configuration: Codex asks its person itself, but not about the tools of
// that server. The endpoint lives as long as the agent. The error is an
// [*ExitError] when the agent ended with another status than 0. Only l's command,
// settings and endpoint are used. When ctx ends the agent is asked to end, and
// killed when it does not.
func Passthrough(ctx context.Context, l Launch, t Terminal) (err error) {
	ic, e, err := l.prepare(ctx, nil)
	if err != nil {
		return err
	}
	authorization := ""
	if e != nil {
		defer func() { err = errors.Join(err, e.Close()) }()
		session, err := e.NewSession()
		if err != nil {
			return err
		}
		authorization = session.Authorization()
	}
	launch, err := ic.CodexArgs(authorization)
	if err != nil {
		return err
	}
	for _, w := range slices.Concat(ic.Warnings, launch.Warnings) {
		t.Warn(w)
	}
	cmd := exec.CommandContext(ctx, l.Command.Program(), slices.Concat(launch.Args, l.Command.Args)...)
	cmd.Dir, cmd.Env = l.Command.Dir, l.Command.Env
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	for _, v := range launch.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	// The agent stays in our process group: the terminal is its own, Ctrl-C too.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.Stdin, t.Stdout, t.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = exitGrace
	runtime.LockOSThread() // see child.DieWithUs
	defer runtime.UnlockOSThread()
	child.DieWithUs(cmd)
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit):
		return &ExitError{State: exit.ProcessState}
	case err != nil:
		return &StartError{Program: filepath.Base(l.Command.Path), Err: child.WithoutPath(err)}
	}
	return nil
}
