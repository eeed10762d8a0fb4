// Command assent decides the permission requests of coding agents that speak the
// Agent Client Protocol. This package holds flags, output and exit codes; what
// the commands do lives below internal.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/kandev/assent/internal/display"
)

// commands is the command line. A command is one line here and one struct with a
// Run(*app) error method; a Help() string method adds an example to its --help.
type commands struct {
	Run     runCommand     `cmd:"" help:"Run one agent in this terminal and answer its permission requests."`
	Replay  replayCommand  `cmd:"" help:"Send recorded traffic through the pipeline and show each decision."`
	Check   checkCommand   `cmd:"" help:"Run case files and compare each decision with what the case wants."`
	Audit   auditCommand   `cmd:"" help:"Read audit files: what was decided, by whom, and why."`
	Version versionCommand `cmd:"" help:"Show the version, and the agents and versions that the dialects were tested with."`

	DemoAgent demoAgentCommand `cmd:"" hidden:""`

	logFlags
}

// logFlags say how the program reports on stderr. They come before or after any command.
type logFlags struct {
	LogFormat string `help:"Format of the log on stderr: text or json." enum:"text,json" default:"text" placeholder:"FORMAT"`
	LogLevel  string `help:"Least level that is logged: debug, info, warn or error." enum:"debug,info,warn,error" default:"warn" placeholder:"LEVEL"`
}

// app is what a command gets to work with.
type app struct {
	stdin  *os.File
	stdout *os.File
	stderr io.Writer
	logger *slog.Logger
}

func main() {
	os.Exit(run(os.Args[1:]))
}

// run parses the command line, runs the command and reports its error in one
// line. It returns the exit code.
func run(args []string) int {
	var cli commands
	parser, err := kong.New(&cli,
		kong.Name("assent"),
		kong.Description("Decides the permission requests of coding agents."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return report(os.Stderr, "assent", err)
	}
	call, err := parser.Parse(args)
	if err != nil {
		return report(os.Stderr, place(err), usage(err.Error(), "try --help"))
	}
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, logger: newLogger(os.Stderr, cli.logFlags)}
	if err := call.Run(a); err != nil {
		return report(os.Stderr, firstWord(call.Command()), err)
	}
	return exitGood
}

// newLogger logs to stderr, never to stdout.
func newLogger(w io.Writer, f logFlags) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(f.LogLevel)) // kong checked it
	options := &slog.HandlerOptions{Level: level}
	if f.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// Exit codes, a public contract.
const (
	exitGood        = 0
	exitFailed      = 1   // the thing asked for failed
	exitUsage       = 2   // wrong usage or unreadable input
	exitInterrupted = 130 // stopped by the person
)

// exitError carries an exit code. An error of any other type means exitFailed.
type exitError struct {
	code int
	err  error
	way  string // the way out, for people; may be empty
}

func (e *exitError) Error() string {
	if e.way == "" {
		return e.err.Error()
	}
	return e.err.Error() + " (" + e.way + ")"
}

func (e *exitError) Unwrap() error { return e.err }

// usage is wrong usage or unreadable input. The way says what to do about it.
func usage(why, way string) error {
	return &exitError{code: exitUsage, err: errors.New(why), way: way}
}

// failed is a failure of the thing that was asked for, with a way out.
func failed(err error, way string) error {
	return &exitError{code: exitFailed, err: err, way: way}
}

// errInterrupted says that the person stopped the program.
var errInterrupted = &exitError{code: exitInterrupted, err: context.Canceled}

// report writes an error in one line, "assent: <what>: <why>", and gives the exit code.
func report(w io.Writer, what string, err error) int {
	code := exitFailed
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.code
	}
	if code != exitInterrupted {
		writeLine(w, fmt.Sprintf("assent: %s: %s", what, oneLine(err.Error())))
	}
	return code
}

// place names the command that a usage error is about.
func place(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if command := parse.Context.Command(); command != "" {
			return firstWord(command)
		}
	}
	return "command line"
}

// firstWord of "run <command>" is the command itself.
func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// maxReported is how much of an error is shown, in bytes.
const maxReported = 8 << 10

// oneLine keeps an error in the one line that it may have. Names of files and
// arguments stand in it, and can hold anything.
func oneLine(s string) string {
	return display.Line(strings.Join(strings.Fields(s), " "), maxReported)
}
