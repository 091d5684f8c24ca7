package dataset_test

import (
	"slices"
	"strings"
	"testing"

	"deem/internal/dataset"
)

// One file may use both our names for the references.
func TestReferenceAndReferencesInTurn(t *testing.T) {
	rows := `{"id":"1","reference":"a","response":"r"}
{"id":"2","references":["b","c"],"response":"r"}
{"id":"3","reference":"d","response":"r"}
`
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{"-"}, Stdin: strings.NewReader(rows)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	var got []string
	for it, err := range d.Items() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join(it.References, "+"))
	}
	if want := []string{"a", "b+c", "d"}; !slices.Equal(got, want) {
		t.Errorf("references %q, want %q", got, want)
	}
}

// A value that is missing at the end of a line is reported in that line.
func TestOpenValueIsReportedAtItsLine(t *testing.T) {
	rows := "{\"id\":\"1\",\"reference\":\"a\",\"response\":\"r\"}\n{\"id\":\"2\",\"reference\":\n"
	_, err := dataset.Open(t.Context(), dataset.Source{Names: []string{"-"}, Stdin: strings.NewReader(rows)})
	if err == nil || !strings.Contains(err.Error(), "stdin:2: not JSON") {
		t.Errorf("error %v, want one at stdin:2", err)
	}
}

// The rendering of references is made by the reader, so it is not reported as missing.
func TestGroundTruthIsNotMissed(t *testing.T) {
	rows := `{"id":"1","reference":"a","response":"r"}` + "\n"
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{"-"}, Stdin: strings.NewReader(rows), Fields: []string{"ground_truth", "evidence"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	notes := strings.Join(d.Notes(), "\n")
	if strings.Contains(notes, "ground_truth") || !strings.Contains(notes, "evidence") {
		t.Errorf("notes %q", notes)
	}
}
