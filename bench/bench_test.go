package main

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deem/internal/faultserver"
)

// TestMain lets the test program take the roles that the command takes when it starts
// itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		os.Exit(run(context.Background(), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// newLab returns a lab of this repository.
func newLab(t *testing.T) *lab {
	t.Helper()
	repo, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return &lab{options: options{repo: repo}, dir: t.TempDir()}
}

// TestAbreast holds that the bare loop beside a measurement ends when that does, that it
// did something, and that what goes wrong on either side is no measurement.
func TestAbreast(t *testing.T) {
	l := newLab(t)
	data, err := l.items(200, answer)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	err = with(t.Context(), faultserver.Options{}, func(v *vendor) error {
		for _, url := range []string{v.url, nobody} {
			r, err := l.abreast(t.Context(), "x", 200, url, func() (spent, error) {
				asked++
				return l.bareLoop(t.Context(), v, data, 200, 4)
			})
			if err != nil || r.number <= 0 || r.what != "x" {
				t.Errorf("beside a loop at %s: %+v, %v, want a ratio of x", url, r, err)
			}
		}
		return nil
	})
	if err != nil || asked != 6 {
		t.Errorf("measured %d times, %v, want 6", asked, err)
	}
	wrong := errors.New("wrong")
	if _, err := l.abreast(t.Context(), "x", 1, nobody, func() (spent, error) { return spent{}, wrong }); !errors.Is(err, wrong) {
		t.Errorf("a measurement that fails: error = %v", err)
	}
	l.repo = t.TempDir() // There is no prompt in it.
	if _, err := l.abreast(t.Context(), "x", 1, nobody, func() (spent, error) { return spent{}, nil }); err == nil {
		t.Error("a bare loop without a prompt was measured beside")
	}
}

// TestRounds holds that the runs of a workload lie apart, with the others between them, that
// each row has one value of every round, and that progress stays out of the table.
func TestRounds(t *testing.T) {
	var order []string
	fake := func(name string) workload {
		n := 0.0
		return workload{name: name, once: func(context.Context, *lab) ([]value, error) {
			order = append(order, name)
			n++
			return []value{{measure{what: "runs"}, n, ""}, {measure{what: "twice", unit: "s"}, 2 * n, ""}}, nil
		}}
	}
	l := &lab{options: options{runs: 3}}
	var table, progress bytes.Buffer
	rows, err := l.rounds(t.Context(), []workload{fake("a"), fake("b")}, &table, &progress)
	if err != nil || len(rows) != 4 {
		t.Fatalf("rounds of two workloads with two measures = %d rows, %v, want 4", len(rows), err)
	}
	if got := strings.Join(order, ""); got != "ababab" {
		t.Errorf("measured in the order %s, want ababab", got)
	}
	if r := rows[3]; r.workload != "b" || r.what != "twice" || !slices.Equal(r.values, []float64{2, 4, 6}) {
		t.Errorf("the last row is %+v, want twice the runs of b", r)
	}
	if got := strings.Count(table.String(), "\n"); got != 5 {
		t.Errorf("the table has %d lines, want headings and 4 rows:\n%s", got, &table)
	}
	if got := strings.Count(progress.String(), "\n"); got != 4 || !strings.Contains(progress.String(), "round 2 of 3: b, ") {
		t.Errorf("progress has %d lines, want one of each workload and round but the last:\n%s", got, &progress)
	}

	broken := workload{name: "c", once: func(context.Context, *lab) ([]value, error) { return nil, errors.New("no disk") }}
	if _, err := l.rounds(t.Context(), []workload{broken}, &table, &progress); err == nil || err.Error() != "c: no disk" {
		t.Errorf("a workload that fails: error = %v, want it with its name", err)
	}
}

// TestChosen holds that what takes hours is left out unless asked for.
func TestChosen(t *testing.T) {
	for _, tt := range []struct {
		only string
		full bool
		want int
	}{
		{"start", false, 1}, {"^zero", false, 9}, {"^50 ms", false, 6}, {"^50 ms", true, 9}, {"nonsense", true, 0},
	} {
		l := &lab{options: options{only: regexp.MustCompile(tt.only), full: tt.full}}
		if got, err := l.chosen(); len(got) != tt.want || (err != nil) != (tt.want == 0) {
			t.Errorf("%q chooses %d workloads, %v, want %d", tt.only, len(got), err, tt.want)
		}
	}
}

// TestVendor holds that a vendor in a process of its own counts who came.
func TestVendor(t *testing.T) {
	l := newLab(t)
	data, err := l.items(30, 100)
	if err != nil {
		t.Fatal(err)
	}
	v, err := startVendor(t.Context(), vendorOptions{Door: 30})
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	if _, err := l.bareLoop(t.Context(), v, data, 30, 4); err != nil {
		t.Fatal(err)
	}
	if st, err := v.stats(t.Context()); err != nil || st.Requests != 30 {
		t.Errorf("stats = %+v, %v, want 30 requests", st, err)
	}
	if _, err := l.bareLoop(t.Context(), v, data, 30, 4); err == nil {
		t.Error("the door is open though 30 went through")
	}
	if err := v.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.bareLoop(t.Context(), v, data, 30, 4); err != nil {
		t.Errorf("after it was opened: %v", err)
	}
	if _, err := l.bareLoop(t.Context(), v, data, 31, 4); err == nil {
		t.Error("30 labels were taken for 31")
	}
}

