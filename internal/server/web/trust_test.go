package web

import (
	"strings"
	"testing"

	"deem/internal/doc"
	"deem/stat"
)

// A judge that accepts most wrong responses is marked as bad.
func TestTrust(t *testing.T) {
	t.Parallel()
	est := func(k, n int) *stat.Estimate { e := stat.Proportion(k, n, stat.DefaultLevel); return &e }
	for _, tt := range []struct {
		name             string
		accepts, rejects *stat.Estimate
		n                int
		tone             doc.Tone
		says             string
	}{
		{"bad", est(61, 100), est(2, 100), 200, doc.Bad, "Do not trust"},
		{"good", est(2, 200), est(3, 200), 400, doc.Good, "can be trusted"},
		{"thin", est(0, 15), est(1, 25), 40, doc.Warning, "evidence is thin"},
		{"so-so", est(30, 200), est(3, 200), 400, doc.Warning, "corrected score"},
		{"few", est(0, 5), est(0, 5), 10, doc.Warning, "too early"},
		{"one kind", nil, est(0, 50), 50, doc.Warning, "too early"},
	} {
		got := newTrust(tt.accepts, tt.rejects, tt.n, "label")
		if got.Tone != tt.tone || !strings.Contains(got.Text, tt.says) {
			t.Errorf("%s: %s %q, want %s and %q", tt.name, got.Tone, got.Text, tt.tone, tt.says)
		}
	}
}
