package record

import (
	"bytes"
	"unicode/utf8"
)

// maxEscapes is how often a text can have been written into a JSON string, one
// within the other, to be found.
const maxEscapes = 4

// hide replaces a secret wherever it stands in a line, as it is or with any of its
// characters written as a JSON escape, also in JSON that is itself text in JSON.
func hide(line, secret []byte) []byte {
	if bytes.IndexByte(line, '\\') < 0 {
		return bytes.ReplaceAll(line, secret, []byte(Redacted))
	}
	var out []byte
	kept := 0
	for at := 0; at < len(line); {
		end := match(line, at, secret)
		if end < 0 {
			at++
			continue
		}
		out = append(append(out, line[kept:at]...), Redacted...)
		at, kept = end, end
	}
	if kept == 0 {
		return line
	}
	return append(out, line[kept:]...)
}

// match gives the end of the secret that begins at a place in the line, or -1. The
// deepest reading comes first: its escapes hold those of the others.
func match(line []byte, at int, secret []byte) int {
	if line[at] != secret[0] && line[at] != '\\' {
		return -1
	}
	for depth := maxEscapes; depth >= 0; depth-- {
		if end := matchAt(line, at, secret, depth); end >= 0 {
			return end
		}
	}
	return -1
}

func matchAt(line []byte, at int, secret []byte, depth int) int {
	for len(secret) > 0 {
		text, next := read(line, at, depth)
		if len(text) == 0 || !bytes.HasPrefix(secret, text) {
			return -1
		}
		secret, at = secret[len(text):], next
	}
	return at
}

// read reads one character that was escaped so often, and gives the place behind
// it. What is no escape is one byte, as it stands.
func read(line []byte, at, depth int) (text []byte, next int) {
	if at >= len(line) {
		return nil, at
	}
	if depth == 0 {
		return line[at : at+1], at + 1
	}
	text, next = read(line, at, depth-1)
	if string(text) != `\` {
		return text, next
	}
	kind, after := read(line, next, depth-1)
	if string(kind) != "u" {
		return kind, after // such as \/; no secret has a line feed
	}
	code := rune(0)
	for range 4 {
		kind, after = read(line, after, depth-1)
		digit := -1
		if len(kind) == 1 {
			digit = bytes.IndexByte([]byte("0123456789abcdef"), kind[0]|0x20)
		}
		if digit < 0 {
			return nil, after
		}
		code = code<<4 | rune(digit)
	}
	return utf8.AppendRune(nil, code), after
}
