package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"deem/internal/faultserver"
)

// A guard measures what a busy machine hardly disturbs: processor time beside that of a
// bare loop which runs at the same time on the same processor, memory, and what can be
// counted. Of all of it less is better.
type guard struct {
	name string
	once func(ctx context.Context, l *lab) ([]value, error)
}

// guards are what is held against the baseline.
func guards() []guard {
	return []guard{
		{"start", guardStart},
		{"zero latency", guardRun},
		{"memory", guardMemory},
		{"16 slots", guardSlots},
		{"readers", guardReaders},
		{"resume", guardResume},
		{"rules", guardRules},
	}
}

// attempts is how often a ratio that looks worse is measured before it is.
const attempts = 3

// hold measures the guards and holds them against the baseline for this machine.
func hold(ctx context.Context, o options) error {
	all, err := loadBaselines(o.guard)
	if err != nil {
		return err
	}
	l := &lab{options: o}
	if err := l.open(); err != nil {
		return err
	}
	defer l.close()
	return l.hold(ctx, os.Stdout, guards(), all)
}

func (l *lab) hold(ctx context.Context, w io.Writer, gs []guard, all baselines) error {
	was, known := all.of(thisMachine())
	fmt.Fprintf(w, "%-52s %9s %9s %8s\n", "ratio", "baseline", "now", "change")
	measured, bad := map[string]float64{}, 0
	for _, g := range gs {
		ratios, err := l.best(ctx, g, was)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		for _, r := range ratios {
			measured[r.what] = r.number
			if was.print(w, r).bad() {
				bad++
			}
		}
	}
	for _, name := range was.missing(measured) {
		fmt.Fprintf(w, "%-52s %9.3f %9s %8s  %s\n", name, was.Ratios[name], "-", "", lost)
		bad++
	}
	if !known {
		fmt.Fprintf(w, "\nThere is no baseline for this machine (%s), so nothing was compared; `make bench-baseline` adds one.\n", thisMachine())
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d ratios are worse than on %s by more than %.0f%%, or gone; if that is meant, `make bench-baseline` measures a new baseline",
			bad, len(was.Ratios), was.Date, 100*tolerance)
	}
	return nil
}

// print shows how a ratio stands, and returns it.
func (b baseline) print(w io.Writer, v value) standing {
	s := b.stand(v.what, v.number)
	before, change := "-", ""
	if was, ok := b.Ratios[v.what]; ok {
		before, change = fmt.Sprintf("%.3f", was), fmt.Sprintf("%+.1f%%", 100*(v.number/was-1))
	}
	fmt.Fprintf(w, "%-52s %9s %9.3f %8s  %-6s %s\n", v.what, before, v.number, change, s, v.note)
	return s
}

// best measures a guard. What looks worse is measured again: other work on the machine
// can only make it larger, so the least counts, and only what is worse each time is.
func (l *lab) best(ctx context.Context, g guard, was baseline) ([]value, error) {
	var ratios []value
	for range attempts {
		values, err := g.once(ctx, l)
		if err != nil {
			return nil, err
		}
		ratios = lower(ratios, values)
		if !slices.ContainsFunc(ratios, func(v value) bool { return was.stand(v.what, v.number) == worse }) {
			break
		}
	}
	return ratios, nil
}

// lower returns for each measure the lower of two values.
func lower(a, b []value) []value {
	if a == nil {
		return b
	}
	for i := range a {
		if b[i].number < a[i].number {
			a[i] = b[i]
		}
	}
	return a
}

// learn measures the guards several times and makes the medians the baseline for this
// machine.
func learn(ctx context.Context, o options) error {
	all, err := loadBaselines(o.guard)
	if err != nil {
		return err
	}
	l := &lab{options: o}
	if err := l.open(); err != nil {
		return err
	}
	defer l.close()
	e := baseline{Machine: thisMachine(), Deem: version(o), Date: time.Now().UTC().Format(time.DateOnly)}
	if e.Ratios, err = l.medians(ctx, os.Stdout, guards()); err != nil {
		return err
	}
	all.put(e)
	return all.save(o.guard)
}

// medians measures guards as often as a check does at most, and returns the median of
// each ratio.
func (l *lab) medians(ctx context.Context, w io.Writer, gs []guard) (map[string]float64, error) {
	values := map[string][]float64{}
	for range attempts {
		for _, g := range gs {
			measured, err := g.once(ctx, l)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", g.name, err)
			}
			for _, v := range measured {
				values[v.what] = append(values[v.what], v.number)
			}
		}
	}
	ratios := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list := slices.Sorted(slices.Values(values[name]))
		ratios[name] = list[len(list)/2]
		fmt.Fprintf(w, "%-52s %9.3f  %.3f to %.3f\n", name, ratios[name], list[0], list[len(list)-1])
	}
	return ratios, nil
}

