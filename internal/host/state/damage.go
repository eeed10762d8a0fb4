package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server"
)

// streamsFolder is where the embedded server keeps its streams, in the store.
var streamsFolder = filepath.Join("jetstream", server.DEFAULT_GLOBAL_ACCOUNT, "streams")

// findDamage reads the blocks of all streams. It is for before the server does, which
// cuts off whatever follows a record that cannot be read, and says nothing of it. A record
// that is cut short at the very end was never acknowledged and is no damage. The error is
// that of ctx when it ends meanwhile.
func findDamage(ctx context.Context, store string) error {
	streams := os.DirFS(filepath.Join(store, streamsFolder))
	files, err := fs.Glob(streams, "*/msgs/*.blk")
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	files = slices.DeleteFunc(files, isDeleted)
	last := map[string]uint64{} // block of each stream
	for _, file := range files {
		stream, index := blockOf(file)
		last[stream] = max(last[stream], index)
	}
	newest, emptied := map[string]uint64{}, map[string]string{} // of each stream: the last sequence; what it ends with
	for _, file := range files {
		if ctx.Err() != nil {
			return fmt.Errorf("state: looking for damage in %q: %w", store, ctx.Err())
		}
		block, err := fs.ReadFile(streams, file)
		if err != nil {
			return damaged(store, fmt.Sprintf("%s cannot be read (%v)", file, err))
		}
		stream, index := blockOf(file)
		at, ok := readable(block, stream, index, index == last[stream])
		if !ok {
			return damaged(store, fmt.Sprintf("what %s holds from byte %d on is not what was written", filepath.Join(streamsFolder, file), at))
		}
		newest[stream] = max(newest[stream], newestOf(block[:at]))
		if at < len(block) && isEmpty(block[at:]) {
			emptied[stream] = fmt.Sprintf("what %s holds from byte %d on is empty, and was not", filepath.Join(streamsFolder, file), at)
		}
	}
	for stream, what := range emptied {
		if known(streams, stream) > newest[stream] {
			return damaged(store, what)
		}
	}
	return nil
}

// isDeleted says whether the server will remove what has this name: it begins with a dot
// from the deletion of a stream on.
func isDeleted(name string) bool { return strings.HasPrefix(name, ".") }

// damaged says where, and the ways out.
func damaged(store, what string) error {
	return fmt.Errorf("state: the store in %q is damaged: %s. Put the folder back from a backup, "+
		"or move it away to begin without tasks and tokens", store, what)
}

// blockOf is the stream and the number of a block, from STREAM/msgs/NUMBER.blk.
func blockOf(file string) (stream string, index uint64) {
	stream, name, _ := strings.Cut(file, "/msgs/")
	index, _ = strconv.ParseUint(strings.TrimSuffix(name, ".blk"), 10, 64)
	return stream, index
}

// Of a record in a block: its length with all of this (4 bytes, of which the highest bit
// says that there are headers), sequence (8), time (8), length of the subject (2), the
// subject, the length of the headers (4, if there are any), headers and value, and the
// checksum (8) of all but the lengths. Another length of the subject is noticed by who
// reads what is stored: neither the key nor the value is what it was.
const (
	recordHead   = 22
	recordSum    = 8
	recordLength = 4
	hasHeaders   = 1 << 31
	atSubject    = 20
)

// readable says whether a block is whole, or else from which byte on it is not. The last
// block of a stream may end in the middle of a record.
func readable(block []byte, stream string, index uint64, last bool) (at int, ok bool) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", stream, index))
	sum, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		panic(err) // the key has the right length
	}
	for at < len(block) {
		n := record(block[at:], sum)
		if n == 0 {
			return at, last && cutShort(block, at, sum)
		}
		at += n
	}
	return at, true
}

