package report_test

import (
	"fmt"
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
	var same stat.Clustered
	var equal, weighted stat.Moments
	for i := range 4 {
		same.Add(fmt.Sprint(i/2), float64(i%2), 1)
		equal.Add(1, 1)
		weighted.Add(float64(i%2), float64(1+i))
	}
	for _, word := range []string{
		"`" + "wilson" + "`", "`" + "t" + "`", "`" + stat.MethodNone + "`",
		"`" + "cluster-robust" + "`", "`" + "cluster-bootstrap" + "`",
		"`bootstrap-bca`", "`bootstrap-percentile`", "`mover`",
		doc.Score, doc.PassRate, doc.MeanScore,
		stat.ClusterWarning(8, false), first(report.WarnFew), first(same.Mean(0.95, stat.Unit).Warnings[0]),
		first(stat.Mean(equal, 0.95, stat.Unit).Warnings[0]), first(stat.Mean(weighted, 0.95, stat.Unit).Warnings[0]),
		"too many resamples have no spread", first(report.WarnFewTrials), first(report.WarnFractional),
		first(strings.Replace(report.Differs, " (", ":", 1)),
		build(head(), many(250, 500)).Report().Detectable.String(),
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
