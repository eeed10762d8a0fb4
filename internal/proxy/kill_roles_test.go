//go:build linux

package proxy

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/child"
	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/stages"
)

// Variables of the processes that are killed.
const (
	killVariable      = "ASSENT_KILL_ROUND"
	reportVariable    = "ASSENT_KILL_REPORT"
	unwatchedVariable = "ASSENT_KILL_UNWATCHED"
)

func init() {
	roles["killed client"] = killedClient
	roles["killed proxy"] = killedProxy
	roles["killed agent"] = killedAgent
	roles["watcher"] = func() { Watch(WatchPipe()) }
}

// report adds a line to the file that the test reads.
func report(what string, number int) {
	f, err := os.OpenFile(os.Getenv(reportVariable), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %d\n", what, number)
	}
	if err != nil {
		log.Fatal(err)
	}
	_ = f.Close()
}

// killedClient starts the proxy and reads what it says until that ends.
func killedClient() {
	report("client", os.Getpid())
	proxy, err := killRole("proxy")
	if err != nil {
		log.Fatal(err)
	}
	in, err := proxy.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	out, err := proxy.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := proxy.Start(); err != nil {
		log.Fatal(err)
	}
	_, _ = io.WriteString(in, requestLine("1", "session/new", `{"cwd":"/","mcpServers":[]}`))
	_, _ = io.Copy(io.Discard, out)
	_ = proxy.Wait()
}

// killedProxy runs the proxy, as the command does.
func killedProxy() {
	report("proxy", os.Getpid())
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	set, err := dialects.Index(dialects.All())
	if err != nil {
		log.Fatal(err)
	}
	pipelines, err := stages.NewPipelineFactory(stages.HostOrder(), append(stages.Builtin(set), stages.WitnessFactory()))
	if err != nil {
		log.Fatal(err)
	}
	o := Options{
		Command:   child.Command{Path: self, Env: append(os.Environ(), roleVariable+"=killed agent")},
		Inject:    []Injection{{Name: "kandev", Target: nowhere}},
		Pipelines: pipelines, Dialects: set,
		Client: os.Stdin, ToClient: os.Stdout, AgentStderr: os.Stderr, Stderr: os.Stderr,
		Recorder: func(list []record.Server) (Recorder, error) { report("port", list[0].Port); return failing{}, nil },
		Close:    time.Second, Term: time.Second,
		Watcher: []string{"/usr/bin/env", roleVariable + "=watcher", self},
	}
	if os.Getenv(unwatchedVariable) != "" {
		o.Watcher = nil
	}
	code, err := Run(context.Background(), o)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

// killedAgent starts others in a session of their own and talks until its input ends.
// Then it tidies up.
func killedAgent() {
	report("agent", os.Getpid())
	others := exec.Command("sh", "-c", "sleep 600 & wait")
	others.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := others.Start(); err != nil {
		log.Fatal(err)
	}
	go func() {
		for now := range time.NewTicker(5 * time.Millisecond).C {
			say(now.String())
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = syscall.Kill(-others.Process.Pid, syscall.SIGKILL)
}