func guardStart(ctx context.Context, l *lab) ([]value, error) {
	const times = 41
	var ratios [2][]float64
	for range times {
		version, help, nothing, err := l.starts(ctx, 1, median)
		if err != nil {
			return nil, err
		}
		ratios[0] = append(ratios[0], ratio(version.cpu, nothing.cpu))
		ratios[1] = append(ratios[1], ratio(help.cpu, nothing.cpu))
	}
	return []value{
		{measure{what: "start: deem version / a program that does nothing", kind: processor}, middle(ratios[0]), ""},
		{measure{what: "start: deem --help / a program that does nothing", kind: processor}, middle(ratios[1]), ""},
	}, nil
}

// guardRun judges beside a bare loop: once both ask a server that answers at once, and
// once neither asks anybody.
func guardRun(ctx context.Context, l *lab) ([]value, error) {
	const n, at = 10_000, 64
	data, err := l.items(n, answer)
	if err != nil {
		return nil, err
	}
	var asked value
	err = with(ctx, faultserver.Options{}, func(v *vendor) error {
		asked, err = l.abreast(ctx, "zero latency: deem / bare loop", n, v.url, func() (spent, error) {
			return l.judge(ctx, data, n, at, asking(v)...)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	var last spent
	alone, err := l.abreast(ctx, "fake model: deem / bare loop", n, nobody, func() (spent, error) {
		last, err = l.judge(ctx, data, n, at, fake...)
		return last, err
	})
	return []value{asked, alone, {
		measure{what: "store: bytes / bytes of the dataset", kind: count},
		float64(last.stored) / float64(max(1, last.read)), fmt.Sprintf("%.1f MB / %.1f MB", megabytes(last.stored), megabytes(last.read)),
	}}, err
}

// guardMemory takes the least of some runs, because a collection of garbage that comes
// late makes a peak.
func guardMemory(ctx context.Context, l *lab) ([]value, error) {
	const n, times = 30_000, 3
	var lowest int64
	for i := range times {
		s, err := l.offline(ctx, n)
		if err != nil {
			return nil, err
		}
		if i == 0 || s.rss < lowest {
			lowest = s.rss
		}
	}
	return []value{{measure{what: "memory: peak with 30,000 items, in MB", kind: memory}, megabytes(lowest), ""}}, nil
}

func guardSlots(ctx context.Context, l *lab) ([]value, error) {
	_, st, err := l.crowd(ctx, 100*time.Millisecond)
	return []value{{
		measure{what: "16 slots: requests per item", kind: count}, st.PerItem(), fmt.Sprintf("%d refused", st.Refused),
	}}, err
}

// guardReaders reads a run again in every way.
func guardReaders(ctx context.Context, l *lab) ([]value, error) {
	const n = 20_000
	k, err := l.keep(ctx, n)
	if err != nil {
		return nil, err
	}
	var values []value
	for _, reader := range []struct {
		name string
		do   func() (spent, error)
	}{
		{"report", func() (spent, error) { return l.report(ctx, k) }},
		{"export", func() (spent, error) { return l.export(ctx, k) }},
		{"verify", func() (spent, error) { return l.verify(ctx, k) }},
		{"run again", func() (spent, error) { return l.judgeIn(ctx, k.dir, k.data, n, 64, fake...) }},
	} {
		v, err := l.abreast(ctx, reader.name+": a record / an item of a bare loop", n, nobody, reader.do)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

func guardResume(ctx context.Context, l *lab) ([]value, error) {
	const n, missing = 10_000, 100
	_, requests, err := l.goOn(ctx, n, missing)
	return []value{{
		measure{what: "resume: requests / missing items", kind: count}, float64(requests) / missing, "",
	}}, err
}

func guardRules(ctx context.Context, l *lab) ([]value, error) {
	rules, err := l.rules(ctx)
	var values []value
	for _, r := range rules {
		values = append(values, value{
			measure{what: "rule: " + r.Rule + " / words in common", kind: processor},
			r.Ratio,
			fmt.Sprintf("%.1f µs / %.1f µs", micros(r.Took), micros(r.Bare)),
		})
	}
	return values, err
}
