package serve

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
)

// early is an agent that asks before it answers initialize, and a keeper from there on.
func early() int {
	lines := bufio.NewScanner(os.Stdin)
	k := keeping{session: "before"}
	var initialize []byte
	for lines.Scan() {
		var m struct {
			Method string         `json:"method"`
			ID     jsontext.Value `json:"id"`
		}
		switch _ = json.Unmarshal(lines.Bytes(), &m); {
		case m.Method == "initialize":
			initialize = append(initialize, lines.Bytes()...)
			k.ask()
		case m.Method == "" && initialize != nil:
			k.take(initialize)
			initialize = nil
		default:
			k.take(lines.Bytes())
		}
	}
	return 0
}

// What an agent asks for before it has said who it is belongs to its task: people see
// it and answer it, and the agent goes on.
func TestAnOfferBeforeTheHandshake(t *testing.T) {
	r := begin(t, func(c *Config) { c.Agents["early"], c.DefaultAgent = agentOf(t, "early"), "early" })
	p := r.dial(r.token("desk", all))
	p.watch()
	dir := t.TempDir()
	var made wireTask
	p.ask("task.start", fmt.Sprintf(`{"title":"early","prompt":"hello","directory":%q}`, dir), &made)
	offer := p.opens(made.ID)
	starting := p.watch()
	assert.Len(t, starting.Offers, 1)
	assert.Len(t, starting.Instances, 1)
	assert.Equal(t, "starting", starting.Instances[0].State)
	p.ask("permission.resolve", offer.resolve(`{"choice":"allow"}`), nil)
	assert.Equal(t, "answered", p.closes(offer).Outcome)
	p.says(made.ID, "heard: hello")
}
