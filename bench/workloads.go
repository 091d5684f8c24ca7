package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deem/internal/faultserver"
)

// A workload is something that deem does, with what is measured of it.
type workload struct {
	name    string
	long    bool // only when asked for
	targets []target

	// once measures once and returns a value for each target.
	once func(ctx context.Context, l *lab) ([]value, error)
}

// A target is a number that a measurement must not exceed, or must reach.
type target struct {
	what  string
	unit  string // "", "%", "MB" or "ms"
	limit float64
	least bool // the limit is to be reached and not to be kept below
}

// A value is one measurement, with the numbers behind it.
type value struct {
	number float64
	note   string
}

// How large the items are: about as a system answers a question, and a kilobyte where
// memory is measured.
const (
	answer   = 400
	kilobyte = 1000
)

// workloads are what is measured, in this order.
func workloads() []workload {
	return []workload{
		startup(),
		{
			name: "zero latency, 10,000 items, -j 64",
			targets: []target{
				{what: "CPU per item, deem / bare loop", limit: 2},
				{what: "wall time, deem / bare loop", limit: 1.6},
			},
			once: func(ctx context.Context, l *lab) ([]value, error) { return beside(ctx, l, 10_000, 64, 0) },
		},
		ideal(1000, 8, 97),
		ideal(10_000, 64, 95),
		{
			name:    "50 ms latency, 100,000 items, -j 512",
			targets: []target{{what: "rate, deem / bare loop", unit: "%", limit: 90, least: true}},
			once: func(ctx context.Context, l *lab) ([]value, error) {
				vs, err := beside(ctx, l, 100_000, 512, 50*time.Millisecond)
				if err != nil {
					return nil, err
				}
				return []value{{100 / vs[1].number, vs[1].note}}, nil
			},
		},
		slots(),
		{
			name:    "memory, 100,000 items, -j 64",
			targets: []target{{what: "peak resident memory", unit: "MB", limit: 80}},
			once: func(ctx context.Context, l *lab) ([]value, error) {
				s, err := memory(ctx, l, 100_000)
				return []value{{megabytes(s.rss), fmt.Sprintf("%s of CPU per item", each(s.cpu, 100_000))}}, err
			},
		},
		growth("memory, 10,000 to 100,000 items", 100_000, false),
		growth("memory, 10,000 to 1,000,000 items", 1_000_000, true),
	}
}

// startup is what every command costs before it does anything.
func startup() workload {
	return workload{
		name: "start",
		targets: []target{
			{what: "CPU of deem version", unit: "ms", limit: 30},
			{what: "CPU of deem --help", unit: "ms", limit: 30},
		},
		once: func(ctx context.Context, l *lab) ([]value, error) {
			var vs []value
			for _, arg := range []string{"version", "--help"} {
				// One start is too short for the clock of the processor.
				const times = 10
				var cpu []time.Duration
				var wall time.Duration
				for range times {
					s, err := start(ctx, l.dir, l.deem, arg)
					if err != nil {
						return nil, err
					}
					cpu, wall = append(cpu, s.cpu), wall+s.wall
				}
				slices.Sort(cpu)
				vs = append(vs, value{milliseconds(cpu[times/2]), fmt.Sprintf("%v on the clock", (wall / times).Round(100*time.Microsecond))})
			}
			return vs, nil
		},
	}
}

// beside runs the bare loop and deem, and returns the ratios of CPU and of wall time.
func beside(ctx context.Context, l *lab, n, at int, latency time.Duration) ([]value, error) {
	data, err := l.items(n, answer)
	if err != nil {
		return nil, err
	}
	var loop, ours spent
	err = with(ctx, faultserver.Options{Latency: latency}, func(v *vendor) error {
		var err error
		if loop, err = l.bareLoop(ctx, v, data, at); err != nil {
			return err
		}
		ours, err = l.judge(ctx, data, n, at, asking(v)...)
		return err
	})
	return []value{
		{ratio(ours.cpu, loop.cpu), fmt.Sprintf("%s / %s", each(ours.cpu, n), each(loop.cpu, n))},
		{ratio(ours.wall, loop.wall), fmt.Sprintf("%s / %s", seconds(ours.wall), seconds(loop.wall))},
	}, err
}

// ideal sets deem beside the time that the calls alone would take. The bare loop shows
// how near to that the machine and the server let anybody come.
func ideal(n, at int, share float64) workload {
	const latency = 50 * time.Millisecond
	least := latency * time.Duration((n+at-1)/at)
	return workload{
		name:    fmt.Sprintf("50 ms latency, %d items, -j %d", n, at),
		targets: []target{{what: "rate, of the ideal", unit: "%", limit: share, least: true}},
		once: func(ctx context.Context, l *lab) ([]value, error) {
			data, err := l.items(n, answer)
			if err != nil {
				return nil, err
			}
			var loop, ours spent
			err = with(ctx, faultserver.Options{Latency: latency}, func(v *vendor) error {
				var err error
				if loop, err = l.bareLoop(ctx, v, data, at); err != nil {
					return err
				}
				ours, err = l.judge(ctx, data, n, at, asking(v)...)
				return err
			})
			return []value{{
				100 * ratio(least, ours.wall),
				fmt.Sprintf("%s, ideal %s, bare loop %s", seconds(ours.wall), seconds(least), seconds(loop.wall)),
			}}, err
		},
	}
}

// slots is a vendor that serves few at once and says so.
func slots() workload {
	const n, at, places, latency = 500, 64, 16, 200 * time.Millisecond
	least := latency * time.Duration((n+places-1)/places)
	return workload{
		name: "16 slots with Retry-After, 200 ms, 500 items, -j 64",
		targets: []target{
			{what: "wall time / ideal", limit: 1.3},
			{what: "requests per item", limit: 1.15},
		},
		once: func(ctx context.Context, l *lab) ([]value, error) {
			data, err := l.items(n, answer)
			if err != nil {
				return nil, err
			}
			var s spent
			var st faultserver.Stats
			err = with(ctx, faultserver.Options{Latency: latency, Slots: places}, func(v *vendor) error {
				var err error
				if s, err = l.judge(ctx, data, n, at, asking(v)...); err != nil {
					return err
				}
				st, err = v.stats(ctx)
				return err
			})
			return []value{
				{ratio(s.wall, least), fmt.Sprintf("%s, ideal %s", seconds(s.wall), seconds(least))},
				{st.PerItem(), fmt.Sprintf("%d requests, %d refused, %d paid twice", st.Requests, st.Refused, st.Duplicates)},
			}, err
		},
	}
}

// memory judges n items of a kilobyte with a model that needs no network.
func memory(ctx context.Context, l *lab, n int) (spent, error) {
	data, err := l.items(n, kilobyte)
	if err != nil {
		return spent{}, err
	}
	return l.judge(ctx, data, n, 64, "--model", "fake:labels=CORRECT|INCORRECT")
}

// growth is how much more memory many items need than 10,000.
func growth(name string, n int, long bool) workload {
	return workload{
		name:    name,
		long:    long,
		targets: []target{{what: "growth of peak memory", limit: 1.3}},
		once: func(ctx context.Context, l *lab) ([]value, error) {
			few, err := memory(ctx, l, 10_000)
			if err != nil {
				return nil, err
			}
			many, err := memory(ctx, l, n)
			return []value{{
				float64(many.rss) / float64(max(1, few.rss)),
				fmt.Sprintf("%.0f MB / %.0f MB", megabytes(many.rss), megabytes(few.rss)),
			}}, err
		},
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func each(d time.Duration, n int) string {
	return fmt.Sprintf("%d µs", (d / time.Duration(n)).Microseconds())
}
