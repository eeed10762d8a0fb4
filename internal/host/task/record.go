package task

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
)

// node is a task with what only this package needs.
type node struct {
	task     Task
	children []ID // also those that are forgotten
	revision uint64
}

// record is a node as it is stored.
type record struct {
	Task     Task `json:"task"`
	Children []ID `json:"children"`
}

func (n node) clone() node {
	n.children = slices.Clone(n.children)
	return n
}

func (n node) equal(o node) bool { return n.task == o.task && slices.Equal(n.children, o.children) }

func (n node) encode() ([]byte, error) {
	n.task.Resume = false
	text, err := json.Marshal(record{n.task, n.children})
	if err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	return text, nil
}

// decode reads what was stored under a key. Members that it does not know are
// ignored, whatever they claim.
func decode(key string, text []byte) (node, error) {
	var r record
	if json.Unmarshal(text, &r) != nil || string(r.Task.ID) != key || key == "" || !r.Task.State.known() || r.Task.Parent == r.Task.ID {
		return node{}, errors.New("task: what is stored is no task")
	}
	r.Task.Resume = false
	return node{task: r.Task, children: r.Children}, nil
}
