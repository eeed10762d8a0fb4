package frame

// call reads a tool call, or an update of one.
func (r *reader) call(s *scanner) {
	s.object(func(key string) { r.callMember(s, key) })
}

func (r *reader) callMember(s *scanner, key string) {
	f := &r.frame
	switch key {
	case "toolCallId":
		f.ID = s.text(MaxText)
	case "kind":
		f.Kind = s.text(MaxText)
	case "status":
		f.Status = s.text(MaxText)
	case "title":
		f.RawTitle = s.Value()
		f.Title = s.unquote(f.RawTitle, MaxText)
	case "rawInput":
		if v := s.Value(); len(v) > 0 && v[0] != 'n' {
			f.Arguments = v
			in := scan(v, &f.Cut)
			in.object(func(key string) { r.arguments.member(in, key) })
		}
	case "locations":
		s.array(func() { r.location(s) })
	case "content":
		r.content(s.Value())
	default:
		s.Value()
	}
}

// location reads the path of an object.
func (r *reader) location(s *scanner) {
	s.object(func(key string) {
		if key != "path" {
			s.Value()
			return
		}
		r.paths.add(s.text(MaxText), &r.frame.Cut)
	})
}

// content is a list in a tool call, and one text in a message.
func (r *reader) content(v []byte) {
	r.frame.Content = v
	s := scan(v, &r.frame.Cut)
	if s.Kind() != '[' {
		s.object(func(key string) {
			if key == "text" {
				r.frame.Spoken = s.text(maxSpoken)
				return
			}
			s.Value()
		})
		return
	}
	s.array(func() {
		s.object(func(key string) {
			switch key {
			case "path":
				r.paths.add(s.text(MaxText), &r.frame.Cut)
			case "changes":
				s.array(func() { r.location(s) })
			default:
				s.Value()
			}
		})
	})
}

// readSubject reads what version 2 asks about: a tool call, a command, or whatever
// else there will be.
func (r *reader) readSubject(v []byte) {
	s, kind := scan(v, &r.frame.Cut), ""
	s.object(func(key string) {
		switch key {
		case "type":
			kind = s.text(MaxText)
		case "toolCall":
			r.call(s)
		case "_meta":
			s.Value()
		default:
			r.subject.member(s, key)
		}
	})
	if kind != "tool_call" {
		r.frame.Subject, r.frame.Kind = v, kind
	}
}
