package beam

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/judge"
	"deem/model/fake"
)

// field returns the uncompressed content of a published file that deem does not ship.
func field(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "field", filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the published file is not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var data []byte
	if strings.HasSuffix(name, ".gz") {
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if _, err := bufio.NewReader(unpacked).WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		data = []byte(b.String())
	} else if data, err = os.ReadFile(file.Name()); err != nil {
		t.Fatal(err)
	}
	return data
}

func decode[T any](t *testing.T, data []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// protocolOf returns a judge. Upstream's prompts are those of the shared folder.
func protocolOf(t *testing.T, name, reading string) *P {
	t.Helper()
	o := Options{Reading: reading}
	if name == UpstreamName {
		o.Prompts = map[string]string{
			promptNugget:    string(field(t, "beam/prompts/unified_llm_judge_base_prompt.txt")),
			promptSameAsked: string(field(t, "beam/prompts/event_equivalence_system.txt")),
			promptSame:      string(field(t, "beam/prompts/event_equivalence_user.txt")),
		}
	}
	p, err := Protocol(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPromptsArePublished compares the embedded prompts with the published ones, byte for
// byte.
func TestPromptsArePublished(t *testing.T) {
	for file, published := range map[string]string{
		"mem0/system.txt":              "mem0-harness/prompts/beam_judge_system.txt",
		"mem0/nugget.fmt.txt":          "mem0-harness/prompts/beam_nugget_judge_user.fmt.txt",
		"omnimemeval/system.txt":       "omnimemeval/prompts/beam_judge_system.txt",
		"omnimemeval/rubric.fmt.txt":   "omnimemeval/prompts/beam_rubric_item_judge_prompt.fmt.txt",
		"omnimemeval/ordering.fmt.txt": "omnimemeval/prompts/beam_event_ordering_judge_prompt.fmt.txt",
	} {
		ours, err := promptFiles.ReadFile("prompts/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sha256.Sum256(ours), sha256.Sum256(field(t, published)); got != want {
			t.Errorf("%s has SHA-256 %x, and %s has %x", file, got, published, want)
		}
	}
	protocolOf(t, UpstreamName, "") // It compares upstream's prompts with the pinned hashes.
}

// TestUpstreamReplies reads the published replies as upstream does.
func TestUpstreamReplies(t *testing.T) {
	cases := decode[struct {
		Cases []struct {
			Reply    string
			Parse    string
			ScoreInt any `json:"score_int"`
			Float    any `json:"score_float"`
		}
	}](t, field(t, "beam/vectors/replies.json")).Cases
	// Upstream's repairing library was not run on these; deem reads them leniently or
	// not at all.
	repaired := map[string]any{
		`Text {"score": 1.0, "reason": "uses {braces} inside"}`: 1.0,
		`{"score": 1.0, "reason": "cut`:                         1.0,
		"":                                                      "no score",
		"I cannot judge.":                                       "no score",
	}
	for _, c := range cases {
		for _, truncate := range []bool{true, false} {
			want := c.Float
			if truncate {
				want = c.ScoreInt
			}
			if c.Parse != "" {
				want = repaired[c.Reply]
			}
			v, err := readUpstream(c.Reply, truncate)
			score, scored := want.(float64)
			if _, failed := errors.AsType[*deem.Failure](err); scored != (err == nil) || failed == scored || scored && v.Score != score {
				t.Errorf("%q, cut %v: %v, %v, want %v", c.Reply, truncate, v.Score, err, want)
			}
		}
	}
	if len(cases) != 28 {
		t.Errorf("%d replies", len(cases))
	}
}

// TestUpstreamEventOrdering scores the published cases, with the published comparison
// instead of a model, and counts the calls.
func TestUpstreamEventOrdering(t *testing.T) {
	cases := decode[struct {
		Cases []struct {
			Case, Response string
			Rubric         []string
			Calls          int `json:"equivalence_calls"`
			Precision      float64
			Recall         float64
			F1             float64
			Tau            *float64 `json:"tau_norm"`
			Final          *float64 `json:"final_score"`
		}
	}](t, field(t, "beam/vectors/event_ordering.json")).Cases
	p := protocolOf(t, UpstreamName, Upstream)
	for _, c := range cases {
		rubric, err := json.Marshal(c.Rubric)
		if err != nil {
			t.Fatal(err)
		}
		it := deem.Item{Category: EventOrdering, Response: c.Response, Fields: map[string]string{fieldRubric: string(rubric)}}
		same := map[string]bool{}
		for _, item := range c.Rubric {
			for _, line := range strings.Split(c.Response, "\n") {
				same[p.sameEventRequest(item, line).Hash()] = strings.TrimSpace(line) == strings.TrimSpace(item) && strings.TrimSpace(line) != ""
			}
		}
		calls := 0
		model := fake.Func("m", func(_ context.Context, req deem.Request) (deem.Reply, error) {
			yes, compared := same[req.Hash()]
			switch {
			case !compared:
				return deem.Reply{Text: `{"score": 0.5, "reason": "x"}`, Stop: deem.StopEnd}, nil
			case yes:
				calls++
				return deem.Reply{Text: "YES", Stop: deem.StopEnd}, nil
			}
			calls++
			return deem.Reply{Text: "NO", Stop: deem.StopEnd}, nil
		})
		v, err := judge.New(p, model).Judge(t.Context(), it)
		if calls != c.Calls {
			t.Errorf("%s: %d calls, want %d", c.Case, calls, c.Calls)
		}
		if c.Tau == nil {
			if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.OutOfRange {
				t.Errorf("%s: %+v, %v, and upstream's number is NaN", c.Case, v, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.Case, err)
		}
		for name, want := range map[string]float64{
			"precision": c.Precision, "recall": c.Recall, "f1": c.F1, "tau_norm": *c.Tau, "final_score": *c.Final, "llm_judge_score": 0.5,
		} {
			if got := v.Aspects[name]; math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: %s is %v, want %v", c.Case, name, got, want)
			}
		}
		if v.Score != v.Aspects["tau_norm"] {
			t.Errorf("%s: the score is %v", c.Case, v.Score)
		}
	}
	if len(cases) != 19 {
		t.Errorf("%d cases", len(cases))
	}
}

// A question is a published question of the reduced file.
type question struct {
	Size, Chat, Ability, Question, Ideal string
	Index                                int
	Rubric                               []string
}

func questions(t *testing.T) []question {
	t.Helper()
	var list []question
	dec := json.NewDecoder(strings.NewReader(string(field(t, "beam/data/probing_questions.jsonl.gz"))))
	for dec.More() {
		var q question
		if err := dec.Decode(&q); err != nil {
			t.Fatal(err)
		}
		list = append(list, q)
	}
	return list
}

// TestFloors reproduces the scores of answers without an order on the published rubrics.
func TestFloors(t *testing.T) {
	want := decode[struct{ Means map[string]map[string]float64 }](t, field(t, "beam/vectors/event_ordering_floor.json")).Means
	rubrics := map[string][][]string{}
	for _, q := range questions(t) {
		if q.Ability == EventOrdering {
			rubrics[q.Size] = append(rubrics[q.Size], q.Rubric)
			rubrics["all"] = append(rubrics["all"], q.Rubric)
		}
	}
	names := map[string]string{
		"refusing": "refusal", "the first event alone": "first_only", "the first two events": "first_two", "the last event alone": "last_only",
		"a perfect list under an opening line": "perfect_intro", "a perfect list": "perfect",
	}
	for size, means := range want {
		for _, f := range Floors(rubrics[size]) {
			if got, want := f.Tau, means[names[f.Answer]]; math.Abs(got-want) > 0.00005001 {
				t.Errorf("%s, %s: %.4f, want %.4f", size, f.Answer, got, want)
			}
			t.Logf("%-4s %-38s tau %.4f, fixed %.4f", size, f.Answer, f.Tau, f.Fixed)
		}
	}
	others := map[string]func(r []string) []string{
		"one_adjacent_swap": func(r []string) []string { r = slices.Clone(r); r[0], r[1] = r[1], r[0]; return r },
		"reversed_":         func(r []string) []string { r = slices.Clone(r); slices.Reverse(r); return r },
		"perfect_intro_blank": func(r []string) []string {
			return slices.Concat([]string{"Here is the order:", ""}, r)
		},
	}
	for name, answer := range others {
		sum := 0.0
		for _, r := range rubrics["all"] {
			o, err := orderOf(r, answer(r))
			if err != nil {
				t.Fatal(err)
			}
			sum += o.tau
		}
		if got, want := sum/float64(len(rubrics["all"])), want["all"][name]; math.Abs(got-want) > 0.00005001 {
			t.Errorf("%s: %.4f, want %.4f", name, got, want)
		}
	}
	if len(rubrics["all"]) != 200 {
		t.Errorf("%d rubrics", len(rubrics["all"]))
	}
}

// TestOmniReplies reads the published replies as OmniMemEval does. A reply that it counts
// as 0 because it cannot read it is a failure.
func TestOmniReplies(t *testing.T) {
	cases := decode[struct {
		Cases []struct {
			Reply  string
			Result any
		}
	}](t, field(t, "omnimemeval/vectors/beam_replies.json")).Cases
	for _, c := range cases {
		v, err := readOmni(c.Reply)
		result, returned := c.Result.([]any)
		if !returned || strings.HasPrefix(result[1].(string), "Failed to parse") {
			if _, failed := errors.AsType[*deem.Failure](err); !failed {
				t.Errorf("%q: %+v, %v, and upstream has %v", c.Reply, v, err, c.Result)
			}
			continue
		}
		if err != nil || v.Score != result[0] || v.Reason != result[1] {
			t.Errorf("%q: %v %q, %v, want %v", c.Reply, v.Score, v.Reason, err, result)
		}
	}
	if len(cases) != 16 {
		t.Errorf("%d replies", len(cases))
	}
}

func TestMem0Clamp(t *testing.T) {
	cases := decode[struct {
		Clamp []struct{ Raw, Score float64 }
	}](t, field(t, "mem0-harness/vectors/parsers.json")).Clamp
	for _, c := range cases {
		if v, err := readMem0(fmt.Sprintf(`{"score": %v}`, c.Raw)); err != nil || v.Score != c.Score {
			t.Errorf("%v: %v, %v, want %v", c.Raw, v.Score, err, c.Score)
		}
	}
	if len(cases) == 0 {
		t.Error("no case")
	}
}

// TestMem0Rows recomputes the 900 published rows from their verdicts on nuggets, and
// compares every score and the published sums.
func TestMem0Rows(t *testing.T) {
	for _, tt := range []struct {
		file              string
		rows, right       int
		mean, float, ints string
	}{
		{"platform_beam_1m_results", 700, 491, "0.6409", "0.6049", "0.5932"},
		{"platform_beam_10m_results", 200, 101, "0.4860", "0.4517", "0.4474"},
	} {
		file := decode[struct {
			Evaluations []struct {
				ID      string `json:"question_id"`
				Size    string `json:"chat_size"`
				Chat    int    `json:"conversation_idx"`
				Type    string `json:"question_type"`
				Text    string `json:"question"`
				Rubric  []string
				Cutoffs map[string]struct {
					Score   float64
					Answer  string `json:"generated_answer"`
					Nuggets []struct {
						Nugget string
						Score  float64
						Reason string
					} `json:"nugget_scores"`
				} `json:"cutoff_results"`
			}
		}](t, field(t, "mem0-harness/results/"+tt.file+".json.gz"))
		p, m, wrong := protocolOf(t, Mem0Name, ""), NewMetrics(), 0
		for _, e := range file.Evaluations {
			for _, cut := range e.Cutoffs {
				rubric, err := json.Marshal(e.Rubric)
				if err != nil {
					t.Fatal(err)
				}
				it := deem.Item{
					ID: e.ID, Category: e.Type, Cluster: fmt.Sprint(e.Chat), Question: e.Text, Response: cut.Answer,
					Fields: map[string]string{fieldRubric: string(rubric), fieldSize: e.Size},
				}
				i := 0
				v, err := p.Talk(it, func(deem.Request) (deem.Reply, error) {
					text, err := json.Marshal(map[string]any{"score": cut.Nuggets[i].Score, "reason": cut.Nuggets[i].Reason})
					i++
					return deem.Reply{Text: string(text), Stop: deem.StopEnd}, err
				})
				if err != nil {
					t.Fatalf("%s: %v", e.ID, err)
				}
				if v.Score != cut.Score || i != len(e.Rubric) {
					wrong++
				}
				m.Add(deem.Record{Item: it, Judge: Mem0Name, Verdict: &v})
			}
		}
		n := m.counted["questions"]
		got := []string{fmt.Sprintf("%.4f", m.overall.Mean()), fmt.Sprintf("%.4f", m.counted["cut but for event ordering"]/n), fmt.Sprintf("%.4f", m.counted["cut"]/n)}
		if m.overall.N() != tt.rows || m.pass != tt.right || wrong != 0 || !slices.Equal(got, []string{tt.mean, tt.float, tt.ints}) {
			t.Errorf("%s: %d rows, %d right, %v, and %d other scores; want %+v", tt.file, m.overall.N(), m.pass, got, wrong, tt)
		}
		t.Logf("%s: %d/%d, mean %s, cut %s but for event ordering, %s in all", tt.file, m.pass, m.overall.N(), got[0], got[1], got[2])
	}
}

// TestRendering compares 200 prompts of each judge with Python's rendering.
func TestRendering(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	type job struct {
		Prompt string            `json:"prompt"`
		Values map[string]string `json:"values"`
		Marks  [][2]string       `json:"marks"` // for str.replace, in order
	}
	var jobs []job
	var ours []string
	all := questions(t)
	for n := range 200 {
		q := all[n*len(all)/200]
		rubric, err := json.Marshal(q.Rubric)
		if err != nil {
			t.Fatal(err)
		}
		// Braces, and a mark that upstream fills again.
		it := deem.Item{Category: q.Ability, Question: q.Question, Response: q.Ideal + " {question} {{x}} <llm_response>", Fields: map[string]string{fieldRubric: string(rubric)}}
		item := q.Rubric[n%len(q.Rubric)] + " {0} }"
		if n%2 == 0 {
			item += " <llm_response>"
		}
		mem0, omni, up := protocolOf(t, Mem0Name, ""), protocolOf(t, OmniName, ""), protocolOf(t, UpstreamName, "")
		list := make([]string, len(q.Rubric))
		for i, r := range q.Rubric {
			list[i] = fmt.Sprintf("%d. %s", i+1, r)
		}
		for _, one := range []struct {
			req deem.Request
			job job
		}{
			{mem0.askNugget(it, item), job{Prompt: mem0.prompts[promptNugget], Values: map[string]string{"question": q.Question, "llm_response": it.Response, "nugget": item}}},
			{omni.askNugget(it, item), job{Prompt: omni.prompts[promptNugget], Values: map[string]string{"question": q.Question, "response": it.Response, "rubric_item": item}}},
			{omni.askPositions(it, q.Rubric), job{Prompt: omni.prompts[promptOrdering], Values: map[string]string{"question": q.Question, "response": it.Response, "reference_ordering": strings.Join(list, "\n")}}},
			{up.sameEventRequest(item, it.Response), job{Prompt: up.prompts[promptSame], Values: map[string]string{"first_paragraph": item, "second_paragraph": it.Response}}},
			{up.askNugget(it, item), job{Prompt: up.prompts[promptNugget], Marks: [][2]string{{"<rubric_item>", item}, {"<llm_response>", it.Response}}}},
		} {
			jobs = append(jobs, one.job)
			ours = append(ours, one.req.Messages[len(one.req.Messages)-1].Content)
		}
	}
	in, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", `
import json, sys
out = []
for job in json.load(sys.stdin):
    text = job["prompt"].format(**job["values"]) if job["values"] else job["prompt"]
    for mark, value in job["marks"] or []:
        text = text.replace(mark, value)
    out.append(text)
json.dump(out, sys.stdout)
`)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := decode[[]string](t, out)
	for i := range theirs {
		if ours[i] != theirs[i] {
			t.Fatalf("prompt %d:\n%s\nand Python has\n%s", i, ours[i], theirs[i])
		}
	}
	t.Logf("%d prompts are equal", len(theirs))
}

// TestClone reads upstream's prompts from a clone, from Python source.
func TestClone(t *testing.T) {
	repo := t.TempDir()
	_, err := Protocol(UpstreamName, Options{})
	if err == nil || !strings.Contains(deem.HintOf(err), "--with repo=BEAM") {
		t.Errorf("without a clone: %v, hint %q", err, deem.HintOf(err))
	}
	if _, err := Protocol(UpstreamName, Options{With: map[string]string{"repo": repo}}); err == nil || !strings.Contains(err.Error(), "prompts.py") {
		t.Errorf("an empty folder: %v", err)
	}
	want := protocolOf(t, UpstreamName, "")
	quote := func(s string) string { return `"""` + strings.ReplaceAll(s, " \n\n", " \\n\n") + `"""` }
	for file, text := range map[string]string{
		"src/prompts.py":                    "other = \"\"\"x\"\"\"\nunified_llm_judge_base_prompt = \"\"\"" + want.prompts[promptNugget] + "\"\"\"\n",
		"src/evaluation/compute_metrics.py": "system = " + quote(want.prompts[promptSameAsked]) + "\nuser = f" + quote(want.prompts[promptSame]) + "\n",
	} {
		path := filepath.Join(repo, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Protocol(UpstreamName, Options{With: map[string]string{"repo": repo}})
	if err != nil {
		t.Fatal(err)
	}
	hash, _ := deem.Hash(got.Spec())
	if wanted, _ := deem.Hash(want.Spec()); hash != wanted {
		t.Errorf("the judge of the clone is %s, want %s", hash, wanted)
	}
	if err := os.WriteFile(filepath.Join(repo, "src", "prompts.py"), []byte(`x = """changed"""`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Protocol(UpstreamName, Options{With: map[string]string{"repo": repo}}); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("another prompt: %v", err)
	}
}

// TestPublishedQuestions reads all published questions, in both formats.
func TestPublishedQuestions(t *testing.T) {
	byChat := map[string]map[string][]map[string]any{}
	answers := map[string]map[string][]map[string]any{}
	for _, q := range questions(t) {
		chat := q.Size + "/" + q.Chat
		if byChat[chat] == nil {
			byChat[chat], answers[chat] = map[string][]map[string]any{}, map[string][]map[string]any{}
		}
		byChat[chat][q.Ability] = append(byChat[chat][q.Ability], map[string]any{"question": q.Question, "rubric": q.Rubric, "ideal_response": q.Ideal})
		answers[chat][q.Ability] = append(answers[chat][q.Ability], map[string]any{"question": q.Question, "llm_response": q.Ideal})
	}
	dir := t.TempDir()
	for chat := range byChat {
		for file, value := range map[string]any{"chats/" + chat + "/probing_questions/probing_questions.json": byChat[chat], "results/" + chat + "/answers.json": answers[chat]} {
			path := filepath.Join(dir, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := Open(t.Context(), Options{Data: []string{filepath.Join(dir, "chats")}, Responses: []string{filepath.Join(dir, "results")}, RequireAll: true})
	if err != nil {
		t.Fatal(err)
	}
	sizes, nuggets := map[string]int{}, 0
	for it, err := range s.Items() {
		if err != nil {
			t.Fatal(err)
		}
		sizes[it.Fields[fieldSize]]++
		rubric, err := rubricOf(it)
		if err != nil {
			t.Fatal(err)
		}
		nuggets += len(rubric)
	}
	if fmt.Sprint(sizes) != "map[100K:400 10M:200 1M:700 500K:700]" || nuggets != 6046 {
		t.Errorf("%v, %d rubric items", sizes, nuggets)
	}
}
