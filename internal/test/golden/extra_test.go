package golden

import "testing"

// TestKnows checks that a metric no golden test names is recognised as unknown, so that a
// folder named by DEEM_GOLDEN cannot pass without being checked.
func TestKnows(t *testing.T) {
	tests := goldenTests(t)
	for metric, want := range map[string]bool{"porter_stem": true, "nltk_meteor": true, "longbench_qa_f1": true, "nonsense_metric": false} {
		if got := isTested(tests, metric); got != want {
			t.Errorf("knows(%s) = %t, want %t", metric, got, want)
		}
	}
}
