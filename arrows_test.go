package deem_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// The arrows list which package may import which: a benchmark reads items, a
// judge gives verdicts, a run saves records, stat computes estimates, and a
// report shows them. An import that is not in these tables fails the test. To
// add one, change the table in the same commit and give the reason.

// An arrow is a row of the table of packages: from may import to, of ours.
type arrow struct {
	from string   // a folder, "." is the root, "model/*" every folder in model
	to   []string // folders it may import, in the same spelling
	why  string   // why these and no others
}

// arrows lists every package. The first row that matches a folder counts, so
// a named folder stands before the pattern that would match it too.
var arrows = []arrow{
	{".", nil, "the root imports no other package of ours, so every package can import it"},
	{"internal/text", nil, "Python's string functions depend on nothing"},
	{"internal/text/metric", []string{"internal/text"}, "metrics embed data files, so only packages that score text import them"},
	{"stat", nil, "floats in, estimates out: statistics does not depend on judges"},
	{"internal/agreement", []string{"stat"}, "agreement with people and correction by labels are statistics that only reports need"},

	{"internal/evidence", []string{".", "internal/text"}, "what two texts say is compared without a judge; match makes a verdict of it"},
	{"judge/match", []string{".", "judge", "internal/evidence"}, "a judge that compares values calls no model"},
	{"judge/rule", []string{".", "judge", "internal/text", "internal/text/metric"}, "a rule judges without a model; it has a spec like every judge"},
	{"judge", []string{".", "internal/text"}, "a judge calls any deem.Model; a declared judge formats values as Python does"},

	{"internal/reader", []string{".", "judge", "internal/text"}, "a reader is a protocol like that of a judge; it formats values as Python does"},

	{"judge/panel", []string{".", "judge"}, "a panel calls any judges"},
	{"judge/cascade", []string{".", "judge"}, "a cascade calls any judges in turn"},
	{"judge/answer", []string{".", "judge"}, "an answer is judged by any judge"},
	{"judge/pairwise", []string{".", "judge"}, "a pair is judged in both orders, by a declared judge unless the caller names another"},

	{"benchmark", []string{"judge", "internal/benchmark", "internal/benchmark/*"}, "the table of benchmarks lists them and does nothing else"},
	{"internal/benchmark", []string{".", "judge", "internal/reader", "stat", "internal/text", "internal/dataset", "internal/rows"}, sharedByBenchmarks},
	{"internal/benchmark/*", []string{".", "judge", "judge/*", "internal/reader", "internal/text", "internal/text/metric", "stat", "internal/dataset", "internal/rows", "internal/benchmark"}, "a benchmark is one folder and imports no other benchmark; stat gives its published metrics intervals"},
	{"internal/probe", []string{".", "stat"}, "a probe tests any judge and counts the outcomes; reports show them"},

	{"internal/money", nil, "a budget counts sums, whoever calls models and whoever keeps the numbers"},
	{"internal/model", []string{".", "internal/money"}, "a decorator wraps any deem.Model and depends on no vendor; one of them keeps to a budget"},
	{"internal/minilm", []string{"."}, "sentence embeddings come from a model's own files"},
	{"internal/wire", []string{"."}, "code and batch types shared by vendors depend on none of them"},
	{"model/*", []string{".", "internal/wire"}, "a vendor is one folder and imports no other vendor"},
	{"internal/vendors", []string{".", "model/*", "internal/usage"}, "vendors have their names here, and only this package reads their keys"},
	{"model", []string{".", "internal/model", "internal/money", "internal/vendors"}, "a program opens a model by its name, with everything around it; no package of deem uses this one"},
	{"data", []string{".", "internal/dataset"}, "a program reads items as the command does; no package of deem uses this one"},
	{"agree", []string{".", "stat", "judge", "internal/doc", "internal/labels", "internal/reports", "internal/reports/agree"}, "a program compares a judge with people as the command does; no package of deem uses this one"},

	{"internal/doc", []string{".", "stat"}, "a report is one document, which three renderers write; sections of several reports are the same in all"},
	{"report", []string{".", "stat", "judge", "internal/agreement", "internal/doc"}, "a report is made of records alone: it never calls a model or opens a store"},
	{"internal/reports/compare", []string{".", "judge", "stat", "internal/agreement", "internal/doc"}, "a comparison is made of records, and says what two judges differ in"},
	{"internal/reports/*", []string{".", "stat", "internal/agreement", "internal/doc"}, "a kind of report that is made of records, without a store"},
	{"bundle", []string{".", "judge"}, "a run file is checked by reading its replies again, without a store"},

	{"deemtest", []string{".", "stat"}, "a test holds verdicts of any judge against what it wants"},
	{"internal/rows", []string{".", "internal/text"}, "one package knows column names and where the rows of a file are; every reader of files asks it"},
	{"internal/dataset", []string{".", "internal/text", "internal/flock", "internal/rows"}, "files become items before any judge is chosen"},
	{"internal/contexts", []string{".", "internal/reader", "internal/dataset", "internal/rows", "internal/text"}, "what a system retrieved becomes items of a reader, and nothing here asks a model"},
	{words, nil, "numbers and texts are written for people the same way everywhere, so every package that writes for people may import it"},
	{"internal/usage", []string{".", "internal/text"}, "an error is marked as the user's where it occurs, and its exit code is chosen where it is printed"},
	{"internal/catalog", []string{".", "judge", "judge/*", "internal/reader", "bundle", "internal/benchmark", "internal/labels", "internal/minilm", "internal/model", "internal/rows", "internal/store", "internal/text", "internal/usage", "internal/vendors"}, "judges have their names here, and the judge of a run file is restored; benchmarks are in a table that the list of benchmarks fills"},
	{"internal/reports", []string{".", "stat", "judge", "judge/*", "internal/model", "internal/probe", "internal/reader", "report", "bundle", "internal/agreement", "internal/benchmark", "internal/dataset", "internal/doc", "internal/export", "internal/labels", "internal/reports/*", "internal/rows", "internal/store", "internal/text", "internal/usage"}, "commands and server report the same results from stored records; no judge is built here"},
	{"internal/store", []string{".", "internal/money"}, "the store saves records and the numbers of budgets, and does not judge"},
	{"internal/store/*", []string{".", "internal/money", "internal/store", "internal/flock"}, "a store is one folder and imports no other store"},
	{"internal/run", []string{".", "internal/model", "internal/money", "internal/store", "internal/telemetry", "internal/usage", "internal/wire"}, "command, server and worker conduct a run in the same way, with any judge"},
	{"internal/queue", []string{".", "internal/model", "internal/dataset", "internal/run", "internal/store", "internal/store/postgres", "internal/telemetry"}, "a worker conducts its part of a run and saves its records; its caller supplies the judge"},
	{"internal/labels", []string{".", "judge", "internal/dataset", "internal/rows"}, "human labels come from files, as items do"},
	{"internal/published", []string{".", "stat", "judge", "internal/benchmark", "internal/dataset", "internal/rows", "internal/text"}, "other people's results become records before any judge is chosen; a benchmark may read its own, so that they count as there"},
	{"internal/claims", []string{".", "stat"}, "a printed table is checked by arithmetic alone, without rows or judges"},
	{"internal/telemetry", []string{"."}, "telemetry changes nothing in a run"},
	{"internal/export", []string{"."}, "records become rows at the border; what they amount to is a report"},
	{"docs", nil, "the documentation is embedded where it is, and imports nothing"},
	{"internal/manual", nil, "pages are rendered from any files, so nothing of ours is needed"},
	{"internal/flock", nil, "a file lock depends on nothing"},
	{"scripts", nil, "a script measures from the outside"},

	{"internal/test/modeltest", []string{".", "internal/model", "internal/wire"}, "the conformance suite tests every model against one contract"},
	{"internal/test/storetest", []string{".", "internal/money", "internal/store", "internal/flock"}, "the conformance suite tests every store against one contract"},
	{"internal/test/faultserver", nil, "the fault server depends on nothing"},
	{"internal/test/golden", nil, "every port of a published formula is tested with the same vectors"},

	{"internal/server", []string{".", "internal/store", "internal/usage"}, "checks of requests are the same for the API and the pages, whatever they answer"},
	{"internal/server/api", []string{".", "stat", "judge", "judge/*", "internal/model", "report", "bundle", "internal/catalog", "internal/dataset", "internal/doc", "internal/export", "internal/labels", "internal/money", "internal/queue", "internal/reports", "internal/run", "internal/server", "internal/store", "internal/telemetry", "internal/usage", "internal/vendors"}, "the API conducts runs; it depends on no page, benchmark, vendor or database"},
	{"internal/server/web", []string{".", "stat", "judge", "judge/*", "internal/probe", "report", "bundle", "internal/agreement", "internal/catalog", "internal/doc", "internal/evidence", "internal/export", "internal/labels", "internal/manual", "internal/queue", "internal/reports", "internal/reports/*", "internal/server", "internal/store", "internal/usage"}, "the pages show every report; they do not judge and do not use the API's handlers"},
	{"internal/board", []string{".", "judge", "internal/reader", "stat", "report", "bundle", "internal/benchmark", "internal/catalog", "internal/doc", "internal/labels", "internal/reports", "internal/reports/compare", "internal/store"}, "a board verifies run files and compares them without a store; it opens no network and calls no model"},
	{"internal/cli", []string{"**"}, "the commands tie everything together"},
	{"cmd/verifier", []string{"internal/board", "benchmark"}, "the verifier for browsers is one function of a board, with the judges of benchmarks"},
	{"cmd/deem", []string{"internal/cli"}, "main is one line; what it does is tested in internal/cli"},
	{"examples/*", []string{"public"}, "an example shows what a user can do, and a user cannot import internal packages"},
}

