package longmemeval_test

import (
	"testing"

	"deem/internal/golden"
)

// None of these vectors may be part of the repository; testdata/retrieval.jsonl holds
// rankings of our own.
func TestGolden(t *testing.T) {
	type input struct {
		Rankings []int    `json:"rankings"`
		Correct  []string `json:"correct_docs"`
		Corpus   []string `json:"corpus_ids"`
		K        int      `json:"k"`
	}
	golden.Test(t, map[string]golden.Metric{
		"longmemeval_retrieval": golden.Of(func(in input) (any, error) {
			turns := turnScores(in.Rankings, in.Correct, in.Corpus, in.K)
			sessions := sessionScores(in.Rankings, in.Correct, in.Corpus, in.K)
			return map[string]any{
				"recall_any": turns[0], "recall_all": turns[1], "ndcg": turns[2],
				"session_recall_any": sessions[0], "session_recall_all": sessions[1], "session_ndcg": sessions[2],
			}, nil
		}),
	}, golden.Options{})
}
