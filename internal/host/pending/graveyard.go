package pending

// graveyard remembers the last instances that are gone, so that a line which is
// still in a pipe when its agent ends cannot open an offer that nobody drops.
type graveyard struct {
	ids  map[InstanceID]struct{}
	ring []InstanceID
	next int
}

const maxGone = 1024

func newGraveyard() graveyard {
	return graveyard{ids: map[InstanceID]struct{}{}, ring: make([]InstanceID, maxGone)}
}

func (g *graveyard) has(id InstanceID) bool {
	_, ok := g.ids[id]
	return ok
}

func (g *graveyard) add(id InstanceID) {
	if g.has(id) {
		return
	}
	delete(g.ids, g.ring[g.next])
	g.ids[id] = struct{}{}
	g.ring[g.next] = id
	g.next = (g.next + 1) % len(g.ring)
}
