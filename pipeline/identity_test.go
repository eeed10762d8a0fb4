package pipeline_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/kandev/assent/pipeline"
)

var parserRows = []struct {
	name, server, tool string
	reason             pipeline.Reason
}{
	{"mcp__kandev__list_tasks", "kandev", "list_tasks", pipeline.ReasonQualified},
	{"mcp__k__t", "k", "t", pipeline.ReasonQualified},
	{"mcp__Kan-Dev_2__List-Tasks_3", "Kan-Dev_2", "List-Tasks_3", pipeline.ReasonQualified},
	{"mcp__-__-", "-", "-", pipeline.ReasonQualified},
	{"mcp__kandev__x_", "kandev", "x_", pipeline.ReasonQualified}, // nothing follows that the last _ could belong to
	{"mcp__mcp__x", "mcp", "x", pipeline.ReasonQualified},
	{"mcp__" + strings.Repeat("s", 128) + "__" + strings.Repeat("t", 128), strings.Repeat("s", 128), strings.Repeat("t", 128), pipeline.ReasonQualified},

	{"", "", "", pipeline.ReasonNoPrefix},
	{"Bash", "", "", pipeline.ReasonNoPrefix},
	{"mcp_", "", "", pipeline.ReasonNoPrefix},
	{"mcp_kandev__x", "", "", pipeline.ReasonNoPrefix},
	{"MCP__kandev__x", "", "", pipeline.ReasonNoPrefix},
	{" mcp__kandev__x", "", "", pipeline.ReasonNoPrefix},
	{"kandev__x", "", "", pipeline.ReasonNoPrefix},
	{"mcp__", "", "", pipeline.ReasonNoSeparator},
	{"mcp__kandev", "", "", pipeline.ReasonNoSeparator},
	{"mcp__kandev_x", "", "", pipeline.ReasonNoSeparator},
	{"mcp___x", "", "", pipeline.ReasonNoSeparator},
	{"mcp__kandev__", "", "", pipeline.ReasonEmptySegment},
	{"mcp____x", "", "", pipeline.ReasonEmptySegment},
	{"mcp____", "", "", pipeline.ReasonEmptySegment},
	{"mcp__" + strings.Repeat("s", 129) + "__t", "", "", pipeline.ReasonSegmentTooLong},
	{"mcp__s__" + strings.Repeat("t", 129), "", "", pipeline.ReasonSegmentTooLong},
	{"mcp__kandev__x ", "", "", pipeline.ReasonForeignCharacter},
	{"mcp__kandev__x\x00", "", "", pipeline.ReasonForeignCharacter},
	{"mcp__kan.dev__x", "", "", pipeline.ReasonForeignCharacter},
	{"mcp__kandev__café", "", "", pipeline.ReasonForeignCharacter},
	{"mcp__kаndev__x", "", "", pipeline.ReasonForeignCharacter}, // a Cyrillic а
	{"mcp__kandev__\xff", "", "", pipeline.ReasonForeignCharacter},
	{"mcp__kandev__external__execute", "", "", pipeline.ReasonSecondSeparator},
	{"mcp__kandev__x__", "", "", pipeline.ReasonSecondSeparator},
	{"mcp__kandev___status", "", "", pipeline.ReasonTouchingUnders},
	{"mcp___kandev__x", "", "", pipeline.ReasonTouchingUnders},
	{"mcp__kandev____x", "", "", pipeline.ReasonTouchingUnders},
	{"mcp_____x", "", "", pipeline.ReasonEmptySegment},
}

// Each of the 256 bytes, at the end of a tool's name and alone in a flat one.
func TestCharactersOfNames(t *testing.T) {
	const good = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	for b := range 256 {
		c := string([]byte{byte(b)})
		flat, reason := "_", pipeline.ReasonForeignCharacter
		if strings.Contains(good, c) {
			flat, reason = c, pipeline.ReasonQualified
		}
		_, _, got := pipeline.ParseQualifiedName("mcp__kandev__x" + c)
		assert.Equal(t, reason, got, "%q", c)
		assert.Equal(t, flat, pipeline.FlatName(c), "%q", c)
	}
}

func TestParseQualifiedName(t *testing.T) {
	for _, c := range parserRows {
		t.Run(c.name, func(t *testing.T) {
			server, tool, reason := pipeline.ParseQualifiedName(c.name)
			assert.Equal(t, c.server, server)
			assert.Equal(t, c.tool, tool)
			assert.Equal(t, c.reason, reason)

			id, same := pipeline.NewIdentity(pipeline.ClaimName(c.name))
			assert.Equal(t, reason, same)
			assert.Equal(t, c.server, id.Server())
			assert.Equal(t, c.tool, id.Tool())
			assert.Equal(t, c.reason == pipeline.ReasonQualified, id.State() == pipeline.Named)
		})
	}
}