const sharedByBenchmarks = "code shared by benchmarks depends on none of them"

// A library is a row of the table of libraries: which packages may import it,
// and why no others. A new library needs a row in docs/design/dependencies.md
// first.
type library struct {
	path string   // of a module, or the beginning of one
	in   []string // folders, in the spelling of arrow
	why  string
}

var libraries = []library{
	{"github.com/yuin/goldmark", []string{"internal/manual"}, "only the documentation is Markdown that becomes HTML"},
	{"github.com/jackc/pgx/v5", []string{"internal/store/postgres", "internal/test/storetest", "internal/queue"}, "only what keeps runs in Postgres, and what hands out work there, speaks to it"},
	{"github.com/riverqueue/river", []string{"internal/queue"}, "only one package knows which queue hands out work"},
	{"github.com/chromedp/chromedp", nil, "a browser is for tests"},
	{"modernc.org/sqlite", []string{"internal/store/sqlite"}, "only one package knows which database keeps the runs"},
	{"github.com/pressly/goose/v3", []string{"internal/store/postgres"}, "only one package runs migrations"},
	{"github.com/spf13/cobra", []string{"internal/cli"}, "only the command has a command line"},
	{"github.com/spf13/pflag", []string{"internal/cli"}, "only the command has a command line"},
	{"github.com/itchyny/gojq", []string{"internal/cli"}, "only a command has --jq"},
	{"github.com/vbauerster/mpb/v8", []string{"internal/cli"}, "only a command has a terminal to show progress on"},
	{"golang.org/x/mod", []string{"internal/board"}, "the log of a board is the only Merkle tree"},
	{"golang.org/x/term", []string{"internal/cli"}, "only a command has a terminal"},
	{"go.yaml.in/yaml/v3", []string{"judge", "internal/reader", "internal/benchmark", "internal/catalog", "internal/vendors", "internal/labels", "internal/claims", "internal/manual", "internal/server/api", "internal/board", "internal/cli", "internal/ci", "cmd/deem"}, "YAML is for files that people write by hand: judges, readers, settings, providers, labels, tables of claims, and prompts in other repositories; items are never YAML"},
	{"github.com/santhosh-tekuri/jsonschema/v6", []string{"judge", "cmd/deem", "internal/export", "internal/server/api"}, "a schema checks what a person wrote: a judge or a settings file; and in tests what the server answers and exports hold"},
	{"github.com/parquet-go/parquet-go", []string{"internal/dataset", "internal/export"}, "formats end at the border, where rows become items and records become rows"},
	{"github.com/klauspost/compress", []string{"internal/dataset", "internal/published", "bundle", "internal/ci"}, "formats end at the border: where rows become items, and where a run becomes a file"},
	{"gonum.org/v1/gonum", []string{"stat", "internal/agreement", "judge/cascade"}, "a distribution is statistics"},
	{"golang.org/x/text", []string{"internal/benchmark/forgeteval", "internal/minilm", "internal/evidence", "internal/store"}, "characters are made alike only where a published program does so, where words are searched, and where match asks whether two texts are one"},
	{"github.com/neurosnap/sentences", []string{"internal/text/metric"}, "only its trained parameters are used, where sentences are cut as NLTK cuts them"},
	{"github.com/mattn/go-runewidth", []string{"report", "internal/doc", "internal/cli"}, "how wide a character is matters only where columns are drawn"},
	{"golang.org/x/sys", []string{"internal/flock", "internal/store/*", "internal/cli", "internal/test/faultserver"}, "locks, terminals and exact timers are the system's; everything else is portable"},
	{"github.com/google/go-cmp", suites, "comparing is for tests"},
	{"github.com/rogpeppe/go-internal", nil, "scripts of commands are for tests"},
	{"pgregory.net/rapid", suites, "made-up input is for tests"},
	{"go.uber.org/goleak", suites, "looking for goroutines left behind is for tests"},
}

