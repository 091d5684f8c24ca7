package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/cli"
	"deem/internal/reports/sensitivity"
)

// sharedData has real results that others published. They are not part of the project;
// without them there is nothing to check here.
const sharedData = "../../../shared/data"

// A known is a set of real results with its known numbers.
type known struct {
	set   string // folder
	files string // below the folder
	args  []string
	exit  int
	score float64            // of the published verdicts; NaN if it is withheld
	also  map[string]float64 // means of other numbers
	part  map[string]float64 // by category, from the benchmark's own metrics
	says  string             // somewhere in the report
}

// knownSets are the sets of ../shared/data/README.md with verdicts. Not included are
// longbench_preds and infinitebench_preds, predictions without verdicts, which "deem run
// longbench" and "deem run infinitebench" judge by their rules; human_evouna, which is in
// TestRejudgeSharedPeople; lme_questions and locomo10, which are questions; and replies,
// which are replies to many prompts for the tests of replies in judge.
var knownSets = []known{
	{set: "lme_cognitive_memory", files: "longmemeval/results/cm_full_run.json", score: 363.0 / 500, args: []string{"--claimed", "72.60%", "--claimed", "categories=72.29%", "--claimed", "abstention=26/30"}},
	{set: "lme_cognitive_memory", files: "longmemeval/results/naive_rag_results.json", score: 0.7, args: []string{"--claimed", "70.00%", "--claimed", "categories=70.65%", "--claimed", "abstention=25/30"}},
	{set: "lme_cognitive_memory", files: "locomo/results/clean_run_a/results.json", score: 0.2128, says: "without category 5"},
	{set: "lme_gemini_image_text", files: "data/*.json", score: 443.0 / 500, args: []string{"--claimed", "88.6%"}},
	{set: "lme_gemini_image_text", files: "data/*.json", score: 443.0 / 500, args: []string{"--claimed", "87.0%"}, exit: 4, says: `only the label spelt \"yes\" was counted: 435 of 500`},
	{set: "lme_mflow5", files: "benchmarks/longmemeval-mflow/results/eval_100_per_question.json", score: 0.89, args: []string{"--claimed", "89/100", "--claimed", "f1_score=0.4397"}},
	{set: "lme_mflow5", files: "benchmarks/longmemeval-mem0/results/eval_100_per_question.json", score: 0.71},
	{set: "locomo_audit", files: "fc-baseline/results/gpt-4o-mini-memos/eval_results.json", score: 0.742857, args: []string{"--claimed", "74.29%", "--claimed", "majority=74.35%", "--claimed", "trial_sd=0.05%"}},
	{set: "locomo_audit", files: "fc-baseline/results/gpt-4o-mini-cot/eval_results.json", score: 0.798918, args: []string{"--claimed", "79.89%", "--claimed", "majority=79.94%", "--claimed", "trial_sd=0.12%"}},
	{set: "locomo_audit", files: "ap-baseline/v1/ap_eval_results_scored.json", score: 0.106061, args: []string{"--claimed", "10.61%"}},
	{set: "locomo_memobase", files: "docs/experiments/locomo-benchmark/fixture/memobase/*.json", score: 0.7091, also: map[string]float64{"f1_score": 0.4884, "bleu_score": 0.3515}, part: map[string]float64{"1": 0.6383, "2": 0.8037, "3": 0.5208, "4": 0.7182}},
	{set: "locomo_acb_raw", files: "results/*.jsonl", score: 0.7987, part: map[string]float64{"1": 0.6986, "2": 0.7913, "3": 0.6667, "4": 0.8502}},
	// The fourth file's summary counts one row less than it has.
	{set: "locomo_core_raw", files: "locomo/evals", score: 676.0 / 762, exit: 4, says: `"claimed": "675"`},
	{set: "locomo_mflow5", files: "benchmarks/locomo-cognee/results/per_conversation", score: 1223.0 / 1540, args: []string{"--claimed", "1223/1540", "--claimed", "f1_score=0.3865"}, part: map[string]float64{"1": 0.7872, "2": 0.7321, "3": 0.625, "4": 0.8395}},
	{set: "locomo_samem_f1", files: "out/*/*.jsonl", score: 0.5133},
	{set: "locomo_amem_reps", files: "amem/results/entrega3/results_amem_gpt4omini_sample0_r1_k3.json", score: 0.285782},
	{set: "halumem_mem0_pilot", files: "data/eval/halumem_pilot_user12_Results.json", score: 0.757, args: []string{"--claimed", "memory_integrity.recall(all)=0.04865", "--claimed", "memory_extraction_f1=0.09278"}},
	{set: "halumem_mem0_pilot", files: "data/eval/halumem_pilot_user12_detailed.json", score: 0.757, args: []string{"--claimed", "memory_integrity.weighted_recall(all)=0.4", "--claimed", "memory_accuracy.interference_accuracy(all)=0.25641"}},
	{set: "halumem_mem0_pilot", files: "data/eval/halumem_pilot_user0_FULL_results.json", exit: 3, score: math.NaN(), says: "2251 of 2252"},
	{set: "halumem_mem0_pilot", files: "data/eval/halumem_pilot_user3_FULL_results.json", exit: 3, score: math.NaN(), says: "1574 of 1576"},
	{set: "human_cognee_hotpot", files: "evals/old/cognee_01042025/metrics_output_cognee_direct_llm.json", score: 0.738},
	{set: "human_cognee_hotpot", files: "evals/old/cognee_01042025/metrics_output_cognee.json", score: 0.56888},
	// 400 of the 3,600 rows have no verdict.
	{set: "human_triviaqa_9judges", files: "results/*.csv", score: 0.6372, args: []string{"--map", "label=Human-Eval", "--pick", "all", "--max-unjudged", "12%", "--claimed", "63.72%"}, says: "may hold the prompt"},
	{set: "human_triviaqa_9judges", files: "results/*.csv", score: 0.6284, args: []string{"--map", "label=GPT-4", "--pick", "all", "--max-unjudged", "12%", "--claimed", "2011/3200"}},
	{set: "human_critiquellm_zh", files: "data/evaluation/pointwise/alignbench_reference_based_sample.jsonl", score: 0.422, args: []string{"--scale", "5"}},
	{set: "calib_cje_arena", files: "examples/arena_sample/fresh_draws/base_responses.jsonl", score: 0.8413},
	{set: "calib_cje_arena", files: "examples/arena_sample/fresh_draws/base_responses.jsonl", score: 0.7541, args: []string{"--map", "label=oracle_label", "--max-unjudged", "60%", "--claimed", "75.41%"}},
	// The judge's mean, over the rows that the oracle judged too, and their correlation.
	{set: "calib_cje_arena", files: "examples/arena_sample/fresh_draws/base_responses.jsonl", score: 0.8397, args: []string{"--only", "oracle_label", "--map", "truth=oracle_label", "--claimed", "83.97%", "--claimed", "truth_mean=75.41%", "--claimed", "pearson=0.390", "--claimed", "spearman=0.446"}, says: "480 of 1,000 rows are taken, those with a value in oracle_label"},
	{set: "calib_cje_arena", files: "examples/arena_sample/fresh_draws/base_responses.jsonl", score: 0.8413, args: []string{"--map", "truth=oracle_label", "--claimed", "judge_mean=83.97%", "--claimed", "truth_mean=75.41%", "--claimed", "pearson=0.390", "--claimed", "spearman=0.446"}, says: "over the 480 items of 1,000 that have both"},
	{set: "human_triviaqa_9judges", files: "results/*.csv", score: 0.6284, args: []string{"--map", "label=GPT-4,truth=Human-Eval", "--pick", "all", "--max-unjudged", "12%", "--claimed", "agreement=.9500", "--claimed", "kappa=.8924"}, says: "1945 yes to right ones, 66 yes to wrong ones, 94 no to right ones, 1095 no to wrong ones"},
	// A folder of LLMBar contains the verdicts and their summary.
	{set: "human_llmbar", files: "Dataset/LLMBar/Natural/evaluators/GPT-4/Vanilla/result.json", score: 0.955, args: []string{"--claimed", "trial1=95/100", "--claimed", "trial2=96/100", "--claimed", "all=93/100"}, says: "with output_1 first 95 of 100 are right, with output_2 first 96, in both orders 93"},
	{set: "human_llmbar", files: "Dataset/LLMBar/Natural/evaluators/GPT-4/Vanilla", score: 0.955, says: `"claimed": "93 / 100"`},
	{set: "human_llmbar", files: "Dataset/LLMBar/Natural/evaluators/GPT-4/Vanilla", score: 0.955, args: []string{"--claimed", "trial1=96/100"}, exit: 4},
	{set: "human_llmbar", files: "Dataset/LLMBar/Natural/evaluators/Falcon/CoT", score: 0.57, says: `"claimed": "14 / 100"`},
	{set: "human_llmbar", files: "Dataset/LLMBar/Natural/evaluators/ChatGPT/CoT", score: 0.745, args: []string{"--max-unjudged", "2%"}, says: "with each missing verdict counted as wrong"},
	{set: "human_llmbar", files: "Dataset/LLMBar/Natural/evaluators/PaLM2/CoT", score: 0.737374, says: "with failures counted as wrong"},
	{set: "zh_halluqa_gpt4judge", files: "Chinese_LLMs_outputs/open_generation/abab5.5-chat_output_qa_prompt.json", score: 252.0 / 448, args: []string{"--claimed", "right=252", "--claimed", "unjudged=2"}},
	{set: "zh_touchstone", files: "results/*run1.json", score: 0.91},
	{set: "zh_touchstone", files: "results/*run2.json", score: 0.93},
	{set: "zh_touchstone", files: "results/*run3.json", score: 0.92},
}

