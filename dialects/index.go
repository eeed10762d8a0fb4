package dialects

import (
	"errors"
	"fmt"
	"slices"

	"github.com/samber/lo"

	"github.com/kandev/assent/pipeline"
)

// Set finds the dialect of an instance. It is immutable; the zero value is empty.
type Set struct {
	byAgent map[pipeline.Agent]Dialect
}

// Index checks a list of dialects and makes a [Set] of it. It refuses nil
// dialects, empty agent ids and two dialects for one agent, and a build in which
// [All] and the corpus folders do not match. The list may leave built-in
// dialects out and hold others; those need no corpus.
func Index(list []Dialect) (Set, error) {
	set := Set{byAgent: make(map[pipeline.Agent]Dialect, len(list))}
	var problems []error
	for i, d := range list {
		agent, err := agentOf(d)
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("dialects: dialect number %d: %w", i+1, err))
		case set.byAgent[agent] != nil:
			problems = append(problems, fmt.Errorf("dialects: agent %q has two dialects", agent))
		default:
			set.byAgent[agent] = d
		}
	}
	corpus, err := readCorpus(corpusFiles)
	if err == nil { // else every folder would seem to be missing
		err = checkCorpus(All(), corpus)
	}
	problems = append(problems, err)
	if err := errors.Join(problems...); err != nil {
		return Set{}, err
	}
	return set, nil
}

// For is the dialect of the instance's agent, as its settings want it. Whether
// the agent id was configured or guessed is for the caller to judge.
func (s Set) For(inst pipeline.Instance) (Dialect, bool) {
	d, ok := s.byAgent[inst.Agent]
	if titles, reads := d.(TitleReader); reads && inst.NoTitleFallback {
		d = titles.WithoutTitleFallback()
	}
	return d, ok
}

// agentOf reads a dialect's agent id. A nil dialect, also a nil pointer in the
// interface whose Agent method fails, is an error and no panic.
func agentOf(d Dialect) (agent pipeline.Agent, err error) {
	defer func() {
		if recover() != nil {
			agent, err = "", errors.New("is nil")
		}
	}()
	if agent = d.Agent(); agent == "" {
		return "", errors.New("has no agent id")
	}
	return agent, nil
}

// checkCorpus compares the built-in list with the corpus folders, both ways: a
// dialect without captured frames is untested, captured frames without a dialect
// are a forgotten line.
func checkCorpus(all []Dialect, corpus []agentFile) error {
	listed := lo.Map(all, func(d Dialect, _ int) pipeline.Agent { return d.Agent() })
	folders := lo.Map(corpus, func(f agentFile, _ int) pipeline.Agent { return f.Agent })
	var problems []error
	for _, agent := range folders {
		if !slices.Contains(listed, agent) {
			problems = append(problems, fmt.Errorf("dialects: %q has a corpus folder but no line in All", agent))
		}
	}
	for _, agent := range listed {
		if !slices.Contains(folders, agent) {
			problems = append(problems, fmt.Errorf("dialects: %q has a line in All but no corpus folder testdata/%s with an agent.json", agent, agent))
		}
	}
	return errors.Join(problems...)
}
