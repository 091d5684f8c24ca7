package store

import "deem"

// Unfinished is the kind of a record that keeps the calls of an item that is not done: its
// judge makes several calls, and a fatal error, such as a wrong key or an exhausted budget,
// came after a call that was paid for. Such an item is judged when the run resumes, and its
// record then replaces this one; as always, the old calls are kept. It is not a kind of
// package deem, since no judge returns it.
const Unfinished deem.Kind = "unfinished"

// IsUnfinished reports whether a record only keeps the calls of an item that is not done.
func IsUnfinished(rec deem.Record) bool {
	return rec.Failure != nil && rec.Failure.Kind == Unfinished
}
