package process

import "github.com/kandev/assent/pipeline/acp"

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
				id = acp.NewID(string(r.value())).Key()
				return
			}
			r.skip()
		})
	})
	return id, id != "" && !r.bad
}