// record is the length of the record that b begins with; 0: there is none.
func record(b []byte, sum hash.Hash64) int {
	if len(b) < recordHead+recordSum {
		return 0
	}
	length, skip := int64(binary.LittleEndian.Uint32(b)), 0
	if length&hasHeaders != 0 {
		length, skip = length&^hasHeaders, recordLength
	}
	value := recordHead + int(binary.LittleEndian.Uint16(b[atSubject:])) + skip
	if length > int64(len(b)) || length < int64(value+recordSum) {
		return 0
	}
	end := int(length) - recordSum
	if skip > 0 { // the checksum is not over the length of the headers
		headers := int64(binary.LittleEndian.Uint32(b[value-skip:]))
		if headers > int64(end-value) || !bytes.HasSuffix(b[value:value+int(headers)], []byte("\r\n\r\n")) {
			return 0
		}
	}
	sum.Reset()
	_, _ = sum.Write(b[recordLength:atSubject])
	_, _ = sum.Write(b[recordHead : value-skip])
	_, _ = sum.Write(b[value:end])
	if !bytes.Equal(sum.Sum(nil), b[end:length]) {
		return 0
	}
	return int(length)
}

// pageSize is how many bytes systems write to a disk at once, at least.
const pageSize = 4096

// maxRecord is how long a record can be: a NATS server takes a message, with its headers,
// of a megabyte, but what this package writes is a value, its key and a few headers.
const maxRecord = MaxValue + pageSize

// cutShort says whether the rest of a block, which begins with no record, can be one that
// was being written when the process or the machine ended: nothing follows it, and it is
// shorter than it says, or empty space, or ends where it says with a page that is empty:
// the size of the file can be on the disk before what is in it. It is one record at most:
// each is on the disk before the next one is written.
func cutShort(block []byte, at int, sum hash.Hash64) bool {
	rest := block[at:]
	if isEmpty(rest) {
		return len(rest) <= maxRecord
	}
	if len(rest) >= recordHead {
		length := int64(binary.LittleEndian.Uint32(rest) &^ hasHeaders)
		page := (len(block) - 1) / pageSize * pageSize // where the last one begins
		unwritten := page > at && isEmpty(block[page:])
		if length < int64(len(rest)) || length == int64(len(rest)) && !unwritten {
			return false
		}
	}
	for at := range rest {
		if record(rest[at:], sum) != 0 {
			return false
		}
	}
	return true
}

func isEmpty(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// findMissing says which stream is in the store and was not taken up: the server leaves
// one out whose description it cannot read. One that holds nothing was being made when the
// process ended: it can be made anew.
func (e *embedded) findMissing(store string) error {
	folders, err := os.ReadDir(filepath.Join(store, streamsFolder))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	info, err := e.server.Jsz(&server.JSzOptions{Accounts: true, Streams: true})
	if err != nil {
		return fmt.Errorf("state: the embedded server: %w", err)
	}
	for _, folder := range folders {
		taken := slices.ContainsFunc(info.AccountDetails, func(a *server.AccountDetail) bool {
			return slices.ContainsFunc(a.Streams, func(s server.StreamDetail) bool { return s.Name == folder.Name() })
		})
		if taken || isDeleted(folder.Name()) {
			continue
		}
		stream := filepath.Join(streamsFolder, folder.Name())
		if !holdsNothing(filepath.Join(store, stream)) {
			return damaged(store, stream+" has no description that can be read")
		}
		if err := undescribe(filepath.Join(store, stream)); err != nil {
			return fmt.Errorf("state: a stream that was not made to the end: %w", err)
		}
	}
	return nil
}

// holdsNothing says whether no block of a stream has a byte.
func holdsNothing(stream string) bool {
	files, err := os.ReadDir(filepath.Join(stream, "msgs"))
	if err != nil {
		return os.IsNotExist(err)
	}
	return !slices.ContainsFunc(files, func(file os.DirEntry) bool {
		info, err := file.Info()
		return strings.HasSuffix(file.Name(), ".blk") && (err != nil || info.Size() > 0)
	})
}

// undescribe removes what there is of a stream's description. The server, when it makes
// the stream, would keep a part of it, and leave the stream out at its next start.
func undescribe(stream string) error {
	for _, file := range []string{server.JetStreamMetaFile, server.JetStreamMetaFileSum} {
		if err := os.Remove(filepath.Join(stream, file)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
