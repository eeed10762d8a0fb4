package pipeline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

func TestText(t *testing.T) {
	long := strings.Repeat("x", pipeline.MaxText)
	cases := []struct {
		name  string
		text  pipeline.Text
		state pipeline.TextState
		value string
		given bool
	}{
		{"absent", pipeline.Text{}, pipeline.TextAbsent, "", false},
		{"given", pipeline.NewText("Bash"), pipeline.TextGiven, "Bash", true},
		{"empty is given", pipeline.NewText(""), pipeline.TextGiven, "", true},
		{"the longest", pipeline.NewText(long), pipeline.TextGiven, long, true},
		{"one byte more", pipeline.NewText(long + "x"), pipeline.TextTooLong, "", false},
		{"too long", pipeline.TooLong(), pipeline.TextTooLong, "", false},
		{"wrong type", pipeline.WrongType(), pipeline.TextWrongType, "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			value, given := c.text.Value()
			assert.Equal(t, c.state, c.text.State())
			assert.Equal(t, c.value, value)
			assert.Equal(t, c.given, given)
			assert.Equal(t, c.given, c.text.Is(c.value), "what is not given is not even the empty text")
			assert.False(t, c.text.Is("another"))
		})
	}
}

func TestMeta(t *testing.T) {
	m := pipeline.NewMetaObject(
		pipeline.Member{Key: "text", Value: pipeline.MetaText("x")},
		pipeline.Member{Key: "null", Value: pipeline.MetaOf(pipeline.MetaNull)},
		pipeline.Member{Key: "deep", Value: pipeline.NewMetaObject(pipeline.Member{Key: "flag", Value: pipeline.MetaOf(pipeline.MetaTrue)})},
	)
	cases := []struct {
		name  string
		meta  pipeline.Meta
		kind  pipeline.MetaKind
		given bool
	}{
		{"a member", m.Get("text"), pipeline.MetaString, true},
		{"no folding of case", m.Get("Text"), pipeline.MetaAbsent, false},
		{"null", m.Get("null"), pipeline.MetaNull, false},
		{"deep", m.Get("deep").Get("flag"), pipeline.MetaTrue, true},
		{"a member of no object", m.Get("text").Get("x"), pipeline.MetaAbsent, false},
		{"a member of nothing", m.Get("none").Get("x"), pipeline.MetaAbsent, false},
		{"an object", m, pipeline.MetaObject, true},
		{"too large", pipeline.MetaOf(pipeline.MetaTooLarge), pipeline.MetaTooLarge, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.kind, c.meta.Kind())
			assert.Equal(t, c.given, c.meta.Given())
			_, text := c.meta.Text()
			assert.Equal(t, c.kind == pipeline.MetaString, text)
		})
	}
	value, _ := m.Get("text").Text()
	assert.Equal(t, "x", value)
}
