package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/cli"
	"deem/report"
)

// A desk is a folder in which commands run.
type desk struct {
	t    *testing.T
	dir  string
	errs string // standard error of the last command
}

// run runs a command and returns its output.
func (d *desk) run(exit int, args ...string) string {
	d.t.Helper()
	var out, errs bytes.Buffer
	args = append(args, "--db", filepath.Join(d.dir, "deem.db"))
	if got := cli.Main(args, strings.NewReader(""), &out, &errs); got != exit {
		d.t.Fatalf("deem %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, exit, &out, &errs)
	}
	d.errs = errs.String()
	return out.String()
}

// report runs a command that prints a report.
func (d *desk) report(args ...string) report.Report {
	d.t.Helper()
	var r report.Report
	if err := json.Unmarshal([]byte(d.run(0, append(args, "--json")...)), &r); err != nil {
		d.t.Fatal(err)
	}
	return r
}

// answers writes a file of n items, of which a share is right. The right items of a file
// with a smaller share are also right in one with a larger share.
func (d *desk) answers(name string, n int, share float64, clusters int) string {
	d.t.Helper()
	rng := rand.New(rand.NewPCG(4, 4))
	var b strings.Builder
	for i := range n {
		response, cluster := "not known", ""
		if rng.Float64() < share {
			response = fmt.Sprint(i)
		}
		if clusters > 0 {
			cluster = fmt.Sprintf(`,"cluster":"c%d"`, i%clusters)
		}
		fmt.Fprintf(&b, `{"id":"q%d","question":"which number?","references":["%d"],"response":"%s"%s}`+"\n", i, i, response, cluster)
	}
	path := filepath.Join(d.dir, name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// Issue 21: a run stops as soon as its rule is met, and every report says so.
func TestUntilWithin(t *testing.T) {
	notQuick(t)
	t.Parallel()
	d := &desk{t: t, dir: t.TempDir()}
	data := d.answers("a.jsonl", 2000, 0.9, 0)
	args := []string{"run", "--data", data, "--judge", "exact", "--until", "±5pp", "--seed", "7"}

	first := d.report(args...)
	est := *first.Metrics[0].Judged
	if s := first.Stopped; s == nil || !s.Holds || s.Seed != 7 || s.Items != est.N || est.N >= 1000 || est.Method != "betting" {
		t.Fatalf("stopped %+v, score %+v", s, est)
	}
	if est.Hi-est.Value > 0.05 || est.Value-est.Lo > 0.05 {
		t.Errorf("the interval [%v, %v] is not within 5 points of %v", est.Lo, est.Hi, est.Value)
	}
	if first.Metrics[0].Strict.Lo != est.Lo || first.Metrics[0].Strict.Hi != est.Hi {
		t.Errorf("without failures strict is %+v, and the score %+v", first.Metrics[0].Strict, est)
	}

	d.run(0, args...)
	if !strings.Contains(d.errs, "was stopped by its rule") {
		t.Errorf("the same command says:\n%s", d.errs)
	}
	again := d.report(args...)
	if again.Head.Run != first.Head.Run || again.Head.Ended != first.Head.Ended {
		t.Errorf("the same command did something: run %s after %s", again.Head.Run, first.Head.Run)
	}
	later := d.report("report", first.Head.Run)
	sameNumbers(t, "report", later, first)
	sentence := fmt.Sprintf("topped by rule ±5 pp after %d of 2,000 items", est.N)
	if text := strings.Join(strings.Fields(d.run(0, "report", first.Head.Run)), " "); !strings.Contains(text, sentence) {
		t.Errorf("the text does not say %q:\n%s", sentence, text)
	}
	file := filepath.Join(d.dir, "a.html")
	d.run(0, "export", first.Head.Run, "--format", "html", "-o", file)
	if html, err := os.ReadFile(file); err != nil || !strings.Contains(string(html), sentence) {
		t.Errorf("the page does not say %q (%v)", sentence, err)
	}
	bundle := filepath.Join(d.dir, "a.deem")
	d.run(0, "export", first.Head.Run, "-o", bundle)
	d.run(0, "verify", bundle)
	sameNumbers(t, "bundle", d.report("report", bundle), first)

	// The order depends on the seed only, and the result does not depend on the
	// concurrency.
	alone := d.report(append(args, "-j", "1", "--fresh")...)
	if alone.Head.Run == first.Head.Run {
		t.Fatal("--fresh went on with the run")
	}
	sameNumbers(t, "-j 1", alone, first)
	other := d.report("run", "--data", data, "--judge", "exact", "--until", "±5pp", "--seed", "8")
	if other.Head.DatasetHash == first.Head.DatasetHash || other.Head.Run == first.Head.Run {
		t.Error("another seed is the same run")
	}

	// Another rule continues the run, and its interval is inside the earlier one.
	closer := d.report("run", "--data", data, "--judge", "exact", "--until", "+-4pp", "--seed", "7")
	if got := *closer.Metrics[0].Judged; closer.Head.Run != alone.Head.Run || got.N <= est.N || got.Lo < est.Lo || got.Hi > est.Hi {
		t.Errorf("±4pp: run %s with %+v, after run %s with %+v", closer.Head.Run, got, alone.Head.Run, est)
	}
	if closer.Stopped.Aim != 0.05 {
		t.Errorf("the bets aim at %v since the rule changed", closer.Stopped.Aim)
	}
}

// sameNumbers compares the counted results, not what was judged meanwhile.
func sameNumbers(t *testing.T, what string, got, want report.Report) {
	t.Helper()
	numbers := func(r report.Report) string {
		text, err := json.Marshal([]any{r.Metrics, r.Items, r.Labels, r.Stopped.Items, r.Stopped.Holds, r.Stopped.Difference})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if g, w := numbers(got), numbers(want); g != w {
		t.Errorf("%s: %s\nwant %s", what, g, w)
	}
}

// A run compared with another stops when it is known to be better or worse.
func TestUntilBetter(t *testing.T) {
	notQuick(t)
	t.Parallel()
	d := &desk{t: t, dir: t.TempDir()}
	low, high := d.answers("low.jsonl", 1500, 0.6, 0), d.answers("high.jsonl", 1500, 0.8, 0)
	base := d.report("run", "--data", low, "--judge", "exact")
	better := d.report("run", "--data", high, "--judge", "exact", "--until", "better than "+base.Head.Run)
	if s := better.Stopped; !s.Holds || s.Difference.Lo <= 0 || s.Items >= 500 || s.Against != base.Head.Run {
		t.Errorf("better: %+v with the difference %+v", s, s.Difference)
	}
	sameNumbers(t, "report", d.report("report", better.Head.Run), better)
	bundle := filepath.Join(d.dir, "b.deem")
	d.run(0, "export", better.Head.Run, "-o", bundle)
	d.run(0, "verify", bundle)
	sameNumbers(t, "bundle", d.report("report", bundle), better)

	base = d.report("run", "--data", high, "--judge", "exact")
	worse := d.report("run", "--data", low, "--judge", "exact", "--until", "better than "+base.Head.Run)
	if s := worse.Stopped; !s.Holds || s.Difference.Hi >= 0 {
		t.Errorf("worse: %+v with the difference %+v", s, s.Difference)
	}
	if text := d.run(0, "report", worse.Head.Run); !strings.Contains(text, "it is worse") {
		t.Errorf("the text does not say that the run is worse:\n%s", text)
	}
	equal := d.report("run", "--data", high, "--judge", "exact", "--until", "better than "+base.Head.Run)
	if s := equal.Stopped; s.Holds || s.Items != 1500 || equal.Head.Run == base.Head.Run {
		t.Errorf("a run was told from itself: %+v", s)
	}
	d.run(2, "run", "--data", high, "--judge", "exact", "--until", "better than "+equal.Head.Run)
	d.run(2, "run", "--data", high, "--judge", "f1", "--until", "better than "+base.Head.Run)
	d.run(2, "run", "--data", d.answers("more.jsonl", 1501, 0.8, 0), "--judge", "exact", "--until", "better than "+base.Head.Run)
}

// Clusters are drawn as a whole, and the interval is based on whole clusters.
func TestUntilClusters(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dir: t.TempDir()}
	r := d.report("run", "--data", d.answers("a.jsonl", 2000, 0.9, 400), "--judge", "exact", "--until", "±8pp")
	est := *r.Metrics[0].Judged
	if s := r.Stopped; !s.Holds || s.Largest != 5 || s.Items%5 != 0 || est.Clusters != s.Items/5 || est.N != s.Items {
		t.Errorf("stopped %+v, score %+v", s, est)
	}
	// The same items without clusters need fewer.
	if alone := d.report("run", "--data", d.answers("b.jsonl", 2000, 0.9, 0), "--judge", "exact", "--until", "±8pp"); alone.Stopped.Items >= r.Stopped.Items {
		t.Errorf("%d items in clusters, and %d without", r.Stopped.Items, alone.Stopped.Items)
	}
}

func TestUntilRefused(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dir: t.TempDir()}
	data := d.answers("a.jsonl", 10, 0.5, 0)
	for _, args := range [][]string{
		{"--until", "2pp"},
		{"--until", "±2"},
		{"--until", "±0pp"},
		{"--until", "better than"},
		{"--until", "better than nobody"},
		{"--until", "±2pp", "--trials", "2"},
	} {
		d.run(2, append([]string{"run", "--data", data, "--judge", "exact"}, args...)...)
		if !strings.Contains(d.errs, "until") && !strings.Contains(d.errs, "nobody") {
			t.Errorf("%q: %s", args, d.errs)
		}
	}
}
