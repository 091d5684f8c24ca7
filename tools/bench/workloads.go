package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"deem/internal/test/faultserver"
)

// A workload is something that deem does, what is measured of it, and what we promise.
type workload struct {
	name    string
	targets []target
	once    func(ctx context.Context, l *lab) ([]value, error)
}

// A value is one measurement. Its unit names the measure, as in Go's benchmark format.
type value struct {
	unit   string
	number float64
}

// A target is a promise about the median of a measure.
type target struct {
	unit    string
	limit   float64
	atLeast bool
}

// workloads returns what is measured, in this order. Every workload checks that its work
// was done: a run that gave up early would be fast.
func workloads() []workload {
	const ms50 = 50 * time.Millisecond
	list := []workload{{
		name: "Start", targets: []target{{unit: "cpu-ms", limit: 30}},
		once: func(ctx context.Context, l *lab) ([]value, error) {
			var cpu time.Duration
			const times = 11 // one start is too short for the processor's clock
			for range times {
				s, err := start(ctx, l.dir, l.deem, "version")
				if err != nil || s.out == "" {
					return nil, errors.Join(err, errors.New("deem version prints nothing"))
				}
				cpu += s.cpu
			}
			return []value{{"cpu-ms", cpu.Seconds() * 1000 / times}}, nil
		},
	}}
	for _, c := range []struct {
		latency time.Duration
		n, at   int
		targets []target
	}{
		{0, 1000, 8, nil},
		{0, 10_000, 64, []target{{unit: "cpu/bare", limit: 2.5}}},
		{0, 10_000, 512, nil},
		{0, 100_000, 64, nil},
		{ms50, 1000, 8, []target{{"%-of-ideal", 97, true}}},
		{ms50, 10_000, 64, []target{{"%-of-ideal", 95, true}}},
		{ms50, 100_000, 512, nil},
	} {
		list = append(list, workload{
			name:    fmt.Sprintf("Run/latency=%dms/items=%d/j=%d", c.latency.Milliseconds(), c.n, c.at),
			targets: c.targets,
			once: func(ctx context.Context, l *lab) ([]value, error) {
				return l.againstBare(ctx, c.latency, c.n, c.at)
			},
		})
	}
	list = append(
		list,
		workload{"Slots/places=16/j=64", []target{{unit: "wall/ideal", limit: 1.3}, {unit: "requests/item", limit: 1.15}}, slots},
		workload{"Memory/items=100000", []target{{unit: "peak-MB", limit: 80}, {unit: "peak/10000-items", limit: 1.3}}, memory(100_000)},
		workload{"Memory/items=1000000", []target{{unit: "peak/10000-items", limit: 1.3}, {unit: "report-peak/10000-items", limit: 1.3}}, memory(1_000_000)},
		workload{"Resume/items=100000/done=99%", []target{{unit: "requests/missing", limit: 1}}, resume},
		workload{"Read/records=100000", []target{
			{unit: "report/bare", limit: 3}, {unit: "compare/bare", limit: 3}, {unit: "export/bare", limit: 4}, {unit: "verify/bare", limit: 4},
		}, readAgain},
	)
	pages := workload{name: "Pages/records=100000", once: visit}
	for _, v := range views("", 0) {
		limit := 200.0
		if strings.HasSuffix(v.unit, "-word-ms") {
			limit = 1000 // A search reads the run.
		}
		pages.targets = append(pages.targets, target{unit: v.unit, limit: limit})
	}
	return append(list, pages)
}

// A lab is where workloads are measured: a folder for what they need and leave behind.
type lab struct {
	deem, prompt, dir string

	kept []string // the runs that are read again, once they were judged
}

// A benchItem is an item as its line has it.
type benchItem struct {
	ID        string `json:"id"`
	Category  string `json:"category"`
	Question  string `json:"question"`
	Reference string `json:"reference"`
	Response  string `json:"response"`
}

// How often words occur: a rare one in ten items, each of the frequent ones in one of forty.
const inItems, frequent = 10, 40

// items writes n items, once, whose responses have about size bytes.
func (l *lab) items(n, size int) (string, error) {
	name := filepath.Join(l.dir, fmt.Sprintf("items-%d-%d.jsonl", n, size))
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	f, err := os.Create(name) //nolint:gosec // the name is ours
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	filler := strings.Repeat("all work and no play ", size/21+1)[:size]
	for i := range n {
		it := benchItem{
			ID: fmt.Sprintf("item-%d", i), Category: fmt.Sprintf("c%d", i%frequent), Question: "Which number?", Reference: strconv.Itoa(i),
			Response: fmt.Sprintf("%s rare%d often%d %d", filler, i/inItems, i%frequent, i),
		}
		if err := enc.Encode(it); err != nil {
			return "", err
		}
	}
	return name, w.Flush()
}

