package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deem/internal/faultserver"
)

// many is how many records those have that read a run.
const many = 100_000

// A kept is a run that is read again: its folder with the store, its items, and its id.
type kept struct {
	dir, data, run string
	n              int
}

// keep judges n items of prose, once, and returns the run.
func (l *lab) keep(ctx context.Context, n int) (kept, error) {
	if k, ok := l.kept[n]; ok {
		return k, nil
	}
	data, err := l.prose(n)
	if err != nil {
		return kept{}, err
	}
	dir, err := l.folder()
	if err != nil {
		return kept{}, err
	}
	s, err := l.judgeIn(ctx, dir, data, n, 64, fake...)
	if err != nil {
		return kept{}, err
	}
	var r judged
	if err := json.Unmarshal([]byte(s.out), &r); err != nil {
		return kept{}, err
	}
	l.kept[n] = kept{dir, data, r.Head.Run, n}
	return l.kept[n], nil
}

// yardstick is the bare loop over 10,000 items: what time of the processor is set
// beside where deem makes no calls.
func (l *lab) yardstick(ctx context.Context) (perItem time.Duration, err error) {
	const n = 10_000
	data, err := l.items(n, answer)
	if err != nil {
		return 0, err
	}
	err = with(ctx, faultserver.Options{}, func(v *vendor) error {
		s, err := l.bareLoop(ctx, v, data, n, 64)
		perItem = s.cpu / n
		return err
	})
	return perItem, err
}

// readers are the commands that read a run again.
func readers() workload {
	return workload{
		name: "a run of 100,000 records, read again",
		once: func(ctx context.Context, l *lab) ([]value, error) {
			bare, err := l.yardstick(ctx)
			if err != nil {
				return nil, err
			}
			k, err := l.keep(ctx, many)
			if err != nil {
				return nil, err
			}
			r, err := l.read(ctx, k)
			return append(r.values(k.n, bare), value{
				measure{what: "deem verify, wall time", kind: clock, unit: "s", limit: 10},
				r.verify.wall.Seconds(),
				fmt.Sprintf("report %s, export %s", seconds(r.report.wall), seconds(r.export.wall)),
			}), err
		},
	}
}

// A reading is what it took to read a run in each way.
type reading struct{ report, export, verify spent }

// values are the times of the processor beside the bare loop.
func (r reading) values(n int, bare time.Duration) []value {
	one := func(name string, s spent) value {
		return value{
			measure{what: "CPU per record, deem " + name + " / bare loop per item", kind: processor},
			ratio(s.cpu/time.Duration(n), bare), fmt.Sprintf("%s / %d µs", each(s.cpu, n), bare.Microseconds()),
		}
	}
	return []value{one("report", r.report), one("export", r.export), one("verify", r.verify)}
}

// read makes a report of a run, exports it, and verifies the run file.
func (l *lab) read(ctx context.Context, k kept) (r reading, err error) {
	if r.report, err = l.report(ctx, k); err != nil {
		return r, err
	}
	if r.export, err = l.export(ctx, k); err != nil {
		return r, err
	}
	r.verify, err = l.verify(ctx, k)
	return r, err
}

func (l *lab) report(ctx context.Context, k kept) (spent, error) {
	s, err := start(ctx, k.dir, l.deem, "report", k.run, "--json")
	if err != nil {
		return s, err
	}
	return s, complete(s.out, k.n)
}

func (l *lab) export(ctx context.Context, k kept) (spent, error) {
	_ = os.Remove(k.file())
	return start(ctx, k.dir, l.deem, "export", k.run, "-o", k.file())
}

// verify verifies what export wrote.
func (l *lab) verify(ctx context.Context, k kept) (spent, error) {
	s, err := start(ctx, k.dir, l.deem, "verify", k.file(), "--json")
	if err != nil {
		return s, err
	}
	return s, verified(s.out, k.n)
}

// file is where the run is exported to.
func (k kept) file() string { return filepath.Join(k.dir, "run.deem") }

// verified holds that a run file was verified, all of it.
func verified(out string, n int) error {
	var files []struct {
		OK       bool `json:"ok"`
		Prompts  int  `json:"prompts"`
		Verdicts int  `json:"verdicts"`
	}
	if err := json.Unmarshal([]byte(out), &files); err != nil {
		return fmt.Errorf("deem verify prints no JSON: %w", err)
	}
	if len(files) != 1 || !files[0].OK || files[0].Prompts != n || files[0].Verdicts != n {
		return fmt.Errorf("deem verify did not verify %d records: %+v", n, files)
	}
	return nil
}

// A stopped is a run that was stopped when it was nearly done, with the vendor that it
// asked, whose address is part of what the run is.
type stopped struct {
	vendor *vendor
	dir    string
	data   string
	n      int
}

// resume is the rest of a run of which 99 percent are done.
func resume() workload {
	const missing = many / 100
	return workload{
		name: "resume of 100,000 items, 99% done, zero latency, -j 64",
		once: func(ctx context.Context, l *lab) ([]value, error) {
			bare, err := l.yardstick(ctx)
			if err != nil {
				return nil, err
			}
			s, requests, err := l.goOn(ctx, many, missing)
			return []value{
				{
					measure{what: "requests / missing items", kind: count, limit: 1},
					float64(requests) / missing, fmt.Sprintf("%d / %d", requests, missing),
				},
				{
					measure{what: "CPU per item of the dataset / bare loop per item", kind: processor},
					ratio(s.cpu/many, bare), fmt.Sprintf("%s / %d µs, %s on the clock", each(s.cpu, many), bare.Microseconds(), seconds(s.wall)),
				},
			}, err
		},
	}
}

// goOn goes on with a copy of a run that was stopped, and returns how many requests the
// rest took.
func (l *lab) goOn(ctx context.Context, n, missing int) (spent, int, error) {
	if l.stopped == nil || l.stopped.n != n {
		if err := l.stop(ctx, n, missing); err != nil {
			return spent{}, 0, err
		}
	}
	dir, err := l.folder()
	if err != nil {
		return spent{}, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.CopyFS(dir, os.DirFS(l.stopped.dir)); err != nil {
		return spent{}, 0, err
	}
	before, err := l.stopped.vendor.stats(ctx)
	if err != nil {
		return spent{}, 0, err
	}
	s, err := l.judgeIn(ctx, dir, l.stopped.data, n, 64, asking(l.stopped.vendor)...)
	if err != nil {
		return s, 0, err
	}
	after, err := l.stopped.vendor.stats(ctx)
	return s, after.Requests - before.Requests, err
}

// stop begins a run and has it stopped by the vendor, when all but so many items are
// answered. Then the vendor answers again.
func (l *lab) stop(ctx context.Context, n, missing int) error {
	data, err := l.items(n, answer)
	if err != nil {
		return err
	}
	dir, err := l.folder()
	if err != nil {
		return err
	}
	if l.stopped != nil {
		l.stopped.vendor.close()
		l.stopped = nil
	}
	v, err := startVendor(ctx, vendorOptions{Door: int64(n - missing)})
	if err != nil {
		return err
	}
	l.stopped = &stopped{v, dir, data, n} // From here on the lab closes it.
	if _, err := start(ctx, dir, l.deem, running(data, 64, asking(v)...)...); err == nil {
		return fmt.Errorf("a run went on although the vendor accepted its key no more")
	}
	st, err := v.stats(ctx)
	if err == nil && st.Answered != n-missing {
		err = fmt.Errorf("the vendor answered %d requests, want %d", st.Answered, n-missing)
	}
	if err != nil {
		return err
	}
	return v.open(ctx)
}
