package replay

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline/acp"
)

// maxInput is the longest line of an input file in bytes: a message of the
// greatest length, quoted.
const maxInput = 4 * acp.DefaultMaxLine

// eachLine calls visit for every line of a file that is not blank.
func eachLine(file string, in io.Reader, visit func(number int, line []byte) error) error {
	reader := acp.NewReader(in, maxInput)
	for number := 1; ; number++ {
		line, err := reader.ReadLine()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, new(*fs.PathError)): // not of a line, such as that it is a directory
			return err
		case err != nil && !errors.Is(err, acp.ErrCutLine): // a last line without a line end is judged by its content
			return &InputError{file, number, err.Error()}
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := visit(number, line); err != nil {
				return err
			}
		}
	}
}

// badLine says why a line of an input file cannot be read, without repeating it.
func badLine(file string, number int, err error, way string) error {
	why := "is no JSON object of the expected form"
	if errors.Is(err, io.ErrUnexpectedEOF) {
		why = "is cut in the middle"
	} else if at, ok := errors.AsType[*json.SemanticError](err); ok && at.JSONPointer != "" {
		why = "has a wrong value at " + string(at.JSONPointer)
	}
	return &InputError{file, number, "this line " + why + ": " + way}
}

// readEntry decodes a line of an input file. Frames inside it keep their bytes:
// what is wrong in a frame is for the pipeline to find.
func readEntry(line []byte, into any) error {
	return json.Unmarshal(line, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
