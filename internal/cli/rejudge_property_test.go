package cli_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/cli"
	results "deem/internal/published"
	"deem/internal/reports/sensitivity"
)

// columnMeanings are common names of columns, by meaning. The test has its own list, so
// that it does not repeat a mistake in the one under test.
var columnMeanings = map[string][]string{
	"question":  {"question", "Query", "user_input"},
	"response":  {"response", "Actual Output", "predicted", "generated-answer", "hypothesis"},
	"reference": {"gold_answer", "Ground Truth", "expectedOutput", "reference"},
	"answer":    {"answer", "Answer"},
	"label":     {"is_correct", "judge_label", "Correct", "llm_judgment"},
	"none":      {"zz", "blob", "left", "col 7", "elapsed", "notes2"},
}

// A resultTable is a random result file. All its texts differ, so that a value identifies
// its cell.
type resultTable struct {
	names    []string
	meanings []string
	filled   []bool // some row has a value there
	cells    [][]any
}

func drawTable(t *rapid.T) resultTable {
	var tab resultTable
	for _, meaning := range rapid.Permutation(slices.Sorted(maps.Keys(columnMeanings))).Draw(t, "order") {
		most := 2
		if meaning == "question" || meaning == "answer" || meaning == "label" {
			most = 1
		}
		names := rapid.Permutation(columnMeanings[meaning]).Draw(t, "names")
		for _, name := range names[:rapid.IntRange(0, most).Draw(t, meaning)] {
			tab.names, tab.meanings = append(tab.names, name), append(tab.meanings, meaning)
		}
	}
	tab.filled = make([]bool, len(tab.names))
	for i := range tab.filled {
		tab.filled[i] = rapid.IntRange(0, 5).Draw(t, "filled") > 0
	}
	for r := range rapid.IntRange(1, 4).Draw(t, "rows") {
		cells := make([]any, len(tab.names))
		for i := range cells {
			switch {
			case !tab.filled[i]:
			case tab.meanings[i] == "label":
				cells[i] = rapid.SampledFrom([]string{"yes", "no"}).Draw(t, "label")
			default:
				cells[i] = fmt.Sprintf("word%dx%d", i, r)
			}
		}
		tab.cells = append(tab.cells, cells)
	}
	return tab
}

// has reports whether a column with the meaning has values, ignoring the mapped one.
func (tab resultTable) has(meaning string, mapped int) bool {
	for i, m := range tab.meanings {
		if m == meaning && tab.filled[i] && i != mapped {
			return true
		}
	}
	return false
}

// write writes the table as JSON or CSV.
func (tab resultTable) write(t *rapid.T, folder string) string {
	if rapid.Bool().Draw(t, "csv") {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		lines := [][]string{tab.names}
		for _, cells := range tab.cells {
			line := make([]string, len(cells))
			for i, c := range cells {
				if c != nil {
					line[i] = fmt.Sprint(c)
				}
			}
			lines = append(lines, line)
		}
		if err := w.WriteAll(lines); err != nil {
			t.Fatal(err)
		}
		return writeTable(t, filepath.Join(folder, "t.csv"), b.Bytes())
	}
	rows := make([]map[string]any, len(tab.cells))
	for r, cells := range tab.cells {
		rows[r] = map[string]any{}
		for i, c := range cells {
			rows[r][tab.names[i]] = c
		}
	}
	data, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return writeTable(t, filepath.Join(folder, "t.json"), data)
}

func writeTable(t *rapid.T, file string, data []byte) string {
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Whatever a table looks like, a judge's score is printed only if a column of responses and
// one of references were found, a published score only if a verdict is recorded, and no
// column is used for two purposes.
func TestRejudgeScoresOnlyWhatIsThere(t *testing.T) {
	notQuick(t)
	t.Parallel()
	folder := t.TempDir()
	scored := 0
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTable(t)
		if len(tab.names) == 0 {
			t.Skip("there is no column")
		}
		file := tab.write(t, folder)
		mapped := rapid.IntRange(-len(tab.names), len(tab.names)-1).Draw(t, "mapped") // negative: no mapping
		var mapping []string
		if mapped >= 0 {
			mapping = []string{"--map", "response=" + tab.names[mapped]}
		}
		tab.checkColumns(t, file, mapped)
		label := tab.has("label", mapped)
		reference := tab.has("reference", mapped)
		response := tab.has("response", mapped)
		if mapped >= 0 {
			response = tab.filled[mapped]
		}
		switch answer := tab.has("answer", mapped); {
		case answer && response:
			reference = true
		case answer && reference && mapped < 0: // A mapping determines the response.
			response = true
		}
		score := scoresOf(t, append([]string{file}, mapping...))
		if _, ok := score[sensitivity.Published]; ok && !label {
			t.Fatalf("a published score, and no verdict is recorded: %v", score)
		}
		score = scoresOf(t, append([]string{file, "--judge", "contains"}, mapping...))
		if _, ok := score["contains"]; ok {
			scored++
			if !response || !reference {
				t.Fatalf("contains scores, with response %v and reference %v in %v: %v", response, reference, tab.names, score)
			}
		} else if response && reference && tab.has("question", mapped) {
			t.Fatalf("contains does not score, and all columns are there: %v", tab.names)
		}
	})
	if scored == 0 {
		t.Error("no table was scored, so nothing was checked")
	}
}

// checkColumns reads the table and looks for a column that is used twice: by the list that
// the report prints, and by the texts of the items.
func (tab resultTable) checkColumns(t *rapid.T, file string, mapped int) {
	src := results.Source{Names: []string{file}}
	if mapped >= 0 {
		src.Map = results.Mapping{"response": tab.names[mapped]}
	}
	set, err := results.Open(context.Background(), src)
	if err != nil {
		return // The command rejects the file, too.
	}
	used := map[string]string{}
	for _, c := range set.Columns {
		part, column, _ := strings.Cut(c, "=")
		if other := used[column]; other != "" {
			t.Fatalf("column %q is taken as %s and as %s", column, other, part)
		}
		used[column] = part
	}
	for it := range set.Items() {
		texts := append([]string{it.Question, it.Response, it.Category, it.Cluster}, it.References...)
		texts = slices.DeleteFunc(texts, func(s string) bool { return !strings.HasPrefix(s, "word") })
		slices.Sort(texts)
		if len(slices.Compact(slices.Clone(texts))) != len(texts) {
			t.Fatalf("an item has one cell twice: %+v", it)
		}
	}
}

// scoresOf runs deem rejudge and returns the score of each judge that has one. A rejected
// table has none.
func scoresOf(t *rapid.T, args []string) map[string]float64 {
	folder, err := os.MkdirTemp("", "deem")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	var out, errw bytes.Buffer
	exit := cli.Main(append([]string{"rejudge", "--json", "--db", filepath.Join(folder, "deem.db")}, args...), strings.NewReader(""), &out, &errw)
	if exit != 0 && exit != 2 && exit != 3 {
		t.Fatalf("exit code %d: %s", exit, errw.String())
	}
	var r sensitivity.Report
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
	}
	scores := map[string]float64{}
	for _, sys := range r.Systems {
		for _, s := range sys.Scores {
			if s.Estimate != nil {
				scores[r.Judges[s.Judge].Name] = s.Estimate.Value
			}
		}
	}
	return scores
}
