package audit

import (
	"bytes"
	"strings"
	"testing"
)

// Whatever stands in a line: what can be read is written again as the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(encode(full())))
	f.Add([]byte(encode(numberedRecord(1))))
	f.Add([]byte(encode(Record{Event: Gap, Reason: GapQueueFull, Dropped: 3})))
	f.Add([]byte(`{"time":"2026-11-07T11:11:12.5+01:00","event":"new","session":"\ud83d\ude80\u202e"}`))
	f.Add([]byte(`{"time":"0000-01-01T00:00:00Z","event":"x"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := Parse(line)
		if err != nil {
			if strings.Contains(err.Error(), string(line)) && len(line) > 3 {
				t.Fatalf("%q repeats the line", err)
			}
			return
		}
		clean := r.clean()
		text := appendRecord(nil, &clean)
		again, err := Parse(text)
		if err != nil || again != clean {
			t.Fatalf("%v\n%#v\n%#v", err, again, clean)
		}
		if bytes.Count(text, []byte("\n")) != 1 || len(text) > maxLine {
			t.Fatalf("%q", text)
		}
	})
}

// Whatever stands in a file: every line that is not blank is accounted for, in
// order, as a record, as cut or as damaged.
func FuzzReadLines(f *testing.F) {
	one := encode(numberedRecord(1))
	gap := encode(Record{Event: Gap, Reason: GapLineCut})
	f.Add([]byte(one + one))
	f.Add([]byte(one[:50] + one + one[:10]))
	f.Add([]byte("x\n" + gap + "\r\n\n" + one[:20] + "\n" + gap))
	f.Add([]byte(`{"time":"{"time":"` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		last, seen := 0, map[int]bool{}
		err := readLines("f", bytes.NewReader(text), func(l Line) error {
			if l.Number < last || l.Err == nil && l.Record.Event == "" {
				t.Fatalf("%#v after line %d", l, last)
			}
			if l.Err == nil {
				if _, err := Parse(l.Text); err != nil {
					t.Fatalf("%q: %v", l.Text, err)
				}
			}
			last = l.Number
			seen[l.Number] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if blank := len(bytes.TrimSpace(line)) == 0; blank == seen[i+1] {
				t.Fatalf("line %d, blank %t, seen %t", i+1, blank, seen[i+1])
			}
		}
	})
}

func FuzzASCII(f *testing.F) {
	f.Add([]byte("a\u009b\xff🚀"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, c := range ASCII(text) {
			if c != '\t' && (c < ' ' || c > '~') {
				t.Fatalf("%q", c)
			}
		}
	})
}
