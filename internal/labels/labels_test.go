package labels_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"deem"
	"deem/internal/labels"
)

// write writes a file of labels and returns its name.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// text is a pointer to s.
func text(s string) *string { return &s }

// plain compares labels without their location.
var plain = cmpopts.IgnoreFields(labels.Label{}, "File", "Line")

func yes(item, label string) labels.Label {
	return labels.Label{Item: item, Yes: true, Label: label, Score: 1}
}

func no(item, label string) labels.Label { return labels.Label{Item: item, Label: label} }

func TestRead(t *testing.T) {
	by := func(l labels.Label, who string) labels.Label {
		l.Annotator = who
		return l
	}
	graded := func(item, label string, score float64, yes bool) labels.Label {
		return labels.Label{Item: item, Label: label, Score: score, Yes: yes, Graded: true}
	}
	sure := 0.9
	for _, c := range []struct {
		name, file, text string
		src              labels.Source
		want             []labels.Label
		blank            int
		hash             string
	}{
		{
			name: "words", file: "l.csv",
			text: "id,label\na,yes\nb,Incorrect\nc,TRUE\nd,0\ne,1\nf,fail\ng,正确\n",
			want: []labels.Label{yes("a", "yes"), no("b", "Incorrect"), yes("c", "TRUE"), no("d", "0"), yes("e", "1"), no("f", "fail"), yes("g", "正确")},
		},
		{
			name: "not labelled yet", file: "l.csv",
			text: "id,question,response,label,annotator\na,q,r,,\nb,q,r,yes,anna\nc,q,r,skip,\n",
			want: []labels.Label{{Item: "b", Annotator: "anna", Yes: true, Label: "yes", Score: 1, Response: text("r")}}, blank: 2,
		},
		{
			name: "several annotators", file: "l.jsonl",
			text: `{"question_id":"a","human_label":true,"rater":"anna","comment":"exact"}` + "\n" + `{"question_id":"a","human_label":false,"rater":"bert"}` + "\n" + `{"question_id":"b","human_label":null,"rater":"bert"}`,
			want: []labels.Label{
				{Item: "a", Annotator: "anna", Yes: true, Label: "True", Score: 1, Reason: "exact"}, by(no("a", "False"), "bert"),
			},
			blank: 1,
		},
		{
			name: "names as programs spell them", file: "l.csv",
			text: "Query ID,Human Label,Actual Output,judgeReasoning\na,yes,r,why not\n",
			want: []labels.Label{{Item: "a", Yes: true, Label: "yes", Score: 1, Response: text("r"), Reason: "why not"}},
		},
		{
			name: "a scale", file: "l.csv", src: labels.Source{Scale: 10, Pass: 0.7},
			text: "item,score\na,7\nb,6.5\nc,10\nd,0\n",
			want: []labels.Label{graded("a", "7", 0.7, true), graded("b", "6.5", 0.65, false), graded("c", "10", 1, true), graded("d", "0", 0, false)},
		},
		{
			name: "the scale of the file", file: "l.json",
			text: `{"judge_hash":"3f9c2a10b7e4","scale":5,"annotator":"cleo","labels":[{"id":"a","rating":4},{"id":"b","rating":1}]}`,
			want: []labels.Label{by(graded("a", "4", 0.8, true), "cleo"), by(graded("b", "1", 0.2, false), "cleo")}, hash: "3f9c2a10b7e4",
		},
		{
			name: "bound in the first line", file: "l.jsonl",
			text: `{"judge_hash":"3f9c2a10b7e4","scale":10}` + "\n" + `{"id":"a","score":9,"confidence":0.9}`,
			want: []labels.Label{{Item: "a", Label: "9", Score: 0.9, Yes: true, Graded: true, Confidence: &sure}}, hash: "3f9c2a10b7e4",
		},
		{
			name: "bound in each row", file: "l.csv", text: "id,label,judge_hash\na,yes,3f9c2a10b7e4\nb,no,3f9c2a10b7e4\n",
			want: []labels.Label{yes("a", "yes"), no("b", "no")}, hash: "3f9c2a10b7e4",
		},
		{
			name: "a list in YAML, with frozen outputs", file: "human_labels.yaml",
			text: "- id: procedural_001\n  question: How?\n  output: |\n    Use --junit-xml-filter.\n  label: FAIL\n  reason: no such flag\n- id: fact_002\n  output: Paris\n  label: PASS\n",
			want: []labels.Label{
				{Item: "procedural_001", Label: "FAIL", Reason: "no such flag", Response: text("Use --junit-xml-filter.\n")},
				{Item: "fact_002", Label: "PASS", Yes: true, Score: 1, Response: text("Paris")},
			},
		},
		{
			name: "a list under a key", file: "l.yml", text: "judge_hash: 3f9c2a10b7e4\nversion: 1\nlabels:\n  - {id: a, human_verdict: yes}\n  - {id: b, human_verdict: }\n",
			want: []labels.Label{yes("a", "yes")}, blank: 1, hash: "3f9c2a10b7e4",
		},
		{
			name: "a label for each id", file: "l.yaml", text: "annotator: anna\na: PASS\nb: no\nc: {label: yes, why: sure}\nd:\n",
			want: []labels.Label{by(yes("a", "PASS"), "anna"), by(no("b", "no"), "anna"), {Item: "c", Annotator: "anna", Label: "yes", Yes: true, Score: 1, Reason: "sure"}}, blank: 1,
		},
		{
			name: "columns of one's own", file: "l.csv", src: labels.Source{Columns: map[string]string{"item": "nr", "label": "GPT-4"}},
			text: "nr,label,GPT-4\na,no,yes\n", want: []labels.Label{yes("a", "yes")},
		},
		{
			name: "words of one's own", file: "l.csv", src: labels.Source{Yes: []string{"Supported"}, No: []string{"Hallucination", "ok"}},
			text: "id,label\na,supported\nb,Hallucination\nc,OK\n", want: []labels.Label{yes("a", "supported"), no("b", "Hallucination"), no("c", "OK")},
		},
		{name: "said twice", file: "l.csv", text: "id,label\na,yes\na,yes\n", want: []labels.Label{yes("a", "yes")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.src.Names = []string{write(t, c.file, c.text)}
			set, err := labels.Read(t.Context(), c.src)
			if err != nil {
				t.Fatalf("Read: %v", err)
			}
			if d := cmp.Diff(c.want, set.Labels, plain); d != "" {
				t.Errorf("labels differ (-want +got):\n%s", d)
			}
			if set.Blank != c.blank || set.JudgeHash != c.hash {
				t.Errorf("Blank = %d, JudgeHash = %q, want %d, %q", set.Blank, set.JudgeHash, c.blank, c.hash)
			}
		})
	}
}

