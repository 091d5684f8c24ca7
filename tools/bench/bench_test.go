package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMain lets the test program take the roles in which bench starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "serve" || os.Args[1] == "bare") {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestAgainstBare measures a small run with the real binary, and a bare loop that is given
// a file without items, which is an error.
func TestAgainstBare(t *testing.T) {
	if testing.Short() {
		t.Skip("a short run measures nothing")
	}
	l := &lab{dir: t.TempDir(), deem: filepath.Join(t.TempDir(), "deem")}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags", "-s -w", "-o", l.deem, "./cmd/deem")
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var err error
	if l.prompt, err = filepath.Abs("../../judge/prompts/universal.txt"); err != nil {
		t.Fatal(err)
	}
	values, err := l.againstBare(t.Context(), time.Millisecond, 100, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if v.number <= 0 {
			t.Errorf("%s = %v, want more than 0", v.unit, v.number)
		}
	}
	l.prompt = filepath.Join(l.dir, "missing")
	if _, err := l.againstBare(t.Context(), 0, 100, 8); err == nil {
		t.Error("a bare loop without its prompt was measured")
	}
}

// TestTargets checks which medians miss their targets.
func TestTargets(t *testing.T) {
	name := "Run/latency=50ms/items=1000/j=8"
	for median, want := range map[float64]int{96.9: 1, 97: 0} {
		if got := targets(map[string]map[string][]float64{name: {"%-of-ideal": {90, median, 99}}}); got != want {
			t.Errorf("with a median of %v: %d targets missed, want %d", median, got, want)
		}
	}
	if got := targets(map[string]map[string][]float64{"Start": {"cpu-ms": {31}}}); got != 1 {
		t.Errorf("with 31 ms: %d targets missed, want 1", got)
	}
}
