package reports_test

import (
	"strings"
	"testing"

	"deem/internal/reports"
	"deem/internal/reports/compare"
	"deem/internal/usage"
	"deem/report"
	"deem/stat"
)

// gated is a comparison for gates: 2.6 points more, with a category that is worse.
func gated() compare.Comparison {
	adjusted := func(p float64) *float64 { return &p }
	return compare.Comparison{
		Runs: []compare.Side{
			{Run: compare.Run{Name: "old"}},
			{Run: compare.Run{Name: "new"}, Figures: compare.Figures{
				Judged: &stat.Estimate{Value: 0.726, Lo: 0.685, Hi: 0.763, N: 495}, Strict: stat.Estimate{Value: 0.72}, Items: 500, Unjudged: 5,
			}},
		},
		Pairs: []compare.Pair{{
			Second: 1,
			Overall: compare.Difference{
				Estimate: &stat.Estimate{Value: 0.026, Lo: -0.004, Hi: 0.056}, Adjusted: adjusted(0.091),
				N: 490, Wins: 40, Losses: 27, Ties: 423, Strict: stat.Estimate{Value: 0.02},
			},
			Categories: []compare.Difference{
				{Category: "temporal-reasoning", Estimate: &stat.Estimate{Value: -0.03, Lo: -0.08, Hi: 0.02}, Adjusted: adjusted(0.2)},
				{Category: "multi hop", Estimate: &stat.Estimate{Value: 0.1}, Adjusted: adjusted(0.01)},
				{Category: "a/b.c", Estimate: &stat.Estimate{Value: 0.1}, Adjusted: adjusted(0.01)},
				{Category: "p", Estimate: &stat.Estimate{Value: 0.5}},
				{Category: "empty"},
			},
		}},
	}
}

func TestGates(t *testing.T) {
	c := gated()
	scope := reports.ComparisonScope(c, c.Pairs[0])
	for _, tt := range []struct {
		gate string
		ok   bool
		want string // part of the detail
	}{
		{"overall >= -1pp", true, "overall is 2.60 pp"},
		{"overall>=-1pp", true, ""},
		{"  overall\t>=   2.6pp ", true, ""},
		{"overall > 2.6pp", false, ""},
		{"overall >= 0.026", true, ""},
		{"overall.lo >= -1pp", true, "overall.lo is -0.40 pp"},
		{"overall.lo >= 0", false, ""},
		{"overall.hi <= 6pp", true, ""},
		{"overall.strict == 2pp", true, ""},
		{"temporal-reasoning >= -2pp", false, "temporal-reasoning is -3.00 pp"},
		{"'temporal-reasoning' >= -3pp", true, ""},
		{`"multi hop".p < 0.05`, true, `"multi hop".p is 0.01`},
		{"a/b.c > 0", true, ""},
		{"a/b.c.p <= 0.01", true, ""},
		{"p < 0.05", false, "p is 0.091"},
		{`"p" == 50pp`, true, ""},
		{`"p".p < 1`, false, "there is no p-value"},
		{"unjudged <= 1%", true, "unjudged is 1.00%"},
		{"unjudged < 0.01", false, ""},
		{"score >= 70%", true, ""},
		{"score.lo >= 70%", false, "score.lo is 68.50%"},
		{"score.n > 400", true, ""},
		{"score.strict >= 0.72", true, ""},
		{"score.p < 0.1", false, "a score has no p"},
		{"n >= 490", true, ""},
		{"empty >= -100pp", false, "no item was judged by both"},
		{"nope > 0", false, `there is no category "nope"`},
		{"overal > 0", false, `did you mean "overall"?`},
	} {
		gates, err := reports.ParseGates([]string{tt.gate})
		if err != nil {
			t.Errorf("parse %q: %v", tt.gate, err)
			continue
		}
		got, err := reports.HoldGates(gates, scope)
		if err != nil || got[0].OK != tt.ok || !strings.Contains(got[0].Detail, tt.want) {
			t.Errorf("%q = %+v, error %v; want %v with %q", tt.gate, got, err, tt.ok, tt.want)
		}
	}
}

// Errors in a gate have a position and are usage errors.
func TestBadGates(t *testing.T) {
	c := gated()
	for text, want := range map[string]string{
		"":                                `character 1: wanted a name, but it ends`,
		"overall":                         `character 8: wanted one of >=`,
		"overall = 1pp":                   `character 9: wanted one of >=`,
		">= 1pp":                          `character 1: wanted a name, but ">= 1pp" stands there`,
		"overall >=":                      `character 11: wanted a number, but it ends`,
		"overall >= pp":                   `character 12: wanted a number, but "pp" stands there`,
		"overall >= 1..2":                 `character 12: wanted a number`,
		"overall >= 1e999":                `character 12: wanted a number`,
		"overall >= 1ppx":                 `character 15: wanted a blank, "pp" or "%"`,
		"overall >= 1pp overall > 0":      `character 16: wanted the end: each condition is a gate of its own`,
		"p < 0.05 and overall > 0":        `character 10: wanted the end: each condition is a gate of its own, but "and overall > 0" stands there`,
		"überall >= 1pp und overall >= 0": `character 16: wanted the end: each condition is a gate of its own`,
		`"multi hop >= 1pp`:               `character 1: wanted a closing quote`,
		`"multi hop".x >= 1pp`:            `character 12: wanted .lo, .hi`,
		"overall >= 1%":                   `character 12: overall is a difference of percentages: write 1pp`,
		"overall >= 2":                    `character 12: overall is a difference from -1 to 1: write 2pp`,
		"unjudged <= 1pp":                 `character 13: unjudged is a share and no difference: write 1%`,
		"unjudged <= 5":                   `character 13: unjudged is a share from 0 to 1: write 5%`,
		"p < 5%":                          `character 5: p is a plain number: write it without %`,
	} {
		gates, err := reports.ParseGates([]string{text})
		if err == nil {
			_, err = reports.HoldGates(gates, reports.ComparisonScope(c, c.Pairs[0]))
		}
		if err == nil || !strings.Contains(err.Error(), want) || !usage.Is(err) {
			t.Errorf("gate %q: error %v; want %q, for the user to mend", text, err, want)
		}
	}
}

