package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/test/storetest"
)

// unsealed are the columns that no seal covers, and why no number of a report depends on
// them. TestDamage damages all other columns of all tables.
var unsealed = map[string]string{
	"runs.state": "changes with every append", "runs.asked": "which run is the last",
	"runs.about": "what people noted", "runs.deleted": "a time",
	"runs.max_micros": "the budget, which no number depends on", "runs.factor": "how much is reserved",
	"counts.slot": "says which connection counted", "counts.updated": "a time",
	"records.version": "only the statement that writes it reads it", "records.was_failed": "only the statement that writes it reads it",
	"batches": "what is in flight", "batch_lines": "what is in flight",
	"commits": "ids of commits", "money": "money in flight",
	"deem_migrations": "versions of the schema",
}

// other returns an expression for a different value of the column.
func other(column, kind string) string {
	switch kind {
	case "bigint":
		return column + " + 1000003"
	case "double precision":
		return "CASE WHEN " + column + " > 0.5 THEN 0.25 ELSE 0.75 END"
	case "boolean":
		return "NOT " + column
	case "bytea":
		return fmt.Sprintf("set_byte(%[1]s, length(%[1]s) / 2, get_byte(%[1]s, length(%[1]s) / 2) # 1)", column)
	default: // Another character, which keeps JSON valid anywhere within a word.
		return fmt.Sprintf("overlay(%[1]s placing CASE WHEN substr(%[1]s, length(%[1]s) / 2, 1) = 'e' THEN 'a' ELSE 'e' END from length(%[1]s) / 2)", column)
	}
}

