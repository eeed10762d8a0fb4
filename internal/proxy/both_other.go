//go:build !linux

package proxy

import (
	"io"
	"os"

	"github.com/kandev/assent/pipeline/acp"
)

// both is for Linux alone: elsewhere the client has its own goroutine all the time.
type both struct{}

func newBoth(*relay, *acp.Reader, Options, *os.File) *both { return nil }

func (*both) hearing(agent io.Reader) io.Reader { return agent }
func (*both) lend()                             {}
func (*both) leave()                            {}
func (*both) come()                             {}
func (*both) end()                              {}
func (*both) write(int, bool)                   {}
