package upstream

import (
	"errors"
	"strings"
)

// words splits a command line. White space separates; between single quotes and
// between double quotes everything stands for itself, but a backslash before a
// double quote or a backslash there. Outside of quotes a backslash stands for
// itself too, as in the paths of Windows, unless a quote, a backslash or white
// space follows. Nothing is expanded and no shell is run.
func words(line string) ([]string, error) {
	if strings.ContainsRune(line, 0) {
		return nil, errors.New("holds a zero byte")
	}
	var s splitter
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) && strings.IndexByte(s.escapes(), line[i+1]) >= 0 {
			i++
			s.add(line[i])
			continue
		}
		s.step(line[i])
	}
	if s.quote != 0 {
		return nil, errors.New("has a quote that is not closed")
	}
	s.end()
	if len(s.done) == 0 || s.done[0] == "" {
		return nil, errors.New("is empty: write the program and its arguments")
	}
	return s.done, nil
}

// splitter is the state of [words].
type splitter struct {
	done   []string
	word   []byte
	inside bool // of a word, which may be empty: ''
	quote  byte // the open one, or 0
}

// escapes are the bytes that a backslash makes ordinary here.
func (s *splitter) escapes() string {
	switch s.quote {
	case '\'':
		return ""
	case '"':
		return `"\`
	}
	return "'\"\\ \t\r\n"
}

func (s *splitter) add(b byte) { s.word, s.inside = append(s.word, b), true }

func (s *splitter) end() {
	if s.inside {
		s.done = append(s.done, string(s.word))
	}
	s.word, s.inside = nil, false
}

func (s *splitter) step(b byte) {
	switch {
	case s.quote == b:
		s.quote = 0
	case s.quote != 0:
		s.add(b)
	case b == '\'' || b == '"':
		s.quote, s.inside = b, true
	case strings.IndexByte(" \t\r\n", b) >= 0:
		s.end()
	default:
		s.add(b)
	}
}