// Every set of real results is read with one command and reproduces the published number,
// or the command reports that it does not.
func TestRejudgeSharedData(t *testing.T) {
	notQuick(t)
	if _, err := os.Stat(sharedData); err != nil {
		t.Skipf("there is no %s", sharedData)
	}
	t.Parallel()
	for i := 0; i < len(knownSets); i += knownStep {
		k := knownSets[i]
		t.Run(k.set+"/"+k.files+fmt.Sprint(k.args), func(t *testing.T) {
			t.Parallel()
			k.check(t, filepath.Join(t.TempDir(), "deem.db"))
		})
	}
}

func (k known) check(t *testing.T, db string) {
	files, err := filepath.Glob(filepath.Join(sharedData, k.set, k.files))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files %s, want one (%v)", len(files), k.files, err)
	}
	var out, errw bytes.Buffer
	args := append([]string{"rejudge", "--json", "--db", db, files[0]}, k.args...)
	if exit := cli.Main(args, strings.NewReader(""), &out, &errw); exit != k.exit {
		t.Fatalf("exit code %d, want %d: %s", exit, k.exit, errw.String())
	}
	var r struct {
		sensitivity.Report
		Metrics map[string]json.RawMessage `json:"published"`
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), k.says) {
		t.Errorf("the report does not say %q", k.says)
	}
	k.numbers(t, r.Systems[0])
	for _, raw := range r.Metrics {
		k.parts(t, raw)
	}
}

