package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A lab is where contestants are measured.
type lab struct {
	options
	dir   string // for what they need and leave behind
	peers installation
}

// file returns one of the files that the contestants read.
func (l *lab) file(name string) string { return filepath.Join(l.dir, name) }

// A cost is what the verdicts cost one contestant, in each of the runs.
type cost struct {
	contestant contestant
	runs       []spent
}

// median returns the run whose time of the processor is in the middle: of an even number
// the upper one, because it was measured.
func (c cost) median() spent {
	runs := slices.Clone(c.runs)
	slices.SortFunc(runs, func(a, b spent) int { return int(a.cpu - b.cpu) })
	return runs[len(runs)/2]
}

// spread returns the least and the most time of the processor.
func (c cost) spread() (least, most time.Duration) {
	least = c.runs[0].cpu
	for _, s := range c.runs {
		least, most = min(least, s.cpu), max(most, s.cpu)
	}
	return least, most
}

// costs lets every contestant judge all items, in turns, so that what changes on the
// machine meets all of them.
func (l *lab) costs(ctx context.Context) ([]cost, error) {
	var all []cost
	for _, c := range contestants() {
		all = append(all, cost{contestant: c})
	}
	for range l.runs {
		for i := range all {
			s, err := l.judgeAll(ctx, all[i].contestant)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", all[i].contestant.name, err)
			}
			l.say("%-20s %7.2f s of CPU, %6.2f s, %4.0f MB", all[i].contestant.name, s.cpu.Seconds(), s.wall.Seconds(), megabytes(s.rss))
			all[i].runs = append(all[i].runs, s)
		}
	}
	return all, nil
}

// judgeAll lets one contestant judge all items, against a server that answers at once.
func (l *lab) judgeAll(ctx context.Context, c contestant) (spent, error) {
	var s spent
	err := l.with(ctx, c, 0, func(dir string, v *vendor) error {
		cmd := c.command(l, dir, v.url)
		cmd.args = append(cmd.args, c.measured...)
		var err error
		if s, err = cmd.run(ctx); err != nil {
			return err
		}
		judged, err := c.judged(s.out)
		if err != nil {
			return err
		}
		return whole(v.next(), judged, l.n)
	})
	return s, err
}

// whole holds that a measurement measured what it should: one request and one verdict
// for each item. Who gave up early would be fast.
func whole(t tally, judged, n int) error {
	if t.requests() != n || t.items() != n || t.strange != 0 {
		return fmt.Errorf("%d requests about %d items and %d about none, want %d, %d and 0", t.requests(), t.items(), t.strange, n, n)
	}
	if judged != n {
		return fmt.Errorf("it says that it judged %d items, want %d", judged, n)
	}
	return nil
}

// A rerun is what a second start asked after a kill.
type rerun struct {
	contestant contestant
	restart    restart
	latency    time.Duration

	answered int // items, before the kill
	open     int // calls that were under way at the kill
	twice    int // items that were answered, and asked about again
	never    int // items without an answer after both
}

// reruns kills and starts every contestant, in each of its ways.
func (l *lab) reruns(ctx context.Context) ([]rerun, error) {
	var all []rerun
	for _, c := range contestants() {
		for _, latency := range l.latencies(c) {
			for _, way := range c.restarts {
				rs, err := l.worst(ctx, c, way, latency)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", c.name, way.name, err)
				}
				all = append(all, rs)
			}
		}
	}
	return all, nil
}

// latencies are those of the servers at which a contestant is killed. Our own is killed
// at one that answers at once too, where the most items are between answer and disk.
func (l *lab) latencies(c contestant) []time.Duration {
	if c.name == ours {
		return []time.Duration{l.latency, 0}
	}
	return []time.Duration{l.latency}
}

// worst kills a contestant and returns what came of it. Our own is killed several times,
// because a promise is about it, and the time that asked the most again counts.
func (l *lab) worst(ctx context.Context, c contestant, way restart, latency time.Duration) (rerun, error) {
	kills := 1
	if c.name == ours {
		kills = l.kills
	}
	var most rerun
	for i := range kills {
		r, err := l.killAndGoOn(ctx, c, way, latency)
		if err != nil {
			return r, err
		}
		l.say("%-20s %-46s %5v: %d answered, %d under way, %d asked again, %d never answered", c.name, way.name, latency, r.answered, r.open, r.twice, r.never)
		if i == 0 || r.twice > most.twice {
			most = r
		}
	}
	return most, nil
}

// killAndGoOn kills a contestant when half of the items are answered and starts it again
// in the same folder, against the same server.
func (l *lab) killAndGoOn(ctx context.Context, c contestant, way restart, latency time.Duration) (rerun, error) {
	r := rerun{contestant: c, restart: way, latency: latency}
	err := l.with(ctx, c, latency, func(dir string, v *vendor) error {
		cmd := c.command(l, dir, v.url)
		args := cmd.args
		cmd.args = slices.Concat(args, way.first)
		if err := cmd.runKilled(ctx, v, l.n/2); err != nil {
			return err
		}
		first := v.next()
		cmd.args = slices.Concat(args, way.second)
		s, err := cmd.run(ctx)
		if err != nil {
			return err
		}
		second := v.next()
		r.answered, r.open, r.twice, r.never = first.items(), first.open(), paidTwice(first, second), never(first, second)
		return l.ended(c, s.out)
	})
	return r, err
}

// ended holds that our own program has a verdict on every item when it has gone on. The
// summaries of others may count the second start alone.
func (l *lab) ended(c contestant, out string) error {
	judged, err := c.judged(out)
	if err == nil && c.name == ours && judged != l.n {
		err = fmt.Errorf("it has %d verdicts after it went on, want %d", judged, l.n)
	}
	return err
}

// with gives a contestant a folder and a server for the time of a measurement.
func (l *lab) with(ctx context.Context, c contestant, latency time.Duration, do func(dir string, v *vendor) error) error {
	dir, err := os.MkdirTemp(l.dir, "run-")
	if err != nil {
		return err
	}
	v, err := startVendor(ctx, l.n, c.message, latency)
	if err != nil {
		return err
	}
	defer v.close()
	return errors.Join(do(dir, v), os.RemoveAll(dir))
}

// say prints how it goes.
func (l *lab) say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
