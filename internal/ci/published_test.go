package ci_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// data is where the files of others may be. None of them is ours to ship.
var data = filepath.Join(root, "..", "shared", "data")

// published says which published file stands behind a name in the documents. A page may
// have a file of its own for a name.
var published = map[string]string{
	"longmemeval_s_cleaned.json": "lme_questions/derived.jsonl",
	"locomo10.json":              "locomo10/data/locomo10.json",
	"answers.json":               "locomo_memobase/docs/experiments/locomo-benchmark/fixture/memobase/memobase_eval_0503_3000.json",
	"errors.json":                "locomo_audit/errors.json",
	"pred/llama2-7b-chat-4k":     "longbench_preds/pred/llama2-7b-chat-4k",
	"results/gpt4":               "infinitebench_preds/results/gpt4",
	"halumem_results.json":       "halumem_mem0_pilot/data/eval/halumem_pilot_user12_detailed.json",
	"cm_full_run.json":           fullRun,
	"naive_rag.json":             "lme_cognitive_memory/longmemeval/results/naive_rag_results.json",
	"three_trials.json":          "locomo_audit/fc-baseline/results/gpt-4o-mini-memos/eval_results.json",
	"results.json":               "lme_gemini_image_text/data/gemini-2.5-flash-dynamic-thinking-text-context-eval.json",
	"a.json":                     "lme_mflow5/benchmarks/longmemeval-mem0/results/eval_100_per_question.json",
	"b.json":                     "lme_mflow5/benchmarks/longmemeval-mflow/results/eval_100_per_question.json",
	"base_responses.jsonl":       "calib_cje_arena/examples/arena_sample/fresh_draws/base_responses.jsonl",
	"hyp.jsonl":                  fullRun, // whose predictions are written as LongMemEval has them
}

// fullRun is a published run over LongMemEval with what its judge replied.
const fullRun = "lme_cognitive_memory/longmemeval/results/cm_full_run.json"

// publish lays the published files that a block names into a folder, and reports whether
// all of them are on this machine.
func publish(t *testing.T, folder, page string, b Block) bool {
	t.Helper()
	named := 0
	for _, words := range Commands(b.Text) {
		for _, word := range words {
			if _, value, ok := strings.Cut(word, "="); ok && !strings.HasPrefix(word, "-") {
				word = value // NAME=FILE
			}
			source, ok := published[word]
			if !ok {
				continue
			}
			named++
			if _, err := os.Stat(filepath.Join(data, source)); err != nil {
				return false
			}
			lay(t, filepath.Join(folder, word), word, filepath.Join(data, source))
		}
	}
	if named == 0 {
		t.Errorf("%s:%d: the block names no published file that we know", page, b.Line)
	}
	return named > 0
}

// lay puts a published file where a page has it.
func lay(t *testing.T, to, name, source string) {
	t.Helper()
	if _, err := os.Lstat(to); err == nil {
		return
	}
	err := os.MkdirAll(filepath.Dir(to), 0o700)
	if err == nil && path.Base(name) == "hyp.jsonl" {
		err = os.WriteFile(to, hypotheses(t), 0o600)
	} else if err == nil {
		var whole string
		if whole, err = filepath.Abs(source); err == nil {
			err = os.Symlink(whole, to)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An answered question is a row of the published run.
type answered struct {
	ID         string `json:"question_id"`
	Question   string `json:"question"`
	Prediction string `json:"prediction"`
	JudgeRaw   string `json:"judge_raw"`
}

// answeredQuestions returns the rows of the published run, or none where it is not.
func answeredQuestions(t *testing.T) []answered {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, fullRun))
	if os.IsNotExist(err) {
		return nil
	}
	var run struct {
		Rows []answered `json:"per_question"`
	}
	if err == nil {
		err = json.Unmarshal(text, &run)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run.Rows
}

// hypotheses returns the answers of the published run as LongMemEval's scripts read them.
func hypotheses(t *testing.T) []byte {
	t.Helper()
	var lines []byte
	for _, row := range answeredQuestions(t) {
		line, err := json.Marshal(map[string]string{"question_id": row.ID, "hypothesis": row.Prediction})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	return lines
}

// recordedReplies returns the rows of the published run by their responses. One response
// may have been given to several questions.
func recordedReplies(t *testing.T) map[string][]answered {
	t.Helper()
	replies := map[string][]answered{}
	for _, row := range answeredQuestions(t) {
		replies[row.Prediction] = append(replies[row.Prediction], row)
	}
	return replies
}
