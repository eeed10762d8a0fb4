package pending

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// noDeadline hides the test's deadline, which means nothing while time is fake.
type noDeadline struct{ rapid.TB }

func TestStateMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(t *rapid.T) {
			m := newModel()
			number := rapid.IntRange(0, 1<<16)
			do := func(op func(*rapid.T) error) func(*rapid.T) {
				return func(t *rapid.T) {
					if err := op(t); err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Repeat(map[string]func(*rapid.T){
				"register": do(func(t *rapid.T) error {
					after := time.Duration(rapid.SampledFrom([]int{0, 0, 0, 5, 30}).Draw(t, "expires")) * time.Second
					return m.register(number.Draw(t, "offer"), after, rapid.Bool().Draw(t, "reject"))
				}),
				"resolve": do(func(t *rapid.T) error {
					return m.resolve(number.Draw(t, "offer"), number.Draw(t, "mix"), rapid.SliceOfN(number, 1, 5).Draw(t, "answers"))
				}),
				"cancel":   do(func(t *rapid.T) error { return m.cancel(number.Draw(t, "session")) }),
				"withdraw": do(func(t *rapid.T) error { return m.withdraw(number.Draw(t, "id")) }),
				"drop": do(func(t *rapid.T) error {
					if rapid.IntRange(0, 9).Draw(t, "rarely") > 0 {
						return nil
					}
					return m.drop(number.Draw(t, "instance"))
				}),
				"attach": do(func(t *rapid.T) error {
					if rapid.IntRange(0, 4).Draw(t, "rarely") > 0 {
						return nil
					}
					return m.attach()
				}),
				"wait": do(func(t *rapid.T) error {
					time.Sleep(time.Duration(rapid.IntRange(1, 9).Draw(t, "seconds")) * time.Second)
					synctest.Wait()
					m.tick()
					return nil
				}),
				"": do(func(*rapid.T) error { return m.check() }),
			})
			if err := errors.Join(m.finish(), m.check()); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// FuzzStore runs operations that are read from bytes; time stands still.
func FuzzStore(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 2, 0, 5, 1, 0, 0, 0, 2, 1, 3, 2, 4, 0})
	f.Add([]byte{0, 1, 0, 1, 0, 1, 1, 1, 3, 3, 1, 1, 0, 1, 1, 2, 0, 4, 1, 0, 1, 5, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		m := newModel()
		_ = m.attach()
		next := func() int {
			if len(ops) == 0 {
				return 0
			}
			n := int(ops[0])
			ops = ops[1:]
			return n
		}
		for len(ops) > 0 {
			var err error
			switch op, n := next(), next(); op % 8 {
			case 0, 1, 2:
				err = m.register(n, 0, false)
			case 3, 4:
				err = m.resolve(n, next(), []int{next(), next()})
			case 5:
				err = m.cancel(n)
			case 6:
				err = m.withdraw(n)
			case 7:
				if n%8 == 7 {
					err = m.drop(n)
				}
			}
			if err = errors.Join(err, m.check()); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(m.finish(), m.check()); err != nil {
			t.Fatal(err)
		}
	})
}
