package published_test

import (
	"fmt"
	"strings"
	"testing"

	"deem"
	"deem/internal/published"
)

// The rows of the tests below.
const (
	row1 = `{"question":"Where?","gold_answer":"Paris","generated_answer":"Paris","correct":true}`
	row2 = `{"question":"Who?","gold_answer":"Bob","generated_answer":"Al","correct":false}`
	row3 = `{"question":"When?","gold_answer":"now","generated_answer":"now","correct":true}`
)

// Each row of a file counts once, wherever it stands, or the set says that it does not.
func TestEachRowOnce(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
		src  published.Source
		want string // ids
		left string
	}{
		{
			name: "settings next to the rows are not columns",
			text: `{"answer_model":"a","judge_model":"b","answer_temperature":0,"judge_temperature":0,"total_questions":2,"details":[` + row1 + "," + row2 + `]}`,
			want: "q0 q1",
		},
		{
			name: "a list of all rows next to a list for each type",
			text: `{"total":2,"by_type":{"a":{"responses":[` + row1 + `]},"b":{"responses":[` + row2 + `]}},"all_responses":[` + row1 + "," + row2 + `]}`,
			want: "q0/a q1/b",
			left: "2 rows of all_responses left out because other lists of the file have the same rows",
		},
		{
			name: "examples of wrong rows",
			text: `{"results":[` + row1 + "," + row2 + `],"wrong_examples":[` + row2 + `]}`,
			want: "q0 q1",
			left: "1 row of wrong_examples left out because other lists of the file have the same rows",
		},
		{
			name: "equal rows of one list are two rows",
			text: `{"results":[` + row1 + "," + row1 + `]}`,
			want: "q0 q1",
		},
		{
			name: "an object with a member for each id",
			text: `{"m1":` + row1 + `,"m2":` + row2 + `}`,
			want: "m1 m2",
		},
		{
			name: "an object with a member for each id, without questions, and settings",
			text: `{"config":{"model":"x","top_k":3},"answers":{"m1":{"response":"a","correct":true},"m2":{"response":"b","correct":false}}}`,
			want: "m1 m2",
		},
		{
			name: "a list for each conversation under its number",
			text: `{"0":[` + row1 + "," + row2 + `],"1":[` + row1 + "," + row3 + `]}`,
			want: "0/q0 0/q1 1/q0 1/q1",
		},
		{
			name: "decisions about documents are not rows",
			text: `[{"n":1,"hypothesis":"a","qa_score":1,"recall_results":[{"id":"s1","score":0.5},{"id":"s2","score":0.1}]},{"n":2,"hypothesis":"b","qa_score":0,"recall_results":[{"id":"s1","score":0.2}]}]`,
			src:  published.Source{Map: published.Mapping{"label": "qa_score"}},
			want: "q0 q1",
		},
		{
			name: "decisions next to the rows are left out",
			text: `{"results":[` + row1 + "," + row2 + `],"judgments":[{"id":"x","label":true},{"id":"y","label":false}]}`,
			want: "q0 q1",
			left: "2 objects of judgments left out for having neither a question nor a response",
		},
		{
			name: "an object in the list that is not a row",
			text: `{"results":[` + row1 + `,{"error":"timeout"},` + row2 + `]}`,
			want: "q0 q1",
			left: "1 object of results left out because not every object there is a row",
		},
		{
			name: "one of two lists with the same questions",
			text: `{"ours":[` + row1 + "," + row2 + `],"theirs":[` + strings.ReplaceAll(row1, "true", "false") + "," + strings.ReplaceAll(row2, "Al", "Bob") + `]}`,
			src:  published.Source{Pick: "theirs"},
			want: "theirs/q0 theirs/q1",
			left: "2 rows of other lists left out",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, "a.json", tt.text, tt.src)
			var ids []string
			for it := range s.Items() {
				if it.Category != "" {
					it.ID += "/" + it.Category
				}
				ids = append(ids, it.ID)
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("items %q, want %q", got, tt.want)
			}
			if got := strings.Join(s.LeftOut, "; "); got != tt.left {
				t.Errorf("left out: %q, want %q", got, tt.left)
			}
			for _, f := range s.Findings() {
				t.Errorf("%s: %s", f.Kind, f.Text)
			}
		})
	}
}

// Two lists of answers to the same questions are a question to the user, unless the file
// states how many rows there are.
func TestSeveralReadings(t *testing.T) {
	ours, theirs := "["+row1+","+row2+"]", "["+strings.ReplaceAll(row1, "true", "false")+","+strings.ReplaceAll(row2, "Al", "Bob")+"]"
	name := write(t, "a.json", `{"ours":`+ours+`,"theirs":`+theirs+`}`)
	_, err := published.Open(t.Context(), published.Source{Names: []string{name}})
	if err == nil || !strings.Contains(err.Error(), "several lists of answers to the same questions: ours, theirs") || !strings.Contains(deem.HintOf(err), "--pick ours") {
		t.Errorf("Open: %v (%s), want a question", err, deem.HintOf(err))
	}
	if s := open(t, "a.json", `{"total":4,"ours":`+ours+`,"theirs":`+theirs+`}`, published.Source{}); s.Len() != 4 {
		t.Errorf("%d rows, want all 4 as stated", s.Len())
	}
}

