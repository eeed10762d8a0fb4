// Command assent decides the permission requests of coding agents that speak the
// Agent Client Protocol. This package holds flags and exit codes; what the commands
// do lives below internal.
package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/kandev/assent/internal/console"
)

// commands is the command line. A command is one line here and one struct with a
// Run(*app) error method; a Help() string method adds an example to its --help.
type commands struct {
	Run     runCommand     `cmd:"" help:"Run one agent in this terminal and answer its permission requests."`
	Proxy   proxyCommand   `cmd:"" help:"Stand between an ACP client, such as an editor, and its agent."`
	Serve   serveCommand   `cmd:"" help:"Run agents for tasks, with a page where people answer."`
	Token   tokenCommand   `cmd:"" help:"Manage who may connect to serve."`
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
	console.Streams
	logFormat string
}

func main() {
	if watch(os.Args[1:]) {
		return
	}
	stderr := console.NewStderr(os.Stderr)
	code := run(os.Args[1:], stderr)
	stderr.Close()
	os.Exit(code)
}

// run parses the command line, runs the command and reports its error in one
// line. It returns the exit code.
func run(args []string, stderr *console.Stderr) int {
	if err := console.CheckStdout(); err != nil {
		return console.Report(stderr, "stdout", err)
	}
	var cli commands
	stdout, helped := io.Writer(console.Output{File: os.Stdout}), false
	if len(args) == 0 {
		stdout = stderr
	}
	parser, err := kong.New(&cli,
		kong.Name("assent"),
		kong.Description("Decides the permission requests of coding agents."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helped = true }), // --help alone ends the program, and it has no error
	)
	if err != nil {
		return console.Report(stderr, "assent", err)
	}
	call, err := parser.Parse(meant(args))
	switch {
	case helped && len(args) == 0:
		return console.ExitUsage
	case helped:
		return console.ExitGood
	case err != nil:
		return console.Report(stderr, place(err), misused(err, args))
	}
	a := &app{console.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: stderr, Logger: newLogger(stderr, cli.logFlags)}, cli.LogFormat}
	if err := call.Run(a); err != nil {
		return console.Report(stderr, firstWord(call.Command()), err)
	}
	return console.ExitGood
}

// meant is the command line that somebody means who does not know this program:
// help, help for a command, --version, or nothing at all.
func meant(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// misused is what is wrong with a command line, and where the right one stands.
func misused(err error, args []string) error {
	if _, failure := errors.AsType[*console.Exit](err); failure {
		return err // of --help, which cannot be written
	}
	way := "assent --help"
	if command := place(err); command != commandLine {
		way = "assent " + command + " --help"
	}
	text := strings.Replace(err.Error(), ` but got "EOL" (<EOL>)`, ", and nothing follows", 1)
	if missing, found := strings.CutPrefix(text, `expected "<`); found {
		text = "<" + strings.TrimSuffix(missing, `"`) + " is missing"
	}
	if short, unknown := strings.CutPrefix(text, "unknown flag -"); unknown && !strings.HasPrefix(short, "-") {
		text = oneDash(err, text, args)
	}
	return console.Usage(text, "try: "+way)
}

// oneDash is what is wrong with a long flag after one dash, which is read as short
// ones. Of its value nothing is said.
func oneDash(err error, text string, args []string) string {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	for _, word := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "-"), "=")
		if !strings.HasPrefix(word, "-") || strings.HasPrefix(name, "-") || len(name) < 2 {
			continue
		}
		parse, ok := errors.AsType[*kong.ParseError](err)
		if ok && slices.ContainsFunc(parse.Context.Flags(), func(f *kong.Flag) bool { return f.Name == name }) {
			return fmt.Sprintf("unknown flag -%s, did you mean --%s?", name, name)
		}
		return fmt.Sprintf("unknown flag -%s: flags begin with two dashes", name)
	}
	return text
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
	return commandLine
}

// commandLine stands for a command when it is not known which.
const commandLine = "command line"

// firstWord of "run <command>" is the command itself.
func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}
