package published_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem/internal/published"
)

// The page about published results lists exactly the recognised shapes.
func TestShapesInDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/rejudge.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "| results | recognised by |\n|---|---|\n")
	if !ok {
		t.Fatal("docs/rejudge.md has no table of results")
	}
	table, _, _ := strings.Cut(after, "\n\n")
	var want strings.Builder
	for _, s := range published.Shapes() {
		fmt.Fprintf(&want, "| %s | %s |\n", s.Name, s.By)
	}
	if diff := cmp.Diff(want.String(), table+"\n"); diff != "" {
		t.Errorf("docs/rejudge.md differs from the table of shapes: -want +got:\n%s", diff)
	}
}

// Preferences of annotators are three-way labels. Together they are trials, and --pick
// selects one of them.
func TestPreferences(t *testing.T) {
	const file = `[{"idx":0,"instruction":"Add.","input":"2 and 2","response1":"4","response2":"5","annotator1":1,"annotator2":1,"annotator3":0},
{"idx":1,"instruction":"Greet.","input":"","response1":"a","response2":"b","annotator1":2,"annotator2":"Tie","annotator3":null}]`
	s := open(t, "a.json", file, published.Source{})
	if got := s.Notes(); s.Trials() != 3 || !slices.ContainsFunc(got, func(n string) bool { return strings.Contains(n, "annotator1 and annotator2 on 1 of 2") }) {
		t.Errorf("%d trials, notes %q, want 3 and how often annotators agree", s.Trials(), got)
	}
	want := `pairs with preferences, as PandaLM writes them; the score is the preference for response1: 1 counts 1, 2 counts 0, and a tie (0) one half
0|||Add.

2 and 2||4 => tie 0.5
1|||Greet.||a => empty
`
	if diff := cmp.Diff(want, told(open(t, "a.json", file, published.Source{Pick: "annotator3"}))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A row with the answers of several systems becomes a row for each of them; questions that
// the file marks as improper are left out, and the set says so.
func TestSeveralSystemsInARow(t *testing.T) {
	const file = `[{"question":"Who?","golden_answer":"Ada/Ada L.","answer_x":"Ada","judge_x":true,"answer_y":"Bo","judge_y":false,"improper":false},
{"question":"When?","golden_answer":"now","answer_x":"now","judge_x":null,"answer_y":"now","judge_y":null,"improper":true}]`
	s := open(t, "a.json", file, published.Source{Pick: "y", Split: "/"})
	want := "answers of several systems in each row, as EVOUNA writes them; a row is right when label says so, and none does\nq0|||Who?|Ada/Ada L.|Bo => false 0\n"
	if diff := cmp.Diff(want, told(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for it := range s.Items() {
		if len(it.References) != 2 {
			t.Errorf("references %q, want two", it.References)
		}
	}
	if got := strings.Join(s.LeftOut, "; "); got != "1 row left out because the file marks the question as improper; 1 row of other systems left out" {
		t.Errorf("left out: %q", got)
	}
}

// Stray quotes in a table are ordinary characters.
func TestUnquoted(t *testing.T) {
	const file = "question\tgold\tresponse\tcorrect\nWho?\tAda\t\"Ada\" she said\tyes\nWhere?\tOslo\t\"Rome\tno\n"
	want := "rows with verdicts; a row is right when correct is yes\nq0|||Who?|Ada|\"Ada\" she said => yes 1\nq1|||Where?|Oslo|\"Rome => no 0\n"
	if diff := cmp.Diff(want, told(open(t, "a.tsv", file, published.Source{Unquoted: true}))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