// suites are tests in all but the file name, so that several packages can run them. Only
// tests and other suites may import them.
var suites = []string{"internal/test/*"}

// testOnly lists what any test may import besides.
var testOnly = []string{"github.com/chromedp/chromedp", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "pgregory.net/rapid", "go.uber.org/goleak"}

// assembled lists the packages that need the rest. A test of any other package
// may not import them.
var assembled = []string{"internal/catalog", "internal/ci", "internal/reports", "internal/queue", "internal/server/*", "internal/cli", "cmd/*"}

// words is a leaf that every package but a leaf may import. It counts for no width.
const words = "internal/words"

// hubs may import many packages: the lists of benchmarks and vendors name each of them, and the others
// tie parts together.
var hubs = []string{"benchmark", "internal/vendors", "internal/catalog", "internal/reports", "internal/server/*", "internal/board", "internal/cli"}

// Deeper or wider than this, a reader loses the story. The depth is the number of packages
// on the longest chain of imports, cmd/deem and the last one included, without exceptions.
const (
	maxDepth  = 8
	maxFanOut = 7
)

func TestArrows(t *testing.T) {
	tree, err := readTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree["."]) == 0 {
		t.Fatal("readTree found no package in the root: the test checks nothing")
	}
	for _, problem := range tree.problems() {
		t.Error(problem)
	}
}

