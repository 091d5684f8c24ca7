package published_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	_ "deem/benchmark" // the list of benchmarks
	"deem/internal/published"
)

// write writes a file and returns its name.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open reads a file with the given text.
func open(t *testing.T, name, text string, src published.Source) *published.Set {
	t.Helper()
	src.Names = []string{write(t, name, text)}
	s, err := published.Open(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// told writes a set as lines: its shape, then each record, or the item if it has none.
func told(s *published.Set) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %s\n", s.Shape, s.Rule)
	recorded := map[int]bool{}
	for rec := range s.Records() {
		recorded[rec.Position] = true
		b.WriteString(itemLine(rec.Item))
		if rec.Trial > 0 {
			fmt.Fprintf(&b, " #%d", rec.Trial)
		}
		if f := rec.Failure; f != nil {
			fmt.Fprintf(&b, " => %s", f.Kind)
		} else {
			fmt.Fprintf(&b, " => %s %v", rec.Verdict.Label, rec.Verdict.Score)
			if rec.Verdict.Reason != "" {
				fmt.Fprintf(&b, " (%s)", rec.Verdict.Reason)
			}
		}
		for _, c := range rec.Calls {
			fmt.Fprintf(&b, " %s said %q", c.Model, c.Reply.Text)
		}
		b.WriteByte('\n')
	}
	position := 0
	for it := range s.Items() {
		if !recorded[position] {
			b.WriteString(itemLine(it) + "\n")
		}
		position++
	}
	return b.String()
}

func itemLine(it deem.Item) string {
	return fmt.Sprintf("%s|%s|%s|%s|%s|%s", it.ID, it.Category, it.Cluster, it.Question, strings.Join(it.References, "/"), it.Response)
}

// Every shape is recognised by its content, whatever the file name.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		src        published.Source
		want       string
	}{
		{
			name: "LongMemEval eval-results",
			text: `{"question_id":"q1","hypothesis":"in May","autoeval_label":{"model":"gpt-4o-2024-08-06","label":true}}
{"question_id":"q2_abs","hypothesis":"no idea","autoeval_label":{"model":"gpt-4o-2024-08-06","label":false}}`,
			want: `LongMemEval eval-results; a row is right when autoeval_label.label is true
q1|||||in May => true 1
q2_abs|||||no idea => false 0
`,
		},
		{
			name: "LongMemEval hypotheses",
			text: `{"question_id":"q1","hypothesis":"in May"}`,
			want: `LongMemEval hypotheses; 
q1|||||in May
`,
		},
		{
			name: "a report of LongMemEval with replies",
			text: `{"per_question":[{"question_id":"gpt4_2655b836","question_type":"multi-session","question":"How many?","ground_truth":3,"prediction":"three","correct":true,"judge_model":"gpt-4o","judge_raw":"Yes."}],"meta":{"model":"x"}}`,
			want: `LongMemEval results; a row is right when correct is true
gpt4_2655b836|multi-session||How many?|3|three => true 1 gpt-4o said "Yes."
`,
		},
		{
			name: "the reply in place of the label, spelt in three ways",
			text: `[{"question_id":"0a995998","question_type":"multi-session","answer":"18","hypothesis":"18","evaluation":"yes"},
{"question_id":"e47becba_abs","question_type":"multi-session","answer":"2","hypothesis":"3","evaluation":"No"},
{"question_id":"gpt4_e061b84g","question_type":"multi-session","answer":"4","hypothesis":"4","evaluation":"Yes."}]`,
			want: `LongMemEval results; a row is right when evaluation is Yes. or yes
0a995998|multi-session|||18|18 => yes 1  said "yes"
e47becba_abs|multi-session|||2|3 => No 0  said "No"
gpt4_e061b84g|multi-session|||4|4 => Yes. 1  said "Yes."
`,
		},
		{
			name: "Mem0 and memobase: a list for each conversation, in the order of the file",
			text: `{"1":[{"question":"When?","answer":"May","response":"in May","category":"2","bleu_score":0.5,"f1_score":0.66,"llm_score":1}],
"0":[{"question":"When?","answer":"June","response":"July","category":2,"llm_score":0},{"question":"When?","answer":"June","response":"June","category":"4.0","llm_score":"1"}]}`,
			want: `LoCoMo results as Mem0 writes them; a row is right when llm_score is 1
1/q0|2|1|When?|May|in May => 1 1
0/q0|2|0|When?|June|July => 0 0
0/q1|4|0|When?|June|June => 1 1
`,
		},
		{
			name: "Zep: the response is called answer",
			text: `{"locomo_experiment_user_0":[{"question":"Who?","golden_answer":"Ada","answer":"Grace","grade":false,"category":1},{"question":"Who?","golden_answer":"Ada","answer":"Ada","grade":true,"category":1}]}`,
			want: `LoCoMo results of Zep; a row is right when grade is true
locomo_experiment_user_0/q0|1|locomo_experiment_user_0|Who?|Ada|Grace => false 0
locomo_experiment_user_0/q1|1|locomo_experiment_user_0|Who?|Ada|Ada => true 1
`,
		},
		{
			name: "MemOS: several verdicts on an item are trials",
			text: `{"detailed_results":{"locomo_exp_user_0":[{"question_id":"locomo_0_qa0","question":"Who?","golden_answer":"Ada","generated_answer":"Ada","llm_judgments":{"judgment_1":true,"judgment_2":false,"judgment_3":null},"category":"1"}]}}`,
			want: `LoCoMo results of MemOS or EverMemOS; a row is right when llm_judgments is true
locomo_0_qa0|1|locomo_exp_user_0|Who?|Ada|Ada => true 1
locomo_0_qa0|1|locomo_exp_user_0|Who?|Ada|Ada #1 => false 0
locomo_0_qa0|1|locomo_exp_user_0|Who?|Ada|Ada #2 => empty
`,
		},
		{
			name: "conversations with prose as replies",
			text: `{"summary":{"correctAnswers":1},"conversations":[{"conversationId":"locomo_1","results":[{"question":"When?","expectedAnswer":2022,"generatedAnswer":"2022","category":2,"conversationId":"locomo_1","evaluationResult":"CORRECT","evaluationReasoning":"Same year.\n\n{\"label\": \"CORRECT\"}"}]}]}`,
			want: "LoCoMo results; a row is right when evaluationResult is CORRECT\n" +
				"locomo_1/q0|2|locomo_1|When?|2022|2022 => CORRECT 1 (Same year.\n\n{\"label\": \"CORRECT\"})  said \"Same year.\\n\\n{\\\"label\\\": \\\"CORRECT\\\"}\"\n",
		},
		{
			name: "what is not a verdict",
			text: `{"id":1,"question":"q","answer":"a","response":"r","label":"SKIP"}
{"id":2,"question":"q","answer":"a","response":"r","label":"ERROR"}
{"id":3,"question":"q","answer":"a","response":"r","label":"judge_failed","judge_failure_reason":"429"}
{"id":4,"question":"q","answer":"a","response":"r","label":"garbage"}
{"id":5,"question":"q","answer":"a","response":"r","label":null}
{"id":6,"question":"q","answer":"a","response":"r","label":"nan"}
{"id":7,"question":"q","answer":"a","response":"r","label":"Invalid_Judge"}
{"id":8,"question":"q","answer":"a","response":"r"}
{"id":9,"question":"q","answer":"a","response":"r","label":"CORRECT"}
{"id":10,"question":"q","answer":"a","response":"r","label":"perhaps"}`,
			want: `rows with verdicts; a row is right when label is CORRECT
1|||q|a|r => unsure
2|||q|a|r => provider
3|||q|a|r => provider
4|||q|a|r => unparseable
5|||q|a|r => empty
6|||q|a|r => empty
7|||q|a|r => unparseable
8|||q|a|r => empty
9|||q|a|r => CORRECT 1
10|||q|a|r => unparseable
`,
		},
		{
			name: "a column that says what is wrong, and references in columns of their own",
			text: `[{"question_id":1,"question":"毕业于哪所大学？","response":"北京大学","Best_Answer1":"没有","Best_Answer2":"我没有上过大学","is_hallucination":true},{"question_id":2,"question":"q","response":"没有","Best_Answer1":"没有","is_hallucination":false}]`,
			want: `rows with verdicts; a row is right when is_hallucination is false
1|||毕业于哪所大学？|没有/我没有上过大学|北京大学 => true 0
2|||q|没有|没有 => false 1
`,
		},
		{
			name: "a judge that is an object, and other names for everything",
			text: `{"totalP":1,"totalF":0,"questions":[{"id":"T1","dim":"T1_info","q":"哪天?","expect":"4/20","reply":"4月20日","judge":{"pass":true,"reason":"一致"}}]}`,
			want: `rows with verdicts; a row is right when judge.pass is true
T1|T1_info||哪天?|4/20|4月20日 => true 1 (一致)
`,
		},
		{
			name: "scores of metrics",
			text: `[{"question":"When?","answer":"in 1755","golden_answer":"1755","metrics":{"correctness":{"score":0.9,"reason":"fine"},"EM":{"score":0.0,"reason":""},"f1":{"score":0.5}}}]`,
			want: `rows with verdicts; the score is the number in metrics.correctness.score
q0|||When?|1755|in 1755 => 0.9 0.9 (fine)
`,
		},
		{
			name: "no judge, only a formula",
			text: `{"user_id":"0","question":"When?","gold":2022,"pred":"In 2022.","category":2,"f1":0.67,"evaluation":{"f1":0.66,"judge":null}}`,
			want: `LoCoMo results; the score is the number in evaluation.f1
0/q0|2|0|When?|2022|In 2022. => 0.66 0.66
`,
		},
		{
			name: "a scale, and further words",
			text: `{"id":"a","prompt":"p","output":"o","rating":4}` + "\n" + `{"id":"b","prompt":"p","output":"o","rating":"top"}`,
			src:  published.Source{Scale: 5, Yes: []string{"TOP"}},
			want: `rows with verdicts; the score is the number in rating of 5
a|||p||o => 4 0.8
b|||p||o => top 1
`,
		},
		{
			name: "columns by mapping, dotted paths included",
			text: `{"nr":7,"in":{"text":"Who?"},"key":["Ada","Countess"],"out":"Ada","ok":"ja","why":"same"}`,
			src:  published.Source{Map: published.Mapping{"id": "nr", "question": "in.text", "references": "key", "response": "out", "label": "ok", "reason": "why"}, Yes: []string{"ja"}},
			want: `rows with verdicts; a row is right when ok is ja
7|||Who?|Ada/Countess|Ada => ja 1 (same)
`,
		},
		{
			name: "one of several systems",
			text: `{"run":"a","question_id":"1","question":"q","reference":"x","response":"y","judge_label":false}
{"run":"b","question_id":"1","question":"q","reference":"x","response":"x","judge_label":true}`,
			src: published.Source{Pick: "b"},
			want: `rows with verdicts; a row is right when judge_label is true
1|||q|x|x => true 1
`,
		},
		{
			name: "all systems together: an id that comes again is told apart",
			text: `{"run":"a","question_id":"1","question":"q","reference":"x","response":"y","judge_label":false}
{"run":"b","question_id":"1","question":"q","reference":"x","response":"x","judge_label":true}`,
			src: published.Source{Pick: published.All},
			want: `rows with verdicts; a row is right when judge_label is true
1|||q|x|y => false 0
1~2|||q|x|x => true 1
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, "anything.json", c.text, c.src)
			if diff := cmp.Diff(c.want, told(s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A table is read like other rows.
func TestTable(t *testing.T) {
	s := open(t, "results.csv", "question,answer,response,category,label\nWho?,Ada,Ada,people,CORRECT\nWho?,Ada,,people,WRONG\n\"When,\"\"exactly\"\"?\",1999,1999,time,SKIP\n", published.Source{})
	want := `rows with verdicts; a row is right when label is CORRECT
q0|people||Who?|Ada|Ada => CORRECT 1
q1|people||Who?|Ada| => WRONG 0
q2|time||When,"exactly"?|1999|1999 => unsure
`
	if diff := cmp.Diff(want, told(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if notes := strings.Join(s.Notes(), "\n"); !strings.Contains(notes, "1 row with an empty response") {
		t.Errorf("notes = %q, want the row with an empty response", notes)
	}
}

// Standard input has no name, and a folder is one system in several files.
func TestWhereFilesAre(t *testing.T) {
	row := `{"0":[{"question":"Who?","answer":"Ada","response":"Ada","category":"1","llm_score":1}]}`
	s, err := published.Open(context.Background(), published.Source{Names: []string{"-"}, Stdin: strings.NewReader(row)})
	if err != nil || s.Len() != 1 || s.JudgeName() != "recorded:stdin" {
		t.Errorf("standard input: %v, %v", s, err)
	}
	dir := t.TempDir()
	for _, n := range []string{"10", "2"} {
		text := strings.Replace(row, `"0"`, `"`+n+`"`, 1)
		if err := os.WriteFile(filepath.Join(dir, "conv"+n+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err = published.Open(context.Background(), published.Source{Names: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for it := range s.Items() {
		ids = append(ids, it.ID)
	}
	if got := strings.Join(ids, " "); got != "2/q0 10/q0" {
		t.Errorf("items = %q, want those of conversation 2 before those of 10", got)
	}
}

// Other bytes, or another rule, make another judge.
func TestIdentity(t *testing.T) {
	text := `{"id":1,"question":"q","answer":"a","response":"r","label":"yes","grade":false}`
	hash := func(s *published.Set) string {
		h, err := deem.Hash(s.Identity())
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	one := open(t, "a.jsonl", text, published.Source{})
	if two := open(t, "b.jsonl", text, published.Source{}); hash(one) != hash(two) || one.Hash() != two.Hash() {
		t.Error("the name of a file changes who its judge is")
	}
	for name, other := range map[string]*published.Set{
		"other bytes": open(t, "a.jsonl", text+"\n", published.Source{}),
		"other rule":  open(t, "a.jsonl", text, published.Source{Map: published.Mapping{"label": "label"}}),
	} {
		if hash(one) == hash(other) {
			t.Errorf("%s: the same hash", name)
		}
	}
}

// The items of a benchmark's own reader replace those of the rows.
func TestAdopt(t *testing.T) {
	s := open(t, "a.json", `{"0":[{"question":"Who?","answer":"Ada","response":"x","category":"1","llm_score":1},{"question":"Who?","answer":"Ada","response":"x","category":"1","llm_score":0},{"question":"lost","answer":"a","response":"r","category":"1","llm_score":1}]}`, published.Source{})
	items := func(yield func(deem.Item, error) bool) {
		for _, id := range []string{"conv-26/q0", "conv-26/q7"} {
			if !yield(deem.Item{ID: id, Question: "Who?", Response: "x"}, nil) {
				return
			}
		}
	}
	dropped, err := s.Adopt(items)
	if err != nil || dropped != 1 {
		t.Fatalf("Adopt = %d, %v, want 1 dropped", dropped, err)
	}
	want := `LoCoMo results as Mem0 writes them; a row is right when llm_score is 1
conv-26/q0|||Who?||x => 1 1
conv-26/q7|||Who?||x => 0 0
`
	if diff := cmp.Diff(want, told(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNotes(t *testing.T) {
	long := strings.Repeat("Question with enough words to be known again? ", 2)
	for _, c := range []struct{ name, text, want string }{
		{"fewer rows than LongMemEval has", `{"question_id":"a","question_type":"multi-session","hypothesis":"x","label":"yes"}`, "1 row, and LongMemEval has 500 questions"},
		{"a response that holds the prompt", `{"id":1,"question":"` + long + `","response":"You are part of a benchmark. Look at the examples. ` + long + ` A: ` + long + `","label":"yes"}`, `the column "response" may hold the prompt`},
		{"names of categories", `{"conv_index":0,"question":"q","gold":"a","pred":"p","category":1,"category_name":"single-hop","judge":1}`, "this file calls them 1 single-hop, and others give these names to other numbers"},
		{"a number of questions that is another", `{"total_questions":3,"results":[{"id":1,"question":"q","response":"r","label":"yes"}]}`, "total_questions says 3, and there are 1 row"},
		{"two columns of verdicts", `{"id":1,"question":"q","response":"r","grade":true,"human_label":false}`, "there are verdicts in other columns too: human_label"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, "a.json", c.text, published.Source{})
			said := s.Notes()
			for _, f := range s.Findings() {
				said = append(said, f.Text)
			}
			if notes := strings.Join(said, "\n"); !strings.Contains(notes, c.want) {
				t.Errorf("notes = %q, want %q", notes, c.want)
			}
		})
	}
}

func TestTrouble(t *testing.T) {
	good := `{"id":1,"question":"q","response":"r","label":"yes"}`
	for _, c := range []struct {
		name, file, text string
		src              published.Source
		want, hint       string
	}{
		{name: "an unknown shape", file: "a.json", text: `{"alpha":1,"beta":"x","gamma":[1],"delta":2}`, want: "no results are recognised in it (columns here: alpha (1), beta (x), gamma (a list of 1), delta (2))", hint: "--map question=COLUMN,references=COLUMN"},
		{name: "names that would colour the terminal", file: "a.json", text: `{"\u001b[31malpha":1}`, want: "columns here: \uFFFD[31malpha (1))"},
		{name: "what was looked for", file: "a.json", text: `{"alpha":1}`, want: "no results are recognised in it (columns here: alpha (1))", hint: "deem list formats"},
		{name: "questions without answers", file: "a.json", text: `[{"question":"q","answer":"a"}]`, want: "no results are recognised"},
		{name: "predictions on LongBench", file: "a.jsonl", text: `{"pred":"x","answers":["y"],"all_classes":null,"length":3}`, want: "no results", hint: "deem run longbench"},
		{name: "half a file", file: "a.json", text: `[` + good + `,{"id":2,"quest`, want: "a.json:1: not JSON"},
		{name: "half an object", file: "a.json", text: `{"results":[` + good + `,`, want: "not JSON"},
		{name: "garbage behind an object", file: "a.jsonl", text: good + "\n" + good + ` "}`, want: "a.jsonl:2: the object is followed by", hint: "--skip-broken"},
		{name: "nothing", file: "a.json", text: "", want: "there is nothing in it"},
		{name: "binary", file: "a.json", text: "\x00\x01\x02\x03\xff\xfe", want: "binary"},
		{name: "several systems", file: "a.jsonl", text: `{"run":"a","id":1,"question":"q","response":"r","label":"yes"}` + "\n" + `{"run":"b","id":1,"question":"q","response":"r","label":"no"}`, want: "several systems", hint: "--pick a"},
		{name: "a system that is not there", file: "a.jsonl", text: `{"run":"a","id":1,"question":"q","response":"r","label":"yes"}` + "\n" + `{"run":"b","id":1,"question":"q","response":"r","label":"no"}`, src: published.Source{Pick: "c"}, want: `no system "c"`, hint: "there are: a, b"},
		{name: "nothing to pick", file: "a.jsonl", text: good, src: published.Source{Pick: "c"}, want: "holds one system"},
		{name: "scores without a scale", file: "a.jsonl", text: `{"id":1,"question":"q","response":"r","rating":4}` + "\n" + `{"id":2,"question":"q","response":"r","rating":1}`, want: "numbers up to 4", hint: "--scale 4"},
		{name: "a column that nobody has", file: "a.jsonl", text: good, src: published.Source{Map: published.Mapping{"label": "verdikt"}}, want: `no row has a value in "verdikt"`, hint: "id, question, response, label"},
		{name: "no such part", file: "a.jsonl", text: good, src: published.Source{Map: published.Mapping{"lable": "label"}}, want: `no part "lable"`, hint: `did you mean "label"`},
		{name: "a part without a column", file: "a.jsonl", text: good, src: published.Source{Map: published.Mapping{"label": ""}}, want: "names no column"},
		{name: "too deep", file: "a.json", text: `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, want: "deep"},
		{name: "results of HaluMem without users", file: "a.json", text: `{"question_answering_records":[{"question":"q"}]}`, want: "row 0: the row has no uuid"},
		{name: "input of HaluMem before anybody answered", file: "a.jsonl", text: `{"uuid":"u","sessions":[{"dialogue":[]}]}`, want: "a.jsonl:1", hint: "halumem.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.src.Names = []string{write(t, c.file, c.text)}
			_, err := published.Open(context.Background(), c.src)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error = %v, want %q", err, c.want)
			}
			if hint := deem.HintOf(err); !strings.Contains(hint, c.hint) {
				t.Errorf("hint = %q, want %q", hint, c.hint)
			}
		})
	}
}

// Invalid rows are left out if requested, and listed.
func TestSkipBroken(t *testing.T) {
	good := `{"id":1,"question":"q","response":"r","label":"yes"}`
	s := open(t, "a.jsonl", good+"\n"+good+` gi`, published.Source{SkipBroken: true})
	if s.Len() != 1 || len(s.Notes()) != 1 || !strings.Contains(s.Notes()[0], `a.jsonl:2: the object is followed by "gi"`) {
		t.Errorf("%d items, notes %q, want 1 and the line that was left out", s.Len(), s.Notes())
	}
}

func TestMissingFile(t *testing.T) {
	_, err := published.Open(context.Background(), published.Source{Names: []string{filepath.Join(t.TempDir(), "none.json")}})
	if err == nil || !strings.Contains(err.Error(), "no such file") || deem.HintOf(err) == "" {
		t.Errorf("error = %v, want that there is no such file, with a hint", err)
	}
	if _, err := published.Open(context.Background(), published.Source{Names: []string{t.TempDir()}}); err == nil || !strings.Contains(err.Error(), "no file of results in the folder") {
		t.Errorf("error = %v, want that the folder is empty", err)
	}
}
