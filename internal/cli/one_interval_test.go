package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"deem/internal/cli"
	"deem/internal/reports/agree"
	"deem/internal/server"
	"deem/internal/server/api"
	"deem/internal/server/web"
	"deem/internal/store/sqlite"
	"deem/report"
	"deem/stat"
)

// A number has the same interval everywhere: the score of a published file in rejudge,
// report, compare, agree, the HTML file, the page and the API, and in the table of its
// benchmark. The sets include some with clusters, and one with a single cluster.
func TestOneNumberHasOneInterval(t *testing.T) {
	notQuick(t)
	shared, err := filepath.Abs("../../../shared/data")
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []struct {
		name, file string
		clusters   int    // 0 for independent items
		table      string // beginning of the line with the same score in the benchmark's table
	}{
		{"LoCoMo", "locomo_memobase/docs/experiments/locomo-benchmark/fixture/memobase/memobase_eval_0503_3000.json", 10, "overall "},
		{"LongMemEval", "lme_cognitive_memory/longmemeval/results/cm_full_run.json", 0, ""},
		{"HaluMem, one user", "halumem_mem0_pilot/data/eval/halumem_pilot_user12_Results.json", 1, ""},
	} {
		t.Run(set.name, func(t *testing.T) {
			file := filepath.Join(shared, filepath.FromSlash(set.file))
			if _, err := os.Stat(file); err != nil {
				t.Skipf("the published results are not here: %v", err)
			}
			t.Chdir(t.TempDir())
			var rejudged struct {
				Systems []struct {
					Scores []struct{ Estimate stat.Estimate }
				}
			}
			decodeJSON(t, deemOut(t, "rejudge", "one="+file, "--judge", "contains", "--json"), &rejudged)
			var report struct { // of the run that rejudge recorded before it judged again
				Head    struct{ Run string }
				Metrics []struct{ Judged stat.Estimate }
			}
			decodeJSON(t, deemOut(t, "report", "last~1", "--json"), &report)
			want := report.Metrics[0].Judged
			if want.Clusters != set.clusters || (want.Method == stat.MethodNone) != (set.clusters == 1) {
				t.Fatalf("the report has %+v, want %d clusters", want, set.clusters)
			}
			run := report.Head.Run
			decodeJSON(t, deemOut(t, "report", "last", "--json"), &report)
			other := report.Head.Run
			var compared struct {
				Runs []struct{ Judged stat.Estimate }
			}
			decodeJSON(t, deemOut(t, "compare", run, other, "--anyway", "--json"), &compared)
			for name, got := range map[string]stat.Estimate{
				"rejudge": rejudged.Systems[0].Scores[0].Estimate, "compare": compared.Runs[0].Judged, "API": apiEstimate(t, run),
			} {
				if got.Value != want.Value || got.Method != want.Method || got.Lo != want.Lo || got.Hi != want.Hi {
					t.Errorf("%s has %v [%v, %v] by %s, the report %v [%v, %v] by %s", name,
						got.Value, got.Lo, got.Hi, got.Method, want.Value, want.Lo, want.Hi, want.Method)
				}
			}
			value, ends := fmt.Sprintf("%.1f%%", 100*want.Value), want.Ends("%.1f", 100)
			text := deemOut(t, "report", run)
			deemOut(t, "export", run, "-o", "run.html")
			exported, err := os.ReadFile("run.html")
			if err != nil {
				t.Fatal(err)
			}
			for name, out := range map[string]string{
				"report": text, "rejudge": deemOut(t, "rejudge", "one="+file), "compare": deemOut(t, "compare", run, other, "--anyway"),
				"HTML": words(string(exported)), "page": words(page(t, "/runs/"+run)),
			} {
				if !regexp.MustCompile(regexp.QuoteMeta(value) + `[^\[]{0,60}` + regexp.QuoteMeta(ends)).MatchString(out) {
					t.Errorf("%s does not say %s %s:\n%s", name, value, ends, out[:min(len(out), 3000)])
				}
			}
			if set.table != "" && !regexp.MustCompile(`(?m)^`+set.table+`.*`+regexp.QuoteMeta(ends)).MatchString(text) {
				t.Errorf("the table of the benchmark does not have %s:\n%s", ends, text)
			}
			if set.clusters == 1 {
				return // Its scores are not only 0 and 1, and agree compares decisions.
			}
			var agreed struct {
				Corrected struct{ Raw stat.Estimate }
			}
			decodeJSON(t, deemOut(t, "agree", run, other, "--json"), &agreed)
			if got := agreed.Corrected.Raw; got.Value != want.Value || got.Lo != want.Lo || got.Hi != want.Hi {
				t.Errorf("agree has %v [%v, %v], the report %v [%v, %v]", got.Value, got.Lo, got.Hi, want.Value, want.Lo, want.Hi)
			}
		})
	}
}

