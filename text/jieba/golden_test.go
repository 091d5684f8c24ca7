package jieba_test

import (
	"testing"

	"deem/text/jieba"
	"deem/text/texttest"
)

func TestGolden(t *testing.T) {
	texttest.Golden(t, map[string]texttest.Metric{
		"jieba_cut": texttest.Of(func(in struct{ Text string }) (any, error) {
			return jieba.Cut(in.Text), nil
		}),
	})
}
