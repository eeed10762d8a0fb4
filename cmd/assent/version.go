package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/console"
)

// versionCommand says what this program is.
type versionCommand struct{}

// Help is shown by --help.
func (*versionCommand) Help() string { return "Example: assent version" }

// Run is the command.
func (*versionCommand) Run(a *app) error {
	version, commit := hostVersion(), "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	out := console.Output{File: a.Stdout}
	if _, err := fmt.Fprintf(out, "assent %s\ncommit %s\n%s %s/%s\n\ndialects tested with\n",
		version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH); err != nil {
		return err
	}
	for _, t := range dialects.Tested() {
		if _, err := fmt.Fprintf(out, "  %-14s %s %s\n", t.Agent, t.Package, t.Version); err != nil {
			return err
		}
	}
	return nil
}

// hostVersion is the version of this program.
func hostVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return strings.Trim(info.Main.Version, "()") // Go writes (devel)
	}
	return "devel"
}
