package ci_test

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// An action is as much of action.yml as is run or promised.
type action struct {
	Inputs map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

// A step is one of its steps.
type step struct {
	ID, If, Uses, Shell, Run string
	Env                      map[string]string
}

func readAction(t *testing.T) action {
	t.Helper()
	var a action
	decoder := yaml.NewDecoder(strings.NewReader(read(t, "action.yml")))
	if err := decoder.Decode(&a); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) < 4 {
		t.Fatalf("action.yml uses %q and has %d steps", a.Runs.Using, len(a.Runs.Steps))
	}
	return a
}

func (a action) step(t *testing.T, id string) step {
	t.Helper()
	i := slices.IndexFunc(a.Runs.Steps, func(s step) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("action.yml has no step %s", id)
	}
	return a.Runs.Steps[i]
}

// TestActionInputs holds the document and the example to the inputs of the action, and
// the action to itself.
func TestActionInputs(t *testing.T) {
	a := readAction(t)
	doc := read(t, "docs/ci.md")
	for name, in := range a.Inputs {
		if !strings.Contains(doc, "`"+name+"`") || in.Description == "" {
			t.Errorf("input %s is not described", name)
		}
	}
	for name := range a.Outputs {
		if !strings.Contains(doc, "`"+name+"`") {
			t.Errorf("docs/ci.md does not name the output %s", name)
		}
	}
	used := regexp.MustCompile(`inputs\.([\w-]+)`)
	for _, m := range used.FindAllStringSubmatch(read(t, "action.yml"), -1) {
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("action.yml uses the input %s, which it does not have", m[1])
		}
	}
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %s puts an expression into its script, where it could be taken for a command", s.ID)
		}
	}
}

// TestActionExample reads the workflow that the document shows.
func TestActionExample(t *testing.T) {
	a := readAction(t)
	example := read(t, "examples/ci/github.yml")
	page, _ := Parse("docs/ci.md", read(t, "docs/ci.md"))
	if !slices.ContainsFunc(page.Blocks, func(b Block) bool { return b.Name == "github.yml" && b.Text == example }) {
		t.Error("docs/ci.md does not show examples/ci/github.yml as it is")
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(example), &workflow); err != nil {
		t.Fatal(err)
	}
	with := 0
	for _, s := range workflow.Jobs["judge"].Steps {
		if !strings.Contains(s.Uses, "/deem@") {
			continue
		}
		for name := range s.With {
			with++
			if _, ok := a.Inputs[name]; !ok {
				t.Errorf("the example gives the input %s, which the action does not have", name)
			}
		}
	}
	if with == 0 {
		t.Error("the example does not use the action")
	}
}

// A runner does what GitHub's does with a step of an action, as far as ours need it.
type runner struct {
	folder string
	env    []string
}

func newRunner(t *testing.T, vendors string) *runner {
	t.Helper()
	r := &runner{folder: scratch(t, "docs/ci.md")}
	r.env = append(environment(t, vendors), "HOME="+r.folder, "RUNNER_TEMP="+t.TempDir())
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"} {
		r.env = append(r.env, name+"="+r.file(name))
	}
	return r
}

func (r *runner) file(name string) string { return filepath.Join(r.folder, name) }

// do runs a step with some inputs given and the others at their defaults, and returns
// what it prints and its exit code.
func (r *runner) do(t *testing.T, a action, s step, inputs map[string]string) (string, int) {
	t.Helper()
	expression := regexp.MustCompile(`^\$\{\{ inputs\.([\w-]+) \}\}$`)
	env := slices.Clone(r.env)
	for name, value := range s.Env {
		m := expression.FindStringSubmatch(value)
		if m == nil {
			continue
		}
		given, ok := inputs[m[1]]
		if !ok {
			given = a.Inputs[m[1]].Default
		}
		env = append(env, name+"="+given)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
	cmd.Dir, cmd.Env = r.folder, env
	out, _ := cmd.CombinedOutput() // the exit code says the same
	return string(out), cmd.ProcessState.ExitCode()
}

// outputs returns what steps wrote for later ones. The last value of a name counts.
func (r *runner) outputs(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(r.file("GITHUB_OUTPUT"))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name] = value
	}
	return values
}

// TestActionInstalls fetches the archive of a release with the right checksum, with a wrong
// one and with none, and takes it out of the cache the second time.
func TestActionInstalls(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("no curl here: the step that fetches a release is not run")
		return
	}
	folder := t.TempDir()
	archive := filepath.Join(folder, "deem-0.1.0-linux-amd64.tar.gz")
	tar := exec.CommandContext(t.Context(), "tar", "-czhf", archive, "--transform", "s,^,deem-0.1.0-linux-amd64/,", "-C", filepath.Dir(binary), "deem")
	if out, err := tar.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	packed, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(packed)
	right := hex.EncodeToString(sum[:])
	a := readAction(t)
	install := func(r *runner, sum string) (string, int) {
		return r.do(t, a, a.step(t, "install"), map[string]string{"release-url": "file://" + archive, "release-sha256": sum})
	}
	for sum, want := range map[string]int{right: 0, strings.Repeat("0", 64): 1, "": 1} {
		r := newRunner(t, "http://127.0.0.1:9")
		if out, code := install(r, sum); code != want {
			t.Errorf("install with the checksum %q ends with %d, want %d\n%s", sum, code, want, out)
		}
		if _, err := os.Stat(r.file("GITHUB_PATH")); (err == nil) != (want == 0) {
			t.Errorf("install with the checksum %q: path given %v, want %v", sum, err == nil, want == 0)
		}
	}
	r := newRunner(t, "http://127.0.0.1:9")
	if out, code := install(r, right); code != 0 {
		t.Fatalf("install ends with %d\n%s", code, out)
	}
	if err := os.Remove(archive); err != nil {
		t.Fatal(err)
	}
	if out, code := install(r, right); code != 0 {
		t.Errorf("install out of the cache ends with %d\n%s", code, out)
	}
	out, code := r.do(t, a, step{Run: `"$RUNNER_TEMP/deem-bin/deem" version`}, nil)
	if code != 0 || !strings.HasPrefix(out, "deem ") {
		t.Errorf("what was installed ends with %d\n%s", code, out)
	}
}

