// Command metrics measures the judges that ask no model, for bench.
//
// It is a program of its own because it links what it measures: bench itself measures
// deem from the outside, and the bare loop must not carry deem's packages. Each rule
// judges the items of the sort that it is made for. Beside it a bare count of the words
// that response and reference have in common goes over the same items; the ratio of the
// two says the same on any machine.
//
// Each pass measures every rule once, and the bare count just before and just after it, so
// that whatever else the machine does slows both. The median of the ratios counts.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"deem"
	"deem/judge/rule"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "metrics: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("metrics", flag.ContinueOnError)
	data := f.String("data", "", "the `file` of items, whose category says of which sort each is")
	passes := f.Int("passes", 3, "measure `n` times")
	// Below it the clock of the processor and a collection of garbage weigh too much.
	lasts := f.Duration("lasts", 20*time.Millisecond, "let a measurement last this `long` at least")
	if err := f.Parse(args); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1) // Rules need one processor, and a second one only disturbs.
	sorts, err := read(*data)
	if err != nil {
		return err
	}
	list, err := measure(ctx, sorts, *passes, *lasts)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(list)
}

// A measured is what one rule took beside the bare count over the same items: the ratio
// of the time of the processor, and the times for an item in the pass with that ratio.
type measured struct {
	Rule   string        `json:"rule"`
	Sort   string        `json:"sort"`
	Ratio  float64       `json:"ratio"`
	Took   time.Duration `json:"took"`
	Bare   time.Duration `json:"bare"`
	Judged int           `json:"judged"`
}

// read reads items by sort.
func read(name string) (map[string][]deem.Item, error) {
	f, err := os.Open(name) //nolint:gosec // whoever starts it names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	sorts := map[string][]deem.Item{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var it struct{ ID, Category, Question, Reference, Response string }
		if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		sorts[it.Category] = append(sorts[it.Category], deem.Item{
			ID: it.ID, Question: it.Question, References: []string{it.Reference}, Response: it.Response,
		})
	}
	if len(sorts) == 0 {
		return nil, fmt.Errorf("read %s: no items", name)
	}
	return sorts, nil
}

// sortOf returns the sort of items that a rule is made for. Those that need more than
// deem brings, as a thesaurus, have none.
func sortOf(name string) string {
	switch {
	case rule.NeedsEmbedder(name), rule.NeedsThesaurus(name):
		return ""
	case strings.HasSuffix(name, "/zh"):
		return "chinese"
	case strings.HasPrefix(name, "match"), strings.HasPrefix(name, "exact"), strings.HasPrefix(name, "contains"):
		return "short"
	default:
		return "prose"
	}
}

// measure lets every rule judge the items of its sort. The first pass is not counted:
// in it rules read their tables.
func measure(ctx context.Context, sorts map[string][]deem.Item, passes int, lasts time.Duration) ([]measured, error) {
	var list []measured
	for _, name := range rule.Names() {
		sort := sortOf(name)
		if sort == "" || len(sorts[sort]) == 0 {
			continue
		}
		var all []measured
		for pass := range passes + 1 {
			m, err := once(ctx, name, sorts[sort], lasts)
			if err != nil {
				return nil, err
			}
			m.Sort = sort
			if pass > 0 {
				all = append(all, m)
			}
		}
		slices.SortFunc(all, func(a, b measured) int { return cmp.Compare(a.Ratio, b.Ratio) })
		list = append(list, all[len(all)/2])
	}
	return list, nil
}

// once lets a rule judge the items, between two bare counts.
func once(ctx context.Context, name string, items []deem.Item, lasts time.Duration) (measured, error) {
	before := countAll(items, lasts)
	took, judged, err := judgeAll(ctx, name, items, lasts)
	bare := (before + countAll(items, lasts)) / 2
	return measured{Rule: name, Took: took, Bare: bare, Ratio: float64(took) / float64(max(1, bare)), Judged: judged}, err
}

// judgeAll lets a rule judge the items, over and over, and returns the time for one and
// how many items have a verdict or, from a rule that may say so, none for want of
// evidence.
func judgeAll(ctx context.Context, name string, items []deem.Item, lasts time.Duration) (perItem time.Duration, judged int, err error) {
	j, _ := rule.Named(name)
	perItem = lasting(lasts, len(items), func() {
		judged = 0
		for _, it := range items {
			_, failed := j.Judge(ctx, it)
			var f *deem.Failure
			if failed != nil && (!errors.As(failed, &f) || f.Kind != deem.Unsure) {
				err = fmt.Errorf("%s: item %s: %w", name, it.ID, failed)
			}
			judged++
		}
	})
	return perItem, judged, err
}

// countAll is the yardstick: the least that compares two texts by their words.
func countAll(items []deem.Item, lasts time.Duration) time.Duration {
	sum := 0
	perItem := lasting(lasts, len(items), func() {
		for _, it := range items {
			sum += common(it.Response, it.References[0])
		}
	})
	if sum == 0 {
		panic("metrics: no item has a word in common with its reference")
	}
	return perItem
}

// lasting does something to n items until it lasted long enough, and returns the time
// of the processor for one.
func lasting(lasts time.Duration, n int, do func()) time.Duration {
	began := used()
	for times := 1; ; times++ {
		do()
		if took := used() - began; took >= lasts && took > 0 {
			return took / time.Duration(times*n)
		}
	}
}

// common counts the words that two texts have in common. A text without spaces is taken
// by its characters.
func common(a, b string) int {
	split := strings.Fields
	if !strings.Contains(a, " ") {
		split = func(s string) []string { return strings.Split(s, "") }
	}
	seen := map[string]int{}
	for _, w := range split(a) {
		seen[w]++
	}
	n := 0
	for _, w := range split(b) {
		if seen[w] > 0 {
			seen[w]--
			n++
		}
	}
	return n
}

// used returns the time of the processor that this process has used.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // It fails only for a process that there is not.
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
