package task

import (
	"context"
	"fmt"
)

// Resume lets the host take up a task that was running when the server ended: take gets
// it as it is now. No prompt and no stop comes while take runs. A task that has ended
// meanwhile, or of which the host has reported, is left as it is, which is no error:
// nothing makes a stopped task go on.
func (s *Service) Resume(ctx context.Context, who Actor, id ID, take func(Task)) error {
	if _, ok := who.(Host); !ok {
		return ErrForbidden
	}
	leave, err := s.gates.enter(ctx, id)
	if err != nil {
		return fmt.Errorf("task: %w", err)
	}
	defer leave()
	t, err := s.Get(who, id)
	if err != nil {
		return err
	}
	if t.Resume && !t.State.Ended() {
		take(t)
	}
	return nil
}
