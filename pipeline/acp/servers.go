package acp

import (
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
)

// readSessionRequest decodes a session request of the client. What cannot be
// read in exactly one way makes it untrusted.
func readSessionRequest(f Frame, placeholder string) *sessionRequest {
	r := &sessionRequest{method: f.Method}
	if f.deep || f.repeated || !utf8.Valid(f.Line) || r.decode(f, placeholder) != nil {
		r.untrusted = true
		r.list = pipeline.ServerList{}
		r.sessions = nil
		if !r.makes() {
			members(f.Line, "params", func(params []byte) {
				members(params, "sessionId", func(v []byte) {
					id, _ := jsontext.AppendUnquote(nil, v)
					r.sessions = append(r.sessions, string(id))
				})
			})
		}
	}
	return r
}

func (r *sessionRequest) decode(f Frame, placeholder string) error {
	c := newCursor(f.Line)
	defer c.release()
	err := c.object(func(key []byte) error {
		if string(key) != "params" {
			return c.skip()
		}
		return c.object(func(key []byte) (err error) {
			switch string(key) {
			case "sessionId":
				var id string
				if id, err = c.string(); !r.makes() {
					r.sessions = []string{id}
				}
			case "mcpServers":
				r.list.Servers, err = c.servers(placeholder)
			default:
				err = c.skip()
			}
			return err
		})
	})
	if err == nil {
		err = c.end()
	}
	if err == nil && !r.makes() && len(r.sessions) == 0 {
		err = errShape
	}
	return err
}

func (c *cursor) servers(placeholder string) ([]pipeline.Server, error) {
	if c.dec.PeekKind() == 'n' {
		return nil, c.skip()
	}
	var servers []pipeline.Server
	err := c.array(func() error {
		var s pipeline.Server
		err := c.object(func(key []byte) error { return c.serverMember(string(key), &s) })
		if placeholder != "" && slices.Equal(s.Headers, []pipeline.Header{{Name: "Authorization", Value: placeholder}}) {
			s.Headers = nil
		}
		servers = append(servers, s)
		return err
	})
	return servers, err
}

func (c *cursor) serverMember(key string, s *pipeline.Server) (err error) {
	switch key {
	case "name":
		s.Name, err = c.serverText(s)
	case "type":
		s.Type, err = c.serverText(s)
	case "url":
		s.URL, err = c.serverText(s)
	case "command":
		s.Command, err = c.serverText(s)
	case "args":
		s.Args, err = c.count(s)
	case "env":
		s.Env, err = c.count(s)
	case "headers":
		err = c.headers(s)
	default:
		err = c.skip()
	}
	return err
}

// serverText reads a string member; null counts as absent.
func (c *cursor) serverText(s *pipeline.Server) (string, error) {
	switch c.dec.PeekKind() {
	case 'n':
		return "", c.skip()
	case '"':
		return c.string()
	}
	s.Malformed = true
	return "", c.skip()
}

// count reads how many elements a list has; what is no list counts as malformed.
func (c *cursor) count(s *pipeline.Server) (int, error) {
	switch c.dec.PeekKind() {
	case 'n':
		return 0, c.skip()
	case '[':
		n := 0
		err := c.array(func() error { n++; return c.skip() })
		return n, err
	}
	s.Malformed = true
	return 0, c.skip()
}

func (c *cursor) headers(s *pipeline.Server) error {
	switch c.dec.PeekKind() {
	case 'n':
		return c.skip()
	case '[':
	default:
		s.Malformed = true
		return c.skip()
	}
	return c.array(func() error {
		if c.dec.PeekKind() != '{' {
			s.Malformed = true
			return c.skip()
		}
		var h pipeline.Header
		err := c.object(func(key []byte) (err error) {
			switch string(key) {
			case "name":
				h.Name, err = c.serverText(s)
			case "value":
				h.Value, err = c.serverText(s)
			default:
				s.Malformed = true
				err = c.skip()
			}
			return err
		})
		s.Headers = append(s.Headers, h)
		return err
	})
}

// readSessionID reads the id of a session that was just made; empty when it
// cannot be read in exactly one way.
func readSessionID(f Frame) string {
	if f.deep || f.repeated || !utf8.Valid(f.Line) {
		return ""
	}
	c := newCursor(f.Line)
	defer c.release()
	id := ""
	err := c.object(func(key []byte) error {
		if string(key) != "result" {
			return c.skip()
		}
		return c.objectOrSkip(func(key []byte) (err error) {
			if string(key) != "sessionId" {
				return c.skip()
			}
			id, err = c.string()
			return err
		})
	})
	if err != nil {
		return ""
	}
	return id
}

// ReadServers decodes an mcpServers value. A duplicate key or a value that is no
// list of objects is an error.
func ReadServers(text []byte) (pipeline.ServerList, error) {
	if len(text) == 0 {
		return pipeline.ServerList{}, nil
	}
	c := newCursor(text)
	defer c.release()
	servers, err := c.servers("")
	if err == nil {
		err = c.end()
	}
	if err != nil {
		return pipeline.ServerList{}, errors.New("acp: mcpServers is no list of server objects with unique keys")
	}
	return pipeline.ServerList{Servers: servers}, nil
}
