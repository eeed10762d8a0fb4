// Command assent decides the permission requests of coding agents that speak the
// Agent Client Protocol. This package holds flags and exit codes; what the commands
// do lives below internal.
package main

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/kandev/assent/internal/console"
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
type app struct{ console.Streams }

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
		return console.Report(os.Stderr, "assent", err)
	}
	call, err := parser.Parse(args)
	if err != nil {
		return console.Report(os.Stderr, place(err), console.Usage(err.Error(), "try --help"))
	}
	a := &app{console.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Logger: newLogger(os.Stderr, cli.logFlags)}}
	if err := call.Run(a); err != nil {
		return console.Report(os.Stderr, firstWord(call.Command()), err)
	}
	return console.ExitGood
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
