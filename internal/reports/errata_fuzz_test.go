package reports_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/reports"
)

// FuzzRead reads an arbitrary list of errors and corrects an item with it. Either there is
// an error that names the file, or only the references of the item and the fields that
// repeat them change, a second correction changes nothing, and no field still contains the
// wrong reference.
func FuzzRead(f *testing.F) {
	f.Add(`{"id": "q1", "corrected": ["b"], "kind": "wrong"}`, "a", "['a']")
	f.Add("id,published,correct_answer,corrupts\nq1,a,b,yes\n", "a", `["a"]`)
	f.Add(`[{"question": " Who? ", "corrected": "b", "corrupts": "maybe"}, {"question": "who?"}]`, "a", "a")
	f.Add(`{"id": "q1", "corrected": []}`+"\n"+`{"id": "q1"}`, "", "")
	f.Add(`{"id": "q1", "published": "x", "corrected": "\""}`, `"`, `"\""`)
	f.Fuzz(func(t *testing.T, text, reference, said string) {
		file := write(t, "errata.jsonl", text)
		e, err := reports.ReadErrata(t.Context(), file, nil)
		if err != nil {
			if !strings.Contains(err.Error(), file) {
				t.Errorf("error %q does not name the file", err)
			}
			return
		}
		it := deem.Item{ID: "q1", Question: "Who?", References: []string{reference}, Response: "r", Fields: map[string]string{"ground_truth": said, "place": said}}
		m, err := e.Match(each(it))
		if err != nil {
			return // nothing in the list applies to this item
		}
		got, changed := m.Correct(it)
		again, _ := m.Correct(got)
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("%q corrects twice:\n%s", text, diff)
		}
		if !changed && cmp.Diff(it, got) != "" {
			t.Errorf("%q changes the item and says it does not:\n%s", text, cmp.Diff(it, got))
		}
		if got.ID != it.ID || got.Question != it.Question || got.Response != it.Response || got.Fields["place"] != said {
			t.Errorf("%q changes more than references:\n%s", text, cmp.Diff(it, got))
		}
	})
}
