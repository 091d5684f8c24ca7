package ci_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "deem/benchmark" // names the judges
	"deem/internal/catalog"
	"deem/internal/reports"
)

var updateVectors = flag.Bool("update-vectors", false, "write testdata/spec again")

const vectorsDir = "../../testdata/spec"

// A vector is a run file and what is wrong with it.
type vector struct {
	File  string `json:"file"`
	About string `json:"about"`
	Check string `json:"check,omitempty"` // the kind of finding that there must be; "" if there is none

	// NeedsJudge means that only a program that has the judge can find it. Others find nothing.
	NeedsJudge bool `json:"needs_judge,omitempty"`
}

// TestRunFileVectors checks that deem and the second verifier find in each vector what is
// wrong with it, and nothing in those that are right.
func TestRunFileVectors(t *testing.T) {
	if *updateVectors {
		writeVectors(t)
	}
	text, err := os.ReadFile(filepath.Join(vectorsDir, "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		t.Run(strings.TrimSuffix(v.File, ".deem"), func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(vectorsDir, v.File)
			compareChecks(t, "deem", v, v.Check, checkedByDeem(t, name))
			want := v.Check
			if v.NeedsJudge {
				want = ""
			}
			compareChecks(t, "verify.py", v, want, checkedByPython(t, name))
		})
	}
}

func compareChecks(t *testing.T, who string, v vector, want string, got []string) {
	t.Helper()
	if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
		t.Errorf("%s (%s): %s finds %q, want %q", v.File, v.About, who, got, want)
	}
}

// checkedByDeem returns the kinds of findings of deem verify.
func checkedByDeem(t *testing.T, name string) []string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	v, err := reports.Verify(t.Context(), file, reports.VerifyOptions{Restore: catalog.Restore, Software: "deem test"})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, f := range v.Findings {
		kinds = append(kinds, f.Check)
	}
	return kinds
}

// checkedByPython returns the kinds of findings of the second verifier.
func checkedByPython(t *testing.T, name string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "python3", "../../tools/runfile/verify.py", "--json", name).Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%v: %s", err, exit.Stderr)
	}
	var files []struct {
		Findings []struct {
			Check string `json:"check"`
		} `json:"findings"`
	}
	if err := json.Unmarshal(out, &files); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, f := range files[0].Findings {
		kinds = append(kinds, f.Check)
	}
	return kinds
}
