package console

import "hash/maphash"

// callKey stands for texts by which an agent names a call. Such texts can have any
// length, and an agent cannot find two with one key: it does not know the seed.
type callKey uint64

// callKeys makes keys.
type callKeys struct{ seed maphash.Seed }

func newCallKeys() callKeys { return callKeys{maphash.MakeSeed()} }

func (k callKeys) of(session, call string) callKey {
	return callKey(maphash.Comparable(k.seed, [2]string{session, call}))
}
