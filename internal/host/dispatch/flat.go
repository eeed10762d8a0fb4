package dispatch

import (
	"math"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// flat is a schema that says no more than which properties there are, which of them
// are required, and which plain types they have. Most payloads are so; checking them
// here takes a tenth of what the validator needs.
type flat struct {
	required   []string
	properties map[string][]string // the types of each
}

// flatten reads a schema as a flat one; nil when it says more.
func flatten(s *jsonschema.Schema) *flat {
	root := *s
	root.Type, root.Properties, root.PropertyOrder, root.Required, root.AdditionalProperties = "", nil, nil, nil, nil
	if !reflect.DeepEqual(root, jsonschema.Schema{}) {
		return nil
	}
	f := &flat{required: s.Required, properties: map[string][]string{}}
	for name, p := range s.Properties {
		types := p.Types
		if p.Type != "" {
			types = []string{p.Type}
		}
		rest := *p
		rest.Type, rest.Types, rest.Title, rest.Description = "", nil, "", ""
		if len(types) == 0 || !reflect.DeepEqual(rest, jsonschema.Schema{}) {
			return nil
		}
		f.properties[name] = types
	}
	return f
}

// fits says whether a payload is valid.
func (f *flat) fits(value map[string]any) bool {
	for _, name := range f.required {
		if _, ok := value[name]; !ok {
			return false
		}
	}
	for name, v := range value {
		types, ok := f.properties[name]
		if !ok || !slices.ContainsFunc(types, func(t string) bool { return isType(v, t) }) {
			return false
		}
	}
	return true
}

// isType says whether a decoded value has a type of JSON Schema.
func isType(v any, name string) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}
