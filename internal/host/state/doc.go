// Package state keeps what has to be there after a restart: buckets of keys and
// values in NATS JetStream. The store is either an embedded server, which has no
// port and writes into a folder of the user, or an external cluster; the code is
// the same.
//
// # What an answer means
//
// A write that returned without an error is on the disk: the embedded server
// syncs each write before it answers. It survives the process, killed or not, and
// a loss of power as far as the disk keeps what it was told to sync. Only
// [ErrUnavailable] leaves open whether something was written.
//
// # Two writers
//
// Every entry has a revision. [Bucket.Update] and [Bucket.Delete] name the one
// they saw and fail with [ErrConflict] when there is a newer one, so that no
// writer undoes what it has not read.
//
// # What may be stored
//
// Values are not encrypted. Secrets do not belong here, and neither does the mark
// that a host itself injected a server into a session: what is read from a disk
// proves nothing about who wrote it.
//
// Keys and values are logged nowhere. Of the embedded server's own messages the
// constant part is logged, at level debug, and errors that belong to it.
package state
