// Command cmd is the soak test: see package soak. Started with the word "agent"
// it is the demo agent.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"github.com/kandev/assent/internal/demoagent"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/soak"
)

const agentWord = "agent"

func main() {
	if len(os.Args) > 1 && os.Args[1] == agentWord {
		os.Exit(demoagent.Main())
	}
	os.Exit(run())
}

// run reads the duration from the environment: SOAK=2m.
func run() int {
	duration := 10 * time.Minute
	if text := os.Getenv("SOAK"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			fmt.Fprintf(os.Stderr, "soak: SOAK=%s is no duration (as in SOAK=2m)\n", text)
			return 2
		}
		duration = d
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak: this program cannot find itself to be the demo agent:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	good, err := soak.Run(ctx, soak.Options{
		Agent: process.Command{Path: self, Args: []string{agentWord}}, For: duration, Agents: 3, Seed: rand.Uint64(), Report: os.Stdout,
	})
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 1
	case !good:
		fmt.Println("FAILED")
		return 1
	}
	fmt.Println("good")
	return 0
}
