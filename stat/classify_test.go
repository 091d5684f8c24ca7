package stat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem/stat"
)

func TestConfusionRates(t *testing.T) {
	c := stat.Confusion{TP: 40, FP: 10, FN: 20, TN: 30}
	for name, tt := range map[string]struct {
		got  stat.Estimate
		want float64
		n    int
	}{
		"accuracy":     {c.Accuracy(0.95), 0.7, 100},
		"false accept": {c.FalseAccept(0.95), 0.25, 40},
		"false reject": {c.FalseReject(0.95), 1.0 / 3, 60},
		"precision":    {c.Precision(0.95), 0.8, 50},
		"recall":       {c.Recall(0.95), 2.0 / 3, 60},
		"specificity":  {c.Specificity(0.95), 0.75, 40},
		"truth rate":   {c.TruthRate(0.95), 0.6, 100},
		"judge rate":   {c.JudgeRate(0.95), 0.5, 100},
		"balanced":     {c.BalancedAccuracy(0.95), (2.0/3 + 0.75) / 2, 100},
		"kappa":        {c.Kappa(0.95), 0.4, 100},
		"AC1":          {c.AC1(0.95), (0.7 - 0.495) / (1 - 0.495), 100},
	} {
		if !near(tt.got.Value, tt.want, 1e-12) || tt.got.N != tt.n {
			t.Errorf("%s = %v of %d, want %v of %d", name, tt.got.Value, tt.got.N, tt.want, tt.n)
		}
	}
	if got, want := c.MCC(), (40*30-10*20.0)/2449.489742783178; !near(got, want, 1e-12) {
		t.Errorf("MCC = %v, want %v", got, want)
	}
}

func TestConfusionAdd(t *testing.T) {
	var c stat.Confusion
	for _, answer := range [][2]bool{{true, true}, {false, true}, {false, true}, {true, false}, {false, false}} {
		c.Add(answer[0], answer[1])
	}
	if want := (stat.Confusion{TP: 1, FP: 2, FN: 1, TN: 1}); c != want {
		t.Errorf("Add gives %+v, want %+v", c, want)
	}
}

// One kind of answer leaves the balanced accuracy of that kind.
func TestBalancedAccuracyOfOneKind(t *testing.T) {
	if got := (stat.Confusion{TP: 3, FN: 1}).BalancedAccuracy(0.95).Value; got != 0.75 {
		t.Errorf("BalancedAccuracy = %v, want 0.75", got)
	}
	if got := (stat.Confusion{TN: 1, FP: 3}).BalancedAccuracy(0.95).Value; got != 0.25 {
		t.Errorf("BalancedAccuracy = %v, want 0.25", got)
	}
}

func TestConfusionIsSane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(-2, 1_000_000)
		c := stat.Confusion{TP: count.Draw(t, "tp"), FP: count.Draw(t, "fp"), FN: count.Draw(t, "fn"), TN: count.Draw(t, "tn")}
		for _, est := range []stat.Estimate{
			c.Accuracy(0.95), c.FalseAccept(0.95), c.FalseReject(0.95), c.Precision(0.95), c.Recall(0.95),
			c.Specificity(0.95), c.TruthRate(0.95), c.JudgeRate(0.95), c.BalancedAccuracy(0.95), c.Kappa(0.95), c.AC1(0.95),
		} {
			sane(t, "estimate", est)
		}
		if m := c.MCC(); !(m >= -1 && m <= 1) {
			t.Errorf("MCC of %+v = %v", c, m)
		}
	})
}

// A label that is not listed counts for the whole and not for the table.
func TestClassificationOfOtherLabels(t *testing.T) {
	truth, given := []string{"a", "a", "b", "c"}, []string{"a", "b", "b", "b"}
	c, err := stat.Classification(truth, given, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int{{1, 1}, {0, 1}}, c.Table); diff != "" {
		t.Errorf("Table (-want +got):\n%s", diff)
	}
	if c.Accuracy != 0.5 || !near(c.Each[1].Precision, 1.0/3, 1e-12) {
		t.Errorf("accuracy %v and precision of b %v, want 0.5 and 1/3", c.Accuracy, c.Each[1].Precision)
	}
	all, err := stat.Classification(truth, given, nil)
	if diff := cmp.Diff([]string{"a", "b", "c"}, all.Labels); diff != "" || err != nil {
		t.Errorf("Labels (-want +got, error %v):\n%s", err, diff)
	}
	if _, err := stat.Classification(truth, given[1:], nil); err == nil {
		t.Error("lists of different length are not an error")
	}
	if _, err := stat.Classification(nil, nil, nil); err == nil {
		t.Error("no labels are not an error")
	}
}
