package cli_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"deem"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/judge"
	"deem/report"
	"deem/stat"
)

// A dataset of one number is constructed: what its items and verdicts have.
type numbered struct {
	n         int
	weights   bool
	trials    int
	graded    bool // scores between 0 and 1
	marked    bool // verdicts have a pass mark
	clusters  int  // 0 for independent items
	undecided int  // one item of so many, 0 for none
	unjudged  int  // one item of so many, 0 for none
	stopped   bool // a rule stops the run before its last item
	share     float64
}

// forty returns the data sets.
func forty() []numbered {
	var list []numbered
	for _, weights := range []bool{false, true} {
		for _, clusters := range []int{0, 12} {
			for _, kind := range []numbered{
				{n: 120, share: 0.8},
				{n: 120, share: 0.8, marked: true, graded: true},
				{n: 90, share: 0.6, graded: true},
				{n: 60, share: 0.7, trials: 3},
				{n: 60, share: 0.7, trials: 2, graded: true},
				{n: 60, share: 0.7, trials: 3, graded: true, marked: true},
				{n: 150, share: 0.7, undecided: 5},
				{n: 150, share: 0.9, undecided: 4, marked: true},
				{n: 200, share: 0.75, unjudged: 150},
				{n: 240, share: 0.8, stopped: true},
			} {
				if kind.weights, kind.clusters = weights, clusters; kind.stopped && clusters > 0 {
					kind.clusters = 80 // A rule needs many units.
				}
				list = append(list, kind)
			}
		}
	}
	return list
}

// keep stores a run over the data set, and returns its id. The second run of a data set, which
// the first is compared with, has other verdicts.
func (d numbered) keep(t *testing.T, st *sqlite.Store, seed uint64, second bool) string {
	t.Helper()
	identity := map[string]any{"name": "constructed", "kind": judge.KindRule, "version": 1}
	if d.undecided > 0 {
		identity["options"] = map[string]string{judge.CalibrationError: "0.08"}
	}
	text, err := deem.Canonical(identity)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := deem.Hash(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	trials := max(d.trials, 1)
	settings := map[string]any{"system": map[bool]string{false: "first", true: "second"}[second]}
	if d.stopped && !second {
		largest := 1.0
		if d.weights {
			largest = 5
		}
		if d.clusters > 0 {
			largest *= float64(d.n / d.clusters)
		}
		settings["until"] = reports.UntilSettings{Until: report.Until{Rule: "±20 pp", Within: 0.2, Aim: 0.2, Largest: largest}}
	}
	set, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	run, _, err := st.Begin(t.Context(), store.Spec{
		Judge:   store.JudgeSpec{Name: "constructed", Hash: hash, Identity: text, Rule: true},
		Dataset: store.DatasetSpec{Names: []string{fmt.Sprint(seed, second, ".jsonl")}, Hash: fmt.Sprint("items", seed), Items: d.n}, Trials: trials, Settings: set,
	}, second)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 40))
	if second {
		rng = rand.New(rand.NewPCG(seed, 41))
	}
	ease := rand.New(rand.NewPCG(seed, 42))
	var recs []deem.Record
	share := d.share
	for i := range d.n {
		it := deem.Item{ID: fmt.Sprint("q", i), Question: fmt.Sprint("Which is ", i, "?"), References: []string{"x"}, Response: "y", Category: "one"}
		if d.clusters > 0 {
			per := d.n / d.clusters
			if it.Cluster = fmt.Sprint("c", i/per); i%per == 0 {
				share = min(max(d.share+0.2*ease.NormFloat64(), 0.05), 0.95)
			}
		}
		if d.weights {
			it.Weight = float64(1 + i%5)
		}
		for trial := range trials {
			rec := deem.Record{Item: it, Position: i, Trial: trial, Judge: "constructed"}
			switch {
			case d.unjudged > 0 && i%d.unjudged == 7:
				rec.Failure = deem.Failf(deem.Empty, "")
			case d.undecided > 0 && i%d.undecided == 3:
				rec.Failure = deem.Failf(deem.Unsure, "")
				rec.Failure.Probability = new(math.Round(20*rng.Float64()) / 20)
			default:
				v := &deem.Verdict{Label: "no"}
				if rng.Float64() < share {
					v = &deem.Verdict{Label: "yes", Score: 1}
				}
				if d.graded {
					v.Score = math.Round(10*(0.7*v.Score+0.3*rng.Float64())) / 10
				}
				if d.marked {
					v.Pass = new(v.Label == "yes")
				}
				rec.Verdict = v
			}
			recs = append(recs, rec)
		}
	}
	if err := st.Append(t.Context(), run.ID, recs); err != nil {
		t.Fatal(err)
	}
	if err := st.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	return run.ID
}

// The score of a run is one number with one interval, wherever it is printed: report, its
// JSON, Markdown and page, list, compare, agree with people and with another run, the page of
// the server and the API. The corrected score of agree is that of compare. Each of the forty
// data sets goes through the code that prints them.
func TestOneNumber(t *testing.T) {
	sets := forty()
	if len(sets) != 40 {
		t.Fatalf("%d data sets, want 40", len(sets))
	}
	if testing.Short() {
		sets = sets[:10]
	}
	for i, d := range sets {
		t.Run(fmt.Sprintf("%d %+v", i, d), func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.Mkdir(".deem", 0o700); err != nil {
				t.Fatal(err)
			}
			st, err := sqlite.Open(t.Context(), ".deem/deem.db", sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			run, other := d.keep(t, st, uint64(i), false), d.keep(t, st, uint64(i), true)
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			oneNumber(t, d, run, other)
		})
	}
}