// judge runs deem in a folder and checks that all n items were judged.
func (l *lab) judge(ctx context.Context, dir, data string, n, at int, args ...string) (spent, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return spent{}, err
	}
	s, err := start(ctx, dir, l.deem, append([]string{"run", "--data", data, "--judge", "universal", "-j", strconv.Itoa(at), "--json"}, args...)...)
	if err != nil {
		return s, err
	}
	return s, complete(s.out, n)
}

// complete checks that a report has n items, all judged.
func complete(report string, n int) error {
	var r struct{ Items, Unjudged int }
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		return fmt.Errorf("the report is not JSON: %w", err)
	}
	if r.Items != n || r.Unjudged != 0 {
		return fmt.Errorf("the report has %d items, %d unjudged, want %d and 0", r.Items, r.Unjudged, n)
	}
	return nil
}

// asking returns the flags for a model whose name is known: deem makes the first call to an
// unknown one alone, which would take one of a hundred rounds.
func asking(v *vendor) []string {
	return []string{"--model", "openai:gpt-4o-mini", "--base-url", v.url}
}

var offline = []string{"--model", "fake:labels=CORRECT|INCORRECT"}

// againstBare runs the bare loop and deem over the same items against the same server, in
// turns. Short runs are repeated: half a second says little.
func (l *lab) againstBare(ctx context.Context, latency time.Duration, n, at int) ([]value, error) {
	data, err := l.items(n, 400)
	if err != nil {
		return nil, err
	}
	v, err := startVendor(ctx, vendorOptions{Options: faultserver.Options{Latency: latency}})
	if err != nil {
		return nil, err
	}
	defer v.close()
	var loop, ours spent
	times := 0
	for ; times < 5 && ours.wall < 2*time.Second; times++ {
		b, err := start(ctx, l.dir, self(), "bare", "-data", data, "-prompt", l.prompt, "-url", v.url, "-j", strconv.Itoa(at))
		if err != nil {
			return nil, err
		}
		var labels map[string]int
		if err := json.Unmarshal([]byte(b.out), &labels); err != nil || labels["CORRECT"]+labels["INCORRECT"] != n {
			return nil, fmt.Errorf("the bare loop has the labels %s, want %d", b.out, n)
		}
		dir := filepath.Join(l.dir, "run")
		d, err := l.judge(ctx, dir, data, n, at, asking(v)...)
		if err != nil {
			return nil, err
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
		loop.cpu, loop.wall = loop.cpu+b.cpu, loop.wall+b.wall
		ours.cpu, ours.wall, ours.rss = ours.cpu+d.cpu, ours.wall+d.wall, max(ours.rss, d.rss)
	}
	values := []value{
		{"cpu/bare", ratio(ours.cpu, loop.cpu)},
		{"wall/bare", ratio(ours.wall, loop.wall)},
		{"cpu-us/item", float64(ours.cpu.Microseconds()) / float64(times*n)},
		{"peak-MB", megabytes(ours.rss)},
	}
	if latency > 0 {
		ideal := latency * time.Duration(times*((n+at-1)/at))
		values = append(values, value{"%-of-ideal", 100 * ratio(ideal, ours.wall)})
	}
	return values, nil
}

// slots lets 64 callers ask a vendor that serves 16 and refuses the rest with Retry-After.
func slots(ctx context.Context, l *lab) ([]value, error) {
	const n, places, latency = 500, 16, 200 * time.Millisecond
	data, err := l.items(n, 400)
	if err != nil {
		return nil, err
	}
	v, err := startVendor(ctx, vendorOptions{Options: faultserver.Options{Latency: latency, Slots: places}})
	if err != nil {
		return nil, err
	}
	defer v.close()
	dir := filepath.Join(l.dir, "slots")
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := l.judge(ctx, dir, data, n, 64, asking(v)...)
	if err != nil {
		return nil, err
	}
	st, err := v.stats(ctx)
	if err != nil || st.Distinct != n {
		return nil, errors.Join(err, fmt.Errorf("the server was asked about %d items, want %d", st.Distinct, n))
	}
	return []value{{"wall/ideal", ratio(s.wall, latency*((n+places-1)/places))}, {"requests/item", st.PerItem()}}, nil
}

// memory judges and reports 10,000 and then n items of a kilobyte without a network.
func memory(n int) func(ctx context.Context, l *lab) ([]value, error) {
	return func(ctx context.Context, l *lab) ([]value, error) {
		var used, reported [2]spent
		for i, items := range []int{10_000, n} {
			data, err := l.items(items, 1000)
			if err != nil {
				return nil, err
			}
			dir := filepath.Join(l.dir, "memory")
			if used[i], err = l.judge(ctx, dir, data, items, 64, offline...); err != nil {
				return nil, err
			}
			if reported[i], err = start(ctx, dir, l.deem, "report", "last", "--json"); err == nil {
				err = complete(reported[i].out, items)
			}
			if err != nil {
				return nil, err
			}
			if err := os.RemoveAll(dir); err != nil {
				return nil, err
			}
		}
		return []value{
			{"peak-MB", megabytes(used[1].rss)},
			{"peak/10000-items", float64(used[1].rss) / float64(used[0].rss)},
			{"report-peak/10000-items", float64(reported[1].rss) / float64(reported[0].rss)},
			{"cpu-us/item", float64(used[1].cpu.Microseconds()) / float64(n)},
		}, nil
	}
}

// resume finishes a run of which 99% is done.
func resume(ctx context.Context, l *lab) ([]value, error) {
	const n, missing = 100_000, 1000
	data, err := l.items(n, 400)
	if err != nil {
		return nil, err
	}
	v, err := startVendor(ctx, vendorOptions{RejectAfter: n - missing})
	if err != nil {
		return nil, err
	}
	defer v.close()
	dir := filepath.Join(l.dir, "resume")
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := l.judge(ctx, dir, data, n, 64, asking(v)...); err == nil {
		return nil, errors.New("a run ended without error although the vendor rejected its key")
	}
	before, err := v.stats(ctx)
	if err != nil || before.Answered != n-missing {
		return nil, errors.Join(err, fmt.Errorf("the vendor answered %d requests, want %d", before.Answered, n-missing))
	}
	if _, err := fetch(ctx, strings.TrimSuffix(v.url, "/v1")+"/open"); err != nil {
		return nil, err
	}
	s, err := l.judge(ctx, dir, data, n, 64, asking(v)...)
	if err != nil {
		return nil, err
	}
	after, err := v.stats(ctx)
	return []value{{"requests/missing", float64(after.Requests-before.Requests) / missing}, {"cpu-us/item", float64(s.cpu.Microseconds()) / n}}, err
}

// records is the size of the run that is read again.
const records = 100_000

// keep judges the runs that are read again, once, and returns their folder and ids: two systems
// that answer the same questions.
func (l *lab) keep(ctx context.Context) (dir string, runs []string, err error) {
	dir = filepath.Join(l.dir, "kept")
	for size := 400; len(l.kept) < 2; size++ {
		data, err := l.items(records, size)
		if err != nil {
			return "", nil, err
		}
		s, err := l.judge(ctx, dir, data, records, 64, offline...)
		if err != nil {
			return "", nil, err
		}
		var r struct{ Head struct{ Run string } }
		if err := json.Unmarshal([]byte(s.out), &r); err != nil {
			return "", nil, err
		}
		l.kept = append(l.kept, r.Head.Run)
	}
	return dir, l.kept, nil
}

// readAgain reports, compares, exports and verifies stored runs, each next to a bare loop that
// reads the same columns.
func readAgain(ctx context.Context, l *lab) ([]value, error) {
	dir, runs, err := l.keep(ctx)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "run.deem")
	defer func() { _ = os.Remove(file) }()
	var values []value
	for _, step := range []struct {
		name  string
		runs  []string
		calls bool
		args  []string // of deem, after the name
		check func(out string) error
	}{
		{"report", runs[:1], true, []string{runs[0], "--json"}, func(out string) error { return complete(out, records) }},
		{"compare", runs, false, append([]string{"--json"}, runs...), compared},
		{"export", runs[:1], true, []string{runs[0], "-o", file}, func(string) error { return nil }},
		{"verify", runs[:1], true, []string{file, "--json"}, verified},
	} {
		args := []string{"select", "-db", filepath.Join(dir, ".deem", "deem.db"), fmt.Sprint("-calls=", step.calls)}
		bare, err := start(ctx, dir, self(), append(args, step.runs...)...)
		if rows := strconv.Itoa(records * len(step.runs)); err == nil && strings.TrimSpace(bare.out) != rows {
			err = fmt.Errorf("the bare loop read %s rows, want %s", bare.out, rows)
		}
		if err != nil {
			return nil, err
		}
		ours, err := start(ctx, dir, l.deem, append([]string{step.name}, step.args...)...)
		if err == nil {
			err = step.check(ours.out)
		}
		if err != nil {
			return nil, err
		}
		values = append(values, value{step.name + "/bare", ratio(ours.cpu, bare.cpu)}, value{step.name + "-cpu-s", ours.cpu.Seconds()})
	}
	return values, nil
}

