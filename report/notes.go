package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// notes returns the notes on the numbers, most serious first.
func (b *Builder) notes(r Report) []string {
	all := []string{b.noteProgress(r)}
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if o := r.Overspent; o != nil {
		add("%s", o.words())
	}
	switch {
	case r.Records == 0:
		add("there are no records, so there is nothing to estimate")
	case r.Items == 0:
		add("there are no records of trial 0, so there is nothing to estimate")
	case r.Unjudged == r.Items:
		add("no item was judged, so nothing is known about the system")
	}
	if s := r.Stopped; s != nil {
		late := ""
		if s.Late > 0 {
			late = fmt.Sprintf("; %s judged meanwhile %s kept, and not counted", words.Count(s.Late, "further item"), words.IsAre(s.Late))
		}
		add("the run was looked at after every item: the interval of the score allows for that, and all other intervals do not%s", late)
	}
	judge, system := words.Clean(r.Head.Model), words.Clean(r.Head.SystemModel)
	if family, same := doc.SameFamily(judge, system); same {
		add("the judge (%s) and the system under test (%s) share the model family %s: "+
			"a model is lenient with its own answers; deem agree measures by how much", judge, system, family)
	}
	all = append(all, noteTrials(r.Head.Trials))
	if len(b.trials) > 0 && b.Head.Trials < 2 {
		add("the head of the report does not say how often items are judged, so only the first trial counts")
	}
	if len(b.judges) > 1 {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(b.judges)) {
			names = append(names, words.Clean(doc.OrNone(name)))
		}
		add("the records come from %d judges (%s): the numbers mix them", len(names), strings.Join(names, ", "))
	}
	expected := 1
	if r.Head.Reader != nil {
		expected = 2 // the reader's model and the judge's
	}
	if k := len(r.Calls.Models); k > expected {
		add("replies came from %d models or versions of one, listed above: verdicts may not be comparable with one another", k)
	}
	all = append(all, noteClusters(r.Clusters, r.Items))
	if t := b.main; t.unmarked > 0 && t.unmarked < t.judged() {
		add("%s of %s carry no pass mark, so there is no pass rate", words.Comma(t.unmarked), words.Count(t.judged(), "verdict"))
	}
	if k := r.Calls.Unpriced; k > 0 {
		if strings.HasPrefix(judge, "cli:") {
			add("a subscription pays for %s, and the cost does not include it", words.Count(k, "call"))
		} else {
			add("the price of %s is not known: the true cost is higher", words.Count(k, "call"))
		}
	}
	if k := r.Calls.Estimated; k > 0 {
		add("the vendor reported no believable number of tokens for %s: the cost counts one for each byte instead, which is an upper bound", words.Count(k, "call"))
	}
	all = append(all,
		noteOdd(b.badScores, "record", "a score outside 0 to 1, and count as unjudged (out_of_range)"),
		noteOdd(b.bothSet, "record", "a verdict and a failure, and count as unjudged"),
		noteOdd(b.badWeights, "record", "a weight that is not a usable number, and count with weight 1"),
		noteOdd(b.badAspects, "verdict", "an aspect that is not a usable number, which was left out"),
		noteOdd(b.sureness.bad, "verdict", "a confidence outside 0 to 1, which was left out"),
	)
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// noteProgress says how much of the dataset the numbers cover.
func (b *Builder) noteProgress(r Report) string {
	items, seen := r.Head.Items, r.Items
	switch {
	case b.Stopped():
		return ""
	case !r.Head.Complete && items > 0:
		return fmt.Sprintf("the run is not complete: %s of %s have a record so far, and the numbers will move",
			words.Comma(seen), words.Count(items, "item"))
	case !r.Head.Complete:
		return "the run is not complete, and the numbers will move"
	case items > seen:
		return fmt.Sprintf("%s of %s have no record, and no number here speaks of them", words.Comma(items-seen), words.Count(items, "item"))
	case items > 0 && seen > items:
		return fmt.Sprintf("there are %s for %s: some items were counted more than once",
			words.Count(seen, "record"), words.Count(items, "item"))
	}
	return ""
}

// noteTrials says how trials are counted.
func noteTrials(trials int) string {
	if trials < 2 {
		return ""
	}
	return fmt.Sprintf("every item counts with the mean of its %d trials: judging an item again makes no new item", trials)
}

// noteClusters says that the items are not independent, and how intervals allow for it.
func noteClusters(c Clusters, items int) string {
	if !c.Robust {
		return ""
	}
	which := "items"
	if c.Items < items {
		which = fmt.Sprintf("%s of %s items", words.Comma(c.Items), words.Comma(items))
	}
	if c.More {
		return fmt.Sprintf("%s come in more than %s clusters, and intervals allow for that; "+
			"to keep memory bounded, clusters were put together at random, which is safe", which, words.Comma(c.N))
	}
	if c.few(items) {
		units := c.N + items - c.Items // An item without a cluster counts as one cluster.
		but := "may be too narrow where a few clusters hold most failures"
		if units < veryFewClusters {
			but = "may be too narrow or too wide"
		}
		return fmt.Sprintf("%s come in only %s: the intervals rest on few of them (at most %s), and %s",
			which, words.Count(c.N, "cluster"), words.Plural(max(units-1, 0), "degree of freedom", "degrees of freedom"), but)
	}
	return fmt.Sprintf("%s come in %s, and intervals allow for that", which, words.Count(c.N, "cluster"))
}

// veryFewClusters is the number of clusters below which [stat.ClusterWarning] says that how
// far they differ is hardly known.
const veryFewClusters = 8

// few reports whether all intervals are based on few clusters.
func (c Clusters) few(items int) bool {
	// An item without a cluster counts as one cluster.
	return c.Robust && !c.More && stat.ClusterWarning(c.N+items-c.Items, false) != ""
}

// noteOdd says that records contain invalid values.
func noteOdd(n int, noun, what string) string {
	if n == 0 {
		return ""
	}
	if n == 1 {
		what = strings.Replace(what, "and count ", "and counts ", 1)
		return fmt.Sprintf("1 %s holds %s", noun, what)
	}
	return fmt.Sprintf("%s hold %s", words.Count(n, noun), what)
}