// An imported is one import in one file.
type imported struct {
	place string // file:line
	path  string // "deem/judge"
	test  bool   // the file is a test
}

// A tree holds the imports of every package by folder.
type tree map[string][]imported

// readTree parses the imports of every Go file below fsys, whatever its build
// tags say. It leaves out what the go command leaves out: folders named
// testdata or vendor, hidden ones, and other modules.
func readTree(fsys fs.FS) (tree, error) {
	found := tree{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && ignored(fsys, name):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		list, err := readImports(fsys, name)
		dir := path.Dir(name)
		found[dir] = append(found[dir], list...)
		return err
	})
	return found, err
}

func ignored(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

// module is the path of the module, which "make module" changes.
var module = func() string {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		panic(err)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(string(text), "module "), "\n")
	return name
}()

// readImports returns what one file imports, and first the file itself, with
// an empty path, so that a package which imports nothing is in the tree too.
func readImports(fsys fs.FS, name string) ([]imported, error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, src, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	test := strings.HasSuffix(name, "_test.go")
	list := []imported{{place: name, test: test}}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		if rest, ok := strings.CutPrefix(p, module); ok && (rest == "" || rest[0] == '/') {
			p = "deem" + rest // The tables say deem, whatever the module is called.
		}
		place := fmt.Sprintf("%s:%d", name, files.Position(spec.Pos()).Line)
		list = append(list, imported{place: place, path: p, test: test})
	}
	return list, nil
}

