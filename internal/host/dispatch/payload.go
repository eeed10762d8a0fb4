package dispatch

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var encoding = json.JoinOptions(jsontext.AllowInvalidUTF8(true), json.Deterministic(true))

// Encode writes a result as JSON. What is no UTF-8 in a text is replaced.
func Encode(result any) (jsontext.Value, error) {
	b, err := json.Marshal(result, encoding)
	return b, err
}

// payload reads a payload strictly and validates it; a missing one is an empty
// object. What is returned is the payload as it came.
func (e *entry) payload(raw jsontext.Value) (jsontext.Value, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		raw = jsontext.Value("{}")
	}
	if raw.Kind() != '{' {
		return nil, &Error{CodeInvalidPayload, "the payload is not an object"}
	}
	var value map[string]any
	if json.Unmarshal(raw, &value) != nil {
		return nil, &Error{CodeInvalidPayload, "the payload is not strict JSON: it is malformed, has a key twice, or is not UTF-8"}
	}
	if !e.fits(value) {
		return nil, &Error{CodeInvalidPayload, e.explain(value)}
	}
	return raw, nil
}

// fits says whether a payload is valid.
func (e *entry) fits(value map[string]any) bool {
	if e.flat != nil {
		return e.flat.fits(value)
	}
	return e.schema.Validate(value) == nil
}

// explain says what does not fit, in words of the schema alone: the validator's own
// would quote the payload.
func (e *entry) explain(value map[string]any) string {
	var wrong []string
	for _, name := range e.Schema.Required {
		if _, ok := value[name]; !ok {
			wrong = append(wrong, `"`+name+`" is missing`)
		}
	}
	unknown := false
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if _, ok := e.Schema.Properties[name]; !ok {
			unknown = true
			continue
		}
		if alone := e.properties[name]; alone != nil && alone.Validate(value[name]) != nil {
			wrong = append(wrong, `"`+name+`" does not fit`)
		}
	}
	if unknown {
		wrong = append(wrong, "a property is there that the action does not have: "+e.known())
	}
	if len(wrong) == 0 {
		return "the payload does not fit the schema of the action"
	}
	return strings.Join(wrong, "; ")
}

// known lists the properties of the action.
func (e *entry) known() string {
	if len(e.Schema.Properties) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(slices.Sorted(maps.Keys(e.Schema.Properties)), ", ")
}
