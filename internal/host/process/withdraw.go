package process

import "github.com/go-json-experiment/json/jsontext"

// cancelledID reads which request a $/cancel_request takes back, with the id in
// a form in which two spellings of one string are equal.
func cancelledID(line []byte) (string, bool) {
	r, id := reader{}, ""
	r.read(line, func(key string) {
		if key != "params" {
			r.skip()
			return
		}
		r.object(func(key string) {
			if key == "requestId" {
				id = idKey(string(r.value()))
				return
			}
			r.skip()
		})
	})
	return id, id != "" && !r.bad
}

// idKey makes spellings of one string id equal, as in "a" and "\u0061". A number
// keeps its digits.
func idKey(text string) string {
	if text == "" || text[0] != '"' {
		return text
	}
	value, err := jsontext.AppendUnquote(nil, text)
	if err != nil {
		return text
	}
	return `"` + string(value)
}