// problems returns every import that no arrow allows, and every package that
// is missing from the table, too deep or too wide.
func (tr tree) problems() []string {
	var list []string
	for _, dir := range tr.dirs() {
		row, known := rowOf(dir)
		if !known && !tr.onlyTests(dir) {
			list = append(list, dir+" is in no row of the arrows: add it to the table in arrows_test.go and say why")
			continue
		}
		for _, imp := range tr[dir] {
			if why := refusal(row, dir, imp); why != "" {
				list = append(list, fmt.Sprintf("%s imports %s: %s", imp.place, imp.path, why))
			}
		}
		list = append(list, tr.shape(dir)...)
	}
	return list
}

func (tr tree) dirs() []string {
	var list []string
	for dir := range tr {
		list = append(list, dir)
	}
	slices.Sort(list)
	return list
}

// onlyTests reports whether a folder holds tests alone. Nobody can import
// such a folder, so it needs no row.
func (tr tree) onlyTests(dir string) bool {
	return !slices.ContainsFunc(tr[dir], func(imp imported) bool { return !imp.test })
}

func rowOf(dir string) (arrow, bool) {
	i := slices.IndexFunc(arrows, func(a arrow) bool { return matches(a.from, dir) })
	if i < 0 {
		return arrow{}, false
	}
	return arrows[i], true
}

// matches reports whether a folder is one that the pattern means.
func matches(pattern, dir string) bool {
	switch pattern {
	case "**":
		return true
	case "public":
		return !strings.Contains("/"+dir, "/internal/") && !strings.HasPrefix(dir, "cmd/")
	}
	ok, err := path.Match(pattern, dir)
	if err != nil {
		panic(err) // The tables hold no bad pattern.
	}
	return ok
}

func matchesAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, dir) })
}

// refusal says why a package may not import something, or "" if it may.
func refusal(row arrow, dir string, imp imported) string {
	first, _, _ := strings.Cut(imp.path, "/")
	target, ours := folder(imp.path)
	switch {
	case imp.path == "C":
		return "deem is one static binary, built without cgo"
	case ours && imp.test:
		return refuseInTest(dir, target)
	case ours && matchesAny(suites, target) && !matchesAny(suites, dir):
		return "only in tests: what internal/test has is no part of the product"
	case ours:
		return refuseOurs(row, dir, target)
	case strings.Contains(first, "."):
		return refuseLibrary(dir, imp)
	}
	return "" // Everybody may import the standard library.
}

// folder turns an import path of ours into a folder.
func folder(imported string) (string, bool) {
	if imported == "deem" {
		return ".", true
	}
	return strings.CutPrefix(imported, "deem/")
}

func refuseOurs(row arrow, dir, target string) string {
	if matchesAny(row.to, target) || target == words && len(row.to) > 0 {
		return ""
	}
	return fmt.Sprintf("%s may import %s: %s", dir, spell(row.to), row.why)
}

// refuseInTest lets a test import any part it needs, but not the whole.
func refuseInTest(dir, target string) string {
	if target == dir || !matchesAny(assembled, target) || matchesAny(assembled, dir) {
		return ""
	}
	return "a test of a part must not need the whole: move it to " + target
}

func spell(to []string) string {
	if len(to) == 0 {
		return "nothing of ours"
	}
	return "of ours only " + strings.Replace(strings.Join(to, ", "), ".", "deem", 1)
}

func refuseLibrary(dir string, imp imported) string {
	i := slices.IndexFunc(libraries, func(l library) bool {
		return imp.path == l.path || strings.HasPrefix(imp.path, l.path+"/")
	})
	switch {
	case i < 0:
		return "a new library: write its row in docs/design/dependencies.md and add it to the table in arrows_test.go"
	case matchesAny(libraries[i].in, dir):
		return ""
	case imp.test && slices.Contains(testOnly, libraries[i].path):
		return ""
	case len(libraries[i].in) == 0:
		return "only in tests: " + libraries[i].why
	}
	return fmt.Sprintf("only in %s: %s", strings.Join(libraries[i].in, ", "), libraries[i].why)
}

