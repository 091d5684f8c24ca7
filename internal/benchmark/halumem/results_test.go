package halumem_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark/halumem"
	"deem/internal/store"
)

// records reads a results file to its end.
func records(ctx context.Context, text, reading string) ([]deem.Record, error) {
	var list []deem.Record
	for rec, err := range halumem.ReadResults(ctx, strings.NewReader(text), "x.json", reading) {
		if err != nil {
			return list, err
		}
		list = append(list, rec)
	}
	return list, nil
}

// TestReadResults checks that there is a verdict where one was recorded, and a failure for
// anything else.
func TestReadResults(t *testing.T) {
	tests := []struct {
		list, row string
		upstream  reading
		strict    reading
	}{
		{"memory_integrity_records", `"memory_integrity_score": 2`, reading{label: "2"}, reading{label: "2"}},
		{"memory_integrity_records", `"memory_integrity_score": 2.0`, reading{label: "2"}, reading{label: "2"}},
		{"memory_integrity_records", `"memory_integrity_score": null`, reading{kind: deem.Unparseable}, reading{kind: deem.Unparseable}},
		{"memory_integrity_records", `"index": 3`, reading{kind: deem.Unparseable}, reading{kind: deem.Unparseable}},
		{"memory_integrity_records", `"memory_integrity_score": "2"`, reading{kind: deem.Unparseable}, reading{kind: deem.Unparseable}},
		{"memory_integrity_records", `"memory_integrity_score": 3`, reading{kind: deem.OutOfRange}, reading{kind: deem.OutOfRange}},
		{"memory_integrity_records", `"memory_integrity_score": 0.5`, reading{kind: deem.OutOfRange}, reading{kind: deem.OutOfRange}},
		{"memory_integrity_records", `"memory_integrity_score": "judge_failed"`, reading{kind: deem.Provider}, reading{kind: deem.Provider}},
		{"memory_integrity_records", `"memory_integrity_score": 0, "judge_failure_reason": "terminated"`, reading{kind: deem.Provider}, reading{kind: deem.Provider}},
		{"memory_accuracy_records", `"memory_accuracy_score": 1, "is_included_in_golden_memories": "true"`, reading{label: "1", included: 1}, reading{label: "1", included: 1}},
		{"memory_accuracy_records", `"memory_accuracy_score": 1, "is_included_in_golden_memories": true`, reading{label: "1"}, reading{label: "1", included: 1}},
		{"memory_accuracy_records", `"memory_accuracy_score": 1`, reading{label: "1"}, reading{kind: deem.Unparseable}},
		{"memory_update_records", `"memory_update_type": "Other"`, reading{label: "Other"}, reading{label: "Other"}},
		{"memory_update_records", `"memory_update_type": "garbage"`, reading{kind: deem.Unparseable}, reading{kind: deem.Unparseable}},
		{"question_answering_records", `"result_type": "Correct"`, reading{label: "Correct"}, reading{label: "Correct"}},
		{"question_answering_records", `"result_type": "Other"`, reading{kind: deem.Unparseable}, reading{kind: deem.Unparseable}},
	}
	for _, tt := range tests {
		text := `{"overall_score": {"x": [1]}, "` + tt.list + `": [{"uuid": "u", "ssession_id": 0, ` + tt.row + `}]}`
		for name, want := range map[string]reading{halumem.Upstream: tt.upstream, halumem.Strict: tt.strict} {
			recs, err := records(t.Context(), text, name)
			if err != nil || len(recs) != 1 {
				t.Fatalf("%s: %d records, error %v", tt.row, len(recs), err)
			}
			got := reading{}
			if v := recs[0].Verdict; v != nil {
				got.label, got.included = v.Label, v.Aspects["included"]
			}
			if f := recs[0].Failure; f != nil {
				got.kind = f.Kind
			}
			if got != want {
				t.Errorf("%s, reading %s: %+v, want %+v", tt.row, name, got, want)
			}
		}
	}
}

// TestReadResultsErrors checks that errors contain the file name and the location.
func TestReadResultsErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                                     "read x.json: it is not a JSON object",
		`[]`:                                   "read x.json: it is not a JSON object",
		`{}`:                                   "none of the lists",
		`{"overall_score": {}}`:                "none of the lists",
		`{"memory_update_records": {}}`:        "memory_update_records: ",
		`{"memory_update_records": [1]}`:       "memory_update_records, row 0: ",
		`{"memory_update_records": [{}]}`:      "row 0: the row has no uuid",
		`{"memory_update_records": [`:          "read x.json: ",
		`{"memory_update_records": []`:         "read x.json: ",
		`{"memory_update_records": [], "a": }`: "read x.json: ",
	} {
		if _, err := records(t.Context(), text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := records(t.Context(), `{}`, "none such"); err == nil {
		t.Error("an unknown reading is taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := records(ctx, `{"memory_update_records": [{"uuid": "u", "ssession_id": 0}]}`, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestReadResultsStops stops in the middle of a file that is invalid later.
func TestReadResultsStops(t *testing.T) {
	row := `{"uuid": "u", "ssession_id": 0, "index": 7, "memory_update_type": "Correct"}`
	text := `{"memory_update_records": [` + row + `,` + row + `, oops`
	var ids []string
	for rec, err := range halumem.ReadResults(t.Context(), strings.NewReader(text), "x", "") {
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, rec.Item.ID); len(ids) == 2 {
			break
		}
	}
	if strings.Join(ids, " ") != "u/0/update/7 u/0/update/7~2" {
		t.Errorf("ids %v", ids)
	}
}

// FuzzReadResults checks that any results file gives valid records up to an error that
// names the file, and the same ones however its bytes arrive.
func FuzzReadResults(f *testing.F) {
	f.Add(`{"memory_integrity_records": [{"uuid": "u", "session_id": 0, "memory_integrity_score": 2, "memory_source": "x"}], "overall_score": {}}`)
	f.Add(`{"memory_accuracy_records": [{"uuid": "u", "ssession_id": 0, "memory_accuracy_score": "1", "is_included_in_golden_memories": true}, {"uuid": ""}]}`)
	f.Add(`{"memory_update_records": [{"uuid": "u", "session_id": 1.5, "memory_update_type": "Correct"}], "question_answering_records": [{"uuid": "u", "result_type": "none"}]}`)
	f.Add(`{"question_answering_records": [`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, reading := range halumem.Readings() {
			recs, err := records(t.Context(), text, reading)
			if err != nil && !strings.HasPrefix(err.Error(), "read x.json: ") {
				t.Errorf("error %q does not name the file", err)
			}
			for _, rec := range recs {
				if bad := store.CheckRecord(rec); bad != nil || rec.Verdict != nil && (rec.Verdict.Score < 0 || rec.Verdict.Score > 1) {
					t.Errorf("reading %s of %q: %v: %+v", reading, text, bad, rec.Verdict)
				}
			}
			var slowly []deem.Record
			for rec, err := range halumem.ReadResults(t.Context(), iotest.OneByteReader(strings.NewReader(text)), "x.json", reading) {
				if err == nil {
					slowly = append(slowly, rec)
				}
			}
			if diff := cmp.Diff(recs, slowly); diff != "" {
				t.Errorf("byte by byte %q gives other records:\n%s", text, diff)
			}
		}
	})
}
