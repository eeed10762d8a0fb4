package main

import (
	"context"

	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/host/serve"
)

// tokenCommand manages who may connect to the daemon.
type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Make a token and show it once."`
	List   tokenList   `cmd:"" help:"List the tokens."`
	Delete tokenDelete `cmd:"" help:"Delete a token; what is connected with it is cut off."`
}

// Help is shown by --help.
func (*tokenCommand) Help() string {
	return `Examples:
  assent token create phone --scope view,answer
  assent token create bot --scope view,operate --task task-abcdefghij234567
  assent token list --config /etc/assent/serve.toml
  assent token delete phone

Scopes: view (see), operate (start, prompt, cancel, stop), answer (permissions and
questions). Without --scope a token has all three; the page needs view. It works while
the server runs and while it does not. Say which server it is for as that was started:
with the same --config or --data, or --demo beside assent serve --demo.`
}

type tokenCreate struct {
	serveFlags
	Demo  bool     `help:"For the server that was started with --demo."`
	Scope []string `help:"What the token may: view, operate, answer; all three without it." default:"view,operate,answer" enum:"view,operate,answer"`
	Task  []string `help:"Limit it to this task and those below it; can be given several times." sep:"none" placeholder:"ID"`
	Name  string   `arg:"" help:"What it is called."`
}

// Run is the command.
func (c *tokenCreate) Run(a *app) error {
	r := serve.TokenRequest{Command: "create", Name: c.Name, Scopes: c.Scope, Tasks: c.Task}
	if err := r.Check(); err != nil {
		return console.Usage(err.Error(), "")
	}
	return c.manage(a, c.Demo, r)
}

type tokenList struct {
	serveFlags
	Demo bool `help:"For the server that was started with --demo."`
}

// Run is the command.
func (c *tokenList) Run(a *app) error {
	return c.manage(a, c.Demo, serve.TokenRequest{Command: "list"})
}

type tokenDelete struct {
	serveFlags
	Demo bool   `help:"For the server that was started with --demo."`
	Name string `arg:"" help:"Which one."`
}

// Run is the command.
func (c *tokenDelete) Run(a *app) error {
	return c.manage(a, c.Demo, serve.TokenRequest{Command: "delete", Name: c.Name})
}

func (f *serveFlags) manage(a *app, demo bool, r serve.TokenRequest) error {
	name := "assent"
	if demo {
		name = "assent-demo"
	}
	config, err := f.read(name)
	if err != nil {
		return err
	}
	if err := serve.TokenCommand(context.Background(), config, r, console.Output{File: a.Stdout}, a.Logger); err != nil {
		return console.Failed(err, "")
	}
	return nil
}
