package agree_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports/agree"
	"deem/stat"
)

func TestPairing(t *testing.T) {
	p := agree.NewPairs(agree.Party{Judge: "f1"}, agree.Party{Judge: "universal", Model: "openai:m"})
	yes, no, pass := &deem.Verdict{Score: 1}, &deem.Verdict{Score: 0.2}, true
	graded := &deem.Verdict{Score: 0.1, Pass: &pass}
	for _, c := range []struct {
		id, category  string
		first, second *deem.Verdict
	}{
		{"q1", "zh", no, yes}, // like the two people called 阿四: the rule says no, the judge yes
		{"q2", "zh", yes, yes},
		{"q3", "en", no, no},
		{"q4", "en", yes, no},
		{"q5", "en", graded, yes}, // a pass mark takes precedence over the score
		{"q6", "en", yes, nil},
	} {
		p.Add(deem.Item{ID: c.id, Category: c.category}, c.first, c.second)
	}
	a := p.Pairing()
	if a.All.BothYes != 2 || a.All.BothNo != 1 || a.All.FirstOnly != 1 || a.All.SecondOnly != 1 || a.Unpaired != 1 {
		t.Errorf("counts %+v, unpaired %d", a.All, a.Unpaired)
	}
	if a.All.Agreement.Value != 0.6 || a.All.Agreement.N != 5 {
		t.Errorf("agreement %+v, want 0.6 of 5", a.All.Agreement)
	}
	// By hand: observed 0.6, by chance 0.6*0.6+0.4*0.4 = 0.52, (0.6-0.52)/0.48.
	if k := a.All.Kappa.Value; k < 0.1666 || k > 0.1667 {
		t.Errorf("kappa %v, want 1/6", k)
	}
	if len(a.Categories) != 2 || a.Categories[0].Category != "en" || a.Categories[1].SecondOnly != 1 {
		t.Errorf("categories %+v", a.Categories)
	}
	var b strings.Builder
	if err := doc.Text(&b, a.Document(), doc.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Judge f1 versus universal (openai:m)",
		"all ",
		"60.0% [23.1, 88.2]",
		"1 item without a verdict of both",
		"f1 says yes and universal (openai:m) no: 1 item: q4",
		"universal (openai:m) says yes and f1 no: 1 item: q1",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("text lacks %q:\n%s", want, b.String())
		}
	}
}

func TestPairingOfNothing(t *testing.T) {
	a := agree.NewPairs(agree.Party{Judge: "a"}, agree.Party{Judge: "b"}).Pairing()
	var b strings.Builder
	if err := doc.Text(&b, a.Document(), doc.TextOptions{}); err != nil || strings.Contains(b.String(), "NaN") {
		t.Errorf("text %q, %v", b.String(), err)
	}
}

// Two judges of the same items have one agreement and one kappa, whether they are compared
// by "deem report A B" or by "deem agree A B": with weights, and in clusters.
func TestPairingIsAgreement(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, c := range []struct {
		name             string
		size             int
		weighted, sparse bool
	}{
		{"independent items", 1, false, false},
		{"weights", 1, true, false},
		{"clusters", 20, false, false},
		{"clusters with weights", 20, true, false},
		{"some items in clusters", 20, false, true},
	} {
		p := agree.NewPairs(agree.Party{Judge: "a"}, agree.Party{Judge: "b"})
		b := agree.New(agree.Options{})
		ease := 0.5
		for i := range 240 {
			if i%c.size == 0 {
				ease = rng.Float64()
			}
			it := deem.Item{ID: fmt.Sprint(i)}
			if c.size > 1 && !(c.sparse && i%3 == 0) {
				it.Cluster = fmt.Sprint("c", i/c.size)
			}
			if c.weighted {
				it.Weight = 1 + float64(i%4)
			}
			right := rng.Float64() < ease
			first, second := verdict(right != (rng.Float64() < 0.2)), verdict(right != (rng.Float64() < 0.2))
			p.Add(it, first, second)
			b.Add(agree.Pair{Item: it, Position: i, Verdict: second, Truth: truth(first.Yes())})
		}
		one, other := p.Pairing().All, b.Agreement().All
		for name, pair := range map[string][2]stat.Estimate{"agreement": {one.Agreement, other.Agreement}, "kappa": {one.Kappa, other.Kappa}} {
			x, y := pair[0], pair[1]
			if math.Abs(x.Value-y.Value) > 1e-9 || math.Abs(x.Lo-y.Lo) > 1e-9 || math.Abs(x.Hi-y.Hi) > 1e-9 || x.Clusters != y.Clusters {
				t.Errorf("%s: %s %v [%v, %v] and %v [%v, %v]", c.name, name, x.Value, x.Lo, x.Hi, y.Value, y.Lo, y.Hi)
			}
		}
	}
}
