package dispatch

import "slices"

// Scope is what a person's token allows.
type Scope string

// The scopes of tokens. None includes another.
const (
	ScopeView    Scope = "view"    // see tasks, instances, offers, questions and decisions
	ScopeOperate Scope = "operate" // start, prompt, cancel and stop
	ScopeAnswer  Scope = "answer"  // answer permissions and questions: what only people do
)

// Known says whether there is such a scope.
func (s Scope) Known() bool { return s == ScopeView || s == ScopeOperate || s == ScopeAnswer }

// Scopes are the scopes of one token.
type Scopes []Scope

// Has says whether a scope is among them.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }
