package published_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem/internal/published"
)

// pairsText has a pair whose better response is the second, a pair on which the order
// decides, and one without a winner in one order.
const pairsText = `[
{"input":"i0","output_1":"good","output_2":"bad","label":1,"results":[{"swap = False":{"completion":["Output (a)","stop"],"winner":"1"},"swap = True":{"completion":["Output (b)","stop"],"winner":"1"}}]},
{"input":"i1","output_1":"bad","output_2":"good","label":2,"results":[{"swap = False":{"winner":"1"},"swap = True":{"winner":"2"}}]},
{"input":"i2","output_1":"bad","output_2":"good","label":2,"results":[{"swap = False":{"winner":null},"swap = True":{"winner":"2"}}]},
{"input":"i3","output_1":"good","output_2":"bad","label":1,"results":[{"swap = False":{"winner":"1"},"swap = True":{"winner":"both"}}]}]`

// The better response is the response, each order is a trial, and no winner is a failure
// and not a wrong verdict.
func TestPairs(t *testing.T) {
	s := open(t, "anything.json", pairsText, published.Source{})
	want := `pairs judged in both orders, as LLMBar writes them; a verdict is right when its winner is the better response by label; trial 1 saw output_1 first, trial 2 output_2
q0|||i0||good => A 1 (Output (a))
q0|||i0||good #1 => A 1 (Output (b))
q1|||i1||good => B 0
q1|||i1||good #1 => A 1
q2|||i2||good => empty
q2|||i2||good #1 => A 1
q3|||i3||good => A 1
q3|||i3||good #1 => unparseable
`
	if diff := cmp.Diff(want, told(s)); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	for it := range s.Items() {
		if it.Fields["other"] != "bad" {
			t.Errorf("item %s has other %q, want the worse response", it.ID, it.Fields["other"])
		}
	}
	if note := strings.Join(s.Notes(), "\n"); !strings.Contains(note, "with output_1 first 2 of 4 are right, with output_2 first 3, in both orders 1;") {
		t.Errorf("notes %q, want the number of each order", note)
	}
}

// The numbers next to the pairs in a folder are claims about them, and the user can make
// claims about each order and both.
func TestPairClaims(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"result.json":     pairsText,
		"statistics.json": `{"correct_False":"2 / 4 = 50.0%","correct_True":"3 / 4 = 75.0%","correct_average":"62.5%","correct_both":"2 / 4 = 50.0%","kappa_False":0.1}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := published.Open(context.Background(), published.Source{Names: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	claims := s.Claims
	for _, spec := range []string{"trial1=2/4", "trial2=100%", "trial2=2/4", "all=1/4", "any=100%"} {
		c, err := s.ParseClaim(spec)
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, c)
	}
	var got []string
	for _, c := range s.Check(claims) {
		if c.Agrees {
			got = append(got, c.Name+"="+c.Text)
		}
	}
	want := []string{"correct_False=2 / 4", "correct_True=3 / 4", "correct_average=62.5%", "trial1=2/4", "trial2=100%", "all=1/4", "any=100%"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims that agree (-want +got):\n%s", diff)
	}
	if _, err := s.ParseClaim("trial3=50%"); err == nil {
		t.Error("a claim about the third of two trials is taken")
	}
}

// Only selects rows by their values and says how many remain, and Split splits references.
func TestOnlyAndSplit(t *testing.T) {
	const text = `[{"id":1,"question":"q","gold":"a / b","response":"b","label":true,"proper":true,"oracle":0.5},
{"id":2,"question":"q","gold":"9/11","response":"","label":false,"proper":true,"oracle":null},
{"id":3,"question":"q","gold":"/c/","response":"None","label":false,"proper":false,"oracle":1},
{"id":4,"question":"q","gold":"d","response":"d","label":true,"proper":"TRUE"}]`
	for _, c := range []struct {
		only []string
		ids  string
		note string
	}{
		{nil, "1 2 3 4", ""},
		{[]string{"proper=true"}, "1 2 4", "3 of 4 rows are taken, those with proper=true"},
		{[]string{"oracle"}, "1 3", "2 of 4 rows are taken, those with a value in oracle"},
		{[]string{"response"}, "1 2 3 4", "4 of 4 rows are taken, those with a value in response"},
		{[]string{"proper=true", "oracle"}, "1", "1 of 4 rows are taken, those with proper=true and a value in oracle"},
	} {
		s := open(t, "a.json", text, published.Source{Only: c.only, Split: "/"})
		var ids []string
		for it := range s.Items() {
			ids = append(ids, it.ID)
			if it.ID == "1" && !slices.Equal(it.References, []string{"a", "b"}) || it.ID == "3" && !slices.Equal(it.References, []string{"c"}) {
				t.Errorf("item %s has references %q", it.ID, it.References)
			}
		}
		if got := strings.Join(ids, " "); got != c.ids {
			t.Errorf("Only %q takes %s, want %s", c.only, got, c.ids)
		}
		if c.note != "" && !slices.Contains(s.LeftOut, c.note) {
			t.Errorf("Only %q leaves out %q, want %q", c.only, s.LeftOut, c.note)
		}
	}
	for _, c := range []struct {
		text, want string
		src        published.Source
	}{
		{text, `no row has a column "propre"`, published.Source{Only: []string{"propre=true"}}},
		{text, "none of 4 rows has proper=maybe", published.Source{Only: []string{"proper=maybe"}}},
		{pairsText, "there is no way of choosing rows by a column", published.Source{Only: []string{"label=1"}}},
		{pairsText, "there is no way of splitting references", published.Source{Split: "/"}},
		{pairsText, "there is no way of taking a column as the truth", published.Source{Map: published.Mapping{"truth": "label"}}},
		{strings.Replace(pairsText, `"label":1`, `"label":3`, 1), "should say 1 or 2", published.Source{}},
	} {
		c.src.Names = []string{write(t, "a.json", c.text)}
		if _, err := published.Open(context.Background(), c.src); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open(%+v): error %v, want %q", c.src, err, c.want)
		}
	}
}

// The truth is read with the same vocabulary as the verdicts; other values are no truth.
func TestTruth(t *testing.T) {
	const text = `{"id":1,"response":"r","label":"yes","people":"Correct"}
{"id":2,"response":"r","label":"no","people":"SKIP"}
{"id":3,"response":"r","label":"no","people":0.25}
{"id":4,"response":"r","label":"no"}`
	s := open(t, "a.jsonl", text, published.Source{Map: published.Mapping{"truth": "people"}})
	truth, ok := s.Truth()
	var got []any
	for _, v := range truth {
		if v == nil {
			got = append(got, nil)
			continue
		}
		got = append(got, v.Score)
	}
	if diff := cmp.Diff([]any{1.0, nil, 0.25, nil}, got); diff != "" || !ok {
		t.Errorf("truth, named %v (-want +got):\n%s", ok, diff)
	}
	if _, ok := open(t, "b.jsonl", text, published.Source{}).Truth(); ok {
		t.Error("a truth that nobody named")
	}
	name := write(t, "c.jsonl", strings.ReplaceAll(text, "0.25", "4"))
	if _, err := published.Open(context.Background(), published.Source{Names: []string{name}, Map: published.Mapping{"truth": "people"}}); err == nil || !strings.Contains(err.Error(), "people holds numbers up to 4") {
		t.Errorf("error %v, want that the truth is larger than a score", err)
	}
}
