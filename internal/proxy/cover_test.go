package proxy

import (
	"testing"

	"github.com/kandev/assent/internal/covered"
)

func TestEveryFunctionIsCovered(t *testing.T) { covered.EveryFunction(t) }
