package claims_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem/internal/claims"
)

// What stands in a column follows from its name and its numbers, and only shares of right
// answers are checked as such.
func TestColumnsAreReadAsWhatTheyAre(t *testing.T) {
	for _, c := range []struct {
		name, text, benchmark string
		want                  []string // system, column, printed
		notes                 int
	}{
		{
			"counts of each system", "System,Correct,Total,Accuracy\nA,120,150,80.0\nB,97,150,64.67\n", "",
			[]string{"A Accuracy 80.0 (120/150)", "B Accuracy 64.67 (97/150)"},
			0,
		},
		{"counts alone", "System,Correct,Total\nA,120,150\nB,97,150\n", "", []string{"A Correct 120/150", "B Correct 97/150"}, 0},
		{
			"counts by category", "Category,Correct,Total,Accuracy (%)\nsingle,120,150,80.0\nmulti,97,150,64.67\noverall,217,300,72.33\n", "",
			[]string{"Accuracy (%) single 80.0 (120/150)", "Accuracy (%) multi 64.67 (97/150)", "Accuracy (%) overall 72.33 (217/300)"},
			0,
		},
		{
			"counts by category, and no percentages", "Category,n,Correct\nsingle,150,120\nmulti,150,97\noverall,300,217\n", "",
			[]string{"Correct single 120/150", "Correct multi 97/150", "Correct overall 217/300"},
			0,
		},
		{"a sized column of counts", "System,Correct (n=150),F1 (n=150)\nA,120,45.2\n", "", []string{"A Correct 120/150"}, 1},
		{"an own size in each row", "System,n,Accuracy\nA,500,83.4\nB,490,83.47\n", "", []string{"A Accuracy 83.4", "B Accuracy 83.47"}, 0},
		{
			"F1 beside a system", "Category,n,Accuracy,F1,Tokens\nsingle,150,80.0,45.21,1500\noverall,150,80.0,45.21,1500\n", "",
			[]string{"Accuracy single 80.0", "Accuracy overall 80.0"},
			2,
		},
		{"Correct as a percentage", "System,Correct (n=150)\nA,80.0%\n", "", []string{"A Correct 80.0%"}, 0},
		{
			"Correct as the percentage again", "System,Correct,Total,Accuracy\nA,80,500,80.0\nB,64,500,63.8\n", "",
			[]string{"A Accuracy 80.0", "B Accuracy 63.8"},
			1,
		},
		{
			"a unit in the header", "System,alpha (%) (n=40),\"beta (%, n=60)\",Overall (%)\nA,95.0,90.0,92.0\n", "",
			[]string{"A alpha 95.0", "A beta 90.0", "A Overall 92.0"},
			0,
		},
		{
			"a mean over systems", "System,alpha (n=40),beta (n=60),Overall\nA,95.0,90.0,92.0\nB,90.0,90.0,90.0\nAverage,92.5,90.0,91.0\n", "",
			[]string{"A alpha 95.0", "A beta 90.0", "A Overall 92.0", "B alpha 90.0", "B beta 90.0", "B Overall 90.0"},
			1,
		},
		{
			"two overalls", "System,alpha,beta,Micro avg,Macro avg\nn,40,60,100,100\nA,95.0,90.0,92.0,92.5\n", "",
			[]string{"A alpha 95.0", "A beta 90.0", "A Micro avg 92.0"},
			1,
		},
		{"a benchmark in the header", "System,LongMemEval-S (%)\nA,83.4\n", "longmemeval", []string{"A LongMemEval-S 83.4"}, 0},
		{
			"LongMemEval by category", "System,SS-User,SS-Asst,SS-Pref,Multi-Session,Temporal Reasoning,Knowledge Update,Overall (%)\nA,97.1,96.4,70.0,70.7,72.2,84.6,79.8\n",
			"longmemeval",
			[]string{
				"A SS-User 97.1", "A SS-Asst 96.4", "A SS-Pref 70.0", "A Multi-Session 70.7", "A Temporal Reasoning 72.2",
				"A Knowledge Update 84.6", "A Overall 79.8",
			},
			0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := audit(t, "t.csv", c.text, c.benchmark)
			var got []string
			for _, n := range r.Numbers {
				got = append(got, strings.Join([]string{n.System, n.Column, n.Printed}, " "))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if r.Impossible > 0 || len(r.Notes) != c.notes {
				t.Errorf("%+v, %d notes, want %d: %q", r.Findings, len(r.Notes), c.notes, r.Notes)
			}
		})
	}
}

// A row whose overall is not that of its parts is told which mean over conversations would
// explain it. The right answers of the parts bound that mean.
func TestMeanOverConversationsBesideParts(t *testing.T) {
	for overall, want := range map[string]bool{"78.40": true, "76.10": true, "50.00": false, "95.00": false} {
		r := audit(t, "t.csv", "s,single-hop,multi-hop,open-domain,temporal,overall\nA,83.23,70.92,52.08,74.77,"+overall+"\n", "locomo")
		list := texts(r, claims.KindSum)
		if len(list) != 1 || strings.Contains(list[0], "A plain mean over conversations can be it") != want {
			t.Errorf("an overall of %s: %q, want a mean over conversations: %t", overall, list, want)
		}
	}
}

// A number that was rounded before it was printed, or counted in another honest way, is
// possible, and a note says how.
func TestOtherWaysOfCounting(t *testing.T) {
	for _, c := range []struct {
		name, text, benchmark, kind string
		want                        string
	}{
		{"97 printed as 97.0", "s,a (n=60)\nA,97.0\n", "", claims.KindRounded, "rounded before it was printed"},
		{"76.5 printed as 76.50", "s,a (n=1540)\nA,76.50\n", "", claims.KindRounded, "rounded before it was printed"},
		{"85.05 printed as 85.1", "s,a (n=2501)\nA,85.1% (2127/2501)\n", "", "", ""},
		{"a plain mean of counts", "s,a,b,overall\nA,10/20,90/100,70.0\n", "", claims.KindPlainMean, "plain mean of the categories"},
		{"a mean over hidden categories", "s,overall\nA,71.0437\n", "locomo", claims.KindPlainMean, "a plain mean over categories can"},
		{
			"single-hop of 282", "s,single-hop,multi-hop,open-domain,temporal,overall\nA,74.47,61.06,67.71,86.92,78.05\n", "locomo",
			claims.KindNaming, "single-hop has 282, multi-hop has 321, temporal has 841 questions",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := audit(t, "t.csv", c.text, c.benchmark)
			if r.Impossible > 0 {
				t.Errorf("%+v is impossible", r.Findings)
			}
			if c.kind != "" && !slices.ContainsFunc(texts(r, c.kind), func(text string) bool { return strings.Contains(text, c.want) }) {
				t.Errorf("%+v, want a note %q", r.Findings, c.want)
			}
		})
	}
}
