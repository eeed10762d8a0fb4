package process

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline/acp"
)

// maxOpenOffers is how many offers of one instance can wait for a person.
const maxOpenOffers = 4096

// errTooMany says that no more offers can wait.
var errTooMany = errors.New("process: too many offers wait for an answer")

// openOffer is one offer that waits for a person.
type openOffer struct {
	number uint64
	offer  *acp.Offer
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// offers are the open offers of one instance. An offer is in it until somebody
// takes it out, and only who took it out may answer it: exactly one answer each.
type offers struct {
	mu     sync.Mutex
	open   map[uint64]*openOffer
	closed bool
}

// add opens an offer.
func (b *offers) add(ctx context.Context, number uint64, o *acp.Offer) (*openOffer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, ErrEnded
	case len(b.open) >= maxOpenOffers:
		return nil, errTooMany
	}
	if b.open == nil {
		b.open = map[uint64]*openOffer{}
	}
	w := &openOffer{number: number, offer: o}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	b.open[number] = w
	return w, nil
}

// take closes one offer; false when somebody else did.
func (b *offers) take(w *openOffer) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[w.number] != w {
		return false
	}
	delete(b.open, w.number)
	return true
}

// takeWhere closes every offer that the condition holds for, oldest first.
func (b *offers) takeWhere(holds func(*acp.Offer) bool) []*openOffer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.takeLocked(holds)
}

func (b *offers) takeLocked(holds func(*acp.Offer) bool) []*openOffer {
	var taken []*openOffer
	for n, w := range b.open {
		if holds(w.offer) {
			taken = append(taken, w)
			delete(b.open, n)
		}
	}
	slices.SortFunc(taken, func(a, b *openOffer) int { return cmp.Compare(a.number, b.number) })
	return taken
}

// close closes all offers, and lets none be opened any more.
func (b *offers) close() []*openOffer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.takeLocked(func(*acp.Offer) bool { return true })
}

// cancelledID reads which request a $/cancel_request takes back, with the id in
// a form in which two spellings of one string are equal.
func cancelledID(line []byte) (string, bool) {
	r, id := reader{}, ""
	r.read(line, func(key string) {
		if key != "params" {
			r.skip()
			return
		}
		r.object(func(key string) {
			if key == "requestId" {
				id = idKey(string(r.value()))
				return
			}
			r.skip()
		})
	})
	return id, id != "" && !r.bad
}

// idKey makes spellings of one string id equal, as in "a" and "\u0061". A number
// keeps its digits.
func idKey(text string) string {
	if text == "" || text[0] != '"' {
		return text
	}
	value, err := jsontext.AppendUnquote(nil, text)
	if err != nil {
		return text
	}
	return `"` + string(value)
}