// shape reports a package that is too deep or too wide.
func (tr tree) shape(dir string) []string {
	var list []string
	ours := slices.DeleteFunc(tr.ours(dir), func(to string) bool { return to == words })
	if n := len(ours); n > maxFanOut && !matchesAny(hubs, dir) {
		list = append(list, fmt.Sprintf("%s imports %d packages of ours, want at most %d: split it, or let internal/cli tie the parts together", dir, n, maxFanOut))
	}
	chain := tr.chain(dir, nil)
	if n := len(chain); n > maxDepth {
		list = append(list, fmt.Sprintf("%s is on floor %d, want at most %d: %s", dir, n, maxDepth, strings.Join(chain, " -> ")))
	}
	return list
}

// ours returns the folders that a package imports outside its tests.
func (tr tree) ours(dir string) []string {
	var list []string
	for _, imp := range tr[dir] {
		if target, ok := folder(imp.path); ok && !imp.test && !slices.Contains(list, target) {
			list = append(list, target)
		}
	}
	slices.Sort(list)
	return list
}

// chain returns the longest chain of imports that begins at a folder. A cycle
// does not compile, but a tree in the middle of an edit may hold one, so a
// folder already on the way ends the chain.
func (tr tree) chain(dir string, way []string) []string {
	longest := []string{dir}
	way = append(slices.Clone(way), dir)
	for _, target := range tr.ours(dir) {
		if slices.Contains(way, target) {
			continue
		}
		if below := tr.chain(target, way); len(below)+1 > len(longest) {
			longest = append([]string{dir}, below...)
		}
	}
	return longest
}

// TestArrowsRefuse proves that TestArrows can fail: each row adds one file to
// a tree that is sound, and names a part of the only complaint to expect.
func TestArrowsRefuse(t *testing.T) {
	tests := []struct {
		name, imports, want string
	}{
		{"stat/good.go", "math", ""},
		{"internal/probe/words.go", "deem/internal/words", ""},
		{"stat/words.go", "deem/internal/words", "statistics does not depend on judges"},
		{"judge/good.go", "deem deem/internal/text go.yaml.in/yaml/v3", ""},
		{"internal/benchmark/locomo/good.go", "deem/judge/rule deem/internal/dataset", ""},
		{"internal/benchmark/locomo/shared.go", "deem/internal/benchmark", ""},
		{"internal/benchmark/good.go", "deem deem/stat", ""},
		{"examples/ten-lines/main.go", "deem deem/judge deem/model/openai", ""},
		{"internal/store/sqlite/good.go", "deem deem/internal/store modernc.org/sqlite/lib", ""},
		{"stat/good_test.go", "deem/report github.com/google/go-cmp/cmp pgregory.net/rapid", ""},
		{"internal/test/modeltest/good.go", "github.com/google/go-cmp/cmp", ""},
		{"internal/cli/good_test.go", "deem/internal/test/storetest", ""},
		{"internal/cli/bad.go", "deem/internal/test/storetest", "only in tests"},
		{"docs/only_test.go", "deem/judge", ""},
		{"stat/testdata/bad.go", "deem", ""},
		{"other/bad.go", "deem/internal/cli", ""}, // A module of its own: see soundTree.

		{"bad.go", "deem/internal/text", "bad.go:2 imports deem/internal/text: . may import nothing of ours: the root imports no other package"},
		{"stat/bad.go", "deem", "statistics does not depend on judges"},
		{"judge/bad.go", "deem/internal/model", "judge may import of ours only deem, internal/text: a judge calls any deem.Model"},
		{"judge/rule/bad.go", "deem/judge/match", "it has a spec like every judge"},
		{"model/openai/bad.go", "deem/model/fake", "imports no other vendor"},
		{"internal/benchmark/locomo/bad.go", "deem/internal/benchmark/halumem", "imports no other benchmark"},
		{"internal/benchmark/bad.go", "deem/internal/benchmark/locomo", "depends on none of them"},
		{"examples/ten-lines/shared.go", "deem/internal/benchmark", "a user cannot import internal packages"},
		{"report/bad.go", "deem/internal/store", "a report is made of records alone"},
		{"cmd/deem/bad.go", "deem", "cmd/deem may import of ours only internal/cli"},
		{"examples/ten-lines/bad.go", "deem/internal/store", "a user cannot import internal packages"},
		{"util/bad.go", "strings", "util is in no row of the arrows"},
		{"stat/bad_test.go", "deem/internal/cli", "a test of a part must not need the whole"},

		{"report/lib.go", "gonum.org/v1/gonum/stat/distuv", "only in stat, internal/agreement, judge/cascade: a distribution is statistics"},
		{"judge/lib.go", "modernc.org/sqlite", "only in internal/store/sqlite"},
		{"judge/lib_test.go", "modernc.org/sqlite", "only in internal/store/sqlite"},
		{"judge/cmp.go", "github.com/google/go-cmp/cmp", "comparing is for tests"},
		{"internal/cli/lib.go", "github.com/rogpeppe/go-internal/testscript", "only in tests"},
		{"model/lib.go", "github.com/openai/openai-go/v3", "a new library"},
		{"model/near.go", "golang.org/x/syncing", "a new library"},
		{"stat/c.go", "C", "built without cgo"},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.imports, func(t *testing.T) {
			fsys := soundTree()
			fsys[tt.name] = source(tt.imports)
			checkOnlyProblem(t, fsys, tt.want)
		})
	}
}

