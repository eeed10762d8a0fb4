package acp

import (
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
)

// readSessionRequest decodes a session request of the client. What cannot be
// read in exactly one way makes it untrusted.
func readSessionRequest(f Frame, placeholder string) *sessionRequest {
	r := &sessionRequest{method: f.Method}
	if f.deep || f.repeated || r.decode(f, placeholder) != nil {
		r.untrusted = true
		r.list = pipeline.ServerList{}
		r.sessions = nil
		if !r.makes() {
			members(f.Line, "params", func(params []byte) {
				members(params, "sessionId", func(v []byte) {
					if v[0] == '"' {
						id, _ := jsontext.AppendUnquote(nil, v) // bad text is replaced
						r.sessions = append(r.sessions, string(id))
					}
				})
			})
		}
	}
	return r
}

func (r *sessionRequest) decode(f Frame, placeholder string) error {
	in, ok := read(f.Line, levelNone)
	defer in.release()
	if !ok {
		return errUnreadable
	}
	err := in.params(func(key []byte) (err error) {
		switch string(key) {
		case "sessionId":
			var id string
			if id, err = in.required(); !r.makes() {
				r.sessions = []string{id}
			}
		case "mcpServers":
			r.list.Servers, err = in.servers(placeholder)
		}
		return err
	})
	if err == nil && !r.makes() && len(r.sessions) == 0 {
		err = errShape
	}
	return err
}

func (r *reading) servers(placeholder string) (servers []pipeline.Server, err error) {
	if r.kind() == 'n' {
		return nil, nil
	}
	err = r.array(func() error {
		var s pipeline.Server
		err := r.object(func(key []byte) error {
			r.serverMember(key, &s)
			return nil
		})
		if placeholder != "" && slices.Equal(s.Headers, []pipeline.Header{{Name: "Authorization", Value: placeholder}}) {
			s.Headers = nil
		}
		servers = append(servers, s)
		return err
	})
	return servers, err
}

func (r *reading) serverMember(key []byte, s *pipeline.Server) {
	switch string(key) {
	case "name":
		s.Name = r.serverText(s)
	case "type":
		s.Type = r.serverText(s)
	case "url":
		s.URL = r.serverText(s)
	case "command":
		s.Command = r.serverText(s)
	case "args":
		s.Args = r.count(s)
	case "env":
		s.Env = r.count(s)
	case "headers":
		r.headers(s)
	}
}

// serverText reads a string member; null counts as absent.
func (r *reading) serverText(s *pipeline.Server) string {
	s.Malformed = s.Malformed || r.kind() != 'n' && r.kind() != '"'
	return r.optional()
}

// count reads how many elements a list has; what is no list is malformed.
func (r *reading) count(s *pipeline.Server) (n int) {
	if r.kind() == 'n' {
		return 0
	}
	if !r.attempt(func() error { return r.array(func() error { n++; return nil }) }) {
		s.Malformed = true
	}
	return n
}

func (r *reading) headers(s *pipeline.Server) {
	if r.kind() == 'n' {
		return
	}
	if !r.attempt(func() error { return r.array(func() error { return r.header(s) }) }) {
		s.Malformed = true
	}
}

func (r *reading) header(s *pipeline.Server) error {
	var h pipeline.Header
	err := r.object(func(key []byte) error {
		switch string(key) {
		case "name":
			h.Name = r.serverText(s)
		case "value":
			h.Value = r.serverText(s)
		default:
			return errShape
		}
		return nil
	})
	s.Headers = append(s.Headers, h)
	return err
}

// namedIn is every sessionId that the params of a frame give, also the same one
// twice, and how often they give mcpServers.
func namedIn(f Frame) (ids []string, lists int) {
	if f.params == nil {
		return nil, 0
	}
	members(f.Line, "params", func(params []byte) {
		for s := (scanner{b: params, pos: 1}); params[0] == '{' && s.nextMember(); {
			switch {
			case s.keyIs("sessionId"):
				id, _ := jsontext.AppendUnquote(nil, s.value) // no string, or bad text: it then names no session
				ids = append(ids, string(id))
			case s.keyIs("mcpServers"):
				lists++
			}
		}
	})
	return ids, lists
}

// readSessionID reads the id of a session that was just made; empty when it
// cannot be read in exactly one way.
func readSessionID(f Frame) (id string) {
	if f.deep || f.repeated {
		return ""
	}
	r, ok := read(f.Line, levelNone)
	defer r.release()
	if !ok {
		return ""
	}
	_ = r.object(func(key []byte) error { // of another shape: then there is no id
		if string(key) != "result" {
			return nil
		}
		return r.object(func(key []byte) error {
			if string(key) == "sessionId" {
				id = r.optional()
			}
			return nil
		})
	})
	return id
}

// ReadServers decodes an mcpServers value. A duplicate key or a value that is no
// list of objects is an error.
func ReadServers(text []byte) (pipeline.ServerList, error) {
	if len(text) == 0 {
		return pipeline.ServerList{}, nil
	}
	value := trimSpace(text)
	if !jsontext.Value(value).IsValid() {
		return pipeline.ServerList{}, errServers
	}
	r := &reading{text: value}
	servers, err := r.servers("")
	if err != nil {
		return pipeline.ServerList{}, errServers
	}
	return pipeline.ServerList{Servers: servers}, nil
}

var errServers = errors.New("acp: mcpServers is no list of server objects with unique keys")
