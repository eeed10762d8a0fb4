package task

import "github.com/kandev/assent/internal/host/dispatch"

// allowed is the part of a permission that does not depend on any task.
func allowed(who Actor, scope dispatch.Scope) error {
	switch a := who.(type) {
	case Host, Session:
		return nil
	case Person:
		if a.Scopes.Has(scope) {
			return nil
		}
	}
	return ErrForbidden
}

// sees is reachability: which tasks exist for somebody. The lock is held.
func (s *Service) sees(who Actor, id ID) bool {
	if _, ok := s.tasks[id]; !ok {
		return false
	}
	switch a := who.(type) {
	case Host:
		return true
	case Session:
		own, ok := s.tasks[a.Task]
		return ok && (own.task.Parent == id || s.within(a.Task, id))
	case Person:
		if a.Tasks == nil {
			return true
		}
		for _, t := range a.Tasks {
			if s.within(ID(t), id) {
				return true
			}
		}
	}
	return false
}

// rules says whether somebody may stop and interrupt a task: its direct parent,
// and people who see it. The lock is held.
func (s *Service) rules(who Actor, id ID) bool {
	if a, ok := who.(Session); ok {
		_, known := s.tasks[a.Task]
		n, ok := s.tasks[id]
		return known && ok && n.task.Parent == a.Task
	}
	return s.sees(who, id)
}

// within says whether a task is the top one or one of its descendants. The lock
// is held. What is stored can be damaged, so the way up is bounded.
func (s *Service) within(top, id ID) bool {
	for range MaxDepth {
		if id == top {
			_, ok := s.tasks[id]
			return ok
		}
		n, ok := s.tasks[id]
		if !ok {
			return false
		}
		id = n.task.Parent
	}
	return false
}

// above are a task and those that it is below, nearest first. The lock is held.
func (s *Service) above(id ID) (list []ID) {
	for range MaxDepth {
		n, ok := s.tasks[id]
		if !ok {
			break
		}
		list = append(list, id)
		id = n.task.Parent
	}
	return list
}

// MaySee says whether somebody who watches a task and its descendants, or all
// tasks (empty), may be told of an event of a task.
func (s *Service) MaySee(who Actor, watched, id ID) bool {
	if allowed(who, dispatch.ScopeView) != nil {
		return false
	}
	return s.Reaches(who, watched, id)
}

// Reaches is [Service.MaySee] whatever the scopes of a person are: for actions whose
// own scope was checked, such as answering.
func (s *Service) Reaches(who Actor, watched, id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sees(who, id) && (watched == "" || s.sees(who, watched) && s.within(watched, id))
}

// acts says whether somebody may change something of a task that passes the
// check, and gives it. A session whose own task has ended changes nothing.
func (s *Service) acts(who Actor, id ID, scope dispatch.Scope, check func(Actor, ID) bool) (Task, error) {
	if err := allowed(who, scope); err != nil {
		return Task{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !check(who, id) {
		return Task{}, ErrNotFound
	}
	if own, ok := who.(Session); ok && s.tasks[own.Task].task.State.Ended() {
		return Task{}, ErrEnded
	}
	return s.view(s.tasks[id]), nil
}
