package serve

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/state"
	"github.com/kandev/assent/internal/host/task"
)

// What the store wraps reaches no client, whatever it is joined to; what our own errors
// say does.
func TestWhatAFailureSays(t *testing.T) {
	down := fmt.Errorf("task: %w", fmt.Errorf("%w (nats: no servers at nats://db.internal)", state.ErrUnavailable))
	for name, test := range map[string]struct {
		err  error
		code dispatch.Code
		says string
	}{
		"of the store":            {down, dispatch.CodeUnavailable, "the store does not answer: read the entry again to learn whether it was written"},
		"of the store's disk":     {fmt.Errorf("task: %w", fmt.Errorf("%w (%w)", state.ErrUnavailable, state.ErrRefused)), dispatch.CodeUnavailable, "the disk refuses what is written: is it full?"},
		"joined to one of ours":   {errors.Join(task.ErrEnded, down), dispatch.CodeConflict, "the task has ended"},
		"of an agent":             {fmt.Errorf("%w: %w", task.ErrStays, context.DeadlineExceeded), dispatch.CodeUnavailable, "its agent has not ended: stop it again"},
		"of an agent and below":   {errors.Join(errors.Join(down, task.ErrStays), task.ErrStays), dispatch.CodeUnavailable, "its agent has not ended: stop it again"},
		"of ours":                 {task.ErrEnded, dispatch.CodeConflict, "the task has ended"},
		"of ours, with its cause": {fmt.Errorf("%w: the title is empty", task.ErrInvalid), dispatch.CodeInvalidPayload, "the title is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			var got *dispatch.Error
			assert.ErrorAs(t, failure(test.err), &got)
			assert.Equal(t, test.code, got.Code)
			assert.Contains(t, got.Message, test.says)
			assert.NotContains(t, got.Message, "nats")
			assert.NotContains(t, got.Message, "context")
			assert.NotContains(t, got.Message, "\n")
		})
	}
	other := errors.New("any other")
	assert.Equal(t, other, failure(other))
	assert.NoError(t, failure(nil))
}
