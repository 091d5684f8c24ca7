package cli_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem/internal/cli"
)

// A triviaRow is an answer with the verdicts of people and nine judges.
type triviaRow struct {
	People bool            `json:"human_label"`
	Judges map[string]bool `json:"judges"`
}

// readTriviaRows reads the published verdicts. It skips the test if they are missing: we
// may not distribute them.
func readTriviaRows(t *testing.T) []triviaRow {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "human_triviaqa_9judges", "derived.jsonl.gz"))
	if err != nil {
		t.Skipf("the published verdicts are not here: %v", err)
	}
	defer f.Close() //nolint:errcheck // It was only read.
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows []triviaRow
	for dec := json.NewDecoder(z); ; {
		var row triviaRow
		if err := dec.Decode(&row); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
}

// bestThree returns the three judges with the highest agreement with people.
func bestThree(rows []triviaRow) []string {
	agreed := map[string]int{}
	var names []string
	for name := range rows[0].Judges {
		names = append(names, name)
	}
	for _, row := range rows {
		for name, yes := range row.Judges {
			if yes == row.People {
				agreed[name]++
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int { return agreed[b] - agreed[a] })
	return names[:3]
}

// TestBestThree compares the majority of the three best published judges with people, with
// one command.
func TestBestThree(t *testing.T) {
	notQuick(t)
	rows := readTriviaRows(t)
	t.Parallel()
	best := bestThree(rows)
	rows = rows[:len(rows)/peopleStep]
	dir := t.TempDir()
	var items, votes bytes.Buffer
	w := csv.NewWriter(&votes)
	check(t, w.Write(append([]string{"id", "people"}, best...)))
	agreed := 0
	for i, row := range rows {
		fmt.Fprintf(&items, "{\"id\":\"t%d\",\"question\":\"q\",\"references\":[\"r\"],\"response\":\"a\"}\n", i)
		line, yes := []string{fmt.Sprint("t", i), fmt.Sprint(row.People)}, 0
		for _, name := range best {
			line = append(line, fmt.Sprint(row.Judges[name]))
			if row.Judges[name] {
				yes++
			}
		}
		if (yes >= 2) == row.People {
			agreed++
		}
		check(t, w.Write(line))
	}
	w.Flush()
	votesFile := filepath.Join(dir, "votes.csv")
	check(t, os.WriteFile(filepath.Join(dir, "items.jsonl"), items.Bytes(), 0o600))
	check(t, os.WriteFile(votesFile, votes.Bytes(), 0o600))
	var panel strings.Builder
	panel.WriteString("kind: panel\nname: best-three\nmembers:\n")
	for _, name := range best {
		fmt.Fprintf(&panel, "  - {judge: \"labels:votes.csv#%s\", name: %s}\n", name, name)
	}
	check(t, os.WriteFile(filepath.Join(dir, "panel.yaml"), []byte(panel.String()), 0o600))

	var out, errw bytes.Buffer
	code := cli.Main([]string{
		"run", "--json", "--db", filepath.Join(dir, "deem.db"), "--data", filepath.Join(dir, "items.jsonl"),
		"--judge", filepath.Join(dir, "panel.yaml"), "--judge", "labels:" + votesFile + "#people",
	}, nil, &out, &errw)
	var got struct {
		Agreements []struct {
			All struct {
				Agreement struct{ Value, Lo, Hi float64 }
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || code != 0 || len(got.Agreements) != 1 {
		t.Fatalf("exit code %d, error %v:\n%s", code, err, errw.String())
	}
	a := got.Agreements[0].All.Agreement
	if want := float64(agreed) / float64(len(rows)); math.Abs(a.Value-want) > 1e-12 || a.Lo >= a.Value || a.Hi <= a.Value {
		t.Errorf("agreement %+v, want %v within an interval", a, want)
	}
	t.Logf("majority of %v beside people: %.2f%% [%.2f, %.2f], n=%d", best, 100*a.Value, 100*a.Lo, 100*a.Hi, len(rows))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
