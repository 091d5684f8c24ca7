package metric_test

import (
	"deem/internal/test/golden"
	"deem/internal/text/metric"
)

// nltkMetrics are checked against the results of NLTK 3.8.
var nltkMetrics = map[string]golden.Metric{
	"nltk_word_tokenize": golden.Of(func(in struct{ Text string }) (any, error) {
		return map[string]any{
			"sentences":            metric.NLTKSentences(in.Text),
			"tokens":               metric.NLTKWords(in.Text),
			"tokens_preserve_line": metric.NLTKLineWords(in.Text),
		}, nil
	}),
}