// TestArrowsRefuseShape does the same for a package that knows too many and
// for a chain that is too long, where every single import is allowed.
func TestArrowsRefuseShape(t *testing.T) {
	wide := soundTree()
	wide["internal/benchmark/wide/read.go"] = source("deem deem/judge deem/judge/match deem/judge/rule deem/internal/text deem/internal/text/metric deem/stat deem/internal/dataset")
	checkOnlyProblem(t, wide, "internal/benchmark/wide imports 8 packages of ours, want at most 7")

	wide["internal/cli/run.go"] = wide["internal/benchmark/wide/read.go"]
	delete(wide, "internal/benchmark/wide/read.go")
	checkOnlyProblem(t, wide, "")

	table := soundTree()
	table["benchmark/table.go"] = source("deem/judge deem/internal/benchmark/a deem/internal/benchmark/b deem/internal/benchmark/c deem/internal/benchmark/d deem/internal/benchmark/e deem/internal/benchmark/f")
	checkOnlyProblem(t, table, "")

	deep := soundTree()
	deep["internal/cli/run.go"] = source("deem/examples/toy")
	deep["examples/toy/main.go"] = source("deem/benchmark")
	deep["benchmark/list.go"] = source("deem/internal/benchmark/toy")
	deep["internal/benchmark/toy/read.go"] = source("deem/internal/benchmark")
	deep["internal/benchmark/join.go"] = source("deem/internal/dataset")
	deep["internal/dataset/row.go"] = source("deem/internal/rows")
	deep["internal/rows/node.go"] = source("deem/internal/text")
	deep["internal/text/text.go"] = source("strings")
	checkOnlyProblem(t, deep, "")

	deep["cmd/deem/main.go"] = source("deem/internal/cli")
	checkOnlyProblem(t, deep, "cmd/deem is on floor 9, want at most 8: cmd/deem -> internal/cli -> examples/toy -> benchmark -> internal/benchmark/toy -> internal/benchmark -> internal/dataset -> internal/rows -> internal/text")
}

func soundTree() fstest.MapFS {
	return fstest.MapFS{
		"deem.go":      source("context"),
		"stat/mean.go": source("math gonum.org/v1/gonum/stat/distuv"),
		"other/go.mod": {Data: []byte("module other\n")},
	}
}

func source(imports string) *fstest.MapFile {
	var b strings.Builder
	b.WriteString("package p\n")
	for p := range strings.FieldsSeq(imports) {
		fmt.Fprintf(&b, "import %q\n", p)
	}
	return &fstest.MapFile{Data: []byte(b.String())}
}

// checkOnlyProblem wants one problem that contains want, or none for "".
func checkOnlyProblem(t *testing.T, fsys fs.FS, want string) {
	t.Helper()
	tree, err := readTree(fsys)
	if err != nil {
		t.Fatal(err)
	}
	got := tree.problems()
	switch {
	case want == "" && len(got) > 0:
		t.Errorf("problems = %q, want none", got)
	case want != "" && (len(got) != 1 || !strings.Contains(got[0], want)):
		t.Errorf("problems = %q, want one with %q", got, want)
	}
}
