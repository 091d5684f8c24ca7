package agreement_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"deem"
	"deem/report"
)

// realRuns reads a set of real verdicts: the results of each system by question.
func realRuns(t *testing.T, set, system, id, label string) map[string]map[string]bool {
	t.Helper()
	f, err := os.Open("../../../shared/data/" + set + "/derived.jsonl.gz")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the real verdicts of %s are not here: %v", set, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]map[string]bool{}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var row map[string]any
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		if err := dec.Decode(&row); err != nil {
			t.Fatal(err)
		}
		yes, ok := row[label].(bool)
		if improper, _ := row["improper"].(bool); !ok || improper {
			continue
		}
		name := fmt.Sprint(row[system])
		if runs[name] == nil {
			runs[name] = map[string]bool{}
		}
		runs[name][fmt.Sprint(row[id])] = yes
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return runs
}

// How many calls a rule saves on real verdicts, against judging all items: the median
// over random orders. What it says must still be right: the interval holds the score of
// all items, and a run that is called better has the higher score.
func TestUntilSavesCalls(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	const orders = 12 / min(slower, 2)
	for _, set := range []struct{ folder, system, id, label string }{
		{"human_evouna", "system", "idx", "human_label"},
		{"human_triviaqa_9judges", "system", "question", "human_label"},
		{"lme_cognitive_memory", "run", "question_id", "judge_label"},
	} {
		t.Run(set.folder, func(t *testing.T) {
			t.Parallel()
			runs := realRuns(t, set.folder, set.system, set.id, set.label)
			names := slices.Sorted(maps.Keys(runs))
			for i, name := range names {
				share := shareOf(runs[name])
				for _, w := range []float64{0.05, 0.03} {
					saved, missed := ordersOf(orders, runs[name], nil, within(w, 1), func(l looked) bool {
						return l.report.Metrics[0].Judged.LeavesOut(share)
					})
					t.Logf("%s, ±%gpp: %d of %d calls saved (median), %d of %d intervals leave out %.1f%%", name, 100*w, saved, len(runs[name]), missed, orders, 100*share)
					if missed > orders/6 {
						t.Errorf("%s, ±%gpp: %d of %d intervals leave out the score", name, 100*w, missed, orders)
					}
				}
				for _, other := range names[i+1:] {
					gap := share - shareOf(runs[other])
					saved, wrong := ordersOf(orders, runs[name], runs[other], against(nil), func(l looked) bool {
						return l.stopped && (l.report.Stopped.Difference.Lo > 0) != (gap > 0)
					})
					t.Logf("%s better than %s: %d of %d calls saved (median), %d of %d wrong; difference %+.1f pp", name, other, saved, len(runs[name]), wrong, orders, 100*gap)
					if wrong > orders/6 {
						t.Errorf("%s better than %s: %d of %d are wrong", name, other, wrong, orders)
					}
				}
			}
		})
	}
}

func shareOf(run map[string]bool) float64 {
	n := 0
	for _, yes := range run {
		if yes {
			n++
		}
	}
	return float64(n) / float64(len(run))
}

// ordersOf takes a run through n random orders of the items that both runs have, and
// returns the median of the calls that the rule saves and how many runs are wrong.
func ordersOf(n int, run, other map[string]bool, rule report.Until, wrong func(looked) bool) (median, wrongs int) {
	ids := slices.Sorted(maps.Keys(run))
	if other != nil {
		ids = slices.DeleteFunc(ids, func(id string) bool { _, ok := other[id]; return !ok })
	}
	var saved []int
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 0))
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		var records []deem.Record
		rule.Base = nil
		for _, id := range ids {
			records = append(records, record(id, "", "", run[id]))
			if other != nil {
				x := 0.0
				if other[id] {
					x = 1
				}
				rule.Base = append(rule.Base, &x)
			}
		}
		l := runUntil(rule, records)
		saved = append(saved, len(ids)-l.items)
		if wrong(l) {
			wrongs++
		}
	}
	slices.Sort(saved)
	return saved[len(saved)/2], wrongs
}
