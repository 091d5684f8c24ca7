package reports_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"deem"
	"deem/bundle"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// kept returns a run in a database, and the same run in a bundle.
func kept(t *testing.T, recs []deem.Record) (db store.Store, file *reports.RunFile, run store.Run) {
	t.Helper()
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "deem.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	spec := storetest.Spec("")
	spec.Trials = 3
	run, _, err = db.Begin(t.Context(), spec, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Append(t.Context(), run.ID, recs); err != nil {
		t.Fatal(err)
	}
	if err := db.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	if run, err = db.Run(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "run.deem")
	export(t, name, run, db.Records(t.Context(), run.ID, store.Query{WithCalls: true}), false)
	if file, err = reports.OpenRunFile(name); err != nil {
		t.Fatal(err)
	}
	return db, file, run
}

func export(t *testing.T, name string, run store.Run, recs iter.Seq2[deem.Record, error], redact bool) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	src := bundle.Source{Records: recs, Software: "test", Redact: redact}
	src.Run, src.Judge = reports.DescribeRun(run)
	_, err = bundle.Write(f, src)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// fileRecords returns records of all kinds, with several trials each.
func fileRecords(n int) []deem.Record {
	var list []deem.Record
	for i := range n {
		for trial := range 3 {
			rec := storetest.Record(i)
			if (i+trial)%4 == 0 {
				rec = storetest.Failed(i, deem.Kinds()[(i+trial)%len(deem.Kinds())])
			}
			rec.Trial = trial
			rec.Calls[0].Reply.Key = fmt.Sprintf("%d/%d", i, trial)
			list = append(list, rec)
		}
	}
	return list
}

func collect(t testing.TB, recs iter.Seq2[deem.Record, error]) []deem.Record {
	t.Helper()
	list := []deem.Record{}
	for rec, err := range recs {
		if err != nil {
			t.Fatalf("after %d records: %v", len(list), err)
		}
		list = append(list, rec)
	}
	return list
}

// A bundle answers every query like the database it was written from.
func TestSameAsDatabase(t *testing.T) {
	t.Parallel()
	db, file, run := kept(t, fileRecords(40))
	got, err := file.Run(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	run.Asked = 0 // A bundle contains one run.
	if d := cmp.Diff(run, got); d != "" {
		t.Errorf("run differs (-database +bundle):\n%s", d)
	}
	rapid.Check(t, func(rt *rapid.T) {
		q := drawQuery(rt)
		want := collect(t, db.Records(context.Background(), run.ID, q))
		got := collect(t, file.Records(context.Background(), run.ID, q))
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			rt.Errorf("Records(%+v) differ (-database +bundle):\n%s", q, d)
		}
	})
}

func drawQuery(t *rapid.T) store.Query {
	q := store.Query{
		WithCalls: rapid.Bool().Draw(t, "calls"),
		Brief:     rapid.Bool().Draw(t, "brief"),
		Unjudged:  rapid.Bool().Draw(t, "unjudged"),
		Limit:     rapid.IntRange(0, 20).Draw(t, "limit"),
	}
	some := func(what string, all ...string) []string {
		if !rapid.Bool().Draw(t, "by "+what) {
			return nil
		}
		return rapid.SliceOfN(rapid.SampledFrom(all), 1, 3).Draw(t, what)
	}
	q.Labels = some("label", "CORRECT", "INCORRECT", "other")
	q.Categories = some("category", "category-0", "category-3", "other")
	q.IDs = some("id", "q00000000", "q00000001", "q00000039", "other")
	for _, k := range some("kind", "unparseable", "timeout", "refused") {
		q.Kinds = append(q.Kinds, deem.Kind(k))
	}
	if rapid.Bool().Draw(t, "one trial") {
		q.Trial = new(rapid.IntRange(0, 3).Draw(t, "trial"))
	}
	if rapid.Bool().Draw(t, "after") {
		i := rapid.IntRange(0, 40).Draw(t, "position")
		id := rapid.SampledFrom([]string{fmt.Sprintf("q%08d", i), "other"}).Draw(t, "of")
		q.After = &store.Cursor{Position: i, Trial: rapid.IntRange(0, 3).Draw(t, "cursor trial"), ID: id}
	}
	return q
}

// Every field of a record comes back.
func TestFullRecord(t *testing.T) {
	t.Parallel()
	rec := storetest.Full[deem.Record]()
	rec.Failure, rec.Trial = nil, 0
	rec.Calls[0].Error, rec.Calls[1].Reply = "", nil
	_, file, run := kept(t, []deem.Record{rec})
	got := collect(t, file.Records(t.Context(), run.ID, store.Query{WithCalls: true}))
	if d := cmp.Diff([]deem.Record{rec}, got); d != "" {
		t.Errorf("record differs (-want +got):\n%s", d)
	}
}

func TestStatusAndReply(t *testing.T) {
	t.Parallel()
	db, file, run := kept(t, fileRecords(10))
	for _, tt := range []struct {
		id    string
		trial int
	}{{"q00000000", 0}, {"q00000000", 1}, {"q00000003", 1}, {"q00000003", 7}, {"other", 0}} {
		want, err := db.Status(t.Context(), run.ID, tt.id, tt.trial)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := file.Status(t.Context(), run.ID, tt.id, tt.trial); got != want || err != nil {
			t.Errorf("Status(%s, %d) = %v, %v, want %v", tt.id, tt.trial, got, err, want)
		}
	}
	for _, key := range []string{"3/1", "other", ""} {
		want, wantOK, err := db.Reply(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := file.Reply(t.Context(), key)
		if err != nil || ok != wantOK {
			t.Errorf("Reply(%q) = %v, %v, want %v", key, ok, err, wantOK)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("Reply(%q) differs (-database +bundle):\n%s", key, d)
		}
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	_, file, run := kept(t, fileRecords(1))
	_, _, begin := file.Begin(t.Context(), run.Spec, false)
	for what, err := range map[string]error{
		"Begin": begin, "Finish": file.Finish(t.Context(), run.ID),
		"Append": file.Append(t.Context(), run.ID, fileRecords(1)),
	} {
		if !errors.Is(err, reports.ErrReadOnly) {
			t.Errorf("%s: error = %v, want %v", what, err, reports.ErrReadOnly)
		}
	}
	for rec, err := range file.Records(t.Context(), "another", store.Query{}) {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Records of another run: %v, %v, want %v", rec.Item.ID, err, store.ErrNotFound)
		}
	}
	if _, err := file.Run(t.Context(), "1999"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Run(1999): error = %v, want %v", err, store.ErrNotFound)
	}
}

func TestOpenBad(t *testing.T) {
	t.Parallel()
	_, file, run := kept(t, fileRecords(50))
	dir := t.TempDir()
	whole := filepath.Join(dir, "run.deem")
	export(t, whole, run, file.Records(t.Context(), run.ID, store.Query{WithCalls: true}), false)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(whole, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	half, err := reports.OpenRunFile(whole)
	if err == nil {
		for _, e := range half.Records(t.Context(), run.ID, store.Query{}) {
			err = e
		}
	}
	if !errors.Is(err, bundle.ErrDamaged) || !strings.Contains(deem.HintOf(err), "deem verify") {
		t.Errorf("half a file: error = %v, hint %q, want %v and a hint", err, deem.HintOf(err), bundle.ErrDamaged)
	}
	for name, content := range map[string]string{"json": `{"a":1}`, "empty": "", "newer": "deem.bundle/2\n" + strings.Repeat("x", 100)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := reports.OpenRunFile(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s): error = %v, want one that names the file", name, err)
		}
	}
	if _, err := reports.OpenRunFile(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of no file: error = %v", err)
	}
}

// A loop that ends early must not leave the file open, and a cancelled one must return an
// error.
func TestCancelled(t *testing.T) {
	t.Parallel()
	_, file, run := kept(t, fileRecords(50))
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	var last error
	for _, err := range file.Records(ctx, run.ID, store.Query{}) {
		if n++; n == 3 {
			cancel()
		}
		last = err
	}
	cancel()
	if n != 4 || !errors.Is(last, context.Canceled) {
		t.Errorf("after a cancel at record 3: %d records, error %v, want the error in place of record 4", n, last)
	}
}
