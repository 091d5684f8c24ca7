package locomo_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark/locomo"
)

// data is two conversations in the published format. The first has a question twice, once
// in category 5, and an integer answer.
const data = `[
{"sample_id": "conv-1", "conversation": {"session_1": [{"speaker": "A", "text": "No question: here."}]}, "qa": [
 {"question": "Who?", "answer": "Anil", "evidence": ["D1:1"], "category": 4},
 {"question": "When?", "answer": 2019, "evidence": [], "category": 2},
 {"question": "Who?", "adversarial_answer": "Tom", "evidence": ["D1:2"], "category": 5}]},
{"sample_id": "conv-2", "qa": [
 {"question": "Where?", "answer": "Ghent", "evidence": ["D2:1"], "category": 1},
 {"question": "When?", "answer": "May", "evidence": ["D2:2"], "category": 2}]}
]`

// brief renders the items as id=response.
func brief(list []deem.Item) string {
	var parts []string
	for _, it := range list {
		parts = append(parts, it.ID+"="+it.Response)
	}
	return strings.Join(parts, " ")
}

// TestForms joins the same answers in the formats in use.
func TestForms(t *testing.T) {
	const want = "conv-1/q0=a conv-1/q1=b conv-2/q0=c conv-2/q1=d"
	forms := map[string]string{
		"mem0": `{"0": [{"question": "Who?", "answer": "Anil", "response": "a", "category": "4", "llm_score": 1}, {"question": "When?", "answer": "2019", "response": "b", "category": "2"}],
			"1": [{"question": "Where?", "answer": "Ghent", "response": "c", "category": "1"}, {"question": "When?", "answer": "May", "response": "d", "category": "2"}]}`,
		"zep": `{"locomo_experiment_user_0": [{"question": "Who?", "answer": "a", "golden_answer": "Anil", "grade": true}, {"question": "When?", "answer": "b", "golden_answer": 2019, "grade": false}],
			"locomo_experiment_user_1": [{"question": "Where?", "answer": "c", "golden_answer": "Ghent", "grade": true}, {"question": "When?", "answer": "d", "golden_answer": "May", "grade": true}]}`,
		"memos": `{"total_questions": 4, "detailed_results": {
			"locomo_exp_user_0": [{"question_id": "locomo_0_qa0", "question": "Who?", "golden_answer": "Anil", "generated_answer": "a", "llm_judgments": {"judgment_1": true, "judgment_2": false}, "category": "4"},
				{"question_id": "locomo_0_qa1", "question": "When?", "golden_answer": "2019", "generated_answer": "b", "category": "2"}],
			"locomo_exp_user_1": [{"question_id": "locomo_1_qa0", "question": "Where?", "golden_answer": "Ghent", "generated_answer": "c", "category": "1"},
				{"question_id": "locomo_1_qa1", "question": "When?", "golden_answer": "May", "generated_answer": "d", "category": "2"}]}, "metadata": {"notes": [{"a": 1}]}}`,
		"upstream": `[{"sample_id": "conv-2", "qa": [{"question": "Where?", "answer": "Ghent", "category": 1, "gpt-4_prediction": "c", "gpt-4_prediction_context": ["D2:1"], "gpt-4_f1": 1.0}, {"question": "When?", "answer": "May", "category": 2, "gpt-4_prediction": "d"}]},
			{"sample_id": "conv-1", "qa": [{"question": "Who?", "answer": "Anil", "category": 4, "gpt-4_prediction": "a"}, {"question": "When?", "answer": 2019, "category": 2, "gpt-4_prediction": "b"}]}]`,
		"counted from 1": `{"conversations": [{"conversationId": "locomo_2", "results": [{"question": "Where?", "expectedAnswer": "Ghent", "generatedAnswer": "c", "category": 1}, {"question": "When?", "expectedAnswer": "May", "generatedAnswer": "d"}]},
			{"conversationId": "locomo_1", "results": [{"question": "Who?", "expectedAnswer": "Anil", "generatedAnswer": "a"}, {"question": "When?", "expectedAnswer": "2019", "generatedAnswer": "b"}]}]}`,
		"rows":     "{\"sample_id\": \"conv-2\", \"question\": \"When?\", \"response\": \"d\"}\n{\"sample_id\": \"conv-2\", \"question\": \"where?\", \"response\": \"c\"}\n{\"sample_id\": \"conv-1\", \"question\": \"When? \", \"response\": \"b\"}\n{\"sample_id\": \"conv-1\", \"question\": \"WHO?\", \"response\": \"a\"}",
		"no label": `[{"question": "When?", "response": "b"}, {"question": "When?", "response": "d"}, {"question": "Who?", "response": "a"}, {"question": "Where?", "response": "c"}]`,
		"ids":      "{\"id\": \"conv-2/q1\", \"response\": \"d\"}\n{\"id\": \"conv-2/q0\", \"response\": \"c\"}\n{\"id\": \"conv-1/q1\", \"response\": \"b\"}\n{\"id\": \"conv-1/q0\", \"response\": \"a\"}",
		"the names of datasets": `[{"Conv ID": "conv-1", "Question": "Who?", "Actual Output": "a", "Expected Output": "Anil"}, {"Conv ID": "conv-1", "Question": "When?", "Actual Output": "b"},
			{"Conv ID": "conv-2", "Question": "Where?", "Actual Output": "c"}, {"Conv ID": "conv-2", "Question": "When?", "Actual Output": "d"}]`,
		"csv":       "conversation,question,response,category\nconv-1,Who?,a,4.0\nconv-1,When?,b,2.0\nconv-2,Where?,c,1\nconv-2,When?,d,2\n",
		"by answer": `[{"question": "When?", "response": "d", "gold": "May"}, {"question": "When?", "response": "b", "gold": 2019}, {"question": "Who?", "pred": "a"}, {"question": "Where?", "hypothesis": "c"}]`,
	}
	for name, text := range forms {
		t.Run(name, func(t *testing.T) {
			s := open(t, locomo.Options{Data: []string{write(t, "data.json", data)}, Responses: []string{write(t, "answers", text)}})
			if got := brief(items(t, s)); got != want {
				t.Errorf("items %s, want %s", got, want)
			}
			if diff := cmp.Diff([]string{`1 question of category 5 (adversarial) left out: the policy for it is "excluded"`}, s.Notes()); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestItems checks all fields of an item.
func TestItems(t *testing.T) {
	answers := `{"sample_id": "conv-1", "question": "Who?", "response": "", "category": 5}
{"sample_id": "conv-1", "question": "When?", "response": 7, "context_ids": ["S1", "S2"]}
{"sample_id": "conv-1", "question": "Who?", "response": "Anil {x}", "context": "much text"}`
	got := items(t, open(t, locomo.Options{
		Data: []string{write(t, "data.json", data)}, Responses: []string{write(t, "answers.jsonl", answers)}, With: map[string]string{"category5": string(locomo.Phrases)},
	}))
	want := []deem.Item{
		{
			ID: "conv-1/q0", Category: "4", Cluster: "conv-1", Question: "Who?", References: []string{"Anil"}, Response: "Anil {x}",
			Fields: map[string]string{"evidence": `["D1:1"]`},
		},
		{
			ID: "conv-1/q1", Category: "2", Cluster: "conv-1", Question: "When?", References: []string{"2019"}, Response: "7",
			Fields: map[string]string{"context_ids": `["S1","S2"]`},
		},
		{
			ID: "conv-1/q2", Category: "5", Cluster: "conv-1", Question: "Who?", Response: "",
			Fields: map[string]string{"adversarial_answer": "Tom", "evidence": `["D1:2"]`},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

// TestAlone reads files that contain everything, and checks the ids.
func TestAlone(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"0": [{"question": "A", "answer": "x", "response": "a", "category": "4"}, {"question": "A", "answer": "x", "response": "b", "category": "4"}]}`, "0/0=a 0/1=b"},
		{`[{"question": "A", "answer": "x", "response": "a", "category": 4}, {"question": "B", "answer": "x", "response": "b", "category": 4}]`, "0=a 1=b"},
		{`[{"question_id": "k", "question": "A", "answer": "x", "response": "a", "category": 4}]`, "k=a"},
		{`{"results": [{"question": "A", "answer": "x", "response": "a", "category": 4}]}`, "0=a"},
		{`{"question": "A", "answer": "x", "response": "a", "category": 4}`, "0=a"},
		{`{"sample_id": "conv-9", "qa": [{"question": "A", "answer": "x", "category": 4, "prediction": "a"}]}`, "conv-9/q0=a"},
		{`{"sample_id": "conv-9", "qa": [{"question": "A", "answer": "x", "category": 4}, {"question": "B", "answer": "x", "category": 3, "prediction": "b"}]}`, "conv-9/q1=b"},
	} {
		s := open(t, locomo.Options{Data: []string{write(t, "all.json", tt.text)}})
		if got := brief(items(t, s)); got != tt.want {
			t.Errorf("%s: items %s, want %s", tt.text, got, tt.want)
		}
	}
}

func TestSystems(t *testing.T) {
	file := write(t, "out.json", `[{"sample_id": "c", "qa": [{"question": "A", "answer": "x", "category": 4, "gpt_prediction": "a", "claude_prediction": "b"}]}]`)
	if got := brief(items(t, open(t, locomo.Options{Data: []string{file}, With: map[string]string{"system": "claude"}}))); got != "c/q0=b" {
		t.Errorf("items %s, want c/q0=b", got)
	}
	_, err := locomo.Open(t.Context(), locomo.Options{Data: []string{file}})
	if err == nil || !strings.HasSuffix(err.Error(), "qa[0]: there are the responses of several systems: gpt_prediction, claude_prediction") {
		t.Errorf("error %v, want one that names both systems", err)
	}
	if hint := deem.HintOf(err); hint != `say which to judge: the system "gpt"` {
		t.Errorf("hint %q", hint)
	}
}

func TestNotes(t *testing.T) {
	answers := `{"question": "Who?", "response": "a", "answer": "Tom", "category": 1}
{"question": "Why?", "response": "b"}
{"question": "Where?", "answer": "Ghent", "response": null}
{"id": "conv-7/q1", "response": "c"}`
	s := open(t, locomo.Options{Data: []string{write(t, "data.json", data)}, Responses: []string{write(t, "answers.jsonl", answers)}})
	want := []string{
		`1 question of category 5 (adversarial) left out: the policy for it is "excluded"`,
		`2 responses to no question of the data, left out: "Why?", conv-7/q1`,
		"3 questions without a response, in no number: conv-1/q1, conv-2/q0, conv-2/q1",
		"1 response in a file that has another category than the data, whose category counts: conv-1/q0",
		"1 response in a file that has another reference than the data, whose reference counts: conv-1/q0",
	}
	if diff := cmp.Diff(want, s.Notes()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestOpenRefuses(t *testing.T) {
	const row = `{"question": "Who?", "response": "a"}`
	for _, tt := range []struct {
		name, data, responses string
		o                     locomo.Options
		want, hint            string
	}{
		{"nothing", "", "", locomo.Options{}, "no file to read items from", ""},
		{"policy", data, row, locomo.Options{With: map[string]string{"category5": "all"}}, `no policy "all" for category 5; there are excluded, phrases, abstention`, ""},
		{"no answer", data, `{"question": "Why?", "response": "a"}`, locomo.Options{}, "no response answers a question of the data", `questions are found by their text or their id; the first response is to "Why?"`},
		{"no response", data, `{"question": "Who?", "response": null}`, locomo.Options{}, "no row of answers has a response", ""},
		{"key alone", data, "", locomo.Options{}, "no question of data has a response", `name the file with the system's responses too, or put them in a column "response"`},
		{"only category 5", "", `{"question": "Q", "answer": "x", "response": "a", "category": 5}`, locomo.Options{}, "every question with a response is of category 5, which is left out", `the policies "phrases" and "abstention" score it`},
		{"no rows", "[]", row, locomo.Options{}, "no question in data, answers", ""},
		{"not JSON", data, `{"question": "Who?"`, locomo.Options{}, "answers:1: not JSON", "each row must be one complete JSON object"},
		{"no question", data, `{"a": {"b": [1, {"c": 2}]}}`, locomo.Options{}, "answers:1: there is no question in it", ""},
		{"answered twice", data, `{"0": [` + row + `, {"question": "When?", "response": "b"}, {"question": "When?", "response": "c"}]}`, locomo.Options{}, `answers:1: 0[2]: the question "conv-1/q1" was answered before, at answers:1 (0[1])`, ""},
		{"id answered twice", data, "{\"id\": \"conv-2/q1\", \"response\": \"a\"}\n{\"id\": \"conv-2/q1\", \"response\": \"b\"}", locomo.Options{}, `answers:2: the question "conv-2/q1" was answered before, at answers:1`, ""},
		{"ambiguous", data, `{"question": "Who?", "answer": "Anil"}`, locomo.Options{}, `answers:1: the row has an "answer" and no response, and "answer" may mean either`, `call what the system gave "response"`},
		{"category by name", data, `{"question": "Who?", "response": "a", "category": "multi-hop"}`, locomo.Options{}, `answers:1: category "multi-hop" is not one of 1 to 5`, "names are not keys, because different people give them to different categories; write the number that the data has"},
		{"no category", "", `{"question": "Who?", "response": "a", "answer": "b"}`, locomo.Options{}, "answers:1: the question has no category, and each is scored in its own way", "the published file has the categories: give it as the data, and this one as the responses"},
		{"no reference", "", `{"question": "Who?", "response": "a", "category": 1}`, locomo.Options{}, `answers:1: the question "Who?" has no answer to judge by`, ""},
		{"no text", `[{"sample_id": "c", "qa": [{"answer": "x", "category": 1}]}]`, row, locomo.Options{}, `data:1: qa[0]: it has no text under "question"`, ""},
		{"conversation twice", `[{"sample_id": "c", "qa": [{"question": "Who?", "answer": "x", "category": 1}]}, {"sample_id": "c", "qa": [{"question": "Where?", "answer": "x", "category": 1}]}]`, row, locomo.Options{}, `data:1: qa[0]: the question "c/q0" was given before, at data:1 (qa[0])`, ""},
		{"required", data, row, locomo.Options{RequireAll: true}, "data:2: qa[1]: question \"conv-1/q1\" has no response", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if tt.data != "" {
				tt.o.Data = []string{writeHere(t, "data", tt.data)}
			}
			if tt.responses != "" {
				tt.o.Responses = []string{writeHere(t, "answers", tt.responses)}
			}
			_, err := locomo.Open(t.Context(), tt.o)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("error %v, want %s", err, tt.want)
			}
			if hint := deem.HintOf(err); hint != tt.hint {
				t.Errorf("hint %q, want %q", hint, tt.hint)
			}
		})
	}
}

func TestStdinTwice(t *testing.T) {
	_, err := locomo.Open(t.Context(), locomo.Options{Data: []string{"-"}, Responses: []string{"-"}})
	if err == nil || !strings.Contains(err.Error(), "can be read only once") {
		t.Errorf("error %v, want one about standard input", err)
	}
	s := open(t, locomo.Options{Data: []string{"-"}, Responses: []string{write(t, "a", `{"question": "Who?", "response": "a"}`)}, Stdin: strings.NewReader(data)})
	if got := brief(items(t, s)); got != "conv-1/q0=a" {
		t.Errorf("items %s, want conv-1/q0=a", got)
	}
}

func TestLimit(t *testing.T) {
	file := write(t, "data.json", data)
	answers := write(t, "a.jsonl", `[{"question": "When?", "response": "b"}, {"question": "When?", "response": "d"}, {"question": "Who?", "response": "a"}, {"question": "Where?", "response": "c"}]`)
	all := open(t, locomo.Options{Data: []string{file}, Responses: []string{answers}})
	two := open(t, locomo.Options{Data: []string{file}, Responses: []string{answers}, Limit: 2})
	if all.Len() != 4 || brief(items(t, two)) != "conv-1/q0=a conv-1/q1=b" || all.Hash() == two.Hash() {
		t.Errorf("items %s of %d, hashes %.8s and %.8s", brief(items(t, two)), all.Len(), two.Hash(), all.Hash())
	}
	if got := two.Names(); !slices.Equal(got, []string{file, answers}) || two.Close() != nil {
		t.Errorf("names %q", got)
	}
}

// TestShuffled joins the example's rows in many orders: as long as equal questions keep
// their order, the items are the same.
func TestShuffled(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(readFile(t, example("responses.jsonl"))), "\n")
	o := locomo.Options{Data: []string{example("conversations.json")}, With: map[string]string{"category5": string(locomo.Phrases)}}
	o.Responses = []string{example("responses.jsonl")}
	want := open(t, o).Hash()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		mixed := slices.Clone(rows)
		random.Shuffle(len(mixed), func(i, k int) { mixed[i], mixed[k] = mixed[k], mixed[i] })
		// Restore the order of the two rows of the repeated question.
		var twice []int
		for i, r := range mixed {
			if strings.Contains(r, "Ines's dog?") {
				twice = append(twice, i)
			}
		}
		if strings.Contains(mixed[twice[0]], "called") {
			mixed[twice[0]], mixed[twice[1]] = mixed[twice[1]], mixed[twice[0]]
		}
		o.Responses = []string{write(t, "mixed.jsonl", strings.Join(mixed, "\n"))}
		if got := open(t, o).Hash(); got != want {
			t.Fatalf("hash %.8s of the rows in the order %q, want %.8s", got, mixed, want)
		}
	}
}

// FuzzOpen checks that any file gives items or an error.
func FuzzOpen(f *testing.F) {
	f.Add(`{"0": [{"question": "Who?", "answer": "Anil", "response": "a", "category": "4"}]}`)
	f.Add(`[{"question": "Who?", "golden_answer": 1, "answer": "a"}]`)
	f.Add(`{"question": "Who?", "response": ["a"], "evidence": "D1", "context": [1]}`)
	f.Add(`{"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"question": "Who?"}}}}}}}}}`)
	f.Add(`{"id": "locomo_9999999999999999999_qa1", "response": "a"}`)
	f.Add(`{"qa": [{}, 1, null, {"question": ""}]}`)
	dir := f.TempDir()
	file := filepath.Join(dir, "data.json")
	if err := writeFile(file, data); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		answers := write(t, "answers", text)
		for _, o := range []locomo.Options{
			{Data: []string{file}, Responses: []string{answers}, With: map[string]string{"category5": string(locomo.Phrases)}},
			{Responses: []string{answers}},
		} {
			s, err := locomo.Open(t.Context(), o)
			if err != nil {
				var p *deem.Problems
				if errors.As(err, &p) && p.Total == 0 {
					t.Errorf("%q: an error without a problem", text)
				}
				continue
			}
			seen := map[string]bool{}
			for _, it := range items(t, s) {
				if it.ID == "" || seen[it.ID] || len(it.Category) != 1 {
					t.Errorf("%q: item %+v", text, it)
				}
				seen[it.ID] = true
			}
		}
	})
}
