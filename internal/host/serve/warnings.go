package serve

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/agents"
	"github.com/kandev/assent/pipeline"
)

// warnOfAgents warns of what is probably wrong with agents, and can be mended while the
// server runs, or is meant. A program with a relative path is looked for where the agent
// works unless its task says otherwise.
func (s *Server) warnOfAgents(set dialects.Set) {
	for _, name := range slices.Sorted(maps.Keys(s.config.Agents)) {
		a := s.config.Agents[name]
		program := a.Command[0]
		if isPath(program) && !filepath.IsAbs(program) {
			program = filepath.Join(cmp.Or(a.Directory, s.home), program)
		}
		if _, err := exec.LookPath(program); err != nil {
			s.log.Warn("the program of an agent is not found, so its tasks will fail: install it, or correct its command", "agent", name, "program", program)
		}
		if !isFolder(a.Directory) {
			s.log.Warn("the directory of an agent is not there, so its tasks will fail: make it, or correct directory", "agent", name)
		}
		switch _, known := set.For(pipeline.Instance{Agent: pipeline.Agent(a.ID)}); {
		case a.ID == "":
			s.log.Warn("an agent has no id, so it is asked about unless its requests name the tool: give it one; assent version lists the ids", "agent", name)
		case !known:
			s.log.Warn("no dialect knows the id of an agent, so it is asked about unless its requests name the tool: assent version lists the ids",
				"agent", name, "id", a.ID, "near", strings.Join(agents.Near(a.ID), " or "))
		}
	}
}

// warnOfHosts warns of a server that listens to others and answers none of them.
func (s *Server) warnOfHosts() {
	if at, ok := s.address.(*net.TCPAddr); ok && !at.IP.IsLoopback() && len(s.config.Hosts) == 0 {
		s.log.Warn("other machines reach this server, and are all refused: name the hosts that it is called by in hosts, in the configuration", "listen", s.address.String())
	}
}

// isPath says whether a program is named by a path, and not looked for in PATH.
func isPath(program string) bool { return filepath.Base(program) != program }

// isFolder says whether a folder is there, or none is named.
func isFolder(path string) bool {
	if path == "" {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// addressInUseOnWindows is WSAEADDRINUSE, which [syscall.EADDRINUSE] is not.
const addressInUseOnWindows = syscall.Errno(10048)

// listenError says why nobody can listen at an address, with the way out.
func listenError(address string, err error) error {
	way := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, addressInUseOnWindows):
		way = " (is another server running there? --listen 127.0.0.1:0 takes any free port)"
	case errors.Is(err, fs.ErrPermission):
		way = " (the system keeps ports below 1024 for itself: take one above)"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		way = " (this machine has no such address: 127.0.0.1 is its own)"
	}
	if inner := errors.Unwrap(err); inner != nil { // without the address once more
		err = inner
	}
	return fmt.Errorf("cannot listen at %s: %w%s", address, err, way)
}
