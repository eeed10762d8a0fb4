package endpoint

import (
	"bytes"
	"encoding/json"
	"strings"

	gojson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kandev/assent/internal/host/upstream"
)

// handedOn is a result of the target as the bytes it sent: no number is rounded,
// no member lost.
type handedOn struct {
	mcp.ResultBase
	body json.RawMessage
}

// GetMeta claims that the server is named, so that the SDK does not write into
// the target's metadata.
func (*handedOn) GetMeta() map[string]any { return map[string]any{mcp.MetaKeyServerInfo: true} }

// SetMeta does nothing.
func (*handedOn) SetMeta(map[string]any) {}

// MarshalJSON implements [json.Marshaler].
func (r *handedOn) MarshalJSON() ([]byte, error) { return r.body, nil }

// newHandedOn makes the result of a method. For an agent without handshake it adds
// what such a result must have (MCP 2026-07-28) and older targets do not send.
func newHandedOn(body json.RawMessage, method string, modern bool) (*handedOn, error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || body[0] != '{' {
		return nil, &upstream.Failure{What: "sent a result that is no object"}
	}
	if !modern {
		return &handedOn{body: body}, nil
	}
	var there struct {
		Type  *any `json:"resultType"`
		TTL   *any `json:"ttlMs"`
		Scope *any `json:"cacheScope"`
	}
	if err := gojson.Unmarshal(body, &there, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, &upstream.Failure{What: "sent a result that is no valid JSON"}
	}
	missing := map[string]any{}
	if there.Type == nil {
		missing["resultType"] = "complete"
	}
	if strings.HasSuffix(method, "/list") || method == "resources/read" {
		if there.TTL == nil {
			missing["ttlMs"] = 0
		}
		if there.Scope == nil {
			missing["cacheScope"] = "private"
		}
	}
	return &handedOn{body: withMembers(body, missing)}, nil
}

// withMembers adds members to an object, which has none of these names.
func withMembers(body json.RawMessage, more map[string]any) json.RawMessage {
	head, err := json.Marshal(more)
	rest := bytes.TrimSpace(body[1:])
	if err != nil || len(more) == 0 {
		return body
	}
	if rest[0] == '}' {
		return head
	}
	return append(append(head[:len(head)-1], ','), rest...)
}
