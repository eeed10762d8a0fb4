package token

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/internal/host/dispatch"
)

// record is a token as it is stored. That it is not limited is written, so that a
// missing list never means everything.
type record struct {
	Name    string          `json:"name"`
	Scopes  dispatch.Scopes `json:"scopes"`
	All     bool            `json:"all_tasks"`
	Tasks   []string        `json:"tasks"`
	Created time.Time       `json:"created"`
	Digest  []byte          `json:"sha256"`
}

func (t Token) encode() ([]byte, error) {
	text, err := json.Marshal(record{t.Name, t.Scopes, t.Tasks == nil, t.Tasks, t.Created, t.digest[:]})
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	return text, nil
}

// decode reads a token that was stored under a key. Whatever is not as encode
// writes it is an error: the token is not valid then.
func decode(key string, text []byte) (Token, error) {
	var r record
	if err := json.Unmarshal(text, &r, json.RejectUnknownMembers(true)); err != nil {
		return Token{}, errors.New("token: what is stored is no token")
	}
	t := Token{Name: r.Name, Scopes: r.Scopes, Tasks: r.Tasks, Created: r.Created}
	if r.All && len(r.Tasks) == 0 {
		t.Tasks = nil
	} else if r.All || len(r.Tasks) == 0 {
		return Token{}, errors.New("token: what is stored does not say which tasks")
	}
	if len(r.Digest) != len(t.digest) || r.Name != key {
		return Token{}, errors.New("token: what is stored is no token of this name")
	}
	copy(t.digest[:], r.Digest)
	return t, t.check()
}