// compared checks that a comparison pairs all items.
func compared(out string) error {
	var c struct {
		Runs []struct{ Items int }
	}
	if err := json.Unmarshal([]byte(out), &c); err != nil || len(c.Runs) != 2 || c.Runs[0].Items != records || c.Runs[1].Items != records {
		return fmt.Errorf("deem compare did not compare %d items: %.300s", records, out)
	}
	return nil
}

// verified checks that all records of a run file were verified.
func verified(out string) error {
	var files []struct {
		OK                bool
		Prompts, Verdicts int
	}
	if err := json.Unmarshal([]byte(out), &files); err != nil || len(files) != 1 || !files[0].OK || files[0].Prompts != records || files[0].Verdicts != records {
		return fmt.Errorf("deem verify did not verify %d records: %s", records, out)
	}
	return nil
}

// A view is a page that is requested many times, each time a little differently, because
// the server remembers what it counted.
type view struct {
	unit string
	path func(i int) string
	has  func(i int) string // text that shows that it is the right page
}

func views(run string, n int) []view {
	run = "/runs/" + url.PathEscape(run)
	spread := func(i int) int { return (i*7919 + 13) % n }
	found := func(int) string { return " records</b> of " }
	return []view{
		{"run-ms", func(int) string { return run }, func(int) string { return "universal" }},
		{
			"item-ms",
			func(i int) string { return fmt.Sprintf("%s/items/item-%d", run, spread(i)) },
			func(i int) string { return fmt.Sprintf("rare%d", spread(i)/inItems) },
		},
		{"filter-ms", func(i int) string { return fmt.Sprintf("%s/items?category=c%d&verdict=yes", run, i) }, found},
		{
			"rare-word-ms",
			func(i int) string { return fmt.Sprintf("%s/items?q=rare%d", run, spread(i)/inItems) },
			func(int) string { return fmt.Sprintf("<b>%d records</b> of ", inItems) },
		},
		{"frequent-word-ms", func(i int) string { return fmt.Sprintf("%s/items?q=often%d", run, i) }, found},
		{"sorted-ms", func(i int) string { return fmt.Sprintf("%s/items?sort=score&desc=1&category=c%d", run, i) }, found},
	}
}

