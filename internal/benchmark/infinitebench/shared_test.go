package infinitebench_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark/infinitebench"
)

// shared is the folder of published data that deem does not ship.
const shared = "../../../../shared"

// lines calls visit with every line of a JSONL file. It skips the test if the file is
// missing.
func lines[T any](t *testing.T, name string, visit func(T)) {
	t.Helper()
	f, err := os.Open(filepath.Join(shared, name))
	if err != nil {
		t.Skipf("the published file is not here: %v", err)
	}
	defer f.Close() //nolint:errcheck // the file was only read
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<24)
	for scan.Scan() {
		var row T
		if err := json.Unmarshal(scan.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		visit(row)
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
}

// record judges one item.
func record(t *testing.T, j deem.Judge, it deem.Item) deem.Record {
	t.Helper()
	rec := deem.Record{Item: it, Judge: j.Name()}
	v, err := j.Judge(t.Context(), it)
	if err != nil {
		rec.Failure = failure(t, err)
		return rec
	}
	rec.Verdict = &v
	return rec
}

// judged judges all items of a set, and returns the metrics, the scores of each task in
// file order, and the notes.
func judged(t *testing.T, o infinitebench.Options, reading string) (*infinitebench.Metrics, map[string][]float64, []string) {
	t.Helper()
	s, err := infinitebench.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	m, scores := infinitebench.NewMetrics(reading), map[string][]float64{}
	for it, err := range s.Items() {
		if err != nil {
			t.Fatal(err)
		}
		rec := record(t, judge(t, reading), it)
		m.Add(rec)
		score := math.NaN()
		if rec.Verdict != nil {
			score = rec.Verdict.Score
		}
		scores[it.Category] = append(scores[it.Category], score)
	}
	return m, scores, s.Notes()
}

// A published is the result of compute_scores.py for one file.
type published struct {
	Model, Task string
	N           int
	Mean        float64
	Scores      []float64
}

// TestPublishedScores judges upstream's published predictions, and compares every score and
// every mean with upstream's program.
func TestPublishedScores(t *testing.T) {
	want := map[string][]published{}
	for _, file := range []string{"vectors/infinitebench_item_scores.jsonl", "vectors/infinitebench_sum_scores.jsonl"} {
		lines(t, file, func(p published) { want[p.Model] = append(want[p.Model], p) })
	}
	for model, tasks := range want {
		folder := filepath.Join(shared, "data/infinitebench_preds/results", model)
		if _, err := os.Stat(folder); err != nil {
			t.Skipf("the published predictions are not here: %v", err)
		}
		t.Run(model, func(t *testing.T) {
			m, scores, notes := judged(t, infinitebench.Options{Data: []string{folder}}, infinitebench.Upstream)
			means := map[string]float64{}
			for _, l := range m.Tasks() {
				means[l.Name] = *l.Mean
			}
			compared := 0
			for _, p := range tasks {
				got, ok := scores[p.Task]
				if !ok {
					continue // the file is not in this copy
				}
				compared++
				if broken := model == "yarn-mistral" && p.Task == "longbook_qa_chn"; broken {
					// Its last line ends in "gi", which was fixed for
					// the vectors.
					checkBroken(t, notes)
					p.Scores, p.N = p.Scores[:188], 188
				} else if means[p.Task] != p.Mean {
					t.Errorf("mean of %s = %v, want %v", p.Task, means[p.Task], p.Mean)
				}
				if !slices.Equal(got, p.Scores) || len(got) != p.N {
					t.Errorf("%s: %d scores %v, want %d %v", p.Task, len(got), got, p.N, p.Scores)
				}
			}
			if compared < 10 {
				t.Errorf("only %d tasks compared", compared)
			}
		})
	}
}

// checkBroken checks for a note about the line that ends in "}gi".
func checkBroken(t *testing.T, notes []string) {
	t.Helper()
	if !slices.ContainsFunc(notes, func(n string) bool {
		return strings.Contains(n, "preds_longbook_qa_chn.jsonl:189: ") && strings.Contains(n, "gi")
	}) {
		t.Errorf("no note names line 189: %q", notes)
	}
}

// TestPublishedTable compares with the table of upstream's README for GPT-4.
func TestPublishedTable(t *testing.T) {
	folder := filepath.Join(shared, "data/infinitebench_preds/results/gpt4")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("the published predictions are not here: %v", err)
	}
	m, _, _ := judged(t, infinitebench.Options{Data: []string{folder}}, infinitebench.Upstream)
	want := `| Retrieve.PassKey | 100.00% |
| Retrieve.Number  | 100.00% |
| Retrieve.KV      |  89.00% |
| En.Sum           |  14.73% |
| En.QA            |  22.44% |
| En.MC            |  67.25% |
| En.Dia           |   8.50% |
| Zh.QA            |  25.96% |
| Code.Debug       |  37.06% |
| Code.Run         |  23.25% |
| Math.Find        |  60.00% |
`
	if got := m.README(); got != want {
		t.Errorf("the table is\n%swant\n%s", got, want)
	}
}

// A golden is a case of the golden vectors: predictions of one task and their mean.
type golden struct {
	Case  string
	Input struct {
		Task        string
		Model       string `json:"model_name"`
		Predictions []string
		Labels      []json.RawMessage
	}
	Expected float64
}

// TestGoldenMeans compares the means of tasks with those of compute_scores.py.
func TestGoldenMeans(t *testing.T) {
	lines(t, "golden/open/infinitebench_task_mean.jsonl", func(g golden) {
		m := infinitebench.NewMetrics("")
		for i, response := range g.Input.Predictions {
			m.Add(record(t, judge(t, ""), deem.Item{
				Category: g.Input.Task, Response: response,
				Fields: map[string]string{"label": string(g.Input.Labels[i]), "model": g.Input.Model},
			}))
		}
		if got := m.Tasks()[0]; got.Mean == nil || *got.Mean != g.Expected || got.Unjudged > 0 {
			t.Errorf("%s: %+v, want a mean of %v", g.Case, got, g.Expected)
		}
	})
}
