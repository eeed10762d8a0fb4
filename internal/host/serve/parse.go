package serve

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/kandev/assent/internal/agents"
)

// Duration is written like "90s" or "2h".
type Duration time.Duration

// UnmarshalText reads it.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// ReadConfig reads a configuration file. Unknown keys are errors, and errors name
// the line. They quote no value, but names of settings.
func ReadConfig(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	return parseConfig(path, text)
}

// parseConfig reads the text of a file.
func parseConfig(path string, text []byte) (Config, error) {
	var c Config
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&c)
	strict, unknown := errors.AsType[*toml.StrictMissingError](err)
	wrong, unreadable := errors.AsType[*toml.DecodeError](err)
	switch {
	case unknown:
		first := strict.Errors[0]
		row, _ := first.Position()
		return Config{}, fmt.Errorf("%s:%d: %w", path, row, noSetting(first.Key()))
	case unreadable:
		row, _ := wrong.Position()
		return Config{}, fmt.Errorf("%s:%d: %s", path, row, reasonOf(wrong))
	case err != nil: // it could quote the file
		return Config{}, fmt.Errorf("%s: it is no TOML of the expected form", path)
	}
	if err := exact(path, text); err != nil {
		return Config{}, err
	}
	if name := numberFor(text); name != "" {
		return Config{}, located(path, text, fmt.Errorf("%s is not of the expected form: write %s", name, formOf(reflect.TypeFor[Duration]())))
	}
	if unseenAtOnce(text) {
		return Config{}, located(path, text, errors.New("offers: no_surface_after is zero: leave it out for the time that is usual, or write another one"))
	}
	if err := c.Check(); err != nil {
		return Config{}, located(path, text, err)
	}
	return c, nil
}

// noSetting says that a name is not that of a setting.
func noSetting(key []string) error {
	return fmt.Errorf("there is no setting %q%s", strings.Join(key, "."), meant(key))
}

// exact wants the names of settings as they are: the decoder takes them in any case, also
// one twice, and nothing else here does.
func exact(path string, text []byte) error {
	var all map[string]any
	if toml.Unmarshal(text, &all) != nil { // it could quote the file
		return fmt.Errorf("%s: it is no TOML of the expected form", path)
	}
	key := inexact(all, nil)
	if key == nil {
		return nil
	}
	lines := settingLines(text)
	for n := len(key); n > 0; n-- { // within braces only what is around them has a line
		if line := lines[strings.Join(key[:n], ".")]; line > 0 {
			return fmt.Errorf("%s:%d: %w", path, line, noSetting(key))
		}
	}
	return fmt.Errorf("%s: %w", path, noSetting(key))
}

// inexact is a name, whole, in a table that is at a key, that is not exactly that of a
// setting; nil for none. Those of agents, variables and servers are free.
func inexact(table map[string]any, at []string) []string {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		key := append(slices.Clone(at), name)
		if typeOf(key) == nil {
			return key
		}
		if below, ok := table[name].(map[string]any); ok {
			if wrong := inexact(below, key); wrong != nil {
				return wrong
			}
		}
	}
	return nil
}

// numberFor names a duration that is given as a number, which would be of nanoseconds.
func numberFor(text []byte) string {
	var raw struct {
		Offers map[string]any `toml:"offers"`
	}
	if toml.Unmarshal(text, &raw) != nil {
		return ""
	}
	for name, form := range settingsOf(reflect.TypeFor[Offers]()) {
		value, given := raw.Offers[name]
		if _, isText := value.(string); given && !isText && form == reflect.TypeFor[Duration]() {
			return "offers: " + name
		}
	}
	return ""
}

// unseenAtOnce says whether the time for offers that nobody could see is given as zero,
// which would be taken for none that is given.
func unseenAtOnce(text []byte) bool {
	var raw struct {
		Offers struct {
			After *Duration `toml:"no_surface_after"`
		} `toml:"offers"`
	}
	err := toml.Unmarshal(text, &raw)
	return err == nil && raw.Offers.After != nil && *raw.Offers.After == 0
}

// shows are the places in what the parser says from which on it quotes the file.
var shows = regexp.MustCompile(`(:| but got)? U\+.*`)

// reasonOf says what is wrong with a line, without its text.
func reasonOf(err *toml.DecodeError) string {
	key, said := err.Key(), strings.TrimPrefix(err.Error(), "toml: ")
	if len(key) == 0 {
		return "this is no TOML: " + shows.ReplaceAllString(said, "")
	}
	name := strings.Join(key, ".")
	if strings.HasSuffix(said, "is already defined") || strings.Contains(said, " already exists") {
		return fmt.Sprintf("%q is there twice", name)
	}
	if form := formOf(typeOf(key)); form != "" {
		return fmt.Sprintf("the value of %q is not of the expected form: write %s", name, form)
	}
	return fmt.Sprintf("the value of %q is not of the expected form", name)
}

// formOf says how a value of a type is written; empty for one that nobody writes.
func formOf(t reflect.Type) string {
	switch {
	case t == nil:
		return ""
	case t == reflect.TypeFor[Duration]():
		return `a duration in quotes, such as "90s", "10m" or "2h"`
	case t.Kind() == reflect.String:
		return `a text in quotes, such as "x"`
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t == reflect.TypeFor[[]string]():
		return `a list of texts, such as ["x", "y"]`
	case t == reflect.TypeFor[map[string]string]():
		return `a table of texts, such as { NAME = "x" }`
	}
	return "a table"
}

// typeOf is the type of a setting; nil for none.
func typeOf(key []string) reflect.Type {
	t := reflect.TypeFor[Config]()
	for _, part := range key {
		switch t.Kind() {
		case reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			field, ok := settingsOf(t)[part]
			if !ok {
				return nil
			}
			t = field
		default: // something below a value
			return t
		}
	}
	return t
}

// settingsOf are the settings of a table, by their names.
func settingsOf(table reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, field := range reflect.VisibleFields(table) {
		if field.IsExported() {
			all[field.Tag.Get("toml")] = field.Type
		}
	}
	return all
}

// meant asks whether the setting was meant that is nearest to an unknown one.
func meant(key []string) string {
	last := len(key) - 1
	table := typeOf(key[:last])
	if table == nil || table.Kind() != reflect.Struct {
		return ""
	}
	var names []string
	for name := range settingsOf(table) {
		names = append(names, name)
	}
	if near := agents.NearOf(strings.ToLower(key[last]), names); len(near) > 0 {
		return fmt.Sprintf(" (did you mean %s?)", strings.Join(near, " or "))
	}
	return ""
}