// Ids that begin with the name of a conversation name the cluster.
func TestClusterByID(t *testing.T) {
	for _, tt := range []struct{ first, second, want string }{
		{"conv-0:122", "conv-26_q4", "conv-0 conv-26"},
		{"conv-0:122", "q4", "conv-0 "},
		{"gpt4_2655b836", "conv_x", " "},
	} {
		s := open(t, "a.jsonl", fmt.Sprintf(`{"id":%q,"question":"a","response":"r","correct":true}`+"\n"+`{"id":%q,"question":"b","response":"r","correct":true}`, tt.first, tt.second), published.Source{})
		var got []string
		for it := range s.Items() {
			got = append(got, it.Cluster)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("ids %s and %s: clusters %q, want %q", tt.first, tt.second, got, tt.want)
		}
	}
}

// A file without a known column of verdicts gets a mapping that was tried.
func TestMappingTried(t *testing.T) {
	name := write(t, "a.json", `[{"n":1,"hypothesis":"a","qa_score":1,"recall_results":[{"id":"s1","score":0.5}]},{"n":2,"hypothesis":"b","qa_score":0,"recall_results":[]}]`)
	_, err := published.Open(t.Context(), published.Source{Names: []string{name}})
	if err == nil || deem.HintOf(err) != "qa_score looks like the verdict, and then there are 2 rows: --map label=qa_score" {
		t.Errorf("Open: %v (%s), want a mapping", err, deem.HintOf(err))
	}
}

// A number is compared with the rows of the section it stands in.
func TestClaimsOfSections(t *testing.T) {
	for _, tt := range []struct{ name, text, want, note string }{
		{
			name: "a section without rows that says how many it had",
			text: `{"layer2":{"passed":1,"total":2},"categories":[{"passed":2,"total":3,"details":[` + row1 + "," + row2 + "," + row3 + `]}]}`,
			want: "categories[0].passed true",
			note: "layer2: not compared, because it is about 2 rows and the file has 3 here",
		},
		{
			name: "a section without rows",
			text: `{"layer2":{"accuracy":0.5},"results":[` + row1 + "," + row2 + "," + row3 + `]}`,
			note: "layer2.accuracy: not compared, because there are no rows in that section of the file",
		},
		{
			name: "conversations with their own scores",
			text: `{"accuracy":66.67,"conv-1":{"accuracy":0.5,"results":[` + row1 + "," + row2 + `]},"conv-2":{"accuracy":1.0,"results":[` + row3 + `]}}`,
			want: "accuracy true, conv-1.accuracy true, conv-2.accuracy true",
		},
		{
			name: "a summary is about the rows next to it",
			text: `{"summary":{"correct":1},"results":[` + row1 + "," + row2 + "," + row3 + `]}`,
			want: "summary.correct false",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, "a.json", tt.text, published.Source{})
			var got []string
			for _, c := range s.Check(s.Claims) {
				got = append(got, fmt.Sprint(c.Name, " ", c.Agrees))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("claims %q, want %q", got, tt.want)
			}
			if notes := strings.Join(s.Notes(), "; "); !strings.Contains(notes, tt.note) {
				t.Errorf("notes %q, want %q", notes, tt.note)
			}
		})
	}
}

// The last of several results of a pair is the verdict: the ones before it are what the
// judge was asked to reconcile.
func TestVerdictOnPairIsLast(t *testing.T) {
	first := `{"swap = False":{"winner":"1"},"swap = True":{"winner":"2"}}`
	last := `{"swap = False":{"winner":"2"},"swap = True":{"winner":"2"}}`
	s := open(t, "a.json", `[{"input":"i","output_1":"a","output_2":"b","label":2,"results":[`+first+`,`+last+`]}]`, published.Source{})
	if got := told(s); s.Trials() != 2 || strings.Count(got, "=> A 1") != 2 {
		t.Errorf("%d trials: %s, want 2 that are right", s.Trials(), got)
	}
}

// Verdicts are recognised by these names of columns, too, in any spelling.
func TestVerdictNames(t *testing.T) {
	for _, name := range []string{"Acceptable?", "is_acceptable", "original_verdict", "Original Label"} {
		text := strings.ReplaceAll("["+row1+","+row2+","+row3+"]", `"correct"`, fmt.Sprintf("%q", name))
		if got, want := sum(open(t, "a.json", text, published.Source{})), "3 items, score 2.000000"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
