package pipeline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

func TestInstanceCheck(t *testing.T) {
	cases := []struct {
		name     string
		instance pipeline.Instance
		want     string // in the error; empty: fine
	}{
		{"the zero value", pipeline.Instance{}, ""},
		{"the largest port", pipeline.Instance{Port: 65535}, ""},
		{"a port below", pipeline.Instance{Port: -1}, "pipeline: port -1 of the injected server"},
		{"a port above", pipeline.Instance{Port: 65536}, "pipeline: port 65536 of the injected server"},
		{"a reserved name", pipeline.Instance{Reserved: "my_server-2"}, ""},
		{"a separator in it", pipeline.Instance{Reserved: "a__b"}, `pipeline: reserved name "a__b": name_with_second_separator`},
		{"an underscore at the end", pipeline.Instance{Reserved: "a_"}, `pipeline: reserved name "a_": name_separator_touches`},
		{"an underscore in front", pipeline.Instance{Reserved: "_a"}, `pipeline: reserved name "_a": name_separator_touches`},
		{"a dot in it", pipeline.Instance{Reserved: "a.b"}, `pipeline: reserved name "a.b": name_with_foreign_bytes`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.instance.Check()
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestReservedName(t *testing.T) {
	assert.Equal(t, "kandev", pipeline.Instance{}.ReservedName())
	assert.Equal(t, "mine", pipeline.Instance{Reserved: "mine"}.ReservedName())
	assert.Error(t, pipeline.CheckReservedName(""))
}
