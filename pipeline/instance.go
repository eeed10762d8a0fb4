package pipeline

import (
	"fmt"
	"strconv"
)

// DefaultReservedName is the name of the MCP server that the host injects.
const DefaultReservedName = "kandev"

// MCPURL is the address of the injected server over streamable HTTP, byte for byte
// as the injector writes it and the decision wants it.
func MCPURL(port int) string { return loopback(port) + "/mcp" }

// SSEURL is its address over SSE, likewise.
func SSEURL(port int) string { return loopback(port) + "/sse" }

func loopback(port int) string { return "http://localhost:" + strconv.Itoa(port) }

// Instance is one agent process and the settings that decide for it. The zero
// value approves nothing by itself.
type Instance struct {
	// Agent is the configured agent id. It chooses the dialect.
	Agent Agent
	// Guessed says that nobody configured Agent: it was taken from a command
	// name or the agent's own words. A guess explains, it never identifies.
	Guessed bool
	// Reserved is the injected server's name; empty means [DefaultReservedName].
	Reserved string
	// Port is where the injected server listens; 0 means that there is none.
	Port int
	// Injected is the injector's own marker. No decoder ever sets it.
	Injected bool
	// AutoApprove is blanket approval: the person's own choice.
	AutoApprove bool
	// NoTitleFallback switches off that a title alone can identify a tool of an
	// old Claude adapter.
	NoTitleFallback bool
}

// ReservedName is the reserved name with its default filled in.
func (i Instance) ReservedName() string {
	if i.Reserved == "" {
		return DefaultReservedName
	}
	return i.Reserved
}

// Check refuses settings that could not be decided by.
func (i Instance) Check() error {
	if err := CheckReservedName(i.ReservedName()); err != nil {
		return err
	}
	if i.Port < 0 || i.Port > 65535 {
		return fmt.Errorf("pipeline: port %d of the injected server: use 1 to 65535, or 0 for none", i.Port)
	}
	return nil
}
