package acp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	// yesNo are the options of most offers.
	yesNo = `[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]`
	// hostsList is a server list with the injected server.
	hostsList = `[{"name":"kandev","type":"http","url":"http://localhost:41001/mcp","headers":[]}]`
	// otherList has the same name at another place.
	otherList = `[{"name":"kandev","type":"http","url":"http://localhost:9/mcp","headers":[]}]`
)

// request is a permission request with id 7 and the given params.
func request(params string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":` + params + `}`
}

// offerOf is a permission request about the given tool call, in session s.
func offerOf(toolCall string) string {
	return request(`{"sessionId":"s","toolCall":` + toolCall + `,"options":` + yesNo + `}`)
}

// offerIn is a permission request about call c of a session, named or not.
func offerIn(session, members string) string {
	return request(`{"sessionId":"` + session + `","toolCall":{"toolCallId":"c"` + members + `},"options":` + yesNo + `}`)
}

// updateOf is a session/update of session s.
func updateOf(update string) string { return updateIn("s", update) }

func updateIn(session, update string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session + `","update":` + update + `}}`
}

// options are those of yesNo.
func options() []pipeline.Option {
	return []pipeline.Option{{ID: "yes", Kind: "allow_once", Label: "Yes"}, {ID: "no", Kind: "reject_once", Label: "No"}}
}

// fromAgent feeds lines of the agent and gives the offer of the last one.
func fromAgent(t testing.TB, d *acp.Decoder, lines ...string) *acp.Offer {
	t.Helper()
	var offer *acp.Offer
	for _, line := range lines {
		m, err := d.FromAgent([]byte(line))
		require.NoError(t, err, line)
		offer = m.Offer
	}
	return offer
}

// feed takes lines of both sides; one of the client begins with ">".
func feed(t testing.TB, d *acp.Decoder, lines ...string) *acp.Offer {
	t.Helper()
	var offer *acp.Offer
	for _, line := range lines {
		if client, is := strings.CutPrefix(line, ">"); is {
			_, err := d.FromClient([]byte(client), "")
			require.NoError(t, err, line)
			continue
		}
		offer = fromAgent(t, d, line)
	}
	return offer
}

// given and absent shorten expectations.
func given(s string) pipeline.Text { return pipeline.NewText(s) }

func object(members ...pipeline.Member) pipeline.Meta { return pipeline.NewMetaObject(members...) }

func member(key string, value pipeline.Meta) pipeline.Member {
	return pipeline.Member{Key: key, Value: value}
}
