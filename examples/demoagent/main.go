// Command demoagent is the bundled demo agent as a program of its own. Try it
// behind any ACP client: assent run -- demoagent
package main

import (
	"os"

	"github.com/kandev/assent/internal/demoagent"
)

func main() { os.Exit(demoagent.Main()) }
