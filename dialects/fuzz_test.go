package dialects_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// words are the keys and texts that dialects look for, with near misses.
var words = []string{
	"claudeCode", "claudecode", "toolName", "mcpServer", "name", "source", "dynamic", "agent", "kandev", "other",
	"is_mcp_tool_call", "is_mcp_tool_approval", "server", "tool", "list_tasks", "a.b", "execute", "Bash", "tool_call", "",
	listTasks, "mcp__other__list_tasks", "mcp__kandev__a__b", listTasks + " ",
}

// metas draws any metadata: a tree of every kind, mostly of the words.
func metas(depth int) *rapid.Generator[pipeline.Meta] {
	return rapid.Custom(func(t *rapid.T) pipeline.Meta {
		kind := pipeline.MetaKind(rapid.IntRange(0, int(pipeline.MetaTooLarge)).Draw(t, "kind"))
		if rapid.Bool().Draw(t, "deeper") && depth > 0 {
			kind = pipeline.MetaObject
		}
		switch kind {
		case pipeline.MetaString:
			return pipeline.MetaText(word().Draw(t, "text"))
		case pipeline.MetaObject:
			keys := rapid.SliceOfNDistinct(word(), 0, 4, rapid.ID).Draw(t, "keys")
			members := make([]pipeline.Member, 0, len(keys))
			for _, key := range keys {
				value := pipeline.Meta{}
				if depth > 0 {
					value = metas(depth-1).Draw(t, "value")
				}
				members = append(members, pipeline.Member{Key: key, Value: value})
			}
			return pipeline.NewMetaObject(members...)
		}
		return pipeline.MetaOf(kind)
	})
}

func word() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(words), rapid.SampledFrom(words), rapid.String())
}

func texts() *rapid.Generator[pipeline.Text] {
	return rapid.OneOf(
		rapid.Map(word(), pipeline.NewText),
		rapid.SampledFrom([]pipeline.Text{{}, {}, pipeline.WrongType(), pipeline.TooLong()}),
	)
}

func anyRequests() *rapid.Generator[pipeline.Request] {
	return rapid.Custom(func(t *rapid.T) pipeline.Request {
		return pipeline.Request{
			Meta: metas(2).Draw(t, "params._meta"),
			Call: pipeline.ToolCall{
				Name: texts().Draw(t, "name"), Title: texts().Draw(t, "title"), Kind: texts().Draw(t, "kind"),
				Meta: metas(3).Draw(t, "_meta"), OwnMeta: metas(3).Draw(t, "own _meta"),
				Facts: rapid.SampledFrom([]pipeline.DialectFacts{{}, announced, conflict, unmarked, {Marked: true}}).Draw(t, "facts"),
			},
			Session: pipeline.Session{NameSeen: rapid.Bool().Draw(t, "name seen")},
		}
	})
}

// checkClaim holds what must be true of every dialect and every request.
func checkClaim(t require.TestingT, d dialects.Dialect, req *pipeline.Request) {
	first := claim(d, req)
	assert.Equal(t, first, claim(d, req), "%s: not the same twice", d.Agent())
	if first.err != nil {
		var said dialects.Error
		require.Truef(t, errors.As(first.err, &said), "%s: error %T", d.Agent(), first.err)
		assert.NotEmpty(t, said.Reason)
		assert.Equal(t, pipeline.Claim{}, first.claim, "%s: a claim and an error", d.Agent())
		return
	}
	untitled := *req
	untitled.Call.Title = pipeline.Text{}
	if claim(d, &untitled) == first {
		return // the title had no part in it
	}
	title, given := req.Call.Title.Value()
	assert.Equal(t, pipeline.Agent("claude-acp"), d.Agent(), "titles count for Claude alone")
	assert.True(t, given)
	assert.Equal(t, said(title), first, "the title is the claim")
	assert.Equal(t, pipeline.TextAbsent, req.Call.Name.State(), "never beside a name")
	assert.Equal(t, pipeline.MetaAbsent, req.Call.Meta.Get("claudeCode").Get("toolName").Kind(), "never beside a toolName")
	assert.True(t, req.Call.Kind.Is("other"))
	assert.False(t, req.Session.NameSeen)
	assert.NotEqual(t, dialects.NewClaude().WithoutTitleFallback(), d)
	identity, _ := pipeline.NewIdentity(first.claim)
	assert.Equal(t, pipeline.Named, identity.State())
}

func everyDialect() []dialects.Dialect {
	return append(dialects.All(), dialects.NewClaude().WithoutTitleFallback())
}

func claimsProperty(t *rapid.T) {
	req := anyRequests().Draw(t, "request")
	for _, d := range everyDialect() {
		checkClaim(t, d, &req)
	}
	// A claim of the Claude dialect never replaces a supplied name.
	if name, given := req.Call.Name.Value(); given {
		if got := claim(dialects.NewClaude(), &req); got.err == nil {
			assert.Equal(t, said(name), got)
		}
	}
}

func TestClaims(t *testing.T) { rapid.Check(t, claimsProperty) }

// FuzzClaims is the same with the fuzzer's bytes.
func FuzzClaims(f *testing.F) { f.Fuzz(rapid.MakeFuzz(claimsProperty)) }

// TestObserve: the facts of Codex are bounded by what was sent, and a conflict
// never goes away.
func TestObserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dialects.NewCodex()
		var f pipeline.DialectFacts
		for range rapid.IntRange(0, 6).Draw(t, "updates") {
			u := pipeline.ToolCallUpdate{
				Start: rapid.Bool().Draw(t, "start"),
				Meta:  metas(1).Draw(t, "_meta"), RawInput: metas(1).Draw(t, "rawInput"),
			}
			next := d.Observe(&u, f)
			assert.Equal(t, next, d.Observe(&u, f))
			assert.False(t, f.Conflict && !next.Conflict, "a conflict went away")
			if next.Server != f.Server || next.Tool != f.Tool {
				assert.True(t, next.Marked, "taken from a call that is not marked")
				assert.Empty(t, f.Server+f.Tool, "taken over what was known")
			}
			if next.Marked && !f.Marked {
				assert.Equal(t, pipeline.MetaTrue, u.Meta.Get("is_mcp_tool_call").Kind())
			}
			f = next
		}
	})
}

// FuzzFrames changes captured frames byte by byte: whatever the edge still
// decodes, no dialect panics on it or takes a title for a name.
func FuzzFrames(f *testing.F) {
	for _, d := range dialects.All() {
		for _, c := range corpus(f, d.Agent()) {
			var earlier []byte
			for _, l := range c.Lines {
				text := []byte(l.Raw)
				if l.Raw == "" {
					text = l.Frame
				}
				f.Add(earlier, text)
				earlier = text
			}
		}
	}
	f.Fuzz(func(t *testing.T, earlier, text []byte) {
		for _, d := range everyDialect() {
			dec := acp.NewDecoder(acp.Options{Dialect: d})
			_, _ = dec.FromAgent(earlier)
			m, err := dec.FromAgent(text)
			if err == nil && m.Offer != nil && m.Offer.Reason == "" {
				checkClaim(t, d, &m.Offer.Request)
			}
		}
	})
}
