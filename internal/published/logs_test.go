package published_test

import (
	"archive/zip"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klauspost/compress/zstd"

	"deem"
	"deem/internal/published"
)

const promptfooFile = `{"evalId":"eval-1","results":{"version":3,"timestamp":"2026-01-01T00:00:00Z",
"prompts":[{"raw":"Answer: {{question}}","provider":"openai:gpt-4o-mini"}],
"results":[
 {"testIdx":0,"promptIdx":0,"provider":{"id":"openai:gpt-4o-mini","label":""},"vars":{"question":"Capital of France?"},"response":{"output":"Paris"},"success":true,"score":1,"namedScores":{"tone":0.5},"failureReason":0,
  "testCase":{"assert":[{"type":"icontains","value":"paris"}],"metadata":{"category":"geo"}},"gradingResult":{"pass":true,"score":1,"reason":"All assertions passed"}},
 {"testIdx":1,"promptIdx":0,"provider":{"id":"openai:gpt-4o-mini"},"vars":{"question":"Capital of Italy?","expected":"Rome"},"response":{"output":"Milan"},"success":false,"score":0,"failureReason":1,"error":"Milan is not Rome","gradingResult":{"pass":false,"score":0,"reason":"Milan is not Rome"}},
 {"testIdx":2,"promptIdx":0,"provider":{"id":"openai:gpt-4o-mini"},"vars":{"question":"Capital of Spain?"},"success":false,"score":0,"failureReason":2,"error":"API error: 500"}],
"stats":{"successes":1,"failures":1,"errors":1}},"config":{},"metadata":{}}`

