package sqlite

import (
	"database/sql/driver"
	"fmt"
	"regexp"

	"modernc.org/sqlite"

	"deem"
	"deem/internal/store"
)

// Every row that affects a reported number has a seal: see [store.Seal]. Those of records and
// calls are checked in Go, because a call of a function from SQL costs as much as ten columns.
// The query checks the others, of which a command reads few.

func init() {
	sqlite.MustRegisterFunction("deem_seal", &sqlite.FunctionImpl{
		NArgs: -1, Deterministic: true, VolatileArgs: true,
		Scalar: func(_ *sqlite.FunctionContext, columns []driver.Value) (driver.Value, error) {
			return store.Seal(columns), nil
		},
	})
}

// The sealed columns, in order, and the conditions that a row is unchanged. A text is
// passed to the function as a blob: the driver would cut it at a NUL.
var (
	runSealed = blobs(`n, id*, key*, created, judge_name*, judge_hash*, judge_identity*, judge_rule,
		model*, endpoint*, dataset_names*, dataset_hash*, dataset_items, trials, settings*, probes`, "")
	soundRun = `sum IS deem_seal(` + runSealed + `)`

	soundReply = `r.sum IS deem_seal(` + blobs(`r.n, key*, body*, r.latency, r.attempts, r.cost_micros, r.unpriced`, "r.") + `)`

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

// checkItem checks an item against the prefix of its hash that follows the seal of its record.
// So a record can be checked without its item.
func (f *found) checkItem(texts []store.LongText) error {
	sum := store.ItemSum([]byte(f.body), texts)
	if string(sum[:store.SealBytes]) != f.item {
		return altered("item %q", f.rec.Item.ID)
	}
	return nil
}
