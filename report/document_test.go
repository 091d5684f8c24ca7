package report_test

import (
	"os"
	"strings"
	"testing"

	"deem/internal/doc"
	"deem/report"
	"deem/stat"
)

// The page about statistics names every method and footnote that a report can show, and its
// figures match the code.
func TestStatisticsDocument(t *testing.T) {
	raw, err := os.ReadFile("../docs/statistics.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(strings.ReplaceAll(string(raw), "\n> ", " ")), " ")
	for _, word := range []string{
		"`" + "wilson" + "`", "`" + "t" + "`", "`" + stat.MethodNone + "`",
		"`" + "cluster-robust" + "`", "`" + "cluster-bootstrap" + "`",
		"`" + string(stat.BootstrapBCa) + "`", "`" + string(stat.BootstrapPercentile) + "`", "`" + report.MethodMover + "`",
		doc.Score, doc.PassRate, doc.MeanScore,
		stat.WarnFewClusters, first(report.WarnFew), first(stat.WarnSteady), first(stat.WarnNoSpread), first(stat.WarnWeighted),
		first(stat.WarnSteadyDraws), first(report.WarnFewTrials), first(report.WarnFractional),
		first(strings.Replace(report.Differs, " (", ":", 1)),
		build(head(), many(250, 500)).Report().Detectable.Words(),
	} {
		if !strings.Contains(page, word) {
			t.Errorf("docs/statistics.md does not say %q", word)
		}
	}
}

// first returns a sentence up to its first comma or colon.
func first(s string) string {
	if i := strings.IndexAny(s, ",:"); i >= 0 {
		return s[:i]
	}
	return s
}