func TestPromptfoo(t *testing.T) {
	s := open(t, "output.json", promptfooFile, published.Source{})
	want := `results of promptfoo; a row is right when success is true
test0|geo||Capital of France?|paris|Paris => pass 1 (All assertions passed)
test1|||Capital of Italy?|Rome|Milan => fail 0 (Milan is not Rome)
test2|||Capital of Spain?|| => provider
`
	if diff := cmp.Diff(want, told(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, c := range s.Check(s.Claims) {
		if !c.Agrees {
			t.Errorf("%s = %s, and the rows give %v", c.Name, c.Text, c.Given)
		}
	}
	if len(s.Claims) != 3 {
		t.Errorf("%d claims, want successes, failures and errors", len(s.Claims))
	}
	several := strings.Replace(promptfooFile, `"provider":{"id":"openai:gpt-4o-mini","label":""}`, `"provider":{"id":"openai:gpt-4o","label":"big"}`, 1)
	src := published.Source{Names: []string{write(t, "a.json", several)}}
	if _, err := published.Open(context.Background(), src); err == nil || !strings.Contains(err.Error(), "several systems: big, openai:gpt-4o-mini") {
		t.Errorf("error = %v, want that there are several systems", err)
	}
	src.Pick = "big"
	if s, err := published.Open(context.Background(), src); err != nil || s.Len() != 1 {
		t.Errorf("pick big: %v, want one item", err)
	}
}

// inspect writes NaN if a metric has no value.
const inspectHeader = `{"version":2,"status":"success","eval":{"task":"qa","model":"openai/gpt-4o"},"results":{"total_samples":3,"scores":[{"name":"model_graded_qa","scorer":"model_graded_qa","metrics":{"accuracy":{"name":"accuracy","value":0.5},"stderr":{"name":"stderr","value":NaN}}}]}`

var inspectSamples = []string{
	`{"id":"a","epoch":1,"input":"Capital of France?","target":"Paris","output":{"completion":"Paris"},"scores":{"model_graded_qa":{"value":"C","answer":"Paris","explanation":"GRADE: C","metadata":{"grading":[{"role":"user","content":"grade it"},{"role":"assistant","content":"It matches.\n\nGRADE: C"}]}}}}`,
	`{"id":"b","epoch":1,"input":[{"role":"system","content":"be short"},{"role":"user","content":[{"type":"text","text":"Capital of Italy?"}]}],"target":["Rome","Roma"],"output":{"choices":[{"message":{"role":"assistant","content":"Milan or Rome"}}]},"scores":{"model_graded_qa":{"value":"P"}}}`,
	`{"id":"c","epoch":1,"input":"Capital of Spain?","target":"Madrid","output":{"completion":"Lisbon"},"scores":{"model_graded_qa":{"value":"I"}}}`,
	`{"id":"d","epoch":1,"input":"Capital of Malta?","target":"Valletta","output":{},"error":{"message":"sandbox died"},"scores":null}`,
}

const inspectTold = `log of inspect; C counts 1, P one half, I and N count 0, numbers as they are, by scorer model_graded_qa
a|||Capital of France?|Paris|Paris => C 1 (GRADE: C)  said "It matches.\n\nGRADE: C"
b|||Capital of Italy?|Rome/Roma|Milan or Rome => P 0.5
c|||Capital of Spain?|Madrid|Lisbon => I 0
d|||Capital of Malta?|Valletta| => provider
`

// evalFile writes a log in inspect's own format.
func evalFile(t *testing.T, method uint16, header string, samples ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	add := func(name, text string) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	add("_journal/start.json", "{}")
	for i, s := range samples {
		add("samples/"+string(rune('a'+i))+"_epoch_1.json", s)
	}
	add("summaries.json", "[]")
	if header != "" {
		add("header.json", header+"}")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestInspect(t *testing.T) {
	check := func(t *testing.T, s *published.Set) {
		t.Helper()
		if diff := cmp.Diff(inspectTold, told(s)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		checks := s.Check(s.Claims)
		if len(checks) != 1 || !checks[0].Agrees || checks[0].N != 3 || s.SystemModel != "openai/gpt-4o" {
			t.Errorf("checks = %+v of %s, want accuracy 0.5 over 3", checks, s.SystemModel)
		}
	}
	t.Run("json", func(t *testing.T) {
		check(t, open(t, "log.json", inspectHeader+`,"samples":[`+strings.Join(inspectSamples, ",")+`]}`, published.Source{}))
	})
	for name, method := range map[string]uint16{"stored": zip.Store, "deflate": zip.Deflate, "zstd": zstd.ZipMethodWinZip} {
		t.Run(name, func(t *testing.T) {
			check(t, open(t, "no-name-tells", string(evalFile(t, method, inspectHeader, inspectSamples...)), published.Source{}))
		})
	}
}

// An epoch queries the system again: another response is another item, of the same cluster.
func TestInspectEpochs(t *testing.T) {
	sample := func(epoch, value, text string) string {
		return `{"id":1,"epoch":` + epoch + `,"input":"q","target":"t","output":{"completion":"` + text + `"},"scores":{"match":{"value":` + value + `},"other":{"value":"C"}}}`
	}
	text := `{"eval":{},"status":"cancelled","samples":[` + sample("1", "1", "t") + `,` + sample("2", "0.25", "u") + `]}`
	s := open(t, "log.json", text, published.Source{})
	want := `log of inspect; C counts 1, P one half, I and N count 0, numbers as they are, by scorer match
1/epoch1||1|q|t|t => 1 1
1/epoch2||1|q|t|u => 0.25 0.25
`
	if diff := cmp.Diff(want, told(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	notes := strings.Join(s.Notes(), "\n")
	if !strings.Contains(notes, "several scorers: match, other") || !strings.Contains(notes, "status cancelled") {
		t.Errorf("notes = %q, want the scorers and the status", notes)
	}
	if s := open(t, "log.json", text, published.Source{Pick: "other"}); !strings.Contains(told(s), "=> C 1") {
		t.Errorf("pick other: %s", told(s))
	}
}

// A damaged archive is an error, and never a panic.
func TestBrokenArchives(t *testing.T) {
	whole := evalFile(t, zip.Deflate, inspectHeader, inspectSamples...)
	other := func() []byte {
		var buf bytes.Buffer
		w := zip.NewWriter(&buf)
		if _, err := w.Create("xl/workbook.xml"); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}()
	damaged := bytes.Clone(whole)
	copy(damaged[bytes.Index(damaged, []byte("samples/"))+40:], "################")
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"half of it", whole[:len(whole)/2], "begins as a zip archive and is not whole"},
		{"all but the end", whole[:len(whole)-10], "not whole"},
		{"no header", evalFile(t, zip.Deflate, "", inspectSamples...), "with 4 samples and no header.json: the evaluation has not ended"},
		{"another archive", other, "no log of inspect"},
		{"no samples", evalFile(t, zip.Deflate, inspectHeader), "has no samples"},
		{"a sample that is not JSON", evalFile(t, zip.Store, inspectHeader, "{"), "samples/a_epoch_1.json: not JSON"},
		{"bytes that changed", damaged, "samples/a_epoch_1.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.eval")
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := published.Open(context.Background(), published.Source{Names: []string{path}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %q", err, c.want)
			}
		})
	}
}

func TestLMEval(t *testing.T) {
	text := `{"doc_id":0,"doc":{"question":"2+2?"},"target":"4","arguments":{"gen_args_0":{"arg_0":"Q: 2+2?"}},"resps":[["It is 4."]],"filtered_resps":["4"],"filter":"strict-match","metrics":["exact_match"],"exact_match":1.0}
{"doc_id":0,"doc":{"question":"2+2?"},"target":"4","resps":[["It is 4."]],"filtered_resps":["It is 4."],"filter":"flexible-extract","metrics":["exact_match"],"exact_match":0.0}
{"doc_id":1,"doc":{"query":"Sky?","choices":["green","blue"]},"target":1,"arguments":[["Sky?"," green"],["Sky?"," blue"]],"resps":[[[-5.5,false]],[[-0.5,true]]],"filtered_resps":[[-5.5,false],[-0.5,true]],"filter":"strict-match","exact_match":true,"acc_norm":0.5}`
	s := open(t, "samples_x.jsonl", text, published.Source{})
	want := `samples of lm-eval; the score is the number in exact_match
0|||2+2?|4|4 => 1.0 1
1|||Sky?|1|blue => true 1
`
	if diff := cmp.Diff(want, told(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s := open(t, "a.jsonl", text, published.Source{Pick: "flexible-extract"}); s.Len() != 1 || !strings.Contains(told(s), "=> 0.0 0") {
		t.Errorf("the other filter: %s", told(s))
	}
	_, err := published.Open(context.Background(), published.Source{Names: []string{write(t, "b.jsonl", `{"doc_id":0,"target":"x","resps":[["y"]]}`)}})
	if err == nil || !strings.Contains(deem.HintOf(err), "--map label=COLUMN") {
		t.Errorf("rows without a number: %v, hint %q", err, deem.HintOf(err))
	}
}

const haluMemFile = `{"overall_score":{"question_answering":{"correct_qa_ratio(all)":0.5,"correct_qa_ratio(valid)":0.5,"qa_valid_num":2,"qa_num":2},"time_consuming":{"total_duration_time":3.5}},
"memory_integrity_records":[],
"memory_accuracy_records":[{"uuid":"u","ssession_id":0,"memory_content":"m","memory_accuracy_score":"judge_failed","is_included_in_golden_memories":"false","judge_failure_reason":"429"},{"uuid":"u","ssession_id":0,"memory_content":"n","memory_accuracy_score":null,"is_included_in_golden_memories":"false"}],
"memory_update_records":[],
"question_answering_records":[{"uuid":"u","ssession_id":0,"question":"Who?","answer":"Ada","system_response":"Ada","result_type":"Correct","evidence":[]},{"uuid":"u","ssession_id":0,"question":"Who?","answer":"Ada","system_response":"Bob","result_type":"Hallucination","evidence":[]}]}`

// HaluMem's rows are read by its own package, and its numbers computed by its own rules.
func TestHaluMem(t *testing.T) {
	s := open(t, "a.json", haluMemFile, published.Source{})
	want := `judged results of HaluMem; each stage counts by HaluMem's own rules
u/0/accuracy/0|accuracy|u|||m => provider
u/0/accuracy/1|accuracy|u|||n => unparseable
u/0/qa/0|qa|u|Who?|Ada|Ada => Correct 1
u/0/qa/1|qa|u|Who?|Ada|Bob => Hallucination 0
`
	if diff := cmp.Diff(want, told(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	checks := s.Check(s.Claims)
	if len(checks) != 4 {
		t.Errorf("%d claims, want four: times cannot be counted from rows", len(checks))
	}
	for _, c := range checks {
		if !c.Agrees {
			t.Errorf("%s = %s, and the rows give %v", c.Name, c.Text, c.Given)
		}
	}
	wrong := open(t, "a.json", strings.Replace(haluMemFile, `"correct_qa_ratio(all)":0.5`, `"correct_qa_ratio(all)":0.75`, 1), published.Source{})
	if c := wrong.Check(wrong.Claims)[0]; c.Agrees || c.Given != 0.5 {
		t.Errorf("a wrong number: %+v, want that the rows give 0.5", c)
	}
}

// FuzzOpen checks that any file gives a set with valid records, or an error.
func FuzzOpen(f *testing.F) {
	for _, seed := range []string{
		promptfooFile, haluMemFile, inspectHeader + `,"samples":[` + strings.Join(inspectSamples, ",") + `]}`,
		`{"0":[{"question":"q","answer":"a","response":"r","category":"2","llm_score":1}]}`,
		`{"detailed_results":{"u":[{"question_id":"x","question":"q","golden_answer":"a","generated_answer":"r","llm_judgments":{"a":true,"b":false}}]},"accuracy":0.5,"metadata":{"run_scores":[1,0],"std_accuracy":0.5}}`,
		`{"doc_id":0,"doc":{},"target":"4","resps":[[[-1,true]],[[-2,false]]],"acc":1}`,
		"question,response,label\na,b,yes\n", "PK\x03\x04", `{"uuid":"u","sessions":[]}`,
		`{"id":1,"question":"q","response":"r","label":"yes"}{"id":2}`, `[[[[{"question":1,"answer":2,"pred":[],"judge":{"score":1e999}}]]]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := published.Open(context.Background(), published.Source{Names: []string{"-"}, Stdin: bytes.NewReader(data)})
		if err != nil {
			return
		}
		ids := map[string]bool{}
		for it := range s.Items() {
			if ids[it.ID] {
				t.Errorf("id %q stands twice", it.ID)
			}
			ids[it.ID] = true
		}
		for rec := range s.Records() {
			sound(t, rec, s.Len())
		}
		s.Check(s.Claims)
		s.Aspects()
		if _, err := deem.Hash(s.Identity()); err != nil {
			t.Errorf("identity: %v", err)
		}
	})
}

// sound checks that a store would accept a record.
func sound(t *testing.T, rec deem.Record, items int) {
	t.Helper()
	switch v := rec.Verdict; {
	case (v == nil) == (rec.Failure == nil):
		t.Errorf("%+v has not either a verdict or a failure", rec)
	case v != nil && (v.Label == "" || !(v.Score >= 0 && v.Score <= 1)):
		t.Errorf("verdict %+v, want a label and a score from 0 to 1", v)
	case rec.Position < 0 || rec.Position >= items:
		t.Errorf("position %d of %d", rec.Position, items)
	}
}
