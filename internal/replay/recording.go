package replay

import (
	"cmp"
	"context"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// Instance are the settings of a replay that win over a recording's header.
type Instance struct {
	Agent       string
	Port        int
	AutoApprove bool
}

// entry is one line of a recording.
type entry struct {
	Header *header        `json:"header"`
	Dir    *string        `json:"dir"`
	Frame  jsontext.Value `json:"frame"`
	Raw    *string        `json:"raw"`
	RawB64 []byte         `json:"raw_b64"` // a line that is no UTF-8
}

type header struct {
	Agent   string `json:"agent"`
	Guessed string `json:"guessed"` // nobody configured the agent
	Port    int    `json:"port"`
	Name    string `json:"name"` // of the injected server

	Others []record.Server `json:"others"` // injected beside it
}

const recordingForm = `expected {"dir":"agent->client"|"client->agent","frame":{…}} or "raw":"…"`

// Recording replays one recorded connection and calls visit for each decision.
// The error is an [*InputError] when the recording cannot be read.
func (r Runner) Recording(ctx context.Context, file string, in io.Reader, over Instance, visit func(Decision) error) error {
	var c *connection
	err := eachLine(file, in, func(number int, line []byte) error {
		var e entry
		if err := readEntry(line, &e); err != nil {
			return badLine(file, number, err, recordingForm)
		}
		if e.Header != nil && c != nil {
			return &InputError{file, number, "a header that is not the first of its file: replay recordings one by one"}
		}
		if c == nil && (e.Header != nil || e.Dir != nil) {
			made, err := r.open(e.Header, over)
			if err != nil {
				return &InputError{file, number, err.Error()}
			}
			c = made
		}
		if e.Dir == nil {
			return nil
		}
		text, err := e.line(file, number)
		if err != nil {
			return err
		}
		if d, ok := c.line(ctx, *e.Dir, text); ok {
			return visit(d)
		}
		return nil
	})
	if err == nil && c == nil {
		err = &InputError{file, 1, "there is no recorded line in this file: " + recordingForm}
	}
	return err
}

func (r Runner) open(h *header, over Instance) (*connection, error) {
	if h == nil {
		h = &header{}
	}
	port := cmp.Or(over.Port, h.Port)
	agent := cmp.Or(over.Agent, h.Agent)
	c := &connection{}
	for _, s := range append([]record.Server{{Name: h.Name, Port: port}}, h.Others...) {
		d, err := r.decider(pipeline.Instance{
			Agent:       pipeline.Agent(cmp.Or(agent, h.Guessed)),
			Guessed:     agent == "" && h.Guessed != "",
			Reserved:    s.Name,
			Port:        s.Port,
			Injected:    s.Port > 0, // and a list must hold the entry, as provenance checks
			AutoApprove: over.AutoApprove,
		}, acp.Options{Placeholder: record.RedactedAuthorization})
		if err != nil {
			return nil, err
		}
		c.deciders = append(c.deciders, d)
	}
	return c, nil
}

func (e entry) line(file string, number int) ([]byte, error) {
	switch {
	case *e.Dir != record.FromAgent && *e.Dir != record.FromClient:
		return nil, &InputError{file, number, "dir is neither agent->client nor client->agent: " + recordingForm}
	case e.Raw != nil:
		return []byte(*e.Raw), nil
	case e.Frame != nil:
		return e.Frame, nil
	case e.RawB64 != nil:
		return e.RawB64, nil
	}
	return nil, &InputError{file, number, "this line has a dir but neither frame nor raw: " + recordingForm}
}
