package text_test

import (
	"testing"

	"deem/text"
	"deem/text/texttest"
)

func TestGolden(t *testing.T) {
	texttest.Golden(t, map[string]texttest.Metric{
		"squad_v11_normalize":           normalizer(text.SQuAD),
		"longbench_normalize_answer":    normalizer(text.LongBench),
		"longbench_normalize_zh_answer": normalizer(text.LongBenchZh),
		"locomo_normalize_answer":       normalizer(text.LoCoMo),
		"porter_stem": texttest.Of(func(in struct{ Word string }) (any, error) {
			return text.Stem(in.Word), nil
		}),
	})
}

func normalizer(f func(string) string) texttest.Metric {
	return texttest.Of(func(in struct{ Text string }) (any, error) { return f(in.Text), nil })
}