func TestParseQualifiedNameAllocations(t *testing.T) {
	for _, c := range parserRows {
		assert.Zero(t, testing.AllocsPerRun(10, func() { _, _, _ = pipeline.ParseQualifiedName(c.name) }), c.name)
	}
}

// oracle reads a name in a way of its own: it tries every separator and wants
// exactly one reading, in which no underscore touches the separator.
var segment = regexp.MustCompile(`\A[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*\z`)

func oracle(name string) (server, tool string, ok bool) {
	rest, found := strings.CutPrefix(name, "mcp__")
	if !found || strings.Count(rest, "__") != 1 || strings.Contains(rest, "___") {
		return "", "", false
	}
	server, tool, _ = strings.Cut(rest, "__")
	if !segment.MatchString(server) || !segment.MatchString(strings.TrimSuffix(tool, "_")) {
		return "", "", false
	}
	return server, tool, len(server) <= 128 && len(tool) <= 128
}

func checkParser(t interface {
	Errorf(string, ...any)
}, name string) {
	server, tool, reason := pipeline.ParseQualifiedName(name)
	wantServer, wantTool, ok := oracle(name)
	if ok != (reason == pipeline.ReasonQualified) || server != wantServer && ok || tool != wantTool && ok {
		t.Errorf("ParseQualifiedName(%q) = %q, %q, %s; the oracle says %q, %q, %t", name, server, tool, reason, wantServer, wantTool, ok)
	}
	if !ok && (server != "" || tool != "") {
		t.Errorf("ParseQualifiedName(%q) gives %q and %q for a name that it refuses", name, server, tool)
	}
	if ok && "mcp__"+server+"__"+tool != name {
		t.Errorf("ParseQualifiedName(%q) lost bytes", name)
	}
	apart, _ := pipeline.NewIdentity(pipeline.ClaimTool(server, tool))
	whole, _ := pipeline.NewIdentity(pipeline.ClaimName(name))
	if ok && apart != whole {
		t.Errorf("%q makes another identity when server and tool are claimed apart", name)
	}
}

func FuzzParseQualifiedName(f *testing.F) {
	for _, c := range parserRows {
		f.Add(c.name)
	}
	f.Fuzz(func(t *testing.T, name string) { checkParser(t, name) })
}

// Names out of the few pieces that matter hit the boundaries far more often than
// random bytes do.
func TestParseQualifiedNameProperty(t *testing.T) {
	piece := rapid.SampledFrom([]string{"_", "__", "a", "Z9", "-", "mcp", "kandev", ".", "é", "\xff", strings.Repeat("x", 127)})
	rapid.Check(t, func(t *rapid.T) {
		tail := strings.Join(rapid.SliceOfN(piece, 0, 7).Draw(t, "pieces"), "")
		checkParser(t, rapid.SampledFrom([]string{"mcp__", "", "mcp_"}).Draw(t, "prefix")+tail)
	})
}

func TestNewIdentityApart(t *testing.T) {
	cases := []struct {
		server, tool string
		state        pipeline.IdentityState
		reason       pipeline.Reason
	}{
		{"kandev", "list_tasks", pipeline.Named, pipeline.ReasonQualified},
		{"kandev", "x_", pipeline.Named, pipeline.ReasonQualified},
		{"", "x", pipeline.Other, pipeline.ReasonEmptySegment},
		{"kandev", "", pipeline.Other, pipeline.ReasonEmptySegment},
		{"kandev_", "x", pipeline.Other, pipeline.ReasonTouchingUnders},
		{"kandev", "_x", pipeline.Other, pipeline.ReasonTouchingUnders},
		{"kandev__external", "execute", pipeline.Other, pipeline.ReasonSecondSeparator},
		{"kandev", "external__execute", pipeline.Other, pipeline.ReasonSecondSeparator},
		{"my server", "x", pipeline.Other, pipeline.ReasonForeignCharacter},
	}
	for _, c := range cases {
		id, reason := pipeline.NewIdentity(pipeline.ClaimTool(c.server, c.tool))
		assert.Equal(t, c.state, id.State(), "%q %q", c.server, c.tool)
		assert.Equal(t, c.reason, reason, "%q %q", c.server, c.tool)
		if c.state == pipeline.Other {
			assert.Equal(t, pipeline.OtherIdentity(), id, "it holds no text that did not pass")
		}
	}
}

func TestClaimNames(t *testing.T) {
	assert.True(t, pipeline.ClaimName("Bash").Names("Bash"))
	assert.False(t, pipeline.ClaimName("Bash").Names("Edit"))
	assert.False(t, pipeline.ClaimTool("kandev", "x").Names(""), "server and tool apart are no name")
}

func TestRefusedIdentity(t *testing.T) {
	id := pipeline.RefusedIdentity()
	assert.Equal(t, pipeline.Refused, id.State())
	assert.Empty(t, id.Server()+id.Tool())
}
