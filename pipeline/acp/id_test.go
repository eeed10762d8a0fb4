package acp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline/acp"
)

// An answer is good JSON, whatever id it answers.
func TestIDsThatAreNoText(t *testing.T) {
	offer := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}`
	}
	for id, answered := range map[string]string{
		"7":            "7",
		"\"a\"":        "\"a\"",
		"\"\xff\"":     "\"\ufffd\"",
		"\"\xff\xff\"": "\"\ufffd\ufffd\"",
		`"\ud800"`:     `"\ud800"`,
		"9e99":         "9e99",
		"-0":           "-0",
	} {
		m, err := acp.NewDecoder(acp.Options{}).FromAgent([]byte(offer(id)))
		require.NoError(t, err, id)
		require.NotNil(t, m.Offer, id)
		assert.Equal(t, `{"jsonrpc":"2.0","id":`+answered+`,"result":{"outcome":{"outcome":"cancelled"}}}`, string(m.Offer.Cancelled()))
	}
	for _, id := range []string{"01", "-", "+1", "1.", "\"a\x01\"", `"\x"`, "0x1"} {
		_, err := acp.Peek([]byte(offer(id)))
		assert.ErrorIs(t, err, acp.ErrNoise, id)
	}
}
