package dialects

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/kandev/assent/pipeline"
)

// corpusFiles are the small files that say of which packages each corpus folder
// holds frames. The frames themselves are for tests and not embedded.
//
//go:embed testdata/*/agent.json
var corpusFiles embed.FS

// TestedAgent is one package of an agent whose captured frames its dialect was
// tested with.
type TestedAgent struct {
	Agent            pipeline.Agent
	Package, Version string
}

// Tested lists the agents, packages and versions that the built-in dialects were
// tested with, by agent id and then as in the corpus. It is empty when the
// corpus is broken; [Index] says how.
func Tested() []TestedAgent {
	corpus, _ := readCorpus(corpusFiles)
	var tested []TestedAgent
	for _, f := range corpus {
		for _, p := range f.Packages {
			tested = append(tested, TestedAgent{Agent: f.Agent, Package: p.Package, Version: p.Version})
		}
	}
	return tested
}

// agentFile is an agent.json.
type agentFile struct {
	Agent    pipeline.Agent  `json:"agent"`
	Packages []testedPackage `json:"packages"`
}

type testedPackage struct {
	Package string `json:"package"`
	Version string `json:"version"`
	// Shapes are the ways in which this version presents a call, such as "v1".
	Shapes []string `json:"shapes"`
}

// readCorpus reads every agent.json, in the order of the folders' names.
func readCorpus(files fs.FS) ([]agentFile, error) {
	names, _ := fs.Glob(files, "testdata/*/agent.json") // fails for a bad pattern only
	corpus := make([]agentFile, 0, len(names))
	for _, name := range names {
		f, err := readAgentFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("dialects: %s: %w", name, err)
		}
		corpus = append(corpus, f)
	}
	return corpus, nil
}

func readAgentFile(files fs.FS, name string) (agentFile, error) {
	var f agentFile
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return f, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, err
	}
	if folder := path.Base(path.Dir(name)); string(f.Agent) != folder {
		return f, fmt.Errorf("agent is %q, its folder %q: they must be the same", f.Agent, folder)
	}
	if len(f.Packages) == 0 {
		return f, errors.New("names no package")
	}
	for i, p := range f.Packages {
		if p.Package == "" || p.Version == "" || len(p.Shapes) == 0 {
			return f, fmt.Errorf("package number %d needs package, version and shapes", i+1)
		}
	}
	return f, nil
}
