package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// An event is one line of go test -json, as "go doc test2json" describes it.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a package that does not build
	Test       string
	Output     string
}

// A testID names a test: its package and its name.
type testID struct{ pkg, name string }

// A tally prints events as go test would print them without -v, and counts.
type tally struct {
	out     io.Writer
	held    map[testID][]string // what a test said, until we know whether to show it
	order   []testID            // of the keys of held
	passed  int
	failed  []testID
	skipped []testID
	pkgs    int      // packages that have tests
	broken  []string // packages that failed
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, held: map[testID][]string{}}
}

// read takes events until the end of r. A line that is no event is shown: it
// is what go test says when it cannot say it as JSON.
func (t *tally) read(r io.Reader) error {
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadString('\n')
		if line != "" {
			t.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) line(line string) {
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.Action == "" {
		t.print(line)
		return
	}
	t.add(e)
}

func (t *tally) add(e event) {
	id := testID{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		t.print(e.Output)
	case e.Action == "output" && e.Test == "":
		// go test prints PASS only with -v.
		if e.Output != "PASS\n" {
			t.print(e.Output)
		}
	case e.Action == "output":
		t.hold(id, e.Output)
	case e.Test == "":
		t.endPackage(id, e.Action)
	default:
		t.endTest(id, e.Action)
	}
}

func (t *tally) hold(id testID, output string) {
	if _, known := t.held[id]; !known {
		t.order = append(t.order, id)
	}
	// A test that talks is a nuisance; one that fails after a million lines
	// must not take the memory of the machine with it.
	if len(t.held[id]) == maxHeld {
		t.held[id] = slices.Delete(t.held[id], 0, maxHeld/2)
	}
	t.held[id] = append(t.held[id], output)
}

// maxHeld is how many lines of one test are kept, the last ones.
const maxHeld = 20000

func (t *tally) endTest(id testID, action string) {
	switch action {
	case "pass":
		t.passed++
		t.drop(id)
	case "fail":
		t.failed = append(t.failed, id)
		t.show(id)
	case "skip":
		t.skipped = append(t.skipped, id)
		t.show(id)
	}
}

// endPackage shows what is left of a failed package: the tests that were
// running when it panicked or ran out of time never end by themselves.
func (t *tally) endPackage(id testID, action string) {
	if action != "pass" && action != "fail" {
		return // It begins, or it has no tests.
	}
	t.pkgs++
	if action == "fail" {
		t.broken = append(t.broken, id.pkg)
	}
	for _, left := range slices.Clone(t.order) {
		switch {
		case left.pkg != id.pkg:
		case action == "fail":
			t.endTest(left, "fail")
		default:
			t.drop(left)
		}
	}
}

// show prints what a test said, without the lines that only -v prints.
func (t *tally) show(id testID) {
	for _, output := range t.held[id] {
		if !strings.HasPrefix(output, "=== ") {
			t.print(output)
		}
	}
	t.drop(id)
}

func (t *tally) drop(id testID) {
	delete(t.held, id)
	t.order = slices.DeleteFunc(t.order, func(o testID) bool { return o == id })
}

func (t *tally) print(s string) {
	fmt.Fprint(t.out, s)
}

// summarize prints the last lines and reports whether all went well.
func (t *tally) summarize(allowed map[testID]string, strict bool) bool {
	ok := len(t.failed) == 0 && len(t.broken) == 0
	for _, name := range t.failures() {
		t.print(fmt.Sprintf("testlog: failed: %s\n", name))
	}
	for _, id := range t.skipped {
		why, listed := allowed[id]
		switch {
		case listed:
			t.print(fmt.Sprintf("testlog: skipped: %s (allowed: %s)\n", id, why))
		case strict:
			ok = false
			t.print(fmt.Sprintf("testlog: skipped without leave: %s\n", id))
		default:
			t.print(fmt.Sprintf("testlog: skipped: %s\n", id))
		}
	}
	t.mentionIdle(allowed)
	if t.pkgs == 0 {
		ok = false
		t.print("testlog: no package was tested\n")
	}
	t.print(fmt.Sprintf("testlog: packages: %d, failed %d; tests: passed %d, failed %d, skipped %d\n",
		t.pkgs, len(t.broken), t.passed, len(t.failed), len(t.skipped)))
	return ok
}

// failures names the failed tests, and the packages that failed without one:
// they do not build, or they ran out of time.
func (t *tally) failures() []string {
	var names []string
	for _, id := range t.failed {
		names = append(names, id.String())
	}
	for _, pkg := range t.broken {
		if !slices.ContainsFunc(t.failed, func(id testID) bool { return id.pkg == pkg }) {
			names = append(names, pkg)
		}
	}
	return names
}

// mentionIdle names the listed tests that did not skip. That is no failure,
// since a test may skip on one machine and run on another.
func (t *tally) mentionIdle(allowed map[testID]string) {
	var idle []string
	for id := range allowed {
		if !slices.Contains(t.skipped, id) {
			idle = append(idle, id.String())
		}
	}
	slices.Sort(idle)
	for _, name := range idle {
		t.print(fmt.Sprintf("testlog: listed as skipping, but did not: %s\n", name))
	}
}

func (id testID) String() string {
	return id.pkg + " " + id.name
}

// readAllowed reads the file of tests that may skip. No name means no tests.
func readAllowed(name string) (map[testID]string, error) {
	if name == "" {
		return nil, nil
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	allowed := map[testID]string{}
	n := 0
	for line := range strings.Lines(string(src)) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) < 3 {
			return nil, fmt.Errorf("%s:%d: want a package, a test and a reason", name, n)
		}
		allowed[testID{words[0], words[1]}] = strings.Join(words[2:], " ")
	}
	return allowed, nil
}
