package reports_test

import (
	"fmt"
	"strings"
	"testing"

	"deem/internal/doc"
	"deem/internal/reports"
)

// Verdicts on one item form one cluster, whichever systems they compare.
func TestItemsAreClusters(t *testing.T) {
	var b reports.RankBuilder
	for i := range 40 {
		first := float64(i % 2)
		b.Add(reports.RankVerdict{A: "a", B: "b", ShownFirst: first, ShownSecond: first, Item: fmt.Sprint(i)})
		b.Add(reports.RankVerdict{A: "c", B: "b", ShownFirst: first, ShownSecond: 0.5, Item: fmt.Sprint(i)})
	}
	b.Unjudged()
	r, err := b.Report(0.95)
	if err != nil || r.Clusters != 40 || r.Items != 81 || r.Unjudged != 1 {
		t.Fatalf("%d clusters, %d items, %d unjudged, %v", r.Clusters, r.Items, r.Unjudged, err)
	}
	if r.Ordered || r.Systems[0].Rank != 0 {
		t.Errorf("an order of equal systems: %+v", r.Systems)
	}
}

// Systems that won everything come first although they have no finite strength, even if
// they did so only against the remaining systems.
func TestExtremeSystems(t *testing.T) {
	var b reports.RankBuilder
	for i := range 40 {
		one := float64(i % 2)
		b.Add(reports.RankVerdict{A: "plain", B: "memory", ShownFirst: one, ShownSecond: 1 - one, Item: fmt.Sprint(i)})
		b.Add(reports.RankVerdict{A: "best", B: "good", ShownFirst: 1, ShownSecond: 1, Item: fmt.Sprint(i)})
		if i < 4 {
			b.Add(reports.RankVerdict{A: "good", B: "plain", ShownFirst: 1, ShownSecond: 1, Item: fmt.Sprint(i)})
		}
	}
	r, err := b.Report(0.95)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range r.Systems {
		names = append(names, s.Name)
	}
	var text strings.Builder
	if err := doc.Text(&text, r.Document(), doc.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"best won all of its 80 comparisons:", "good won every comparison with systems that have a strength:"} {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if len(r.Pairs) != 1 || strings.Join(names[:2], " ") != "best good" || r.Systems[0].Strength != nil {
		t.Errorf("systems %v, pairs %+v", names, r.Pairs)
	}
}
