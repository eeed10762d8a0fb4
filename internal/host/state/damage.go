package state

import (
	"bytes"
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
// that is cut short at the very end was never acknowledged and is no damage.
func findDamage(store string) error {
	streams := os.DirFS(filepath.Join(store, streamsFolder))
	files, err := fs.Glob(streams, "*/msgs/*.blk")
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	last := map[string]uint64{} // block of each stream
	for _, file := range files {
		stream, index := blockOf(file)
		last[stream] = max(last[stream], index)
	}
	for _, file := range files {
		block, err := fs.ReadFile(streams, file)
		if err != nil {
			return damaged(store, fmt.Sprintf("%s cannot be read (%v)", file, err))
		}
		stream, index := blockOf(file)
		if at, ok := readable(block, stream, index, index == last[stream]); !ok {
			return damaged(store, fmt.Sprintf("what %s holds from byte %d on is not what was written", filepath.Join(streamsFolder, file), at))
		}
	}
	return nil
}

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
			return at, last && cutShort(block[at:], sum)
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

// cutShort says whether a rest, which begins with no record, can be one that was being
// written when the process or the machine ended: nothing follows it, and it is shorter
// than it says, or empty space.
func cutShort(rest []byte, sum hash.Hash64) bool {
	if len(bytes.Trim(rest, "\x00")) == 0 {
		return true
	}
	if len(rest) >= recordHead && int64(binary.LittleEndian.Uint32(rest)&^hasHeaders) <= int64(len(rest)) {
		return false
	}
	for at := range rest {
		if record(rest[at:], sum) != 0 {
			return false
		}
	}
	return true
}

// findMissing says which stream is in the store and was not taken up: the server leaves
// one out whose description it cannot read.
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
		if !taken {
			return damaged(store, filepath.Join(streamsFolder, folder.Name())+" has no description that can be read")
		}
	}
	return nil
}