// numbers compares the score of the recorded verdicts, and the means of other numbers.
func (k known) numbers(t *testing.T, s sensitivity.System) {
	t.Helper()
	est := s.Scores[0].Estimate
	switch {
	case math.IsNaN(k.score) && est != nil:
		t.Errorf("score %v, want it withheld", est.Value)
	case !math.IsNaN(k.score) && (est == nil || math.Abs(est.Value-k.score) > 5e-5):
		t.Errorf("score %+v, want %.4f", est, k.score)
	}
	for _, a := range s.Also {
		if want, ok := k.also[a.Name]; ok && math.Abs(a.Mean-want) > 5e-5 {
			t.Errorf("%s %.5f, want %.4f", a.Name, a.Mean, want)
		}
	}
	if len(s.Also) < len(k.also) {
		t.Errorf("%d other numbers, want %d", len(s.Also), len(k.also))
	}
}

// parts compares the numbers of categories.
func (k known) parts(t *testing.T, raw json.RawMessage) {
	t.Helper()
	var m struct {
		Categories []struct {
			Category string `json:"category"`
			Estimate struct {
				Value float64 `json:"value"`
			} `json:"estimate"`
		} `json:"categories"`
	}
	if len(k.part) == 0 {
		return
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range m.Categories {
		if want, ok := k.part[c.Category]; ok {
			found++
			if math.Abs(c.Estimate.Value-want) > 5e-5 {
				t.Errorf("category %s %.5f, want %.4f", c.Category, c.Estimate.Value, want)
			}
		}
	}
	if found != len(k.part) {
		t.Errorf("%d categories, want %d", found, len(k.part))
	}
}

// Mistakes are reported before anything is stored, with a hint how to fix them.
func TestRejudgeMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"results.json":   `[{"question_id":"a","question_type":"multi-session","question":"q","answer":3,"hypothesis":"three","correct":true}]`,
		"plain.csv":      "id,question,answer,response,label\n1,q,a,a,CORRECT\n",
		"questions.json": `[{"question_id":"a","question_type":"multi-session","question":"q","answer":3}]`,
		"half.json":      `[{"id":1,"question":"q","response":"r","label":"yes"},{"id":2,"ques`,
		"half.eval":      "PK\x03\x04 and no more",
		"broken.jsonl":   `{"id":1,"question":"q","response":"r","label":"yes"}` + "\n" + `{"id":2,"question":"q","response":"r","label":"yes"} 17"}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"", "no file of results is named"},
		{"none.json", "none.json: no such file"},
		{"results.json --claimed much", `--claimed much: the claim "much" is not a number`},
		{"results.json plain.csv --claimed 50%", "--claimed is about one system, and there are 2"},
		{"results.json results.json", "results.json is named twice"},
		{"x=results.json x=plain.csv", ""},
		{"results.json --judge nobody", `no judge "nobody"`},
		{"results.json --judge universal", "judge universal needs a model, and none is given"},
		{"plain.csv --model openai:any", "--model needs a judge that asks it, and no --judge is given"},
		{"plain.csv --data questions.json", "of no benchmark that is recognised"},
		{"plain.csv --map nonsense", `no = in "nonsense"`},
		{"plain.csv --map lable=x", `did you mean "label"?`},
		{"plain.csv --only lable=CORRECT", `no row has a column "lable"`},
		{"plain.csv --only label=WRONG", "none of 1 row has label=WRONG"},
		{"plain.csv --map truth=nobody", "no item has both a verdict and a truth"},
		{"plain.csv --judge match -j 0", "-j is 0"},
		{"half.json", "half.json:1: not JSON"},
		{"half.eval", "half.eval: it begins as a zip archive and is not whole"},
		{"broken.jsonl", "broken.jsonl:2: the object is followed by"},
		{"broken.jsonl", "hint: --skip-broken leaves such rows out"},
	} {
		var out, errw bytes.Buffer
		args := append([]string{"rejudge"}, strings.Fields(c.args)...)
		exit := cli.Main(args, strings.NewReader(""), &out, &errw)
		if c.want == "" { // The path distinguishes equal names.
			if exit != 0 {
				t.Errorf("rejudge %s: exit code %d: %s", c.args, exit, errw.String())
			}
			continue
		}
		if exit != 2 || !strings.Contains(errw.String(), c.want) {
			t.Errorf("rejudge %s: exit code %d, %s, want 2 and %q", c.args, exit, errw.String(), c.want)
		}
	}
	var out, errw bytes.Buffer
	if exit := cli.Main([]string{"rejudge", "broken.jsonl", "--skip-broken"}, strings.NewReader(""), &out, &errw); exit != 0 || !strings.Contains(out.String(), "left out broken.jsonl:2") {
		t.Errorf("--skip-broken: exit code %d, want 0 and the line that was left out: %s%s", exit, out.String(), errw.String())
	}
}

// The report on a file with a wrong summary, and on fifteen repeats of one system.
func TestRejudgeSharedSystems(t *testing.T) {
	notQuick(t)
	files, err := filepath.Glob(filepath.Join(sharedData, "locomo_amem_reps/amem/results/entrega3/*_k10.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("there is no %s", sharedData)
	}
	t.Parallel()
	var out, errw bytes.Buffer
	args := append([]string{"rejudge", "--json", "--db", filepath.Join(t.TempDir(), "deem.db"), "--judge", "exact", "--judge", "contains"}, files...)
	if exit := cli.Main(args, strings.NewReader(""), &out, &errw); exit != 0 {
		t.Fatalf("exit code %d: %s", exit, errw.String())
	}
	var r sensitivity.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Systems) != 5 || len(r.Judges) != 3 || len(r.Pairs) != 3 || len(r.Ranks) != 3 || len(r.Orders) != 10 {
		t.Errorf("%d systems, %d judges, %d pairs, %d ranks over %d pairs of systems, want 5, 3, 3, 3, 10", len(r.Systems), len(r.Judges), len(r.Pairs), len(r.Ranks), len(r.Orders))
	}
	for _, s := range r.Systems {
		if s.Band == nil || s.Items != 199 || len(s.Claims) != 84 {
			t.Errorf("%s: band %v, %d items, %d claims, want a band, 199 and 84", s.Name, s.Band, s.Items, len(s.Claims))
		}
	}
}
