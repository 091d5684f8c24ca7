package bundle

import (
	"strings"
	"testing"

	"deem"
)

// A call that says it was made otherwise than the judge asks is found.
func TestCheckSent(t *testing.T) {
	zero := 0.0
	req := deem.Request{MaxTokens: 5, Temperature: &zero}
	thinks := "rejects=temperature%2Ctop_p&room=8192"
	for _, tt := range []struct{ settings, sent, dropped, problem string }{
		{"", "max_tokens=5&temperature=0", "", ""},
		{"", "options.num_predict=5&options.temperature=0", "", ""},
		{thinks, "max_completion_tokens=8197", "temperature=rejected", ""},
		{"", "max_tokens=5&temperature=0.7", "", "0.7 was sent"},
		{"", "max_tokens=5", "", "neither that it was sent nor why not"},
		{thinks, "max_completion_tokens=5", "temperature=rejected", "sets max_tokens 8197"},
		{thinks, "max_completion_tokens=8197&temperature=0", "", "its model rejects it"},
		{"", "max_tokens=5&temperature=0&top_p=0.5", "", "the judge does not set it"},
		{"", "max_tokens=5&temperature=0", "temperature=rejected", "and that it was not"},
		{"", "max_tokens=5&temperature=0", "seed=no", "the judge does not set it"},
	} {
		problem, checked := checkSent(req, tt.settings, deem.Reply{Sent: tt.sent, Dropped: tt.dropped})
		if !checked || (problem == "") != (tt.problem == "") || !strings.Contains(problem, tt.problem) {
			t.Errorf("settings %q, sent %q, dropped %q: %q, want %q", tt.settings, tt.sent, tt.dropped, problem, tt.problem)
		}
	}
	if _, checked := checkSent(req, "", deem.Reply{}); checked {
		t.Error("a reply that does not say what was sent is checked")
	}
	req.Schema = []byte(`{"type":"object"}`)
	if problem, _ := checkSent(req, "", deem.Reply{Sent: "max_tokens=5&temperature=0"}); !strings.Contains(problem, "by schema") {
		t.Errorf("a schema that was not sent: %q", problem)
	}
}
