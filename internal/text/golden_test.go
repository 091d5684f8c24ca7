package text_test

import (
	"strings"
	"testing"

	"deem/internal/test/golden"
	"deem/internal/text"
)

func TestGolden(t *testing.T) {
	golden.Test(t, map[string]golden.Metric{
		"squad_v11_normalize":           normalizer(text.SQuAD),
		"longbench_normalize_answer":    normalizer(text.SQuAD),
		"longbench_normalize_zh_answer": normalizer(text.LongBenchZh),
		"locomo_normalize_answer":       normalizer(func(s string) string { return strings.Join(text.LoCoMoWords(s), " ") }),
		"porter_stem": golden.Of(func(in struct{ Word string }) (any, error) {
			return text.Stem(in.Word), nil
		}),
		"sacrebleu_tokenize": golden.Of(func(in struct{ Text string }) (any, error) {
			return map[string]any{"13a": strings.Join(text.BLEU13aWords(in.Text), " ")}, nil
		}),
		"rouge_score_tokenize": golden.Of(func(in struct{ Text string }) (any, error) {
			return map[string]any{
				"plain": text.ROUGEWords(in.Text, false), "stemmed": text.ROUGEWords(in.Text, true),
			}, nil
		}),
		"levenshtein": golden.Of(func(in stringPair) (any, error) {
			return map[string]any{
				"ratio":                       text.InDelRatio(in.S1, in.S2),
				"indel_normalized_similarity": text.InDelRatio(in.S1, in.S2),
			}, nil
		}),
		"rapidfuzz": golden.Of(func(in stringPair) (any, error) {
			return map[string]any{"ratio": 100 * text.InDelRatio(in.S1, in.S2)}, nil
		}),
	}, golden.Options{})
}

func normalizer(f func(string) string) golden.Metric {
	return golden.Of(func(in struct{ Text string }) (any, error) { return f(in.Text), nil })
}

type stringPair struct{ S1, S2 string }
