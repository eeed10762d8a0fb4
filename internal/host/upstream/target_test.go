package upstream

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseTarget(t *testing.T) {
	for s, url := range map[string]string{
		"http://localhost:3000/mcp":         "http://localhost:3000/mcp",
		"https://example.com/mcp?key=5e":    "https://example.com/mcp?key=5e",
		"http://[::1]:80":                   "http://[::1]:80",
		"HTTP://localhost/sse":              "http://localhost/sse",
		"http://example.com:99/with%20room": "http://example.com:99/with%20room",
	} {
		got, err := ParseTarget(s)
		require.NoError(t, err, s)
		assert.Equal(t, Target{URL: url}, got)
	}
	for s, command := range map[string][]string{
		"stdio:npx -y some-server":        {"npx", "-y", "some-server"},
		"stdio: a\t b \n":                 {"a", "b"},
		`stdio:"/a b/c" 'd "e' "f 'g"`:    {"/a b/c", `d "e`, "f 'g"},
		`stdio:a '' ""`:                   {"a", "", ""},
		`stdio:a\ b \" \\ c\d C:\x\y.exe`: {"a b", `"`, `\`, `c\d`, `C:\x\y.exe`},
		`stdio:a "\"\\\n" '\'`:            {"a", `"\\n`, `\`},
		`stdio:a b"c"'d'e`:                {"a", "bcde"},
		"stdio:sh -c 'echo $HOME; ls *'":  {"sh", "-c", "echo $HOME; ls *"},
	} {
		got, err := ParseTarget(s)
		require.NoError(t, err, s)
		assert.Equal(t, Target{Command: command}, got, s)
	}
	for s, want := range map[string]string{
		"":                                 "begins with none of http://, https:// and stdio:",
		"localhost:3000/5ecret":            "begins with none of",
		"ftp://5ecret/":                    "begins with none of",
		"http:///5ecret":                   "has no host",
		"http://user:5ecret@host/":         "holds a user name or password: use a header instead",
		"http://host/#5ecret":              "has a fragment",
		"http://host:5ecret/":              "is no URL",
		"http://host\x00/5ecret":           "is no URL",
		"stdio:":                           "is empty: write the program and its arguments",
		"stdio:  ":                         "is empty",
		"stdio:'' 5ecret":                  "is empty",
		"stdio:a '5ecret":                  "has a quote that is not closed",
		`stdio:a "5ecret\"`:                "has a quote that is not closed",
		"stdio:a\x005ecret":                "holds a zero byte",
		"STDIO:5ecret":                     "begins with none of",
		"http://\xff5ecret.example/\x7f%z": "is no URL",
	} {
		_, err := ParseTarget(s)
		require.ErrorContains(t, err, want, s)
		assert.NotContains(t, err.Error(), "5ecret")
	}
}

// What was quoted word by word comes out as it was.
func TestWordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ -~\t\n\\'"]{0,12}`)
		want := append([]string{"program"}, rapid.SliceOf(word).Draw(t, "words")...)
		quoted := make([]string, len(want))
		for i, w := range want {
			quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
			if !strings.Contains(w, "'") && rapid.Bool().Draw(t, "single") {
				quoted[i] = "'" + w + "'"
			}
		}
		got, err := words(strings.Join(quoted, rapid.SampledFrom([]string{" ", "  ", "\t"}).Draw(t, "space")))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"http://a/b", "stdio:a 'b' \"c\" \\ d", "https://[::1]:1/?q#f", "stdio:", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTarget(s)
		switch {
		case err != nil:
			assert.Empty(t, got)
		case got.URL != "":
			again, err := ParseTarget(got.URL)
			require.NoError(t, err)
			assert.Equal(t, got, again)
			assert.True(t, strings.HasPrefix(got.URL, "http"))
		default:
			assert.NotEmpty(t, got.Command[0])
			assert.NotContains(t, strings.Join(got.Command, ""), "\x00")
		}
		got.Loopback()
	})
}

func TestLoopback(t *testing.T) {
	for s, want := range map[string]int{
		"http://localhost:3000/": 3000, "http://LOCALHOST.:1/": 1, "http://127.0.0.9:2/": 2, "http://[::1]:3/": 3,
		"http://0.0.0.0:4/": 4, "http://[::ffff:127.0.0.1]:5/": 5, "http://a.localhost:6": 6, "http://localhost/": 80, "https://localhost/": 443,
		"http://example.com:7/": 0, "http://10.0.0.1:8/": 0, "http://localhost.example.com:9/": 0, "stdio:localhost": 0,
	} {
		target, err := ParseTarget(s)
		require.NoError(t, err)
		assert.Equal(t, want, target.Loopback(), s)
	}
}

func TestTargetsAreNeverPrintedWhole(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, nil))
	for _, target := range []Target{
		{URL: "http://host/path?key=5ecret", Headers: http.Header{"K": {"5ecret"}}},
		{Command: []string{"/5ecret/program", "5ecret"}, Env: []string{"K=5ecret"}},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			_, _ = fmt.Fprintf(&out, verb+" ", target)
		}
		logger.Info("x", "target", target)
	}
	assert.NotContains(t, out.String(), "5ecret")
	assert.Contains(t, out.String(), "target=http://host")
	assert.Contains(t, out.String(), "target=stdio:program")
}
