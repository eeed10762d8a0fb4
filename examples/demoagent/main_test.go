package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if os.Getenv("DEMOAGENT_EXAMPLE") != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestItSpeaksACP(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "DEMOAGENT_EXAMPLE=1")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n")
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,`)
}
