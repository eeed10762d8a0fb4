package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/process"
)

// Exit codes, a public contract.
const (
	ExitGood        = 0
	ExitFailed      = 1   // the thing asked for failed
	ExitUsage       = 2   // wrong usage or unreadable input
	ExitInterrupted = 130 // stopped by the person
)

// Exit is an error with an exit code. An error of any other type means [ExitFailed].
type Exit struct {
	Code int
	err  error
	way  string // the way out, for people; may be empty
}

func (e *Exit) Error() string {
	if e.way == "" {
		return e.err.Error()
	}
	return e.err.Error() + " (" + e.way + ")"
}

func (e *Exit) Unwrap() error { return e.err }

// Usage is wrong usage or unreadable input. The way says what to do about it.
func Usage(why, way string) error {
	return &Exit{Code: ExitUsage, err: errors.New(why), way: way}
}

// Failed is a failure of the thing that was asked for, with a way out.
func Failed(err error, way string) error {
	return &Exit{Code: ExitFailed, err: err, way: way}
}

// ErrInterrupted says that the person stopped the program.
var ErrInterrupted = &Exit{Code: ExitInterrupted, err: context.Canceled}

// Report writes an error in one line, "assent: <what>: <why>", and gives the exit code.
func Report(w io.Writer, what string, err error) int {
	code := ExitFailed
	var exit *Exit
	if errors.As(err, &exit) {
		code = exit.Code
	}
	if code != ExitInterrupted {
		writeLine(w, fmt.Sprintf("assent: %s: %s", what, oneLine(err.Error())))
	}
	return code
}

// maxReported is how much of an error is shown, in bytes.
const maxReported = 8 << 10

// oneLine keeps an error in the one line that it may have. Names of files and
// arguments stand in it, and can hold anything.
func oneLine(s string) string {
	return display.Line(strings.Join(strings.Fields(s), " "), maxReported)
}

// Explain puts an error of the host into words for the person who ran it.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	if _, chosen := errors.AsType[*Exit](err); chosen {
		return err
	}
	text := err.Error()
	way := ""
	if rpc, ok := errors.AsType[*process.RPCError](err); ok {
		text = rpc.Error() + ": " + rpc.Detail
		way = "some agents want to be logged in first: see the agent's own manual"
	}
	for _, prefix := range []string{"process: ", "child: ", "config: ", "endpoint: ", "proxy: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	if _, ok := errors.AsType[*process.StartError](err); ok {
		way = startable(err)
	}
	return Failed(errors.New(text), way)
}

// startable says how a program that could not be started can be.
func startable(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "is the file executable? chmod +x makes it so, or give its interpreter first, as in: node agent.js"
	case errors.Is(err, syscall.ENOEXEC):
		return "it is no program for this system; give the interpreter of a script first, as in: node agent.js"
	}
	return "is it installed, and is its name right?"
}
