package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io/fs"

	"github.com/minio/highwayhash"
)

// Of the index of a stream, which the server writes every few minutes and when it ends:
// what it begins with, and its version.
const (
	indexMagic = 11
	indexHead  = 2
)

// known is the last sequence of a stream that its index tells of; 0 when that cannot be
// read: the server makes it anew. All that it tells of is on the disk before it.
func known(streams fs.FS, stream string) uint64 {
	b, err := fs.ReadFile(streams, stream+"/msgs/index.db")
	if err != nil || len(b) < indexHead+highwayhash.Size64 || b[0] != indexMagic {
		return 0
	}
	key := sha256.Sum256([]byte(stream))
	sum, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		panic(err) // the key has the right length
	}
	end := len(b) - highwayhash.Size64
	_, _ = sum.Write(b[:end])
	if !bytes.Equal(sum.Sum(nil), b[end:]) {
		return 0
	}
	r := bytes.NewReader(b[indexHead:end])
	var last uint64
	for range 5 { // messages, bytes, first sequence, its time (signed, of the same length), last sequence
		if last, err = binary.ReadUvarint(r); err != nil {
			return 0
		}
	}
	return last
}

// Marks in a sequence: the record was removed, or says that another one was.
const sequenceMarks = 3 << 62

// newestOf is the highest sequence of the records that a block consists of.
func newestOf(records []byte) (newest uint64) {
	for at := 0; at < len(records); {
		newest = max(newest, binary.LittleEndian.Uint64(records[at+recordLength:])&^sequenceMarks)
		at += int(binary.LittleEndian.Uint32(records[at:]) &^ hasHeaders)
	}
	return newest
}
