package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// decoders are the ways in which a body, profile or file could be decoded; the
// lenient ones are what a careless caller would use.
var decoders = map[string]func([]byte, any) error{
	"encoding/json": json.Unmarshal,
	"json v2":       func(b []byte, v any) error { return jsonv2.Unmarshal(b, v) },
	"json v2 folding case": func(b []byte, v any) error {
		return jsonv2.Unmarshal(b, v, jsonv2.MatchCaseInsensitiveNames(true))
	},
	"toml": toml.Unmarshal,
}

// requireUnmarked decodes a body in every way into every type and requires that
// neither the marker nor the port is set, and that an instance built of it has
// nothing injected. A body that a decoder refuses is fine, too.
func requireUnmarked(t require.TestingT, body string) {
	for name, decode := range decoders {
		var ic InstanceConfig
		_ = decode([]byte(body), &ic)
		require.False(t, ic.InjectedKandevMCP, "%s: %s", name, body)
		require.Zero(t, ic.Port, "%s: %s", name, body)
		require.False(t, ic.PipelineInstance().Injected)

		var o InstanceOverrides
		_ = decode([]byte(body), &o)
		require.Zero(t, o.Port, "%s: %s", name, body)
		var c Config
		_ = decode([]byte(body), &c)
		if built, err := c.NewInstanceConfig(o); err == nil {
			require.False(t, built.InjectedKandevMCP, "%s: %s", name, body)
			require.False(t, built.PipelineInstance().Injected)
		}
	}
}

func TestL40_NoSpellingSetsTheMarker(t *testing.T) {
	for _, key := range []string{
		"InjectedKandevMCP", "injected_kandev_mcp", "injectedkandevmcp", "injectedKandevMCP", "injectedKandevMcp",
		"INJECTEDKANDEVMCP", "injected-kandev-mcp", "Injected", "injected", "-", "", `\u0049njectedKandevMCP`,
		"injectedKandevMCP,string", "Port", "port", "PORT",
	} {
		for _, value := range []string{"true", `"true"`, "1", "41001", "{}", "[true]"} {
			requireUnmarked(t, `{"`+key+`":`+value+`}`)
			requireUnmarked(t, `{"agent":"claude-acp","`+key+`":`+value+`,"`+key+`":`+value+`}`)
			requireUnmarked(t, `"`+key+`" = `+value+"\n")
		}
	}
}

// drawKey draws a spelling of one of the guarded fields.
func drawKey(t *rapid.T) string {
	words := rapid.SampledFrom([][]string{{"injected", "kandev", "mcp"}, {"injected"}, {"port"}}).Draw(t, "words")
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{"", "_", "-", " ", ".", "__", `\u200b`}).Draw(t, "separator"))
		}
		for _, r := range w {
			if rapid.Bool().Draw(t, "upper") {
				r = unicode.ToUpper(r)
			}
			// The Kelvin sign folds to k in encoding/json.
			if (r == 'k' || r == 'K') && rapid.IntRange(0, 9).Draw(t, "kelvin") == 0 {
				r = '\u212a'
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

func TestL40_NoSpellingSetsTheMarkerDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := drawKey(t)
		value := rapid.SampledFrom([]string{"true", `"true"`, "1", "41001", "null"}).Draw(t, "value")
		body := rapid.SampledFrom([]string{
			`{"KEY":VALUE}`,
			`{"KEY":false,"KEY":VALUE}`,
			`{"agent":"claude-acp","mcpServers":[{"name":"kandev","type":"http","url":"http://localhost:41001/mcp","KEY":VALUE}],"KEY":VALUE}`,
			`{"overrides":{"KEY":VALUE},"instance":{"KEY":VALUE},"KEY":VALUE}`,
			"\"KEY\" = VALUE\n",
		}).Draw(t, "body")
		requireUnmarked(t, strings.NewReplacer("KEY", key, "VALUE", value).Replace(body))
	})
}

func FuzzL40_NoBodySetsTheMarker(f *testing.F) {
	f.Add(`{"InjectedKandevMCP":true}`)
	f.Add(`{"injected_kandev_mcp":true,"port":41001}`)
	f.Add("InjectedKandevMCP = true")
	f.Fuzz(func(t *testing.T, body string) { requireUnmarked(t, body) })
}

// The marker must not come back as a field of what is decoded or public.
func TestL40_OnlyTheInstanceHasTheMarker(t *testing.T) {
	flatten := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	for _, typ := range []reflect.Type{reflect.TypeFor[InstanceOverrides](), reflect.TypeFor[Config](), reflect.TypeFor[MCPServer]()} {
		for _, f := range reflect.VisibleFields(typ) {
			assert.NotContains(t, flatten(f.Name), "injected", typ.String())
		}
	}
	f, ok := reflect.TypeFor[InstanceConfig]().FieldByName("InjectedKandevMCP")
	require.True(t, ok)
	for _, format := range []string{"json", "toml", "yaml", "xml"} {
		assert.Equal(t, "-", f.Tag.Get(format))
	}
}

func TestL41_EncodingLosesTheMarker(t *testing.T) {
	for name, encode := range map[string]func(any) ([]byte, error){
		"encoding/json": json.Marshal,
		"json v2":       func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
	} {
		t.Run(name, func(t *testing.T) {
			c := Config{Agent: "claude-acp", MCPServers: Servers{docs(), files()}}
			before := instance(t, c, InstanceOverrides{AgentGuessed: true, Agent: "claude-acp", Port: 41001})
			require.True(t, before.InjectedKandevMCP)
			data, err := encode(before)
			require.NoError(t, err)
			pointer, err := encode(&before)
			require.NoError(t, err)
			assert.Equal(t, data, pointer)
			assert.NotContains(t, strings.ToLower(string(data)), "injected")
			assert.NotContains(t, string(data), "41001", "the port belongs to this run")
			requireUnmarked(t, string(data))

			var after InstanceConfig
			require.NoError(t, json.Unmarshal(data, &after))
			assert.Equal(t, InstanceConfig{ReservedName: "kandev", Agent: "claude-acp", AgentGuessed: true, MCPServers: Servers{docs(), files()}}, after)

			// Resumed: the marker comes from being built anew.
			again := instance(t, Config{Agent: after.Agent, MCPServers: after.MCPServers}, InstanceOverrides{Port: 41002})
			assert.True(t, again.InjectedKandevMCP)
			assert.Len(t, again.MCPServers, 4)
		})
	}
}

func TestEncodingErrorsHideTheValue(t *testing.T) {
	bad := MCPServer{Name: "x", Type: TypeHTTP, Headers: []Header{{Name: "A", Value: secretHeader + "\xff"}}}
	for _, v := range []any{bad, InstanceConfig{MCPServers: Servers{bad}}, InstanceConfig{Agent: secretArg + "\xff"}} {
		_, err := json.Marshal(v)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "5ecret")
	}
}
