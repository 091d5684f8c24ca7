package text_test

import (
	"testing"

	"deem/internal/golden"
	"deem/internal/text"
)

func TestGolden(t *testing.T) {
	golden.Test(t, map[string]golden.Metric{
		"squad_v11_normalize":           normalizer(text.SQuAD),
		"longbench_normalize_answer":    normalizer(text.LongBench),
		"longbench_normalize_zh_answer": normalizer(text.LongBenchZh),
		"locomo_normalize_answer":       normalizer(text.LoCoMo),
		"porter_stem": golden.Of(func(in struct{ Word string }) (any, error) {
			return text.Stem(in.Word), nil
		}),
		"sacrebleu_tokenize": golden.Of(func(in struct{ Text string }) (any, error) {
			return map[string]any{
				"13a": text.BLEU13a(in.Text), "zh": text.BLEUZh(in.Text),
				"char": text.BLEUChar(in.Text), "intl": text.BLEUIntl(in.Text),
			}, nil
		}),
		"rouge_score_tokenize": golden.Of(func(in struct{ Text string }) (any, error) {
			return map[string]any{
				"plain": text.ROUGEWords(in.Text, false), "stemmed": text.ROUGEWords(in.Text, true),
			}, nil
		}),
		"levenshtein": golden.Of(func(in stringPair) (any, error) {
			return map[string]any{
				"distance":                    text.Levenshtein(in.S1, in.S2),
				"ratio":                       text.InDelRatio(in.S1, in.S2),
				"normalized_similarity":       text.LevenshteinRatio(in.S1, in.S2),
				"indel_distance":              text.InDel(in.S1, in.S2),
				"indel_normalized_similarity": text.InDelRatio(in.S1, in.S2),
				"jaro_winkler":                text.JaroWinkler(in.S1, in.S2),
				"lcs_length":                  text.LCSLength(in.S1, in.S2),
			}, nil
		}),
	}, golden.Options{})
}

func normalizer(f func(string) string) golden.Metric {
	return golden.Of(func(in struct{ Text string }) (any, error) { return f(in.Text), nil })
}

type stringPair struct{ S1, S2 string }
