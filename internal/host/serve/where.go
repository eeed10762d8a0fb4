package serve

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// about are the words with which an error of [Config.Check] begins: a setting, and
// perhaps one below it.
var about = regexp.MustCompile(`^([A-Za-z0-9._-]+): (?:([a-z_]+)\b)?`)

// located puts file and line before an error about what stands in a file, as far as the
// line can be told.
func located(path string, text []byte, err error) error {
	words := about.FindStringSubmatch(err.Error())
	if words == nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	lines := settingLines(text)
	line := lines[words[1]+"."+words[2]]
	for table := words[1]; line == 0 && table != ""; table = table[:max(0, strings.LastIndexByte(table, '.'))] {
		line = lines[table]
	}
	if line == 0 {
		return fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Errorf("%s:%d: %w", path, line, err)
}

// settingLines are the lines of tables and settings, by their whole names, but for those
// within braces.
func settingLines(text []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(text)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable && e.Kind != unstable.KeyValue {
			continue
		}
		name, line := "", 0
		for key := e.Key(); key.Next(); {
			if line == 0 {
				line = p.Shape(key.Node().Raw).Start.Line
			}
			name += "." + string(key.Node().Data)
		}
		name = strings.TrimPrefix(name, ".")
		if e.Kind != unstable.KeyValue {
			table = name + "."
		} else {
			name = table + name
		}
		if lines[name] == 0 {
			lines[name] = line
		}
	}
	return lines
}