// columnsOf returns the columns of the tables in the database, with their types.
func columnsOf(t *testing.T, conn *pgx.Conn) map[string]string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT table_name || '.' || column_name, data_type FROM information_schema.columns
		WHERE table_schema = 'deem' AND is_generated = 'NEVER'`)
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string]string{}
	var name, kind string
	if _, err := pgx.ForEachRow(rows, []any{&name, &kind}, func() error { columns[name] = kind; return nil }); err != nil {
		t.Fatal(err)
	}
	return columns
}

// TestDamage changes one value in each column that a number can depend on. Check reports
// the damage each time, and reading the whole store returns an error or the original data.
func TestDamage(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	s := open(t, url, postgres.Options{})
	fill(t, s)
	if h, err := postgres.Check(t.Context(), url, postgres.Options{}); err != nil || h.Runs != 2 {
		t.Fatalf("a sound store: %+v, %v", h, err)
	}
	before := everything(t, s)
	conn, err := pgx.Connect(t.Context(), url+"&search_path=deem")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // Losing it does no harm.
	columns := columnsOf(t, conn)
	if len(columns) < 60 {
		t.Fatalf("only %d columns were found", len(columns))
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		table, column, _ := strings.Cut(name, ".")
		_, free := unsealed[name]
		if _, ok := unsealed[table]; ok || free {
			continue
		}
		where := column + " IS NOT NULL"
		switch {
		case name == "calls.error":
			where = "error <> ''"
		case name == "records.n" || table == "replies":
			where = "n IN (SELECT coalesce(reply, record) FROM calls)"
		}
		change := other(column, columns[name])
		if name == "replies.n" || name == "runs.n" {
			change = "DEFAULT" // These tables number their rows themselves.
		}
		damage := fmt.Sprintf(`UPDATE %[1]s SET %[2]s = %[3]s WHERE ctid = (SELECT ctid FROM %[1]s WHERE %[4]s ORDER BY ctid DESC LIMIT 1)`,
			table, column, change, where)
		t.Run(name, func(t *testing.T) { testDamage(t, conn, url, s, table, damage, before) })
	}
	for _, d := range []struct{ name, table, statement string }{
		{"record lost", "records", `DELETE FROM records WHERE n = (SELECT max(n) FROM records)`},
		{"call lost", "calls", `DELETE FROM calls WHERE record = (SELECT max(record) FROM calls)`},
		{"reply lost", "replies", `DELETE FROM replies WHERE n = (SELECT max(reply) FROM calls)`},
		{"item lost", "items", `DELETE FROM items WHERE hash = (SELECT item FROM records LIMIT 1)`},
		{"text lost", "texts", `DELETE FROM texts WHERE hash = (SELECT hash FROM texts LIMIT 1)`},
		{"run lost", "runs", `DELETE FROM runs WHERE n = (SELECT min(run) FROM records)`},
		{"verdict", "records", `UPDATE records SET label = 'yes', score = 1, pass = true, kind = NULL WHERE n = (SELECT max(n) FROM records WHERE kind IS NOT NULL)`},
		{"call moved", "calls", `UPDATE calls SET record = (SELECT min(n) FROM records WHERE calls = 0) WHERE record = (SELECT max(record) FROM calls)`},
	} {
		t.Run(d.name, func(t *testing.T) { testDamage(t, conn, url, s, d.table, d.statement, before) })
	}
	if got := everything(t, s); got != before {
		t.Error("the test did not mend what it damaged")
	}
}

// fill stores two runs that set every column.
func fill(t *testing.T, s *postgres.Store) {
	t.Helper()
	rule, judged := storetest.Spec("rule"), begin(t, s)
	rule.Judge.Rule = true
	ruled, _, err := s.Begin(t.Context(), rule, false)
	if err != nil {
		t.Fatal(err)
	}
	var recs, without []deem.Record
	for i := range 12 {
		rec := storetest.Record(i)
		if i%5 == 4 {
			rec = storetest.Failed(i, deem.Timeout)
		}
		rec.Item.Weight, rec.Item.Fields = float64(i), map[string]string{"dialogue": storetest.Text("dialogue", 2000)}
		if rec.Verdict != nil {
			rec.Verdict.Pass, rec.Verdict.Confidence, rec.Verdict.Aspects = new(i%3 != 0), new(0.75), map[string]float64{"tone": 0.5}
		}
		// A failed call, and one that was repeated in spite of the cache.
		again := storetest.Call(rec.Calls[0].Reply.Key)
		again.Reply.Text = "Verdict: INCORRECT"
		failed := deem.Call{Model: "fake:yes", Request: "hash", Started: storetest.Epoch, Error: "no answer", Attempts: 2}
		rec.Calls = append(rec.Calls, failed, again)
		recs = append(recs, rec)
		rec.Calls = nil
		without = append(without, rec)
	}
	for _, err := range []error{
		s.Append(t.Context(), judged.ID, recs), s.Append(t.Context(), judged.ID, recs[3:4]), s.Append(t.Context(), ruled.ID, without),
		s.PutLabels(t.Context(), []store.Label{{
			Item: "hash", ID: "q1", Dataset: "data", Annotator: "anna", Yes: true, Label: "CORRECT", Score: 1, Note: "sure", Drawn: "8c1f-2 1/700", Labelled: storetest.Epoch,
		}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// testDamage damages a table with a statement, checks, and restores the table.
func testDamage(t *testing.T, conn *pgx.Conn, url string, s *postgres.Store, table, statement, before string) {
	t.Helper()
	const alone = `SET session_replication_role = replica; ` // No other table changes with this one.
	if _, err := conn.Exec(t.Context(), alone+`CREATE TEMP TABLE saved AS SELECT * FROM `+table); err != nil {
		t.Fatal(err)
	}
	defer mend(t, conn, table)
	tag, err := conn.Exec(t.Context(), statement)
	if err != nil || tag.RowsAffected() == 0 {
		t.Fatalf("%s: %v, %v", statement, tag, err)
	}
	if _, err := postgres.Check(t.Context(), url, postgres.Options{}); err == nil || !strings.Contains(err.Error(), "the database is damaged") {
		t.Errorf("after %s, the doctor says: %v", statement, err)
	}
	// Only Check, which recounts, finds a record that is lost to its run.
	lost := table == "counts" || strings.HasSuffix(t.Name(), "lost") || strings.HasSuffix(t.Name(), "records.run")
	if got := everything(t, s); got != before && !lost && !strings.Contains(got, "the database is damaged") {
		t.Errorf("after %s, other values are read in silence", statement)
	}
}

// mend restores the saved rows of a table.
func mend(t *testing.T, conn *pgx.Conn, table string) {
	t.Helper()
	var columns string
	err := conn.QueryRow(t.Context(), `SELECT string_agg(column_name, ', ') FROM information_schema.columns
		WHERE table_schema = 'deem' AND table_name = $1 AND is_generated = 'NEVER'`, table).Scan(&columns)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), fmt.Sprintf(`DELETE FROM %[1]s; INSERT INTO %[1]s (%[2]s) OVERRIDING SYSTEM VALUE SELECT %[2]s FROM saved; DROP TABLE saved`,
		table, columns))
	if err != nil {
		t.Fatal(err)
	}
}

// everything returns all that can be read from a store, up to the first error.
func everything(t *testing.T, s *postgres.Store) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	put := func(v any, err error) bool {
		if err == nil {
			err = enc.Encode(v)
		}
		if err != nil {
			b.WriteString(err.Error())
		}
		return err == nil
	}
	for run, err := range s.Runs(t.Context()) {
		if !put(run, err) {
			return b.String()
		}
		for rec, err := range s.Records(t.Context(), run.ID, store.Query{WithCalls: true}) {
			if !put(rec, err) {
				return b.String()
			}
			for _, c := range rec.Calls {
				if c.Reply == nil {
					continue
				}
				if reply, _, err := s.Reply(t.Context(), c.Reply.Key); !put(reply, err) {
					return b.String()
				}
			}
		}
	}
	for label, err := range s.Labels(t.Context(), store.LabelQuery{}) {
		if !put(label, err) {
			break
		}
	}
	return b.String()
}