// A report has gates too: its headline, its categories, the unjudged items.
func TestReportGates(t *testing.T) {
	est := stat.Proportion(70, 100, stat.DefaultLevel)
	r := report.Report{
		Items: 102, Judged: 100, Unjudged: 2,
		Metrics:    []report.Figures{{Judged: &est, Strict: stat.Proportion(70, 102, stat.DefaultLevel), Items: 102, Unjudged: 2}},
		Categories: []report.Category{{Name: "zh", Figures: report.Figures{Items: 3}}},
	}
	for text, want := range map[string]bool{
		"overall >= 70%": true, "overall.lo >= 70%": false, "score.strict < 70%": true, "unjudged <= 2%": true, "n == 100": true,
		"zh >= 0%": false, "zh.strict >= 0%": true, "en >= 0%": false,
	} {
		gates, err := reports.ParseGates([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := reports.HoldGates(gates, reports.ReportScope(r)); err != nil || got[0].OK != want {
			t.Errorf("%q = %+v, error %v; want %v", text, got, err, want)
		}
	}
}

// Gates that no report could meet are rejected before there is one, and unknown names as
// soon as the categories are known.
func TestCheckReport(t *testing.T) {
	known := []string{"multi hop", "n", "zh"}
	for _, tt := range []struct {
		gate        string
		early, late string // the errors before and after categories are known
	}{
		{"overall >= 70%", "", ""},
		{"n >= 100", "", ""},
		{`"n" >= 70%`, "", ""},
		{`"multi hop".strict >= 70%`, "", ""},
		{"zh.n >= 3", "", ""},
		{"overall >= 70", "character 12: overall is a share from 0 to 1: write 70% for a percentage", "write 70%"},
		{"overall >= 1pp", "overall is a share and no difference: write 1%", "write 1%"},
		{"zh >= 5", "character 7: zh is a share from 0 to 1: write 5%", "write 5%"},
		{"n >= 5%", "n is a plain number: write it without %", "without %"},
		{"overall.p < 0.05", "a score has no p; it has lo, hi, n and strict", "a score has no p"},
		{"overal >= 3", "overal is a share from 0 to 1", `did you mean "overall"?`},
		{"overal >= 3%", "", `there is no category "overal"; did you mean "overall"?`},
		{"z >= 3%", "", `there is no category "z"`},
	} {
		gates, err := reports.ParseGates([]string{tt.gate})
		if err != nil {
			t.Fatal(err)
		}
		for i, err := range []error{reports.CheckGates(gates, nil), reports.CheckGates(gates, known)} {
			want := []string{tt.early, tt.late}[i]
			if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) || !usage.Is(err)) {
				t.Errorf("%q: error %v; want %q, for the user to mend", tt.gate, err, want)
			}
		}
	}
	gates, _ := reports.ParseGates([]string{"zh >= 3%"})
	if err := reports.CheckGates(gates, []string{}); err == nil || !strings.Contains(err.Error(), "there are: overall, score, unjudged, n") {
		t.Errorf("a category where there is none: error %v, want one that says what there is", err)
	}
}

// Any text is either a valid gate or rejected with a position inside it.
func FuzzParseGate(f *testing.F) {
	for _, s := range []string{"overall >= -1pp", `"a b".lo < 5%`, "p < 0.05 and x == 1", "'", "é>=1", "a.lo.hi>1"} {
		f.Add(s)
	}
	c := gated()
	f.Fuzz(func(t *testing.T, s string) {
		gates, err := reports.ParseGates([]string{s})
		if err != nil {
			if !strings.Contains(err.Error(), ": character ") || !usage.Is(err) {
				t.Errorf("gate.Parse(%q): %v, want a place and the exit code of wrong usage", s, err)
			}
			return
		}
		got, err := reports.HoldGates(gates, reports.ComparisonScope(c, c.Pairs[0]))
		if err == nil && (len(got) != 1 || got[0].Detail == "") {
			t.Errorf("gate.Hold(%q) = %+v, want one outcome with a reason", s, got)
		}
	})
}

// Of unchanged systems 7% pass a gate on the lower end at -1 pp with 500 items.
func TestCaution(t *testing.T) {
	gates, err := reports.ParseGates([]string{"overall.lo >= -1pp"})
	if err != nil {
		t.Fatal(err)
	}
	est := stat.PairedProportions(45, 45, 500, 0.95)
	if got := gates[0].Caution(compare.Difference{Estimate: &est, N: 500}); !strings.Contains(got, "in 7% of cases with these 500 items") {
		t.Errorf("the caution is %q, want 7%% of cases", got)
	}
}
