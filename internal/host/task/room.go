package task

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// makeRoom forgets, when there are [MaxTasks], the tree that ended the longest
// time ago. A tree with a task that has not ended stays.
func (s *Service) makeRoom(ctx context.Context) error {
	s.mu.Lock()
	if len(s.tasks) < MaxTasks {
		s.mu.Unlock()
		return nil
	}
	tree := s.oldestEnded()
	s.mu.Unlock()
	if tree == nil {
		return full(fmt.Sprintf("there are %d tasks and all belong together with some that have not ended: stop what is not needed", MaxTasks))
	}
	for _, id := range tree {
		if err := s.forget(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// oldestEnded lists the tasks of a tree, each one before those that it is below: who
// saw it is known by them. The lock is held.
func (s *Service) oldestEnded() []ID {
	type tree struct {
		ids    []ID
		newest time.Time
		open   bool
	}
	trees := map[ID]*tree{}
	for id, n := range s.tasks {
		top := s.top(id)
		t := trees[top]
		if t == nil {
			t = &tree{}
			trees[top] = t
		}
		t.open = t.open || !n.task.State.Ended()
		t.ids = append(t.ids, id)
		if n.task.Updated.After(t.newest) {
			t.newest = n.task.Updated
		}
	}
	var oldest *tree
	for _, t := range trees {
		if t.open || oldest != nil && !t.newest.Before(oldest.newest) {
			continue
		}
		oldest = t
	}
	if oldest == nil {
		return nil
	}
	slices.SortFunc(oldest.ids, func(a, b ID) int { return cmp.Compare(len(s.above(b)), len(s.above(a))) })
	return oldest.ids
}

// top is the uppermost task above one that is there, or itself.
func (s *Service) top(id ID) ID {
	for range MaxDepth {
		parent := s.tasks[id].task.Parent
		if _, ok := s.tasks[parent]; !ok {
			break
		}
		id = parent
	}
	return id
}