// The score of a default run, in which match leaves items undecided, is the same number
// with the same interval everywhere: report, compare, gate, HTML file, page and API.
func TestUndecidedItemsGiveOneNumber(t *testing.T) {
	t.Chdir(t.TempDir())
	var rows strings.Builder
	for i := range 60 {
		response := fmt.Sprintf("It is %d.", i)
		switch {
		case i%6 == 0:
			response = fmt.Sprintf("perhaps %d, perhaps %d", i, i+1)
		case i%3 == 0:
			response = fmt.Sprintf("It is %d.", i+1)
		}
		fmt.Fprintf(&rows, `{"id": "q%d", "question": "Which number is the %dth?", "references": ["%d"], "response": %q}`+"\n", i, i, i, response)
	}
	if err := os.WriteFile("a.jsonl", []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var r report.Report
	decodeJSON(t, string(command(t, "run", "--data", "a.jsonl", "--gate", "score < 80%", "--json")), &r) // fails unless it exits with 0
	f := r.Metrics[0]
	if r.Undecided == nil || f.Undecided != 10 || f.Judged == nil || f.Decided == nil || r.Unjudged != 0 || f.Items != 60 {
		t.Fatalf("the report has %+v and %+v, want 10 undecided items of 60", r.Undecided, f)
	}
	want := *f.Judged
	var known stat.Moments // the same values, if the probabilities had no error
	for i := range 60 {
		known.Add([]float64{1, 1, 1, 1, 0, (60*want.Value - 40) / 10}[i%6], 1)
	}
	if without := stat.WeightedProportion(known, stat.DefaultLevel); want.Value <= f.Band.Lo || want.Value >= f.Band.Hi || want.Hi-want.Lo <= without.Hi-without.Lo || f.Decided.N != 50 {
		t.Errorf("score %+v, decided %+v, band %+v: the score must lie in the band, with an interval that allows for the undecided items", want, *f.Decided, f.Band)
	}
	run := r.Head.Run
	agreesOnUndecided(t, run, want)
	command(t, "run", "--data", "a.jsonl", "--judge", "exact", "--json")
	var compared struct {
		Runs []struct{ Judged stat.Estimate }
	}
	decodeJSON(t, deemOut(t, "compare", run, "last", "--anyway", "--json"), &compared)
	for name, got := range map[string]stat.Estimate{"compare": compared.Runs[0].Judged, "API": apiEstimate(t, run)} {
		if got.Value != want.Value || got.Lo != want.Lo || got.Hi != want.Hi {
			t.Errorf("%s has %v [%v, %v], the report %v [%v, %v]", name, got.Value, got.Lo, got.Hi, want.Value, want.Lo, want.Hi)
		}
	}
	deemOut(t, "export", run, "-o", "run.html")
	exported, err := os.ReadFile("run.html")
	if err != nil {
		t.Fatal(err)
	}
	value, ends := fmt.Sprintf("%.1f%%", 100*want.Value), want.Ends("%.1f", 100)
	for name, out := range map[string]string{
		"report": deemOut(t, "report", run), "compare": deemOut(t, "compare", run, "last", "--anyway"),
		"HTML": words(string(exported)), "page": words(page(t, "/runs/"+run)),
	} {
		if !regexp.MustCompile(regexp.QuoteMeta(value) + `[^\[]{0,60}` + regexp.QuoteMeta(ends)).MatchString(out) {
			t.Errorf("%s does not say %s %s:\n%s", name, value, ends, out[:min(len(out), 3000)])
		}
	}
}

// The output of deem demo fits a terminal of 24 lines and 80 columns.
func TestDemoFitsATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	var both bytes.Buffer
	if code := cli.Main([]string{"demo"}, strings.NewReader(""), &both, &both); code != 0 {
		t.Fatalf("deem demo: exit code %d\n%s", code, both.String())
	}
	lines := strings.Split(strings.TrimSuffix(both.String(), "\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("deem demo prints %d lines, want at most 24:\n%s", len(lines), both.String())
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// agreesOnUndecided checks that deem agree has the same score and interval as the report of
// a run with undecided items, corrects it with labels of decided and undecided items, and
// compares decisions only.
func agreesOnUndecided(t *testing.T, run string, want stat.Estimate) {
	t.Helper()
	labels := "item,label\n"
	for i := range 60 {
		if i/6%2 == 0 {
			labels += fmt.Sprintf("q%d,%s\n", i, map[bool]string{true: "yes", false: "no"}[i%3 != 0 || i%24 == 0])
		}
	}
	if err := os.WriteFile("labels.csv", []byte(labels), 0o600); err != nil {
		t.Fatal(err)
	}
	var a agree.Agreement
	out := string(command(t, "agree", run, "labels.csv", "--json")) // fails unless it exits with 0
	decodeJSON(t, out, &a)
	var corrected struct {
		Corrected struct {
			PPI struct{ Known, Items int }
		}
	}
	decodeJSON(t, out, &corrected)
	if a.Withheld != nil || a.Corrected == nil {
		t.Fatalf("the score is withheld: %+v", a.Withheld)
	}
	if got := a.Corrected.Raw; got.Value != want.Value || got.Lo != want.Lo || got.Hi != want.Hi {
		t.Errorf("agree has %v [%v, %v], the report %v [%v, %v]", got.Value, got.Lo, got.Hi, want.Value, want.Lo, want.Hi)
	}
	if c := a.Counts; c.Undecided != 10 || c.Unjudged != 0 || c.Judged != 50 || c.Labelled != 30 || c.Both != 25 || a.All.Agreement.N != 25 {
		t.Errorf("the counts are %+v, want 25 of 30 labels on decided items and 10 undecided items", c)
	}
	if p := corrected.Corrected.PPI; p.Known != 30 || p.Items != 60 {
		t.Errorf("the correction uses %d labels of %d items, want 30 of 60", p.Known, p.Items)
	}
	if text := deemOut(t, "agree", run, "labels.csv", "-v"); !strings.Contains(text, "10 undecided") || !strings.Contains(text, "over decided items") {
		t.Errorf("agree does not say what its numbers are over:\n%s", text)
	}
}

// deemOut runs the command in this process and returns its output. Claimed numbers may be
// wrong, and items may be unjudged.
func deemOut(t *testing.T, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	if code := cli.Main(args, strings.NewReader(""), &out, &said); code != 0 && code != 3 && code != 4 {
		t.Fatalf("deem %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), said.String())
	}
	return out.String()
}

func decodeJSON(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %.500s", err, text)
	}
}

// page returns the server's response at a path.
func page(t *testing.T, path string) string {
	t.Helper()
	st, err := sqlite.Open(t.Context(), ".deem/deem.db", sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	s, err := server.New(server.Options{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := api.New(s, api.Options{Report: web.New(s, web.Options{}).Report}); err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1"+path, nil))
	if rec.Code != 200 {
		t.Fatalf("GET %s: %d\n%s", path, rec.Code, rec.Body)
	}
	return rec.Body.String()
}

func apiEstimate(t *testing.T, run string) stat.Estimate {
	t.Helper()
	var report struct {
		Metrics []struct{ Judged stat.Estimate }
	}
	decodeJSON(t, page(t, "/api/v1/runs/"+run+"/report"), &report)
	return report.Metrics[0].Judged
}

// words returns the text of a page without its tags.
func words(text string) string {
	text = html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " "))
	return regexp.MustCompile(`\s+`).ReplaceAllString(text, " ")
}
