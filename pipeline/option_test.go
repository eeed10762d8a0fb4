package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/kandev/assent/pipeline"
)

// options writes "id:kind" pairs.
func options(pairs ...[2]string) []pipeline.Option {
	list := make([]pipeline.Option, 0, len(pairs))
	for _, p := range pairs {
		list = append(list, pipeline.Option{ID: p[0], Kind: p[1]})
	}
	return list
}

// many puts the options behind so many rejections that pairs are not compared.
func many(list ...pipeline.Option) []pipeline.Option {
	long := make([]pipeline.Option, 0, 40)
	for i := range 30 {
		long = append(long, pipeline.Option{ID: fmt.Sprint("r", i), Kind: pipeline.RejectAlways})
	}
	return append(long, list...)
}

func TestLeastAllow(t *testing.T) {
	once, always, reject := [2]string{"once", "allow_once"}, [2]string{"always", "allow_always"}, [2]string{"no", "reject_once"}
	cases := []struct {
		name   string
		offer  []pipeline.Option
		hint   string
		index  int
		reason pipeline.Reason
	}{
		{"once before always", options(always, reject, once), "", 2, pipeline.ReasonOptionChosen},
		{"only always", options(reject, always), "", 1, pipeline.ReasonOptionChosen},
		{"no allow", options(reject), "", 0, pipeline.ReasonNoAllowOffered},
		{"nothing", nil, "", 0, pipeline.ReasonNoAllowOffered},
		{"kinds are exact", options([2]string{"a", "Allow_Once"}, [2]string{"b", "allow"}, [2]string{"c", ""}), "", 0, pipeline.ReasonNoAllowOffered},
		{"an unknown kind beside an allow", options([2]string{"d", "deny"}, once), "", 1, pipeline.ReasonOptionChosen},
		{"twins", options(once, [2]string{"also", "allow_once"}), "", 0, pipeline.ReasonTwinAllows},
		{"twins and an always: still a question", options(once, always, [2]string{"also", "allow_once"}), "", 0, pipeline.ReasonTwinAllows},
		{"twins with a hint", options(once, [2]string{"also", "allow_once"}), "also", 1, pipeline.ReasonOptionChosen},
		{"a hint that is not offered", options(once, [2]string{"also", "allow_once"}), "gone", 0, pipeline.ReasonTwinAllows},
		{"a hint of another kind", options(once, [2]string{"also", "allow_once"}, reject), "no", 0, pipeline.ReasonTwinAllows},
		{"one allow needs no hint", options(once, reject), "gone", 0, pipeline.ReasonOptionChosen},
		{"twins of always, no hint settles them", options(always, [2]string{"also", "allow_always"}), "also", 0, pipeline.ReasonTwinAllows},
		{"an id twice", options(once, [2]string{"once", "reject_once"}), "", 0, pipeline.ReasonDuplicateOption},
		{"an empty id", options(once, [2]string{"", "reject_once"}), "", 0, pipeline.ReasonEmptyOptionID},
		{"many options", many(options(once)...), "", 30, pipeline.ReasonOptionChosen},
		{"many with an id twice", many(options(once, [2]string{"r3", "reject_once"})...), "", 0, pipeline.ReasonDuplicateOption},
		{"many with an empty id", many(options(once, [2]string{"", "reject_once"})...), "", 0, pipeline.ReasonEmptyOptionID},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			index, reason := pipeline.LeastAllow(c.offer, pipeline.OptionHint{Allow: c.hint})
			assert.Equal(t, c.reason, reason)
			assert.Equal(t, c.index, index)
		})
	}
}

func TestLeastReject(t *testing.T) {
	no, always, allow := [2]string{"no", "reject_once"}, [2]string{"never", "reject_always"}, [2]string{"a", "allow_once"}
	cases := []struct {
		name   string
		offer  []pipeline.Option
		hint   string
		index  int
		reason pipeline.Reason
	}{
		{"the reject", options(allow, always, no), "", 2, pipeline.ReasonOptionChosen},
		{"never an allow, never reject_always", options(allow, always), "", 0, pipeline.ReasonNoRejectOffered},
		{"twins", options(no, [2]string{"also", "reject_once"}), "", 0, pipeline.ReasonTwinRejects},
		{"twins with a hint", options(no, [2]string{"also", "reject_once"}), "also", 1, pipeline.ReasonOptionChosen},
		{"an id twice", options(no, [2]string{"no", "allow_once"}), "", 0, pipeline.ReasonDuplicateOption},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			index, reason := pipeline.LeastReject(c.offer, pipeline.OptionHint{Reject: c.hint})
			assert.Equal(t, c.reason, reason)
			assert.Equal(t, c.index, index)
		})
	}
}

// Whatever is offered: what is chosen is an allow, under an id that only it has,
// and never an allow_always while an allow_once is there.
func TestLeastAllowProperty(t *testing.T) {
	kind := rapid.SampledFrom([]string{"allow_once", "allow_always", "reject_once", "reject_always", "", "ALLOW_ONCE"})
	id := rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r"})
	option := rapid.Custom(func(t *rapid.T) pipeline.Option {
		return pipeline.Option{ID: id.Draw(t, "id"), Kind: kind.Draw(t, "kind")}
	})
	rapid.Check(t, func(t *rapid.T) {
		offer := rapid.SliceOfN(option, 0, 20).Draw(t, "offer")
		hint := pipeline.OptionHint{Allow: id.Draw(t, "hint")}
		index, reason := pipeline.LeastAllow(offer, hint)
		if reason != pipeline.ReasonOptionChosen {
			if index != 0 {
				t.Fatalf("an index without a choice")
			}
			return
		}
		chosen, once := offer[index], 0
		for i, o := range offer {
			if i != index && o.ID == chosen.ID || o.ID == "" {
				t.Fatalf("chose %q, which does not name exactly one option", chosen.ID)
			}
			if o.Kind == pipeline.AllowOnce {
				once++
			}
		}
		switch {
		case chosen.Kind == pipeline.AllowOnce && (once == 1 || chosen.ID == hint.Allow):
		case chosen.Kind == pipeline.AllowAlways && once == 0:
		default:
			t.Fatalf("chose %q of kind %q among %d allow_once", chosen.ID, chosen.Kind, once)
		}
	})
}

func TestKinds(t *testing.T) {
	for kind, c := range map[string]struct {
		allow bool
		known string
	}{
		pipeline.AllowOnce: {true, "allow_once"}, pipeline.AllowAlways: {true, "allow_always"},
		pipeline.RejectOnce: {false, "reject_once"}, pipeline.RejectAlways: {false, "reject_always"},
		"": {false, ""}, "Allow_Once": {false, "other"}, "allow_once ": {false, "other"}, "allow_forever": {false, "other"},
	} {
		assert.Equal(t, c.allow, pipeline.IsAllow(kind), kind)
		assert.Equal(t, c.known, pipeline.KnownKind(kind), kind)
	}
}
