package acp

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSessions(t *testing.T) {
	for line, want := range map[string][]string{
		`{"method":"session/cancel","params":{"sessionId":"s"}}`:                    {"s"},
		`{"method":"session/cancel","params":{"sessionId":"s","sessionId":"t"}}`:    {"s", "t"},
		`{"method":"session/cancel","params":{"session\u0049d":"\u0073"}}`:          {"s"},
		`{"method":"session/cancel","params":{"sessionId":7}}`:                      {""},
		`{"method":"session/cancel","params":{"x":{"sessionId":"s"}}}`:              nil,
		`{"method":"session/cancel","params":["sessionId"]}`:                        nil,
		`{"method":"session/cancel","_meta":{"sessionId":"s"},"sessionId":"other"}`: nil,
	} {
		f, err := Peek([]byte(line))
		require.NoError(t, err)
		assert.Equal(t, want, f.Sessions(), line)
	}
}

func TestResponses(t *testing.T) {
	type said struct {
		refused bool
		made    string
		result  string
	}
	for line, want := range map[string]said{
		`{"id":1,"result":{"sessionId":"s"}}`:                    {false, "s", `{"sessionId":"s"}`},
		`{"id":1,"result":{"sessionId":"s","sessionId":"t"}}`:    {false, "", `{"sessionId":"s","sessionId":"t"}`},
		`{"id":1,"result":{}}`:                                   {false, "", `{}`},
		`{"id":1,"error":{"code":1,"message":"no"}}`:             {true, "", ""},
		`{"id":1,"error":{"code":1},"result":{"sessionId":"s"}}`: {false, "s", `{"sessionId":"s"}`},
		`{"id":1,"error":null}`:                                  {false, "", ""},
		`{"id":1,"error":{},"error":{}}`:                         {false, "", ""},
	} {
		f, err := Peek([]byte(line))
		require.NoError(t, err)
		assert.Equal(t, want, said{f.Refused(), f.MadeSession(), string(f.Result())}, line)
	}
}

func TestOutcome(t *testing.T) {
	type said struct {
		option          string
		selected, asked bool
	}
	for line, want := range map[string]said{
		`{"id":1,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}`:           {"a", true, true},
		`{"id":1,"result":{"outcome":{"optionId":"\u0061","outcome":"s\u0065lected"}}}`: {"a", true, true},
		`{"id":1,"result":{"outcome":{"outcome":"cancelled"}}}`:                         {"", false, true},
		`{"id":1,"result":{"outcome":{"outcome":"later","optionId":"a"}}}`:              {"a", false, true},
		`{"id":1,"result":{"outcome":"selected"}}`:                                      {"", false, true},
		`{"id":1,"result":{"content":"text"}}`:                                          {"", false, false},
		`{"id":1,"result":"outcome"}`:                                                   {"", false, false},
		`{"id":1,"error":{"code":-32601,"message":"outcome"}}`:                          {"", false, false},
		`{"id":1,"result":{"outcome":{"outcome":"selected","optionId":"\ud800"}}}`:      {"", true, true},
	} {
		f, err := Peek([]byte(line))
		require.NoError(t, err)
		option, selected, asked := f.Outcome()
		assert.Equal(t, want, said{option, selected, asked}, line)
	}
}

func TestReadWhole(t *testing.T) {
	const text = "one\r\ntwo\n\n\r\n" + `{"three":3}` + "\ncut"
	for name, in := range map[string]io.Reader{"at once": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text))} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(in, 0)
			var got string
			for {
				line, err := r.ReadWhole()
				if err == io.EOF {
					break
				}
				if err != nil {
					require.ErrorIs(t, err, ErrCutLine)
				}
				got += string(line)
			}
			assert.Equal(t, text, got)
		})
	}
}

// Ready tells of whole lines that were read, never of a part of one.
func TestReady(t *testing.T) {
	pr, pw := io.Pipe()
	r := NewReader(pr, 0)
	assert.False(t, r.Ready(), "nothing was read")
	go func() { _, _ = pw.Write([]byte("one\ntwo\nthr")); _ = pw.CloseWithError(errors.New("end")) }()
	for _, want := range []struct {
		line string
		more bool
	}{{"one\n", true}, {"two\n", false}} {
		line, err := r.ReadWhole()
		require.NoError(t, err)
		assert.Equal(t, want.line, string(line))
		assert.Equal(t, want.more, r.Ready())
	}
	_, err := r.ReadWhole()
	require.Error(t, err)
}

// Fill reads what is there and no more, and Ahead shows whole lines of it without taking
// them.
func TestAhead(t *testing.T) {
	pr, pw := io.Pipe()
	r := NewReader(pr, 8)
	assert.True(t, r.Empty())
	go func() {
		for _, piece := range []string{"one\ntw", "o\n", "too long to be a line", " of eight\nthree", "\n"} {
			_, _ = io.WriteString(pw, piece)
		}
		_ = pw.Close()
	}()
	r.Fill()
	assert.Equal(t, "one\n", string(r.Ahead()))
	line, err := r.ReadWhole()
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(line))
	assert.Nil(t, r.Ahead(), "half of a line")
	assert.False(t, r.Empty())
	r.Fill()
	assert.Equal(t, "two\n", string(r.Ahead()))
	_, err = r.ReadWhole()
	require.NoError(t, err)
	assert.True(t, r.Empty())
	_, err = r.ReadWhole()
	require.ErrorAs(t, err, new(*LineTooLongError))
	r.Fill()
	assert.Nil(t, r.Ahead(), "the rest of one that is skipped")
	assert.False(t, r.Empty())
	line, err = r.ReadWhole()
	require.NoError(t, err)
	assert.Equal(t, "three\n", string(line))
	r.Fill()
	r.Fill()
	assert.False(t, r.Empty(), "the end is still to be told")
	_, err = r.ReadWhole()
	require.ErrorIs(t, err, io.EOF)
}
