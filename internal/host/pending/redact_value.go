package pending

import "strings"

// value masks one word as a shell reads it, quotes and all, and returns where it
// ends. Command substitutions in it stay visible.
func (f *finder) value(k int) int {
	t := f.t
	if n := len(f.spans); n > 0 && f.spans[n-1].from <= k && k < f.spans[n-1].to {
		return f.spans[n-1].to // part of another one: nothing to add, and no time to lose
	}
	from, p := k, k
	for p < len(t) && !endsWord(t[p]) {
		end, body := p+1, t[p] == aMask && p == k // what was masked before is the whole value
		esc := 0
		for p+esc < len(t) && t[p+esc] == '\\' {
			esc++
		}
		switch at := p + esc; {
		case at < len(t) && isQuote(t[at]) && (esc == 0 || p == k):
			if end = f.closing(at, esc); end < 0 || p > k && f.inside(at) {
				f.add(from, p)
				return p
			}
			if body = true; t[at] == '"' {
				from = f.substitutions(from, end)
			}
		case esc > 0:
			end = min(p+2, len(t))
		case t[p] == '`' || strings.HasPrefix(t[p:], "$("):
			if stop := f.substitutionEnd(p); stop > 0 {
				f.add(from, p)
				from, end = stop, stop
			}
		}
		if p = end; body && p < len(t) && strings.IndexByte(",}])", t[p]) >= 0 {
			break // a value in JSON
		}
		if t[p-1] == aMask && body && p < len(t) && t[p] < 0x80 && !isAlnum(t[p]) {
			break
		}
	}
	f.add(from, p)
	return p
}

// closing finds the end of the quoted text whose quote stands at the given place
// behind esc backslashes. A text that nothing closes goes on to the end when it
// begins the value.
func (f *finder) closing(at, esc int) int {
	t, q := f.t, f.t[at]
	for p := at + 1; p < len(t); p++ {
		if t[p] != q {
			continue
		}
		back := 0
		for p-1-back > at && t[p-1-back] == '\\' {
			back++
		}
		if back <= esc || q == '\'' && esc == 0 {
			return p + 1
		}
	}
	if f.inside(at) {
		return -1
	}
	return len(t)
}

// inside says whether a quote of the same kind is open in front of a place: then
// the one that stands there closes it.
func (f *finder) inside(at int) bool {
	if f.quoted == nil {
		f.quoted = make([]uint8, len(f.t))
		var open uint8
		for i := range len(f.t) {
			f.quoted[i] = open
			if i == 0 || f.t[i-1] != '\\' {
				open ^= quoteBit(f.t[i])
			}
		}
	}
	return f.quoted[at]&quoteBit(f.t[at]) != 0
}

func quoteBit(c byte) uint8 {
	switch c {
	case '"':
		return 1
	case '\'':
		return 2
	}
	return 0
}

// substitutions masks t[from:to] around the command substitutions in it and
// returns from where on nothing is masked yet.
func (f *finder) substitutions(from, to int) int {
	for p := from; p < to; p++ {
		if f.t[p] != '`' && !strings.HasPrefix(f.t[p:], "$(") {
			continue
		}
		if stop := f.substitutionEnd(p); stop > 0 && stop <= to {
			f.add(from, p)
			from, p = stop, stop-1
		}
	}
	return from
}

// substitutionEnd is where a command substitution ends; 0 when nothing ends it.
func (f *finder) substitutionEnd(p int) int {
	if f.t[p] == '`' {
		if end := strings.IndexByte(f.t[p+1:], '`'); end >= 0 {
			return p + 1 + end + 1
		}
		return 0
	}
	if f.closed == nil {
		f.closed = make([]int32, len(f.t))
		var open []int
		for i := range len(f.t) {
			switch {
			case f.t[i] == '(':
				open = append(open, i)
			case f.t[i] == ')' && len(open) > 0:
				f.closed[open[len(open)-1]] = int32(i + 1)
				open = open[:len(open)-1]
			}
		}
	}
	return int(f.closed[p+1])
}
