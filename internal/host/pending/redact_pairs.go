package pending

import "strings"

// maxPair is how far a value may stand from its name, in bytes.
const maxPair = 256

// pairs finds values whose names stand beside them: {"name":"TOKEN","value":"x"},
// in JSON, YAML, XML and flags, in both orders.
func (f *finder) pairs() {
	t := f.t
	name, value := -1, -1 // where the last name of a secret ended, and the last value began
	for i := 0; i < len(t); {
		if !isNameByte(t[i]) {
			if t[i] == '}' || t[i] == '\n' && strings.HasPrefix(strings.TrimLeft(t[i+1:min(len(t), i+64)], " \t"), "- ") {
				name, value = -1, -1 // another object
			}
			i++
			continue
		}
		j := i
		for j < len(t) && isNameByte(t[j]) {
			j++
		}
		role := roleOf(t[i:j])
		k, how := f.separator(i, j)
		if role == noRole || how == apart || how == weak {
			i = j
			continue
		}
		for k < len(t) && strings.IndexByte("\\\"'", t[k]) >= 0 && role == aName {
			k++
		}
		end := k
		for end < len(t) && isNameByte(t[end]) {
			end++
		}
		switch secret := isSecretName(t[k:end]); {
		case role == aName && !secret:
			name, value = -1, -1
		case role == aName && value >= 0 && k-value < maxPair:
			f.paired(value)
			name, value = -1, -1
		case role == aName:
			name = end
		case name >= 0 && k-name < maxPair:
			f.paired(k)
			name, value = -1, -1
		default:
			value = k
		}
		if role == aName && end > j {
			i = end
			continue
		}
		i = j
	}
}

// paired masks a value: in XML up to the next tag.
func (f *finder) paired(k int) {
	if k > 0 && f.t[k-1] == '>' {
		end := strings.IndexByte(f.t[k:], '<')
		if end < 0 {
			end = len(f.t) - k
		}
		f.add(k, k+end)
		return
	}
	f.value(k)
}

type role uint8

const (
	noRole role = iota
	aName
	aValue
)

// roleOf says whether the member of an object holds a name or a value.
func roleOf(name string) role {
	switch folded, last := fold(name); {
	case last == "value" || last == "val" || strings.HasSuffix(folded, "value"):
		return aValue
	case last == "name" || last == "key" || last == "variable" || last == "header" || last == "field" || strings.HasSuffix(folded, "key"), strings.HasSuffix(folded, "name"):
		return aName
	}
	return noRole
}
