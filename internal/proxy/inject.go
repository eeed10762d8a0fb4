package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/kandev/assent/internal/host/upstream"
	"github.com/kandev/assent/pipeline"
)

// ParseInjections reads --inject NAME=TARGET and --inject-header NAME=KEY:VALUE. A
// ${VARIABLE} in a value is taken from the environment; used are the names of those
// variables: they hold secrets that are not the agent's. Errors quote nothing but
// names that passed the parser: of a flag that is not in its form any part can be a
// secret.
func ParseInjections(inject, headers []string, lookup func(string) (string, bool)) (list []Injection, used []string, err error) {
	byName := map[string]int{}
	for _, flag := range inject {
		name, target, found := strings.Cut(flag, "=")
		if !found || name == "" || target == "" {
			return nil, nil, errors.New("--inject needs a name and a target, as in --inject kandev=http://localhost:8000/mcp or --inject kandev=stdio:my-server --flag")
		}
		if pipeline.CheckReservedName(name) != nil {
			return nil, nil, errors.New("--inject: what stands before = cannot be the name of a server: use 1 to 128 of A-Z a-z 0-9 _ -, without __ and without _ at either end, as in --inject kandev=URL")
		}
		if _, twice := byName[name]; twice {
			return nil, nil, fmt.Errorf("--inject: the name %q is given twice: give each server a name of its own", name)
		}
		t, err := upstream.ParseTarget(target)
		if err != nil {
			return nil, nil, fmt.Errorf("--inject %s: %s", name, strings.TrimPrefix(err.Error(), "upstream: "))
		}
		byName[name] = len(list)
		list = append(list, Injection{Name: name, Target: t})
	}
	for _, flag := range headers {
		name, key, value, err := parseHeader(flag)
		if err != nil {
			return nil, nil, err
		}
		at, known := byName[name]
		switch {
		case !known:
			return nil, nil, fmt.Errorf("--inject-header: no server is injected as %q: add --inject %s=URL", name, name)
		case list[at].Target.URL == "":
			return nil, nil, fmt.Errorf("--inject-header: %q is a program, which takes no headers", name)
		}
		value, names, err := expand(value, lookup)
		if err != nil {
			return nil, nil, fmt.Errorf("--inject-header %s=%s: %w", name, key, err)
		}
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, nil, fmt.Errorf("--inject-header %s=%s: the value has a character that no header can have", name, key)
		}
		if list[at].Target.Headers == nil {
			list[at].Target.Headers = http.Header{}
		}
		list[at].Target.Headers.Add(key, value)
		used = append(used, names...)
	}
	return list, used, nil
}

// parseHeader reads NAME=KEY:VALUE.
func parseHeader(flag string) (name, key, value string, err error) {
	name, header, named := strings.Cut(flag, "=")
	key, value, found := strings.Cut(header, ":")
	if !named || !found || pipeline.CheckReservedName(name) != nil || !httpguts.ValidHeaderFieldName(key) {
		return "", "", "", errors.New("--inject-header needs the name of an injected server and a header, as in --inject-header 'kandev=Authorization:Bearer ${KANDEV_TOKEN}'")
	}
	return name, key, strings.TrimSpace(value), nil
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand takes variables from the environment. One that is not set is an error: a
// server that got an empty token would only say that it is wrong.
func expand(value string, lookup func(string) (string, bool)) (out string, used []string, err error) {
	if rest := variable.ReplaceAllString(value, ""); strings.Contains(rest, "${") {
		return "", nil, errors.New("a ${ begins no ${VARIABLE}: its name is letters, digits and _, and } ends it")
	}
	out = variable.ReplaceAllStringFunc(value, func(reference string) string {
		name := variable.FindStringSubmatch(reference)[1]
		text, set := lookup(name)
		if !set && err == nil {
			err = fmt.Errorf("the variable %s is not set", name)
		}
		used = append(used, name)
		return text
	})
	return out, used, err
}

// Without is an environment without the given variables.
func Without(env, names []string) []string {
	var out []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if !slices.Contains(names, name) {
			out = append(out, v)
		}
	}
	return out
}
