package dispatch

import (
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFlatten(t *testing.T) {
	none := &jsonschema.Schema{Not: &jsonschema.Schema{}}
	of := func(p *jsonschema.Schema) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", AdditionalProperties: none, Properties: map[string]*jsonschema.Schema{"a": p}}
	}
	longest := 3
	assert.NotNil(t, flatten(schemaOf[stopPayload](t)))
	assert.NotNil(t, flatten(of(&jsonschema.Schema{Type: "string", Description: "a text"})))
	assert.NotNil(t, flatten(of(&jsonschema.Schema{Types: []string{"null", "string"}})))
	for _, more := range []*jsonschema.Schema{
		{}, {Type: "string", MaxLength: &longest}, {Type: "string", Enum: []any{"a"}}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}}, {Ref: "#"},
	} {
		assert.Nil(t, flatten(of(more)), "%+v", more)
	}
	bounded := of(&jsonschema.Schema{Type: "string"})
	bounded.MinProperties = &longest
	assert.Nil(t, flatten(bounded))

	// What is not flat is still validated.
	var b book
	d := New(nil)
	a := stop(t, "task.stop", ScopeOperate, b.handler(nil, nil))
	a.Schema = of(&jsonschema.Schema{Type: "string", MaxLength: &longest})
	require.NoError(t, d.Register(a))
	_, err := d.Dispatch(t.Context(), FromProcess("test"), "task.stop", []byte(`{"a":"long"}`))
	assert.EqualError(t, err, `invalid_payload: "a" does not fit`)
	_, err = d.Dispatch(t.Context(), FromProcess("test"), "task.stop", []byte(`{"a":"fit"}`))
	assert.NoError(t, err)
}

// The short way says the same as the validator.
func TestFlatIsTheSchema(t *testing.T) {
	names := []string{"a", "b", "c", "A"}
	types := []string{"null", "boolean", "string", "number", "integer", "array", "object"}
	values := []any{nil, true, "", "x", 0.0, 1.5, -3.0, 1e300, []any{}, []any{"x"}, map[string]any{}, map[string]any{"a": 1.0}}
	rapid.Check(t, func(t *rapid.T) {
		s := &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, Properties: map[string]*jsonschema.Schema{}}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "properties") {
			s.Properties[name] = &jsonschema.Schema{Types: rapid.SliceOfNDistinct(rapid.SampledFrom(types), 1, 3, rapid.ID[string]).Draw(t, "types")}
			if rapid.Bool().Draw(t, "required") {
				s.Required = append(s.Required, name)
			}
		}
		value := map[string]any{}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "keys") {
			value[name] = rapid.SampledFrom(values).Draw(t, "value")
		}
		f := flatten(s)
		require.NotNil(t, f)
		resolved, err := s.CloneSchemas().Resolve(nil)
		require.NoError(t, err)
		assert.Equal(t, resolved.Validate(value) == nil, f.fits(value), "%v of %v", value, s)
	})
}
