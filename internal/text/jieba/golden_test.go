package jieba_test

import (
	"testing"

	"deem/internal/golden"
	"deem/internal/text/jieba"
)

func TestGolden(t *testing.T) {
	golden.Test(t, map[string]golden.Metric{
		"jieba_cut": golden.Of(func(in struct{ Text string }) (any, error) {
			return jieba.Cut(in.Text), nil
		}),
	}, golden.Options{})
}
