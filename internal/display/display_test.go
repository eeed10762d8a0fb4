package display

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestLine(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"plain text stays":                 {"ls -la ~/src", "ls -la ~/src"},
		"letters of all scripts stay":      {"größe 大小 حجم 👍", "größe 大小 حجم 👍"},
		"a backslash stays":                {`grep \x1b C:\tmp`, `grep \x1b C:\tmp`},
		"line feed, return, tab":           {"a\nb\rc\td", `a\nb\rc\td`},
		"an escape sequence":               {"\x1b[2J\x1b]0;x\a", `\x1b[2J\x1b]0;x\x07`},
		"delete and C1 controls":           {"\x7f\u009b", `\x7f\u009b`},
		"right-to-left override":           {"a\u202Eb\u2066c", `a\u202eb\u2066c`},
		"zero-width characters":            {"a\u200Bb\u200Dc\uFEFFd\u00ADe", `a\u200bb\u200dc\ufeffd\u00ade`},
		"variation selectors hide data":    {"a\uFE0F\U000E0100", `a\ufe0f\U000e0100`},
		"tags hide text":                   {"a\U000E0041", `a\U000e0041`},
		"fillers without ink":              {"a\u3164b\u115Fc\u2800", `a\u3164b\u115fc\u2800`},
		"spaces that look like a space":    {"a\u00A0b\u3000c", `a\u00a0b\u3000c`},
		"line and paragraph separators":    {"a\u2028b\u2029", `a\u2028b\u2029`},
		"private use and unassigned":       {"\uE000\U0010FFFF", `\ue000\U0010ffff`},
		"bytes that are no UTF-8":          {"a\xff\xc3(", `a\xff\xc3(`},
		"a surrogate in UTF-8":             {"\xed\xa0\x80", `\xed\xa0\x80`},
		"the replacement character itself": {"\uFFFD", "\uFFFD"},
		"marks on a letter stay":           {"e\u0301", "e\u0301"},
		"a pile of marks":                  {"e" + strings.Repeat("\u0301", 6), "e" + strings.Repeat("\u0301", 4) + `\u0301\u0301`},
		"a mark that begins a text":        {"\u0301e", `\u0301e`},
		"some spaces stay":                 {"a" + strings.Repeat(" ", 16) + "b", "a" + strings.Repeat(" ", 16) + "b"},
		"many are counted":                 {"a" + strings.Repeat(" ", 17) + "b" + strings.Repeat(" ", 900), `a\x20{17}b\x20{900}`},
		"our marks":                        {"a› of server ‹b", `a\u203a of server \u2039b`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, Line(test.in, 1000))
		})
	}
}

func TestAQuotedTextCannotEndItsQuotes(t *testing.T) {
	assert.Equal(t, `‹ls "-l" \u203a  ok›`, Quote(`ls "-l" ›  ok`, 100))
	assert.Equal(t, "‹›", Quote("", 100))
	rapid.Check(t, func(t *rapid.T) {
		q := Quote(rapid.String().Draw(t, "text"), 40)
		if strings.Count(q, "‹") != 1 || strings.Count(q, "›") != 1 || !strings.HasPrefix(q, "‹") || !strings.HasSuffix(q, "›") {
			t.Fatal(q)
		}
	})
}

func TestRows(t *testing.T) {
	assert.Equal(t, []string{"abcdefgh"}, Rows("abcdefgh", 0, "> "), "no edge")
	assert.Equal(t, []string{"abcdefgh"}, Rows("abcdefgh", 8, "> "))
	assert.Equal(t, []string{"abcde", "> fgh"}, Rows("abcdefgh", 5, "> "))
	assert.Equal(t, []string{"a大", "> 大", "> 大"}, Rows("a大大大", 4, "> "))
	assert.Equal(t, []string{""}, Rows("", 5, "> "))
	rapid.Check(t, func(t *rapid.T) {
		line := Line(rapid.String().Draw(t, "line"), 400)
		width := rapid.IntRange(4, 40).Draw(t, "width")
		rows := Rows(line, width, "> ")
		whole := rows[0]
		for _, row := range rows[1:] {
			if !strings.HasPrefix(row, "> ") {
				t.Fatalf("a row without the prefix: %q", row)
			}
			whole += row[2:]
		}
		for _, row := range rows {
			columns := 0
			for _, r := range row {
				columns += Columns(r)
			}
			if columns > width {
				t.Fatalf("%d columns in %d: %q", columns, width, row)
			}
		}
		if whole != line {
			t.Fatalf("%q became %q", line, whole)
		}
	})
}

func TestTextKeepsLines(t *testing.T) {
	assert.Equal(t, "a\nb\nc    d\\re", Text("a\r\nb\nc\td\re", 100))
	assert.Equal(t, "a\n\\u0301", Text("a\n\u0301", 100), "a mark must not sit on what begins the line")
}

func TestBoundedSaysWhatIsLeft(t *testing.T) {
	text, left := Bounded("abcdef", 6)
	assert.Equal(t, "abcdef", text)
	assert.Zero(t, left)

	text, left = Bounded("abcdefg", 6)
	assert.Equal(t, "abc…", text)
	assert.Equal(t, 4, left)

	text, left = Bounded("\x1b\x1b\x1b", 8)
	assert.Equal(t, `\x1b…`, text, "an escape is never cut in half")
	assert.Equal(t, 2, left)
}

func TestL33_CutInsideAnEmoji(t *testing.T) {
	title := "run 👩‍🚀 now"
	for limit := -1; limit <= len(title)+20; limit++ {
		for _, got := range []string{Line(title, limit), Text(title, limit), Cut(title, limit)} {
			assert.True(t, utf8.ValidString(got), "limit %d: %q", limit, got)
			assert.LessOrEqual(t, len(got), max(limit, 0))
		}
	}
	assert.Equal(t, "run ", Cut(title, 7))
	assert.Equal(t, "run 👩", Cut(title, 8))
}

func TestAnyTextAtAnyBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		limit := rapid.IntRange(-2, 80).Draw(t, "limit")
		line, left := Bounded(s, limit)
		for _, got := range []string{line, Text(s, limit), Cut(s, limit)} {
			if !utf8.ValidString(got) || len(got) > max(limit, 0) {
				t.Fatalf("%q at %d: %q", s, limit, got)
			}
		}
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%q shows as %q", s, line)
		}
		if left == 0 && strings.HasSuffix(line, Ellipsis) && !strings.HasSuffix(s, Ellipsis) || left < 0 || left > len(s) {
			t.Fatalf("%q at %d: %q, %d left", s, limit, line, left)
		}
	})
}
