package dispatch

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// Handler does what an action says. The payload is an object that fits the schema.
// Who calls is in the origin; nothing of the payload says it. The result is encoded
// by [Encode].
type Handler func(ctx context.Context, o Origin, payload jsontext.Value) (any, error)

// Action is something that can be dispatched.
type Action struct {
	// Name is its canonical spelling, such as "task.list".
	Name string
	// Doc says in a sentence or two what it does and what comes back.
	Doc string
	// Schema is that of the payload: an object that has no other properties than
	// those of the schema.
	Schema *jsonschema.Schema
	// Internal has to be said of every action "mcp.*", and of no other.
	Internal bool
	// Scope is what a person needs. An agent stream needs none, but is kept from
	// actions of [ScopeAnswer]: people answer. Empty only for actions that no person
	// may dispatch.
	Scope   Scope
	Handler Handler
}

// entry is a registered action with its schemas ready to validate.
type entry struct {
	Action
	schema     *jsonschema.Resolved
	flat       *flat                           // nil for a schema that is not
	properties map[string]*jsonschema.Resolved // of those that can stand alone
	document   jsontext.Value                  // the schema as JSON
}

// check refuses an action that is incomplete.
func (a *Action) check() error {
	switch {
	case a.Name == "" || a.Name != canonical(a.Name):
		return fmt.Errorf("dispatch: action %q: a name is in lower case, without white space or characters that look like others", a.Name)
	case Internal(a.Name) && !a.Internal:
		return fmt.Errorf("dispatch: action %q begins with %q but is not marked internal", a.Name, internalPrefix)
	case a.Internal && !Internal(a.Name):
		return fmt.Errorf("dispatch: action %q is marked internal but does not begin with %q", a.Name, internalPrefix)
	case a.Doc == "":
		return fmt.Errorf("dispatch: action %q has no doc", a.Name)
	case a.Handler == nil:
		return fmt.Errorf("dispatch: action %q has no handler", a.Name)
	case a.Scope == "" && !a.Internal:
		return fmt.Errorf("dispatch: action %q is public but needs no scope", a.Name)
	case a.Scope != "" && !a.Scope.Known():
		return fmt.Errorf("dispatch: action %q has the unknown scope %q", a.Name, a.Scope)
	}
	if err := closed(a.Schema); err != nil {
		return fmt.Errorf("dispatch: action %q: its schema %w", a.Name, err)
	}
	return nil
}

// closed refuses the schema of a payload that would let unknown properties through.
func closed(s *jsonschema.Schema) error {
	switch {
	case s == nil:
		return errors.New("is missing")
	case s.Type != "object":
		return errors.New("is not that of an object")
	case !reflect.DeepEqual(s.AdditionalProperties, &jsonschema.Schema{Not: &jsonschema.Schema{}}): // false, as a schema
		return errors.New("lets other properties through: set additionalProperties to false")
	}
	return nil
}

// prepare makes the schemas of an action ready.
func (a Action) prepare() (*entry, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	e := &entry{Action: a, flat: flatten(a.Schema), properties: map[string]*jsonschema.Resolved{}}
	var err error
	if e.schema, err = a.Schema.CloneSchemas().Resolve(nil); err != nil {
		return nil, fmt.Errorf("dispatch: action %q: its schema: %w", a.Name, err)
	}
	if e.document, err = Encode(a.Schema); err != nil {
		return nil, fmt.Errorf("dispatch: action %q: its schema: %w", a.Name, err)
	}
	for name, property := range a.Schema.Properties {
		if alone, err := property.CloneSchemas().Resolve(nil); err == nil {
			e.properties[name] = alone
		}
	}
	return e, nil
}
