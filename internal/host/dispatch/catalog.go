package dispatch

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Entry is one action in the public catalog.
type Entry struct {
	Name     string         `json:"name"`
	Doc      string         `json:"doc"`
	Scope    Scope          `json:"scope,omitempty"`
	Schema   jsontext.Value `json:"schema"`
	Internal bool           `json:"internal"`
	Note     string         `json:"note,omitempty"`
}

// internalNote is said of every internal action in the catalog.
const internalNote = "internal: raw clients can't dispatch this"

// Catalog lists all actions by name.
func (d *Dispatcher) Catalog() []Entry {
	d.mu.RLock()
	defer d.mu.RUnlock()
	list := make([]Entry, 0, len(d.actions))
	for _, e := range d.actions {
		entry := Entry{Name: e.Name, Doc: e.Doc, Scope: e.Scope, Schema: slices.Clone(e.document), Internal: e.Internal}
		if e.Internal {
			entry.Note = internalNote
		}
		list = append(list, entry)
	}
	slices.SortFunc(list, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
