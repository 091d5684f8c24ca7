package metric_test

import (
	"math"
	"testing"

	"deem/internal/text/metric"
)

func TestMem0(t *testing.T) {
	for _, tt := range []struct {
		response, reference string
		f1, bleu1           float64
	}{
		{"", "", 0, 0},
		{" ", "\n", 0, 0},
		{"Paris", "", 0, 0},
		{" PARIS ", "paris", 1, 1},
		{"no, no, no!", "no", 1, 1. / 6},
	} {
		if got := metric.Mem0F1(tt.response, tt.reference); got != tt.f1 {
			t.Errorf("Mem0F1(%q, %q) = %v, want %v", tt.response, tt.reference, got, tt.f1)
		}
		if got := metric.Mem0BLEU1(tt.response, tt.reference); math.Abs(got-tt.bleu1) > 1e-12 {
			t.Errorf("Mem0BLEU1(%q, %q) = %v, want %v", tt.response, tt.reference, got, tt.bleu1)
		}
	}
}
