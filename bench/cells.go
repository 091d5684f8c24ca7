package main

import (
	"context"
	"fmt"
	"time"

	"deem/internal/faultserver"
)

// A cell is a run against a server, set beside the bare loop: so many items, so many at
// once, and so long a wait for each reply.
type cell struct {
	latency time.Duration
	at, n   int

	full bool // takes minutes

	// The targets, 0 for none: at most so much of the time of the bare loop, on the
	// processor and on the clock, and at least so many percent of the ideal rate and
	// of the rate of the bare loop.
	cpu, wall, ideal, bare float64
}

// cells are the runs of all sizes. Those that wait for minutes are left to -full.
func cells() []workload {
	const ms50 = 50 * time.Millisecond
	list := []cell{
		{at: 8, n: 1000},
		{at: 64, n: 1000},
		{at: 512, n: 1000},
		{at: 8, n: 10_000},
		{at: 64, n: 10_000, cpu: 2, wall: 1.6},
		{at: 512, n: 10_000},
		{at: 8, n: 100_000},
		{at: 64, n: 100_000},
		{at: 512, n: 100_000},
		{latency: ms50, at: 8, n: 1000, ideal: 97},
		{latency: ms50, at: 64, n: 1000},
		{latency: ms50, at: 512, n: 1000},
		{latency: ms50, at: 8, n: 10_000, full: true},
		{latency: ms50, at: 64, n: 10_000, ideal: 95},
		{latency: ms50, at: 512, n: 10_000},
		{latency: ms50, at: 8, n: 100_000, full: true},
		{latency: ms50, at: 64, n: 100_000, full: true},
		{latency: ms50, at: 512, n: 100_000, bare: 90},
	}
	var ws []workload
	for _, c := range list {
		ws = append(ws, c.workload())
	}
	return ws
}

func (c cell) workload() workload {
	wait := "zero latency"
	if c.latency > 0 {
		wait = fmt.Sprintf("%d ms latency", c.latency.Milliseconds())
	}
	return workload{
		name:  fmt.Sprintf("%s, %s items, -j %d", wait, thousands(c.n), c.at),
		full:  c.full,
		timed: c.wall > 0 || c.ideal > 0 || c.bare > 0,
		once: func(ctx context.Context, l *lab) ([]value, error) {
			loop, ours, err := l.beside(ctx, c.n, c.at, c.latency)
			if err != nil {
				return nil, err
			}
			loop, ours = loop.mean(), ours.mean()
			return append(c.use(loop, ours), c.speed(loop, ours)...), nil
		},
	}
}

// use is what deem takes of the machine.
func (c cell) use(loop, ours spent) []value {
	return []value{
		{
			measure{what: "CPU per item, deem / bare loop", kind: processor, limit: c.cpu},
			ratio(ours.cpu, loop.cpu), fmt.Sprintf("%s / %s", each(ours.cpu, c.n), each(loop.cpu, c.n)),
		},
		{
			measure{what: "peak resident memory", kind: memory, unit: "MB"},
			megabytes(ours.rss), fmt.Sprintf("bare loop %.0f MB", megabytes(loop.rss)),
		},
	}
}

// speed is how long it takes. Where replies take time, there is an ideal: as many rounds
// of calls as the concurrency allows, one after another.
func (c cell) speed(loop, ours spent) []value {
	both := fmt.Sprintf("%s / %s", seconds(ours.wall), seconds(loop.wall))
	if c.latency == 0 {
		return []value{{measure{what: "wall time, deem / bare loop", kind: clock, limit: c.wall}, ratio(ours.wall, loop.wall), both}}
	}
	least := c.latency * time.Duration((c.n+c.at-1)/c.at)
	return []value{
		{
			measure{what: "rate, of the ideal", kind: clock, unit: "%", limit: c.ideal, least: true},
			100 * ratio(least, ours.wall), fmt.Sprintf("%s, ideal %s", seconds(ours.wall), seconds(least)),
		},
		{
			measure{what: "rate, of the bare loop", kind: clock, unit: "%", limit: c.bare, least: true},
			100 * ratio(loop.wall, ours.wall), both,
		},
	}
}

// beside runs the bare loop and deem over the same items against the same server, in
// turn, and returns the sums. What is over in no time is run several times: half a second
// says little.
func (l *lab) beside(ctx context.Context, n, at int, latency time.Duration) (loop, ours spent, err error) {
	const most, enough = 5, 2 * time.Second
	data, err := l.items(n, answer)
	if err != nil {
		return loop, ours, err
	}
	err = with(ctx, faultserver.Options{Latency: latency}, func(v *vendor) error {
		for ours.times < most && ours.wall < enough {
			one, err := l.bareLoop(ctx, v, data, n, at)
			if err != nil {
				return err
			}
			loop.add(one)
			if one, err = l.judge(ctx, data, n, at, asking(v)...); err != nil {
				return err
			}
			ours.add(one)
		}
		return nil
	})
	return loop, ours, err
}

// thousands writes a number with its thousands apart.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