// TestWorkflows holds the workflow of this repository to .ci/run, and the templates to asking
// for the run file. make lint-actions lints the workflow.
func TestWorkflows(t *testing.T) {
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct{ Steps []struct{ Uses, Run string } }
	}
	if err := yaml.Unmarshal([]byte(read(t, ".github/workflows/ci.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	steps := workflow.Jobs["ci"].Steps
	if len(steps) == 0 || steps[len(steps)-1].Run != ".ci/run" || workflow.Permissions["contents"] != "read" || len(workflow.Permissions) != 1 {
		t.Errorf("ci.yml runs %+v with the permissions %v, want .ci/run with contents: read", steps, workflow.Permissions)
	}
	for _, name := range []string{".github/ISSUE_TEMPLATE/bug.yml", ".github/pull_request_template.md"} {
		if !strings.Contains(read(t, name), "deem export RUN -o run.deem") {
			t.Errorf("%s does not ask for the run file", name)
		}
	}
}

// TestActionJudges runs the step that judges, and looks at what it leaves behind.
func TestActionJudges(t *testing.T) {
	a, vendors := readAction(t), startVendors(t)
	baseline := func(t *testing.T, r *runner) {
		t.Helper()
		if out, code := r.do(t, a, step{Run: "deem run --data before.jsonl >/dev/null && deem report last --json > baseline.json"}, nil); code != 0 {
			t.Fatal(out)
		}
	}
	for _, c := range []struct {
		name   string
		inputs map[string]string
		want   map[string]string
	}{
		{"a rule", map[string]string{}, map[string]string{"exit-code": "0", "score": "0.6991666666666667", "unjudged": "0"}},
		{
			"a model and a gate that holds",
			map[string]string{"judge": "universal", "model": "openai:gpt-4o-mini", "max-cost": "1.00", "run-gates": "unjudged <= 1%\noverall > 0%\n", "args": "-j 4 --trials 1"},
			map[string]string{"exit-code": "0", "unjudged": "0"},
		},
		{"a model and no judge", map[string]string{"model": "openai:gpt-4o-mini"}, map[string]string{"exit-code": "0", "unjudged": "0"}},
		{
			"arguments on lines, of which one has spaces",
			map[string]string{"args": "--system\ntwo words\n\n--gate\noverall.lo >= 99%\n"},
			map[string]string{"exit-code": "4"},
		},
		{"one argument on a line", map[string]string{"args": "--trials=1\n"}, map[string]string{"exit-code": "0"}},
		{"a gate that fails", map[string]string{"run-gates": "overall.lo >= 99%"}, map[string]string{"exit-code": "4", "score": "0.6991666666666667"}},
		{"too many unjudged", map[string]string{"judge": "universal", "model": "fake:labels=CORRECT|INCORRECT|mumble"}, map[string]string{"exit-code": "3", "score": ""}},
		{"a baseline", map[string]string{"baseline": "baseline.json", "gates": "overall.hi >= 0pp"}, map[string]string{"exit-code": "0"}},
		{"a baseline that is better", map[string]string{"baseline": "baseline.json", "gates": "overall >= 50pp"}, map[string]string{"exit-code": "4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, vendors)
			if c.inputs["baseline"] != "" {
				baseline(t, r)
			}
			inputs := maps.Clone(c.inputs)
			inputs["data"] = "answers.jsonl\n"
			out, code := r.do(t, a, a.step(t, "judge"), inputs)
			if code != 0 {
				t.Errorf("the step ends with %d; it must leave that to the last step\n%s", code, out)
			}
			got := r.outputs(t)
			for name, want := range c.want {
				if value, ok := got[name]; !ok || value != want {
					t.Errorf("output %s is %q (%v), want %q\n%s", name, value, ok, want, out)
				}
			}
			for _, file := range []string{"deem-junit.xml", "deem-report.md", "deem-run.deem", "GITHUB_STEP_SUMMARY"} {
				if info, err := os.Stat(r.file(file)); err != nil || info.Size() == 0 {
					t.Errorf("%s is not written: %v", file, err)
				}
			}
		})
	}
}

// TestActionFindsRunAgain keeps the store between builds: the run of these answers is done,
// and one of others was begun since. What is published is of the run that was shown.
func TestActionFindsRunAgain(t *testing.T) {
	a := readAction(t)
	for _, args := range []string{"", "--json"} {
		r := newRunner(t, "http://127.0.0.1:9")
		earlier := "deem run --data answers.jsonl >/dev/null && deem run --data before.jsonl >/dev/null && deem report last --json > baseline.json"
		if out, code := r.do(t, a, step{Run: earlier}, nil); code != 0 {
			t.Fatal(out)
		}
		inputs := map[string]string{"data": "answers.jsonl", "args": args, "baseline": "baseline.json"}
		out, code := r.do(t, a, a.step(t, "judge"), inputs)
		if code != 0 || args == "" && !strings.Contains(out, "is done already") {
			t.Fatalf("the step ends with %d, want 0 and a run that is done already\n%s", code, out)
		}
		got := r.outputs(t)
		if got["score"] != "0.6991666666666667" || got["run"] == "" || !strings.Contains(out, got["run"]) {
			t.Errorf("score is %q of run %q, want that of answers.jsonl\n%s", got["score"], got["run"], out)
		}
		shown, code := r.do(t, a, step{Run: "cat deem-junit.xml; cat deem-report.md; deem report deem-run.deem"}, nil)
		if n := strings.Count(shown, got["run"]); code != 0 || n < 3 || strings.Contains(shown, "before.jsonl, hash") {
			t.Errorf("JUnit, report and run file name run %s %d times, want 3\n%.2000s", got["run"], n, shown)
		}
	}
}

// TestActionStops looks that a run which could not be made fails the step itself.
func TestActionStops(t *testing.T) {
	a := readAction(t)
	r := newRunner(t, "http://127.0.0.1:9")
	if err := os.WriteFile(r.file("deem-report.md"), []byte("of last week"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := r.do(t, a, a.step(t, "judge"), map[string]string{"data": "nowhere.jsonl"}); code != 2 {
		t.Errorf("a file that is not there: the step ends with %d, want 2\n%s", code, out)
	}
	if _, err := os.Stat(r.file("deem-report.md")); err == nil {
		t.Error("there is a report of no run")
	}
}

// gh is a command that notes what it is asked, and answers a question about comments with
// what COMMENTS holds. It fails at everything that FORBIDDEN names.
const gh = `#!/bin/bash
echo "$*" >> "$NOTED"
for word in $FORBIDDEN; do
	case "$*" in *"$word"*) echo "HTTP 403" >&2; exit 1 ;; esac
done
case "$*" in
*--jq*) printf '%s' "$COMMENTS" ;;
*) for word in "$@"; do case "$word" in body=@*) cat "${word#body=@}" > "$POSTED" ;; esac; done ;;
esac
`

// TestActionComments lets the action comment on a pull request that has a comment of its own
// or none, and with a token that may not.
func TestActionComments(t *testing.T) {
	a := readAction(t)
	long := strings.Repeat("é is two bytes\n", 6000)
	for _, c := range []struct {
		name, report, comments, forbidden string

		asked  string // the last thing that gh was asked
		posted string // a part of it
		says   string
	}{
		{"no report", "", "", "", "", "", ""},
		{"the first comment", "all well", "", "", "api --method POST repos/o/r/issues/7/comments", "all well", ""},
		{"a comment of its own", "all well", "31\n32\n", "", "api --method PATCH repos/o/r/issues/comments/31", "all well", ""},
		{"comments that cannot be listed", "all well", "", "--jq", "api --method POST repos/o/r/issues/7/comments", "all well", ""},
		{"a token that may not comment", "all well", "", "POST", "api --method POST", "", "::warning::"},
		{"a token that may not edit", "all well", "31\n", "PATCH", "api --method PATCH", "", "::warning::"},
		{"a long report", long, "", "", "api --method POST", "é is two bytes\n\nThe rest is in deem-report.md.\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRunner(t, "http://127.0.0.1:9")
			tools := t.TempDir()
			if err := os.WriteFile(filepath.Join(tools, "gh"), []byte(gh), 0o700); err != nil { //nolint:gosec // it is a command
				t.Fatal(err)
			}
			if c.report != "" {
				if err := os.WriteFile(r.file("deem-report.md"), []byte(c.report), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r.env = append(r.env, "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "REPOSITORY=o/r", "PULL_REQUEST=7",
				"COMMENTS="+c.comments, "FORBIDDEN="+c.forbidden, "NOTED="+r.file("noted"), "POSTED="+r.file("posted"))
			out, code := r.do(t, a, a.step(t, "comment"), nil)
			if code != 0 || !strings.Contains(out, c.says) || c.says == "" && out != "" && c.forbidden == "" {
				t.Errorf("the step ends with %d and says %q, want 0 and %q", code, out, c.says)
			}
			noted, _ := os.ReadFile(r.file("noted")) // there is none where gh was not asked
			asked := strings.Split(strings.TrimSpace(string(noted)), "\n")
			if last := asked[len(asked)-1]; !strings.HasPrefix(last, c.asked) || c.asked == "" && last != "" {
				t.Errorf("gh was last asked %q, want %q", last, c.asked)
			}
			posted, _ := os.ReadFile(r.file("posted"))
			if !strings.Contains(string(posted), c.posted) || len(posted) > 65_536 || !utf8.Valid(posted) {
				t.Errorf("%d bytes were posted, want at most 65,536 with %q", len(posted), c.posted)
			}
			if c.posted != "" && !strings.HasPrefix(string(posted), "<!-- deem: ") {
				t.Errorf("the comment begins with %.40q and cannot be found again", posted)
			}
		})
	}
}
