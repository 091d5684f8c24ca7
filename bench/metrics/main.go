// Command metrics measures the judges that ask no model, for bench.
//
// It is a program of its own because it links what it measures: bench itself measures
// deem from the outside, and the bare loop must not carry deem's packages. Each rule
// judges the items of the sort that it is made for. Beside it a bare count of the words
// that response and reference have in common goes over the same items; the ratio of the
// two says the same on any machine.
//
// Rule and bare count take turns after every few items, so that whatever else the machine
// does slows both by the same share. The median of the passes counts.
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
	lasts := f.Duration("lasts", 60*time.Millisecond, "let a measurement last this `long` at least")
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

// once lets a rule judge items, in turn with a bare count of the same, until that lasted
// long enough.
func once(ctx context.Context, name string, items []deem.Item, lasts time.Duration) (measured, error) {
	const few = 50
	j, _ := rule.Named(name)
	var took, bare time.Duration
	done := 0
	for took < lasts || done < len(items) {
		from := done % len(items)
		part := items[from:min(from+few, len(items))]
		began := used()
		if err := judgeAll(ctx, j, part); err != nil {
			return measured{}, err
		}
		took += used() - began
		bare += counted(part)
		done += len(part)
	}
	n := time.Duration(done)
	return measured{
		Rule: name, Took: took / n, Bare: bare / n, Ratio: float64(took) / float64(max(1, bare)), Judged: min(done, len(items)),
	}, nil
}

// judgeAll lets a rule judge items. That it would not decide is an answer too.
func judgeAll(ctx context.Context, j deem.Judge, items []deem.Item) error {
	for _, it := range items {
		_, err := j.Judge(ctx, it)
		var f *deem.Failure
		if err != nil && (!errors.As(err, &f) || f.Kind != deem.Unsure) {
			return fmt.Errorf("%s: item %s: %w", j.Name(), it.ID, err)
		}
	}
	return nil
}

// counted returns how long the bare count of items takes. It is short, so it is made
// over and over until there is something to measure.
func counted(items []deem.Item) time.Duration {
	began := used()
	for times := time.Duration(1); ; times++ {
		countAll(items)
		if took := used() - began; took > 200*time.Microsecond {
			return took / times
		}
	}
}

// countAll is the yardstick: the least that compares two texts by their words.
func countAll(items []deem.Item) {
	sum := 0
	for _, it := range items {
		sum += common(it.Response, it.References[0])
	}
	if sum == 0 {
		panic("metrics: no item has a word in common with its reference")
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
