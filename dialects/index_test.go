package dialects

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
)

// third is a dialect of somebody else's.
type third struct{ agent pipeline.Agent }

func (d *third) Agent() pipeline.Agent { return d.agent }

func (*third) Claim(*pipeline.Request) (pipeline.Claim, error) { return pipeline.Claim{}, ErrAbsent }

func TestIndex(t *testing.T) {
	rows := map[string]struct {
		list []Dialect
		want string // the whole error; empty for none
	}{
		"built-in":         {All(), ""},
		"none":             {nil, ""},
		"some of them":     {[]Dialect{NewClaude()}, ""},
		"and a third one":  {append(All(), &third{"foo-acp"}), ""},
		"nil":              {append(All(), nil), `dialects: dialect number 11: is nil`},
		"a nil pointer":    {append(All(), (*third)(nil)), `dialects: dialect number 11: is nil`},
		"no agent id":      {append(All(), &third{}), `dialects: dialect number 11: has no agent id`},
		"one agent twice":  {append(All(), &third{"codex-acp"}), `dialects: agent "codex-acp" has two dialects`},
		"several problems": {[]Dialect{nil, NewQwen(), NewQwen()}, "dialects: dialect number 1: is nil\ndialects: agent \"qwen-acp\" has two dialects"},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			set, err := Index(r.list)
			if r.want != "" {
				assert.EqualError(t, err, r.want)
				assert.Equal(t, Set{}, set)
				return
			}
			require.NoError(t, err)
			for _, d := range r.list {
				got, ok := set.For(pipeline.Instance{Agent: d.Agent()})
				assert.True(t, ok)
				assert.Equal(t, d, got)
			}
			got, ok := set.For(pipeline.Instance{Agent: "nobody-acp"})
			assert.False(t, ok)
			assert.Nil(t, got)
		})
	}
}

func TestSetForSettings(t *testing.T) {
	set, err := Index(append(All(), &third{"foo-acp"}))
	require.NoError(t, err)
	got, ok := set.For(pipeline.Instance{Agent: "claude-acp", NoTitleFallback: true})
	assert.True(t, ok)
	assert.Equal(t, NewClaude().WithoutTitleFallback(), got)
	got, ok = set.For(pipeline.Instance{Agent: "claude-acp"})
	assert.True(t, ok)
	assert.Equal(t, NewClaude(), got, "the settings of one instance are not another's")
	got, ok = set.For(pipeline.Instance{Agent: "foo-acp", NoTitleFallback: true})
	assert.True(t, ok)
	assert.Equal(t, &third{"foo-acp"}, got, "one that reads no titles is left alone")
	got, ok = Set{}.For(pipeline.Instance{Agent: "claude-acp", NoTitleFallback: true})
	assert.False(t, ok)
	assert.Nil(t, got)
}

func TestCheckCorpus(t *testing.T) {
	foo, bar := &third{"foo-acp"}, &third{"bar-acp"}
	fooFolder, barFolder := agentFile{Agent: "foo-acp"}, agentFile{Agent: "bar-acp"}
	rows := map[string]struct {
		all    []Dialect
		corpus []agentFile
		want   string
	}{
		"both":           {[]Dialect{foo, bar}, []agentFile{barFolder, fooFolder}, ""},
		"no line":        {[]Dialect{bar}, []agentFile{barFolder, fooFolder}, `dialects: "foo-acp" has a corpus folder but no line in All`},
		"no folder":      {[]Dialect{foo, bar}, []agentFile{barFolder}, `dialects: "foo-acp" has a line in All but no corpus folder testdata/foo-acp with an agent.json`},
		"the wrong ones": {[]Dialect{bar}, []agentFile{fooFolder}, "dialects: \"foo-acp\" has a corpus folder but no line in All\ndialects: \"bar-acp\" has a line in All but no corpus folder testdata/bar-acp with an agent.json"},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			err := checkCorpus(r.all, r.corpus)
			if r.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, r.want)
		})
	}
}

func TestReadCorpus(t *testing.T) {
	const good = `{"agent":"foo-acp","packages":[{"package":"foo","version":"1.0.0","shapes":["v1"]}]}`
	rows := map[string]struct {
		text string
		want string
	}{
		"good":            {good, ""},
		"cut":             {good[:20], `dialects: testdata/foo-acp/agent.json: unexpected EOF`},
		"an unknown key":  {`{"agent":"foo-acp","package":"foo"}`, `dialects: testdata/foo-acp/agent.json: json: unknown field "package"`},
		"another agent":   {`{"agent":"bar-acp"}`, `dialects: testdata/foo-acp/agent.json: agent is "bar-acp", its folder "foo-acp": they must be the same`},
		"no packages":     {`{"agent":"foo-acp"}`, `dialects: testdata/foo-acp/agent.json: names no package`},
		"no version":      {`{"agent":"foo-acp","packages":[{"package":"foo","shapes":["v1"]}]}`, `dialects: testdata/foo-acp/agent.json: package number 1 needs package, version and shapes`},
		"no package":      {`{"agent":"foo-acp","packages":[{"version":"1","shapes":["v1"]}]}`, `dialects: testdata/foo-acp/agent.json: package number 1 needs package, version and shapes`},
		"without a shape": {`{"agent":"foo-acp","packages":[{"package":"foo","version":"1"}]}`, `dialects: testdata/foo-acp/agent.json: package number 1 needs package, version and shapes`},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"testdata/foo-acp/agent.json": {Data: []byte(r.text)}, "testdata/README.md": {}}
			corpus, err := readCorpus(files)
			if r.want != "" {
				assert.EqualError(t, err, r.want)
				assert.Nil(t, corpus)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []agentFile{{Agent: "foo-acp", Packages: []testedPackage{{"foo", "1.0.0", []string{"v1"}}}}}, corpus)
		})
	}
}

func TestReadAgentFileMissing(t *testing.T) {
	_, err := readAgentFile(fstest.MapFS{}, "testdata/foo-acp/agent.json")
	assert.Error(t, err)
}

func TestTested(t *testing.T) {
	tested := Tested()
	assert.Contains(t, tested, TestedAgent{Agent: "claude-acp", Package: "@agentclientprotocol/claude-agent-acp", Version: "0.101.0"})
	assert.Contains(t, tested, TestedAgent{Agent: "claude-acp", Package: "@zed-industries/claude-code-acp", Version: "0.16.2"})
	agents := map[pipeline.Agent]bool{}
	for _, a := range tested {
		agents[a.Agent] = true
		assert.NotEmpty(t, a.Package)
		assert.NotEmpty(t, a.Version)
	}
	for _, d := range All() {
		assert.True(t, agents[d.Agent()], "%s", d.Agent())
	}
}

func TestError(t *testing.T) {
	absent, malformed := Error{Reason: "r", Absent: true}, Error{Reason: "r"}
	assert.EqualError(t, malformed, "dialects: r")
	assert.ErrorIs(t, absent, ErrAbsent)
	assert.NotErrorIs(t, malformed, ErrAbsent)
	assert.NotErrorIs(t, absent, assert.AnError)
}