// visit measures the pages of deem serve over a stored run: the median of 40 requests each.
func visit(ctx context.Context, l *lab) ([]value, error) {
	dir, runs, err := l.keep(ctx)
	if err != nil {
		return nil, err
	}
	run := runs[0]
	cmd := exec.CommandContext(ctx, l.deem, "serve", "--listen", "127.0.0.1:0", "--json") //nolint:gosec // deem starts its own program
	cmd.Dir, cmd.Env, cmd.Stderr = dir, environment(), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	}()
	var welcome struct{ URL string }
	if err := json.NewDecoder(out).Decode(&welcome); err != nil {
		return nil, fmt.Errorf("deem serve does not say where it is: %w", err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // Wait ends it.
	site := strings.TrimSuffix(welcome.URL, "/")
	page := site + "/runs/" + url.PathEscape(run)
	if err := until(ctx, page, "is being counted"); err != nil {
		return nil, err
	}
	var values []value
	for _, v := range views(run, records) {
		var took []time.Duration
		for i := range frequent {
			began := time.Now()
			text, err := fetch(ctx, site+v.path(i))
			took = append(took, time.Since(began))
			if err != nil || !bytes.Contains(text, []byte(v.has(i))) {
				return nil, errors.Join(err, fmt.Errorf("%s does not say %q", v.path(i), v.has(i)))
			}
		}
		slices.Sort(took)
		values = append(values, value{v.unit, took[len(took)/2].Seconds() * 1000})
	}
	return values, nil
}

// until requests a page until a notice is gone from it.
func until(ctx context.Context, page, notice string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		text, err := fetch(ctx, page)
		if err != nil || !bytes.Contains(text, []byte(notice)) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s still says %q: %w", page, notice, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) }

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
