package acp

// Tool calls carry what the model wrote: rawInput, content and locations. For
// these direct members well-formed JSON is enough, and they can be megabytes. So
// they are cut out of the text before it is decoded strictly, in one pass.

// level is an object on the way to a tool call.
type level uint8

const (
	levelNone        level = iota // a message without a tool call
	levelOffer                    // a session/request_permission message
	levelOfferParams              // its params
	levelSubject                  // params.subject of type tool_call (ACP v2)
	levelUpdate                   // a session/update message
	levelUpdateParams
	levelCall // the tool call itself
)

// below is the level of a member's object, and whether there is one.
func (l level) below(s *scanner) (level, bool) {
	switch l {
	case levelOffer:
		return levelOfferParams, s.keyIs("params")
	case levelUpdate:
		return levelUpdateParams, s.keyIs("params")
	case levelUpdateParams:
		return levelCall, s.keyIs("update")
	case levelSubject:
		return levelCall, s.keyIs("toolCall")
	case levelOfferParams:
		if s.keyIs("subject") {
			return levelSubject, isToolCallSubject(s.b, s.pos)
		}
		return levelCall, s.keyIs("toolCall")
	}
	return l, false
}

// cutter copies a line and writes null for each value that is cut out.
type cutter struct {
	line []byte
	out  []byte
	from int // where the part begins that is not copied yet
}

// object walks the object that begins at the given place, and gives its end.
func (k *cutter) object(l level, at int) (end int, ok bool) {
	s := scanner{b: k.line, pos: at + 1}
	for s.nextKey() {
		below, is := l.below(&s)
		switch {
		case l == levelCall && (s.keyIs("rawInput") || s.keyIs("content") || s.keyIs("locations")):
			s.pos, ok = valueEnd(k.line, s.from)
			k.out = append(append(k.out, k.line[k.from:s.from]...), "null"...)
			k.from = s.pos
		case is && s.at('{'):
			s.pos, ok = k.object(below, s.from)
		default:
			ok = s.skipValue()
		}
		if !ok {
			return s.pos, false
		}
	}
	return s.pos, s.closed
}

// isToolCallSubject looks for the type of the subject that begins at the given place.
func isToolCallSubject(line []byte, at int) bool {
	for s := (scanner{b: line, pos: at + 1}); s.nextMember(); {
		if s.keyIs("type") {
			return unquoted(s.value, "tool_call")
		}
	}
	return false
}
