package main

import (
	"context"
	"fmt"
	"time"

	"deem/internal/faultserver"
)

// A workload is something that deem does, with what is measured of it.
type workload struct {
	name  string
	full  bool // only when every cell is asked for
	timed bool // it has a target on the clock

	// once measures once. The values are of the same measures each time.
	once func(ctx context.Context, l *lab) ([]value, error)
}

// A kind says what a number is made of, and so what disturbs it.
type kind string

// The kinds.
const (
	processor kind = "processor" // time of the processor, beside other such time
	clock     kind = "clock"     // time on the clock, which suffers from whatever else runs
	memory    kind = "memory"    // bytes in memory
	count     kind = "count"     // requests, records and bytes in files
)

// A measure is a number that a workload gives, and the target for it if there is one.
type measure struct {
	what  string
	kind  kind
	unit  string  // "" for a ratio, or "%", "MB", "ms", "s"
	limit float64 // 0 for a number without a target
	least bool    // more is better, and the limit is to be reached and not to be kept below
}

// A value is one measurement, with the numbers behind it.
type value struct {
	measure

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
	list := []workload{startup()}
	list = append(list, cells()...)
	return append(list,
		slots(),
		storage(),
		million(),
		resume(),
		readers(),
		web(),
		metrics(),
	)
}

// startup is what every command costs before it does anything.
func startup() workload {
	return workload{
		name: "start",
		once: func(ctx context.Context, l *lab) ([]value, error) {
			version, help, nothing, err := l.starts(ctx, 11, median)
			took := func(s spent) string { return fmt.Sprintf("%.1f ms on the clock", milliseconds(s.wall)) }
			beside := fmt.Sprintf("%.1f ms / %.1f ms", milliseconds(version.cpu), milliseconds(nothing.cpu))
			return []value{
				{measure{what: "CPU of deem version", kind: processor, unit: "ms", limit: 30}, milliseconds(version.cpu), took(version)},
				{measure{what: "CPU of deem --help", kind: processor, unit: "ms", limit: 30}, milliseconds(help.cpu), took(help)},
				{measure{what: "CPU of deem version / of a program that does nothing", kind: processor}, ratio(version.cpu, nothing.cpu), beside},
			}, err
		},
	}
}

// starts starts deem and a program that does nothing, in turn, so many times. One start
// is too short for the clock of the processor.
func (l *lab) starts(ctx context.Context, times int, pick func([]spent) spent) (version, help, nothing spent, err error) {
	var all [3][]spent
	for range times {
		for i, command := range [3][]string{{l.deem, "version"}, {l.deem, "--help"}, {self(), "nothing"}} {
			s, err := start(ctx, l.dir, command[0], command[1:]...)
			if err != nil {
				return version, help, nothing, err
			}
			if i < 2 && s.out == "" {
				return version, help, nothing, fmt.Errorf("deem %s says nothing", command[1])
			}
			all[i] = append(all[i], s)
		}
	}
	return pick(all[0]), pick(all[1]), pick(all[2]), nil
}

// slots is a vendor that serves few at once and says so.
func slots() workload {
	const latency = 200 * time.Millisecond
	least := latency * time.Duration((slotItems+slotPlaces-1)/slotPlaces)
	return workload{
		name:  "16 slots with Retry-After, 200 ms, 500 items, -j 64",
		timed: true,
		once: func(ctx context.Context, l *lab) ([]value, error) {
			s, st, err := l.crowd(ctx, latency)
			return []value{
				{measure{what: "wall time / ideal", kind: clock, limit: 1.3}, ratio(s.wall, least), fmt.Sprintf("%s, ideal %s", seconds(s.wall), seconds(least))},
				{
					measure{what: "requests per item", kind: count, limit: 1.15},
					st.PerItem(),
					fmt.Sprintf("%d requests, %d refused, %d paid twice", st.Requests, st.Refused, st.Duplicates),
				},
			}, err
		},
	}
}

// How many come to the vendor with few slots.
const slotItems, slotPlaces = 500, 16

// crowd lets 64 at once ask a vendor that serves 16.
func (l *lab) crowd(ctx context.Context, latency time.Duration) (spent, faultserver.Stats, error) {
	var s spent
	var st faultserver.Stats
	data, err := l.items(slotItems, answer)
	if err != nil {
		return s, st, err
	}
	err = with(ctx, faultserver.Options{Latency: latency, Slots: slotPlaces}, func(v *vendor) error {
		if s, err = l.judge(ctx, data, slotItems, 64, asking(v)...); err != nil {
			return err
		}
		st, err = v.stats(ctx)
		return err
	})
	if err == nil && st.Distinct != slotItems {
		err = fmt.Errorf("the server was asked about %d items, want %d", st.Distinct, slotItems)
	}
	return s, st, err
}

// storage is what 100,000 items need in memory, and how much more than 10,000 do.
func storage() workload {
	return workload{
		name: "memory, 100,000 items of a kilobyte through fake:, -j 64",
		once: func(ctx context.Context, l *lab) ([]value, error) {
			few, many, err := l.grow(ctx, 100_000)
			return []value{
				{measure{what: "peak resident memory", kind: memory, unit: "MB", limit: 80}, megabytes(many.rss), fmt.Sprintf("%s of CPU per item", each(many.cpu, 100_000))},
				growth(few, many),
				{
					measure{what: "bytes in the store / in the dataset", kind: count},
					float64(many.stored) / float64(max(1, many.read)),
					fmt.Sprintf("%.0f MB / %.0f MB", megabytes(many.stored), megabytes(many.read)),
				},
			}, err
		},
	}
}

// million is the same with ten times as many.
func million() workload {
	return workload{
		name: "memory, 1,000,000 items of a kilobyte through fake:, -j 64",
		once: func(ctx context.Context, l *lab) ([]value, error) {
			const n = 1_000_000
			few, many, err := l.grow(ctx, n)
			one, of := many.cpu/n, few.cpu/10_000
			return []value{
				growth(few, many),
				{
					measure{what: "CPU per item / with 10,000 items", kind: processor},
					ratio(one, of),
					fmt.Sprintf("%d µs / %d µs", one.Microseconds(), of.Microseconds()),
				},
			}, err
		},
	}
}

// grow judges 10,000 items and then n with a model that needs no network.
func (l *lab) grow(ctx context.Context, n int) (few, many spent, err error) {
	if few, err = l.offline(ctx, 10_000); err != nil {
		return few, many, err
	}
	many, err = l.offline(ctx, n)
	return few, many, err
}

// offline judges n items of a kilobyte with a model that needs no network.
func (l *lab) offline(ctx context.Context, n int) (spent, error) {
	data, err := l.items(n, kilobyte)
	if err != nil {
		return spent{}, err
	}
	return l.judge(ctx, data, n, 64, fake...)
}

// fake are the arguments for a model that needs no network.
var fake = []string{"--model", "fake:labels=CORRECT|INCORRECT"}

func growth(few, many spent) value {
	return value{
		measure{what: "growth of peak memory from 10,000 items", kind: memory, limit: 1.3},
		float64(many.rss) / float64(max(1, few.rss)),
		fmt.Sprintf("%.0f MB / %.0f MB", megabytes(many.rss), megabytes(few.rss)),
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func each(d time.Duration, n int) string {
	return fmt.Sprintf("%d µs", (d / time.Duration(n)).Microseconds())
}
