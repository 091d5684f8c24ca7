package store

import "deem"

// Unfinished is the kind of a record that keeps the calls of an item which is not done:
// its judge makes several calls, and what ends a run, as a wrong key or a spent budget,
// came after one that was paid for. Such an item is judged when the run goes on, and its
// record then takes this one's place; as ever, the calls of the old one stay. It is no
// kind of package deem, since no judge says it.
const Unfinished deem.Kind = "unfinished"

// IsUnfinished reports whether a record only keeps what was paid for an item that is not
// done.
func IsUnfinished(rec deem.Record) bool {
	return rec.Failure != nil && rec.Failure.Kind == Unfinished
}
