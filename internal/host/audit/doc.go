// Package audit keeps the record of what was decided, by whom, and how long it
// took: JSON lines in an append-only file of mode 0600, rotated by size.
//
// # What a record holds
//
// [Record] is a closed struct, and docs/audit.md lists its members. There is no
// place in it for a title, a label, an option id, arguments, metadata, headers or
// environment. Server and tool come as a [pipeline.Identity], which holds text
// only after it passed the parser. Session ids and names come from agents and
// people: they are bounded, and written as printable ASCII with JSON escapes, so
// a line can be shown on any terminal.
//
// # What never happens
//
// [Log.Append] does not wait for the disk and has no error: a decision is the
// same with a full disk. One goroutine writes, in the order of the calls, each
// record with one write call. When the disk fails it tries again, and while it
// does, records wait in a bounded queue. What finds no room there is counted, and
// a record of its own, a [Gap], says at the right place in the file how many are
// missing. The beginning and the end of every trouble is logged once.
//
// # What can be lost
//
// A record is in the file some microseconds after the call, usually. When the
// host is killed, what still waited in the queue is lost and the last line can be
// cut; the next run begins a new line and says so in a [Gap]. The file is synced
// to the disk once per second while records come (Options.SyncEvery), when it is
// rotated and when the log is closed: a power failure costs that second.
//
// Several processes may write to one file. Each record is one append, and a
// process that finds its file rotated by another one goes on in the new one.
package audit