// aliases is a short text whose aliases make it a hundred million values.
var aliases = func() string {
	text := "a: &a0 [x]\n"
	for i := range 9 {
		text += fmt.Sprintf("b%d: &a%d [%s]\n", i, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return text
}()

// Labels may be in a list for each conversation, or under their ids, in any format.
func TestReadNested(t *testing.T) {
	for _, c := range []struct{ name, file, text, want, notes string }{
		{"lists", "l.json", `{"c1":[{"id":"a","label":true}],` + "\n" + `"c2":[{"id":"b","label":false}]}`, "a:1 b:2", ""},
		{"ids", "l.json", `{"annotator":"anna","a":"yes","b":{"label":"no","why":"w"}}`, "a:1 b:1", ""},
		{"lists in YAML", "l.yaml", "c1:\n- {id: a, label: yes}\nc2:\n- {id: b, label: no}\n", "a:2 b:4", ""},
		{"a word in the list", "l.yaml", "- {id: a, label: yes}\n- no\n", "a:1", "1 object left out because not every object there is a row"},
		{"settings", "l.json", `{"config":{"top_k":3},"labels":[{"id":"a","label":true}]}`, "a:1", "config left out because it is not in a list of rows"},
	} {
		set, err := labels.Read(t.Context(), labels.Source{Names: []string{write(t, c.file, c.text)}})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, l := range set.Labels {
			got = append(got, fmt.Sprintf("%s:%d", l.Item, l.Line))
		}
		if strings.Join(got, " ") != c.want || strings.Join(set.Notes, "; ") != c.notes {
			t.Errorf("%s: %q with notes %q, want %q with %q", c.name, got, set.Notes, c.want, c.notes)
		}
	}
}

func TestReadProblems(t *testing.T) {
	for _, c := range []struct{ name, file, text, want, hint string }{
		{"a word that is neither", "l.csv", "id,label\na,yes\nb,partially\n", `l.csv:3: item "b": the label "partially" is neither yes nor no`, "--yes-word and --no-word"},
		{"beyond the scale", "l.csv", "id,score\na,7\n", `l.csv:2: item "a": the score 7 lies outside 0 to 1`, "--scale 10"},
		{"a label beyond the scale", "l.csv", "id,label\na,7\n", `the score 7 lies outside 0 to 1`, "--scale 10"},
		{"no number", "l.csv", "id,score\na,NaN\n", "", ""},
		{"a strange score", "l.csv", "id,score\na,high\n", `the score "high" is not a number`, ""},
		{"no id", "l.jsonl", `{"label":"yes"}`, `l.jsonl:1: no item is named (columns here: label)`, "--map item=NAME"},
		{"no labels", "l.jsonl", `{"id":"a","mark":"yes"}` + "\n" + `{"id":"b","mark":"yes"}`, `l.jsonl: none of the 2 rows has a label (columns here: id, mark)`, "--map label=NAME"},
		{"no items", "l.jsonl", `{"key":"a","label":"yes"}` + "\n" + `{"key":"b","label":"yes"}`, `l.jsonl: none of the 2 rows names an item (columns here: key, label)`, "--map item=NAME"},
		{"some without a label", "l.jsonl", `{"id":"a"}` + "\n" + `{"id":"b","label":"yes"}` + "\n" + `{"id":"c"}`, `l.jsonl:3: item "c" has no label (columns here: id)`, "--map label=NAME"},
		{"no label", "l.jsonl", `{"id":"a","mark":"yes"}`, `l.jsonl:1: item "a" has no label (columns here: id, mark)`, "--map label=NAME"},
		{"two minds", "l.csv", "id,label\na,yes\na,no\n", `item "a" is labelled twice by somebody: yes in line 2, and no here`, "column annotator"},
		{"two minds of one person", "l.csv", "id,label,annotator\na,yes,anna\na,no,anna\n", `labelled twice by anna`, ""},
		{"two judges", "l.csv", "id,label,judge_hash\na,yes,3f9c2a10b7e4\nb,no,aaaaaaaaaaaa\n", "bound to judge aaaaaaaaaaaa, and others to 3f9c2a10b7e4", ""},
		{"a short hash", "l.yaml", "judge_hash: 3f9c\na: yes\n", "too short", ""},
		{"a confidence beyond", "l.csv", "id,label,confidence\na,yes,90\n", `the confidence "90" is not a number from 0 to 1`, ""},
		{"no YAML", "l.yaml", "a: [\n", "l.yaml:", ""},
		{"two lists", "l.yaml", "labels:\n  - {id: a, label: yes}\nothers:\n  - {id: a, label: no}\n", "l.yaml: several lists label the same items: labels, others", "take one of them"},
		{"a list of words", "l.yaml", "- yes\n- no\n", "there are no labels in it", "id,label"},
		{"aliases of aliases", "l.yaml", aliases, "aliases repeat parts of it", ""},
		{"nothing", "l.csv", "id,label\n", "there are no labels in it", "id,label"},
		{"a sentence", "l.yaml", "just words\n", "there are no labels in it", "id,label"},
		{"a scale that is none", "l.yaml", "scale: big\na: yes\n", `the scale "big" is not a positive number`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := labels.Read(t.Context(), labels.Source{Names: []string{write(t, c.file, c.text)}})
			if c.want == "" {
				// "nan" means a missing value in a table.
				if err != nil {
					t.Errorf("Read: %v, want a row without a label", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("Read: %v, want an error that says %q", err, c.want)
			}
			if hint := deem.HintOf(err); !strings.Contains(hint, c.hint) {
				t.Errorf("hint %q, want it to say %q", hint, c.hint)
			}
		})
	}
}

func TestReadNothing(t *testing.T) {
	for _, src := range []labels.Source{
		{},
		{Names: []string{"no-such-file.csv"}},
		{Names: []string{"no-such-file.yaml"}},
		{Names: []string{"x"}, Scale: -1},
		{Names: []string{"x"}, Columns: map[string]string{"labl": "x"}},
	} {
		if set, err := labels.Read(t.Context(), src); err == nil {
			t.Errorf("Read(%+v) = %+v, want an error", src, set)
		}
	}
}

func TestOpinions(t *testing.T) {
	set, err := labels.Read(t.Context(), labels.Source{Names: []string{write(t, "l.csv",
		"id,label,annotator\na,yes,anna\na,yes,bert\na,no,cleo\nb,yes,anna\nb,no,bert\nc,no,anna\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(set.Annotators(), " "); got != "anna bert cleo" {
		t.Errorf("Annotators = %s", got)
	}
	o := set.Opinions()
	if a := o["a"]; !a.Yes || a.Tie || a.For != 2 || a.Against != 1 {
		t.Errorf("opinion of a = %+v, want yes by 2 to 1", a)
	}
	if b := o["b"]; !b.Tie || b.Yes {
		t.Errorf("opinion of b = %+v, want a tie", b)
	}
	if c := o["c"]; c.Yes || c.Tie {
		t.Errorf("opinion of c = %+v, want no", c)
	}
}

func TestJudge(t *testing.T) {
	read := func(text string) *labels.Set {
		set, err := labels.Read(t.Context(), labels.Source{Names: []string{write(t, "l.csv", text)}})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	j, err := read("id,label,annotator,response,confidence\na,CORRECT,anna,Paris,0.8\nb,yes,anna,,\nb,no,bert,,\nc,yes,anna,old answer,\nd,yes,anna,\"'=1+1\",\n").Judge("labels:l.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, response string
		label        string
		kind         deem.Kind
	}{
		{"a", "Paris\n", "CORRECT", ""},
		{"a", "London", "", deem.Input},
		{"b", "", "", deem.Unsure},
		{"c", "new answer", "", deem.Input},
		{"d", "=1+1", "yes", ""},
		{"nobody", "", "", deem.Input},
	} {
		v, err := j.Judge(t.Context(), deem.Item{ID: c.id, Response: c.response})
		f, _ := errors.AsType[*deem.Failure](err)
		switch {
		case c.kind == "" && (err != nil || v.Label != c.label || v.Score != 1):
			t.Errorf("Judge(%s, %q) = %+v, %v, want %s", c.id, c.response, v, err, c.label)
		case c.kind != "" && (f == nil || f.Kind != c.kind):
			t.Errorf("Judge(%s, %q) = %+v, %v, want a failure of kind %s", c.id, c.response, v, err, c.kind)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Judge(ctx, deem.Item{ID: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Judge when it is over: %v", err)
	}
}

// TestJudgeHash checks that the hash depends on the labels and not on their order.
func TestJudgeHash(t *testing.T) {
	hash := func(text string) string {
		set, err := labels.Read(t.Context(), labels.Source{Names: []string{write(t, "l.csv", text)}})
		if err != nil {
			t.Fatal(err)
		}
		j, err := set.Judge("labels")
		if err != nil {
			t.Fatal(err)
		}
		h, err := deem.JudgeHash(j)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := hash("id,label\na,yes\nb,no\n")
	if other := hash("id,label\nb,no\na,yes\n"); other != first {
		t.Error("the order of rows changes the hash")
	}
	if other := hash("id,label\na,yes\nb,yes\n"); other == first {
		t.Error("another label does not change the hash")
	}
}

func TestGradedVerdict(t *testing.T) {
	set, err := labels.Read(t.Context(), labels.Source{Scale: 10, Names: []string{write(t, "l.csv", "id,score,annotator\na,4,anna\na,7,bert\na,8,cleo\nb,9,anna\n")}})
	if err != nil {
		t.Fatal(err)
	}
	j, err := set.Judge("labels")
	if err != nil {
		t.Fatal(err)
	}
	v, err := j.Judge(t.Context(), deem.Item{ID: "a"})
	if err != nil || v.Pass == nil || !*v.Pass || v.Score < 0.633 || v.Score > 0.634 {
		t.Errorf("Judge(a) = %+v, %v, want a pass with the mean of 0.4, 0.7 and 0.8", v, err)
	}
	if v, err = j.Judge(t.Context(), deem.Item{ID: "b"}); err != nil || v.Score != 0.9 || v.Label != "9" {
		t.Errorf("Judge(b) = %+v, %v, want 0.9", v, err)
	}
}

func TestKnown(t *testing.T) {
	path := write(t, "known.yaml", "- item: q7\n  judge: yes\n  people: no\n  why: the year before\n- {id: q9, people: yes}\n- {id: q10, judge: no}\n")
	list, err := labels.ReadKnown(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	want := []labels.Known{
		{Item: "q7", Judge: true, Why: "the year before"}, {Item: "q9", People: true}, {Item: "q10", People: true},
	}
	where := cmpopts.IgnoreFields(labels.Known{}, "File", "Line")
	if d := cmp.Diff(want, list, where); d != "" {
		t.Errorf("known differ (-want +got):\n%s", d)
	}
	again, err := labels.ReadKnown(t.Context(), write(t, "again.yaml", labels.WriteKnown(list)))
	slices.SortFunc(want, func(a, b labels.Known) int { return strings.Compare(a.Item, b.Item) })
	if d := cmp.Diff(want, again, where); err != nil || d != "" {
		t.Errorf("what WriteKnown writes is read as (-want +got), %v:\n%s", err, d)
	}
	if none, err := labels.ReadKnown(t.Context(), write(t, "none.yaml", labels.WriteKnown(nil))); err != nil || len(none) != 0 {
		t.Errorf("an empty registry is read as %v, %v", none, err)
	}
	for _, c := range []struct{ text, want string }{
		{"- {judge: yes}\n", "no item is named"},
		{"- {id: a}\n", "neither what the judge says nor what people say"},
		{"- {id: a, judge: yes, people: yes}\n", "which is not a disagreement"},
		{"- {id: a, judge: maybe}\n", `judge says "maybe"`},
		{"- {id: a, judge: yes}\n- {id: a, judge: no}\n", "stands in line 1 already"},
	} {
		if _, err := labels.ReadKnown(t.Context(), write(t, "k.yaml", c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ReadKnown(%q): %v, want an error that says %q", c.text, err, c.want)
		}
	}
}

const (
	oldHash = "3f9c2a10b7e4aaaa"
	newHash = "0011223344556677"
)

func TestBind(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"l.csv", "id,label,note\na,yes,\"two\nlines, and \"\"quotes\"\"\"\r\n\nb,no,\n", "id,label,note,judge_hash\na,yes,\"two\nlines, and \"\"quotes\"\"\"," + newHash + "\r\n\nb,no,," + newHash + "\n"},
		{"l.csv", "id,label\na,yes", "id,label,judge_hash\na,yes," + newHash},
		{"l.csv", "id,label,judge_hash\na,yes," + oldHash + "\n", "id,label,judge_hash\na,yes," + newHash + "\n"},
		{"l.tsv", "id\tlabel\na\tyes\n", "id\tlabel\tjudge_hash\na\tyes\t" + newHash + "\n"},
		{"l.jsonl", `{"id":"a","label":"yes"}`, `{"judge_hash":"` + newHash + "\"}\n" + `{"id":"a","label":"yes"}`},
		{"l.json", ` {"labels":[{"id":"a","label":"yes"}]}`, ` {"judge_hash": "` + newHash + `", "labels":[{"id":"a","label":"yes"}]}`},
		{"l.yaml", "# by hand\nlabels:\n- {id: a, label: yes}\n", "# by hand\njudge_hash: " + newHash + "\nlabels:\n- {id: a, label: yes}\n"},
		{"l.yaml", "judge_hash: " + oldHash + "\na: yes\n", "judge_hash: " + newHash + "\na: yes\n"},
	} {
		path := write(t, c.name, c.text)
		src := labels.Source{Names: []string{path}}
		if err := labels.Bind(t.Context(), src, newHash); err != nil {
			t.Errorf("Bind(%q): %v", c.text, err)
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != c.want {
			t.Errorf("Bind(%q) wrote %q, %v, want %q", c.text, got, err, c.want)
		}
		set, err := labels.Read(t.Context(), src)
		if err != nil || set.JudgeHash != newHash || len(set.Labels) == 0 {
			t.Errorf("after Bind(%q): %+v, %v, want it bound to %s", c.text, set, err, newHash)
		}
		if rest, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".bind-*")); len(rest) > 0 {
			t.Errorf("Bind left %v behind", rest)
		}
	}
}

func TestBindRefused(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"l.yaml", "- {id: a, label: yes}\n"},
		{"l.json", `[{"id":"a","label":"yes"}]`},
		{"l.csv", "id,label\na,maybe\n"},
	} {
		path := write(t, c.name, c.text)
		if err := labels.Bind(t.Context(), labels.Source{Names: []string{path}}, newHash); err == nil {
			t.Errorf("Bind(%q) = nil, want an error", c.text)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.text {
			t.Errorf("Bind(%q) changed the file to %q, %v", c.text, got, err)
		}
	}
}

func TestBound(t *testing.T) {
	for _, c := range []struct {
		to   string
		want bool
	}{{newHash, true}, {newHash[:12], true}, {newHash[:7], false}, {"", false}, {oldHash, false}} {
		if got := labels.Bound(c.to, newHash); got != c.want {
			t.Errorf("Bound(%q, %q) = %v, want %v", c.to, newHash, got, c.want)
		}
	}
}

// TestDocumented compares the document about labels with the columns in the code, and
// checks its examples.
func TestDocumented(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "agree.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for _, part := range labels.Parts() {
		row := "| `" + part + "` | `" + strings.Join(labels.Columns(part), "`, `") + "` |"
		if !strings.Contains(doc, row) {
			t.Errorf("docs/agree.md lacks the row %s", row)
		}
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(doc, -1)
	if len(blocks) != 2 {
		t.Fatalf("docs/agree.md has %d blocks of YAML, want labels and a registry", len(blocks))
	}
	set, err := labels.Read(t.Context(), labels.Source{Names: []string{write(t, "l.yaml", blocks[0][1])}})
	if err != nil || len(set.Labels) != 1 || set.Labels[0].Annotator != "anna" || set.JudgeHash == "" {
		t.Errorf("the documented labels are read as %+v, %v", set, err)
	}
	known, err := labels.ReadKnown(t.Context(), write(t, "k.yaml", blocks[1][1]))
	if err != nil || len(known) != 1 || !known[0].Judge || known[0].Why == "" {
		t.Errorf("the documented registry is read as %+v, %v", known, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"id,label\na,yes\n", "a: yes\n", "labels:\n- {id: a, label: no}\n", `{"id":"a","label":true}`, "- id: &x a\n  label: *x\n",
		"judge_hash: 3f9c2a10b7e4\nscale: 10\na: 7\n", "id,score,annotator\na,0.5,x\n", "- {id: a, judge: yes, people: no}", "\x00", "a: !!binary x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		for _, name := range []string{"l.yaml", "l.csv", "l.jsonl"} {
			path := write(t, name, data)
			set, err := labels.Read(t.Context(), labels.Source{Names: []string{path}})
			if err == nil {
				for _, l := range set.Labels {
					if l.Score < 0 || l.Score > 1 || l.Label == "" {
						t.Errorf("%s: label %+v has no label or a score outside 0 to 1", name, l)
					}
				}
			}
			if list, err := labels.ReadKnown(t.Context(), path); err == nil {
				for _, k := range list {
					if k.Judge == k.People {
						t.Errorf("%s: %+v is not a disagreement", name, k)
					}
				}
			}
		}
	})
}

// FuzzKnown writes a registry with arbitrary ids and reasons and reads it again.
func FuzzKnown(f *testing.F) {
	for _, seed := range []string{"q1", "yes", "1.50", "- a: b", "#", "a: [", "\"", "'", "\n x", "\x00", "null", "~", "\u2028", "é\t", "0x1", "=", "|"} {
		f.Add(seed, seed, true)
	}
	f.Fuzz(func(t *testing.T, id, why string, yes bool) {
		if strings.TrimSpace(id) == "" || strings.TrimSpace(why) == "" || !utf8.ValidString(id) || !utf8.ValidString(why) {
			return // An id cannot have this value.
		}
		want := []labels.Known{{Item: id, Judge: yes, People: !yes, Why: why}}
		text := labels.WriteKnown(want)
		got, err := labels.ReadKnown(t.Context(), write(t, "known.yaml", text))
		if err != nil || len(got) != 1 {
			t.Fatalf("%q cannot be read again: %v", text, err)
		}
		if k := got[0]; strings.TrimSpace(k.Item) != strings.TrimSpace(id) || k.Judge != yes || k.People == yes || strings.TrimSpace(k.Why) != strings.TrimSpace(why) {
			t.Errorf("%q is read as %+v, want %+v", text, k, want[0])
		}
	})
}