// TestComplete holds that a run that gave up is not measured.
func TestComplete(t *testing.T) {
	for report, want := range map[string]string{
		`{"items": 5}`:                "",
		`{"items": 5, "unjudged": 1}`: "1 unjudged",
		`{"items": 4}`:                "4 items",
		`deem: error`:                 "no JSON",
	} {
		if err := complete(report, 5); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("complete(%s) = %v, want %q", report, err, want)
		}
	}
}

// TestVerified holds that a run file of which less was verified is not measured.
func TestVerified(t *testing.T) {
	for out, want := range map[string]bool{
		`[{"ok": true, "prompts": 5, "verdicts": 5}]`:  true,
		`[{"ok": false, "prompts": 5, "verdicts": 5}]`: false,
		`[{"ok": true, "prompts": 5, "verdicts": 4}]`:  false,
		`[{"ok": true, "prompts": 0, "verdicts": 5}]`:  false,
		`[]`:      false,
		`deem: x`: false,
	} {
		if err := verified(out, 5); (err == nil) != want {
			t.Errorf("verified(%s) = %v, want well %v", out, err, want)
		}
	}
}

// TestCounted holds that a bare loop that left items out is not measured.
func TestCounted(t *testing.T) {
	for out, want := range map[string]bool{`{"CORRECT":2,"INCORRECT":3}`: true, `{"CORRECT":4}`: false, `map[]`: false} {
		if err := counted(out, 5); (err == nil) != want {
			t.Errorf("counted(%s) = %v, want well %v", out, err, want)
		}
	}
}

// TestProse holds what the measurements of search rest on: a rare word is in ten items,
// and a frequent one in many.
func TestProse(t *testing.T) {
	const n = 2000
	rare, often := map[string]int{}, map[string]int{}
	for i := range n {
		it := english(i)
		if again := english(i); again != it {
			t.Fatalf("item %d is %+v and %+v", i, it, again)
		}
		words := map[string]bool{}
		for _, w := range strings.Fields(it.Response) {
			words[strings.ToLower(strings.Trim(w, "."))] = true
		}
		for w := range words {
			if strings.HasPrefix(w, "qu") {
				rare[w]++
			}
			often[w]++
		}
	}
	if got := len(rare); got != n/inTen {
		t.Errorf("there are %d rare words, want %d", got, n/inTen)
	}
	for w, k := range rare {
		if k != inTen {
			t.Errorf("%s is in %d items, want %d", w, k, inTen)
		}
	}
	for k := range frequent {
		if got := often[frequentWord(k)]; got < n/4 {
			t.Errorf("%s is in %d of %d items, want every fourth at least", frequentWord(k), got, n)
		}
	}
}

// TestSpell holds that no two numbers are one word.
func TestSpell(t *testing.T) {
	seen := map[string]int{}
	for i := range 2 * vocabulary {
		if was, ok := seen[spell(i)]; ok {
			t.Fatalf("%d and %d are both %s", was, i, spell(i))
		}
		seen[spell(i)] = i
	}
}

// TestBareLoop holds that the bare loop asks about every item once, so that it is what
// deem is set beside.
func TestBareLoop(t *testing.T) {
	l := &lab{dir: t.TempDir()}
	data, err := l.items(40, 100)
	if err != nil {
		t.Fatal(err)
	}
	prompt := filepath.Join(l.dir, "prompt.txt")
	if err := os.WriteFile(prompt, []byte("Is {response} the same as {ground_truth}?"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := faultserver.New(faultserver.Options{})
	server := httptest.NewServer(s)
	defer server.Close()
	args := []string{"-data", data, "-prompt", prompt, "-url", server.URL, "-j", "8"}
	if err := bare(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); st.Distinct != 40 || st.Requests != 40 || st.Peak > 8 {
		t.Errorf("stats = %+v, want 40 requests, all different, 8 at once", st)
	}
	broken := httptest.NewServer(faultserver.New(faultserver.Options{Faults: map[faultserver.Fault]float64{faultserver.Busy: 1}}))
	defer broken.Close()
	args[5] = broken.URL
	if err := bare(context.Background(), args); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("a server that refuses: error = %v, want its status", err)
	}
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-runs", "0"}, {"-only", "("}, {"-nonsense"}} {
		if code := run(t.Context(), args); code != 2 {
			t.Errorf("bench %q exits with %d, want 2", args, code)
		}
	}
	for _, args := range [][]string{{"-agree", "one.json"}, {"what"}} {
		if code := run(t.Context(), args); code != 2 {
			t.Errorf("bench %q exits with %d, want 2", args, code)
		}
	}
	names := map[string]bool{}
	for _, w := range workloads() {
		if names[w.name] {
			t.Errorf("workload %q is there twice", w.name)
		}
		names[w.name] = true
	}
	for _, name := range []string{"zero latency, 100,000 items, -j 512", "50 ms latency, 100,000 items, -j 8"} {
		if !names[name] {
			t.Errorf("there is no workload %q", name)
		}
	}
}
