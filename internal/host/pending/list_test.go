package pending

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/pipeline"
)

func TestSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newStore(t), &wire{}
		o := offer("i", "s", "1", w)
		id, _ := pipeline.NewIdentity(pipeline.ClaimName("mcp__docs__get_page"))
		o.Result = pipeline.Result{Decision: pipeline.Decision{Reason: "why"}, Stage: "stage", Facts: pipeline.Facts{Identity: id}}
		time.Sleep(time.Hour)
		key := register(t, s, o)
		got, err := s.Get(key)
		require.NoError(t, err)
		assert.Equal(t, s.List(Query{})[0], got)
		assert.Equal(t, key, got.Key)
		assert.Equal(t, uint64(1), got.Sequence)
		assert.True(t, got.Opened.Equal(s.epoch.Add(time.Hour)))
		assert.Equal(t, Action{Type: "execute", Server: "docs", Tool: "get_page"}, got.Action)
		assert.Equal(t, pipeline.Reason("why"), got.Reason)
		assert.Equal(t, pipeline.Name("stage"), got.Stage)
		assert.Equal(t, 3, got.Options.Len())
		assert.Equal(t, Option{"always", "allow_always", "Yes, always"}, got.Options.At(1))
		assert.Equal(t, Option{}, got.Options.At(3))
		assert.Equal(t, Option{}, got.Options.At(-1))
		for i, opt := range got.Options.All() {
			assert.Equal(t, got.Options.At(0), opt)
			assert.Zero(t, i)
			break
		}

		text, err := json.Marshal(got)
		require.NoError(t, err)
		assert.JSONEq(t, `{"instance":"i","session":"s","request_id":"`+string(key.Request)+`","sequence":1,
			"opened":`+jsonOf(t, got.Opened)+`,"action":{"type":"execute","server":"docs","tool":"get_page"},"reason":"why","stage":"stage",
			"options":[{"id":"allow-once","kind":"allow_once","label":"Yes"},{"id":"always","kind":"allow_always","label":"Yes, always"},
			{"id":"reject","kind":"reject_once","label":"No"}]}`, string(text))
	})
}

func jsonOf(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// Nobody can change what an answer selects: not the host that registered the
// offer, and no reader of a snapshot.
func TestSnapshotsAreImmutable(t *testing.T) {
	s, w := newStore(t), &wire{}
	o := offer("i", "s", "1", w, slices.Clone(usual)...)
	key := register(t, s, o)
	before, _ := s.Get(key)
	for i := range o.Request.Options {
		o.Request.Options[i] = pipeline.Option{ID: "reject", Kind: pipeline.AllowOnce, Label: "x"}
	}
	o.Request.SessionID = "other"
	after, err := s.Get(key)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	resolves(t, s, key, Deny())
	assert.Equal(t, 2, w.last(t).Option)
}

func TestKindsAndLabels(t *testing.T) {
	s, w := newStore(t), &wire{}
	key := register(t, s, offer("i", "s", "1", w,
		pipeline.Option{ID: "\u202eid", Kind: "allow_\u200bonce", Label: "Yes \u202e for password=abc"},
		pipeline.Option{ID: "2", Kind: strings.Repeat("k", 100), Label: strings.Repeat("l ", 200)}))
	got, _ := s.Get(key)
	assert.Equal(t, Option{"\u202eid", `allow_\u200bonce`, `Yes \u202e for password=[hidden:3]`}, got.Options.At(0))
	assert.LessOrEqual(t, len(got.Options.At(1).Kind), maxKind)
	assert.Len(t, got.Options.At(1).Label, maxLabel)
}

func TestListPages(t *testing.T) {
	s, w := watched(t, Config{MaxOpenPerInstance: 5000}), &wire{}
	var keys []Key
	for i := range 2500 {
		keys = append(keys, register(t, s, offer(InstanceID(fmt.Sprint(i%2)), fmt.Sprint(i%10), "1", w)))
	}
	var got []Key
	after := uint64(0)
	for pages := 1; ; pages++ {
		page := s.List(Query{After: after, Limit: 700})
		for _, snapshot := range page {
			got = append(got, snapshot.Key)
			after = snapshot.Sequence
		}
		if len(page) < 700 {
			assert.Equal(t, 4, pages)
			break
		}
	}
	assert.Equal(t, keys, got)
	assert.Len(t, s.List(Query{Limit: 1 << 30}), MaxList)
	assert.Len(t, s.List(Query{}), MaxList)
	assert.Len(t, s.List(Query{Scope: Scope{Instance: "1"}, Limit: 3}), 3)
	assert.Len(t, s.List(Query{Scope: Scope{Instance: "1", Session: "3"}}), 250)
	assert.Len(t, s.List(Query{Scope: Scope{Session: "3"}}), 250)
	assert.Empty(t, s.List(Query{Scope: Scope{Instance: "1", Session: "4"}}))
	assert.Empty(t, s.List(Query{Scope: Scope{Instance: "nobody"}}))
	assert.Empty(t, s.List(Query{After: 2500}))
	assert.Empty(t, s.List(Query{After: 1 << 63}))
}

// A page begins behind its cursor, whatever has ended meanwhile.
func TestListAfterAnyCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, w := New(Config{}), &wire{}
		defer s.Close()
		n := rapid.IntRange(1, 30).Draw(t, "offers")
		var open []uint64
		for i := range n {
			o := offer(InstanceID(fmt.Sprint(i%2)), "s", "1", w)
			id, _ := s.Register(o)
			if rapid.Bool().Draw(t, "ends") {
				_ = s.Resolve(Key{o.Instance, "s", id}, Allow(), someone)
				continue
			}
			open = append(open, uint64(i+1))
		}
		after := rapid.Uint64Range(0, uint64(n+2)).Draw(t, "after")
		for _, instance := range []InstanceID{"", "0", "1"} {
			want, got := []uint64{}, []uint64{}
			for _, seq := range open {
				if seq > after && (instance == "" || string(instance) == fmt.Sprint((seq-1)%2)) {
					want = append(want, seq)
				}
			}
			for _, snapshot := range s.List(Query{Scope: Scope{Instance: instance}, After: after}) {
				got = append(got, snapshot.Sequence)
			}
			if !slices.Equal(want, got) {
				t.Fatalf("instance %q after %d: want %v, got %v", instance, after, want, got)
			}
		}
	})
}
