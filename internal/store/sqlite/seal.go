package sqlite

import (
	"database/sql/driver"
	"fmt"
	"regexp"

	"modernc.org/sqlite"

	"deem"
	"deem/internal/store"
)

// Every row that affects a reported number has a seal, which is checked by the query that
// reads the row: see [store.Seal].

func init() {
	sqlite.MustRegisterFunction("deem_seal", &sqlite.FunctionImpl{
		NArgs: -1, Deterministic: true, VolatileArgs: true,
		Scalar: func(_ *sqlite.FunctionContext, columns []driver.Value) (driver.Value, error) {
			return store.Seal(columns), nil
		},
	})
}

// The sealed columns, in order, and the conditions that a row is unchanged. A text is
// passed to the function as a blob: the driver would cut it at a NUL. The seal of a record
// is followed by a prefix of the hash of its item, so that the record can be checked
// without the item, and the item by the record.
var (
	recordSealed = blobs(`r.n, r.run, item_id*, r.trial, r.item, r.position, category*, cluster*, r.weight, judge*,
		label*, r.score, r.pass, r.confidence, reason*, parts*, kind*, detail*, r.calls`, "r.")
	soundRecord = `substr(r.sum, 1, 16) IS deem_seal(` + recordSealed + `, substr(r.sum, 17))`

	runSealed = blobs(`n, id*, key*, created, judge_name*, judge_hash*, judge_identity*, judge_rule,
		model*, endpoint*, dataset_names*, dataset_hash*, dataset_items, trials, settings*, probes`, "")
	soundRun = `sum IS deem_seal(` + runSealed + `)`

	soundReply = `r.sum IS deem_seal(` + blobs(`r.n, key*, body*, r.latency, r.attempts, r.cost_micros, r.unpriced`, "r.") + `)`

	soundCall = `c.sum IS deem_seal(` + blobs(`c.record, c.seq, model*, request*, c.started, error*, c.tries,
		c.reply, reply_key*, reply_inline*, c.latency, c.attempts, c.cost_micros, c.unpriced, c.cached`, "c.") + `)`

	labelSealed = blobs(`item*, item_id*, dataset*, annotator*, yes, label*, score, note*, drawn*, labelled`, "")
	soundLabel  = `sum IS deem_seal(` + labelSealed + `)`
)

// blobs casts the columns that are marked with a star to blobs, and adds the prefix.
func blobs(columns, prefix string) string {
	return regexp.MustCompile(`(\w+)\*`).ReplaceAllString(columns, "CAST("+prefix+"$1 AS BLOB)")
}

// altered returns the error for a row that was changed since it was written.
func altered(format string, args ...any) error {
	return deem.WithHint(fmt.Errorf("%s: %s is not what was written", damaged.says, fmt.Sprintf(format, args...)), "%s", damaged.advice)
}

// checkItem checks an item against the hash in the seal of its record.
func (f *found) checkItem(texts []store.LongText) error {
	sum := store.ItemSum([]byte(f.body), texts)
	if string(sum[:store.SealBytes]) != f.item {
		return altered("item %q", f.rec.Item.ID)
	}
	return nil
}
