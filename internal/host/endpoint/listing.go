package endpoint

import (
	"encoding/json"
	"slices"
	"sync"

	gojson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/host/upstream"
)

const (
	// maxChains bounds the listings that are under way in a session.
	maxChains = 64
	// maxListedTools bounds the tools of one listing.
	maxListedTools = 1 << 16
)

// listing is what tools a session was given, page by page. Until a listing is
// complete the tools of the one before count too: they were given as well, and an
// agent that lists anew still calls them.
type listing struct {
	mu     sync.Mutex
	chains map[string][]string // the tools of the pages before, by the cursor of the next
	whole  []string            // of the last complete listing
	given  []string            // by the listings under way
}

// page takes in an answer to tools/list and gives all tools that the session was
// given so far.
func (l *listing) page(cursor string, body json.RawMessage) ([]string, error) {
	var answer struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Next string `json:"nextCursor"`
	}
	if err := gojson.Unmarshal(body, &answer, jsontext.AllowInvalidUTF8(true)); err != nil || answer.Tools == nil {
		return nil, &upstream.Failure{What: "sent something that is no list of tools"}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	names, known := l.chains[cursor]
	delete(l.chains, cursor)
	names = slices.Clone(names)
	for _, t := range answer.Tools {
		names = append(names, t.Name)
	}
	if len(names) > maxListedTools {
		return nil, &upstream.Failure{What: "has too many tools"}
	}
	switch {
	case answer.Next != "":
		if len(l.chains) >= maxChains || l.chains == nil {
			l.chains = map[string][]string{}
		}
		l.chains[answer.Next] = names
		l.give(names)
	case cursor == "" || known:
		l.whole, l.given = names, nil
	default: // the last page of a listing whose begin is not known
		l.give(names)
	}
	return union(l.whole, l.given), nil
}

// give adds to what the listings under way have given.
func (l *listing) give(names []string) {
	l.given = union(l.given, names)
	if len(l.given) > maxListedTools {
		l.given = slices.Clone(names)
	}
}

// union is sorted and without repetition, unless one of the two is empty.
func union(a, b []string) []string {
	all := append(slices.Clone(a), b...)
	if len(a) == 0 || len(b) == 0 {
		return all
	}
	slices.Sort(all)
	return slices.Compact(all)
}