// oneNumber checks one data set.
func oneNumber(t *testing.T, d numbered, run, other string) {
	t.Helper()
	labels := "item,label\n"
	for i := range d.n {
		if i%3 == 0 {
			labels += fmt.Sprintf("q%d,%s\n", i, map[bool]string{true: "yes", false: "no"}[i%7 != 0])
		}
	}
	if err := os.WriteFile("labels.csv", []byte(labels), 0o600); err != nil {
		t.Fatal(err)
	}
	type agreement struct {
		Counts    struct{ Items int }
		Corrected struct {
			Raw             stat.Estimate
			PPI, Stratified stat.Estimate
			People          stat.Estimate
			Quote           string
		}
	}
	var r report.Report
	decodeJSON(t, deemOut(t, "report", run, "--json"), &r)
	if r.Metrics[0].Judged == nil {
		t.Fatalf("the report has no score: %+v", r.Metrics[0])
	}
	want := *r.Metrics[0].Judged
	if (r.Stopped != nil) != d.stopped || d.stopped && (!r.Stopped.Holds || r.Items == d.n) || (r.Undecided != nil) != (d.undecided > 0) || (r.Unjudged > 0) != (d.unjudged > 0) {
		t.Fatalf("the data set is not what it should be: %d items, %d unjudged, stopped %+v", r.Items, r.Unjudged, r.Stopped)
	}
	var people, judges agreement
	decodeJSON(t, deemOut(t, "agree", run, "labels.csv", "--json"), &people)
	decodeJSON(t, deemOut(t, "agree", run, other, "--json"), &judges)
	var c struct {
		Runs  []struct{ Judged stat.Estimate }
		Pairs []struct {
			Corrected struct{ First, Second *float64 }
		}
	}
	decodeJSON(t, deemOut(t, "compare", run, other, "--labels", "labels.csv", "--labels", "labels.csv", "--anyway", "--json"), &c)
	for name, got := range map[string]stat.Estimate{
		"agree with people": people.Corrected.Raw, "agree with a run": judges.Corrected.Raw, "compare": c.Runs[0].Judged, "API": apiEstimate(t, run),
	} {
		for _, pair := range [][2]float64{{got.Value, want.Value}, {got.Lo, want.Lo}, {got.Hi, want.Hi}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9 {
				t.Errorf("%s has %v [%v, %v], the report %v [%v, %v]", name, got.Value, got.Lo, got.Hi, want.Value, want.Lo, want.Hi)
				break
			}
		}
	}
	if people.Counts.Items != r.Items {
		t.Errorf("agree counts %d items, the report %d", people.Counts.Items, r.Items)
	}
	// The truth of another run is that run's own score, unless it left items undecided.
	if d.undecided == 0 && d.unjudged == 0 && d.trials < 2 && !d.stopped {
		var o report.Report
		decodeJSON(t, deemOut(t, "report", other, "--json"), &o)
		truth, its := judges.Corrected.People, *o.Metrics[0].Judged
		if math.Abs(truth.Value-its.Value) > 1e-9 || math.Abs(truth.Lo-its.Lo) > 1e-9 || math.Abs(truth.Hi-its.Hi) > 1e-9 {
			t.Errorf("truth alone is %v [%v, %v] in agree, and %v [%v, %v] in its report", truth.Value, truth.Lo, truth.Hi, its.Value, its.Lo, its.Hi)
		}
	}
	var theirs agreement
	decodeJSON(t, deemOut(t, "agree", other, "labels.csv", "--json"), &theirs)
	for i, a := range []agreement{people, theirs} {
		quoted := map[string]stat.Estimate{"ppi": a.Corrected.PPI, "stratified": a.Corrected.Stratified, "people": a.Corrected.People}[a.Corrected.Quote]
		got := []*float64{c.Pairs[0].Corrected.First, c.Pairs[0].Corrected.Second}[i]
		if got == nil || math.Abs(*got-quoted.Value) > 1e-9 {
			t.Errorf("run %d: the corrected score is %v in agree, and %v in compare", i, quoted.Value, got)
		}
	}
	deemOut(t, "export", run, "-o", "run.html")
	exported, err := os.ReadFile("run.html")
	if err != nil {
		t.Fatal(err)
	}
	value, ends := fmt.Sprintf("%.1f%%", 100*want.Value), want.Ends("%.1f", 100)
	if r.Metrics[0].Metric == "mean score" {
		value = strings.TrimSuffix(value, "%")
	}
	for name, out := range map[string]string{
		"report": deemOut(t, "report", run), "compare": deemOut(t, "compare", run, other, "--anyway"), "HTML": words(string(exported)), "page": words(page(t, "/runs/"+run)),
		"agree -v": deemOut(t, "agree", run, "labels.csv", "-v"),
	} {
		if !regexp.MustCompile(regexp.QuoteMeta(value) + `[^\[]{0,60}` + regexp.QuoteMeta(ends)).MatchString(out) {
			t.Errorf("%s does not say %s %s:\n%s", name, value, ends, out[:min(len(out), 2500)])
		}
	}
}
