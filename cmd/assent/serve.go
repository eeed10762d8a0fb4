package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/host/serve"
	"github.com/kandev/assent/wiring/hostfx"
)

// serveFlags say which configuration counts. Flags win over the file.
type serveFlags struct {
	Config    string `help:"Configuration file in TOML: agents, certificate, webhook and more." placeholder:"FILE" type:"path"`
	Data      string `help:"Folder for state, audit and the control socket. Otherwise $XDG_STATE_HOME/assent, or ~/.local/state/assent on Linux; with --demo assent-demo beside it." placeholder:"DIR" type:"path"`
	NATS      string `name:"nats" help:"Keep the state in this NATS cluster and not in the data folder." placeholder:"URL"`
	NATSCreds string `name:"nats-creds" help:"Credentials file for the NATS cluster." placeholder:"FILE" type:"path"`
}

// read reads the file and lays the flags over it. Name is that of the data folder.
func (f *serveFlags) read(name string) (c serve.Config, err error) {
	if f.Config != "" {
		if c, err = serve.ReadConfig(f.Config); err != nil {
			return c, console.Usage(err.Error(), "")
		}
	}
	for _, v := range []struct {
		to   *string
		flag string
	}{{&c.Data, f.Data}, {&c.NATS.URL, f.NATS}, {&c.NATS.Creds, f.NATSCreds}} {
		if v.flag != "" {
			*v.to = v.flag
		}
	}
	if c.Data == "" {
		c.Data, err = serve.DefaultData(name)
	}
	return c, err
}

// serveCommand runs the daemon.
type serveCommand struct {
	serveFlags
	Listen   string `help:"Host and port to listen at. Otherwise 127.0.0.1:8421." placeholder:"ADDR"`
	Insecure bool   `help:"Allow to listen beyond the loopback without TLS: something in front has to encrypt."`
	Demo     bool   `help:"Run the bundled demo agent, which asks for something at once. With --config it is one more agent, and the default."`
}

// Help is shown by --help.
func (*serveCommand) Help() string {
	return `Examples:
  assent serve --demo
  assent serve --config /etc/assent/serve.toml
  assent serve --data /var/lib/assent --listen 127.0.0.1:9000 --config serve.toml

It prints where the page is; at the first start, at a terminal, with a token. Elsewhere
make one: assent token create. SIGTERM and Ctrl-C end it gracefully.`
}

// demoPrompt is what the demo agent is told first: one call that is approved by
// itself, and one that waits for an answer.
const demoPrompt = `plan "Look at the page of assent" shell`

// Run is the command.
func (c *serveCommand) Run(a *app) error {
	name, prompt := "assent", ""
	if c.Demo {
		name, prompt = "assent-demo", demoPrompt
	}
	config, err := c.read(name)
	if err != nil {
		return err
	}
	if c.Listen != "" {
		config.Listen = c.Listen
	}
	config.Insecure = config.Insecure || c.Insecure
	if c.Demo {
		demo, err := demoCommand()
		if err != nil {
			return err
		}
		config.AddDemo(demo)
	}
	if err := config.Ready(); err != nil {
		return console.Usage(err.Error(), "")
	}
	ctx := untilSignal()
	settings := hostfx.Settings{
		Config: config, Logger: a.Logger, Version: hostVersion(),
		ShowToken: c.Demo || term.IsTerminal(int(a.Stdout.Fd())),
	}
	var out io.Writer = console.Output{File: a.Stdout}
	if a.logFormat == "json" && !settings.ShowToken { // nobody reads it
		out = io.Discard
	}
	if err := hostfx.Run(ctx, settings, out, prompt); err != nil {
		return console.Failed(err, "")
	}
	if errors.Is(context.Cause(ctx), console.ErrInterrupted) {
		return console.ErrInterrupted
	}
	return nil
}

// untilSignal is a context that ends with the first signal: as an interruption, or
// as an order to end, which is no failure. The next signal ends the program at once.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		got := <-signals
		signal.Stop(signals)
		if got == os.Interrupt {
			cancel(console.ErrInterrupted)
			return
		}
		cancel(nil)
	}()
	return ctx
}
