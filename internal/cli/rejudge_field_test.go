package cli_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deem/internal/cli"
	"deem/internal/reports/sensitivity"
)

// sharedField has real files that vendors published, and invented rows in the format of
// each.
const sharedField = "../../../shared/field"

// rejudged runs deem rejudge --json and returns its report.
func rejudged(t *testing.T, exit int, args ...string) (sensitivity.Report, string) {
	t.Helper()
	var out, errw bytes.Buffer
	args = append([]string{"rejudge", "--json", "--db", filepath.Join(t.TempDir(), "deem.db")}, args...)
	if got := cli.Main(args, strings.NewReader(""), &out, &errw); got != exit {
		t.Fatalf("%s: exit code %d, want %d: %s", strings.Join(args, " "), got, exit, errw.String())
	}
	var r sensitivity.Report
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
	}
	return r, out.String() + errw.String()
}

// Two of four rows are right in every format, as published and by a rule, without a
// mapping. The same rows under meaningless names are rejected.
func TestRejudgeFieldFormats(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedField, "formats/*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("there is no %s/formats", sharedField)
	}
	names := regexp.MustCompile(`"([A-Za-z_]+)":`)
	for _, file := range files {
		base := filepath.Base(file)
		t.Run(base, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			nonsense := filepath.Join(t.TempDir(), "nonsense.json")
			if err := os.WriteFile(nonsense, names.ReplaceAll(text, []byte(`"zz$1":`)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, said := rejudged(t, 2, nonsense, "--judge", "contains"); !strings.Contains(said, "columns here") {
				t.Errorf("columns renamed: %s, want a list of the columns", said)
			}
			switch base {
			case "omnimemeval_beam_judged.json": // One row scores .75, and one was skipped.
				r, _ := rejudged(t, 0, file, "--max-unjudged", "50%")
				if s := r.Systems[0].Scores[0]; s.Estimate == nil || s.Estimate.Value != 0.75 || s.Unjudged != 1 {
					t.Errorf("%+v, want .75 and one unjudged", s)
				}
				return
			case "beam_upstream_evaluation.json": // 1, 0, and .9 by tau.
				r, _ := rejudged(t, 0, file)
				if v := r.Systems[0].Scores[0].Estimate.Value; math.Abs(v-1.9/3) > 1e-9 {
					t.Errorf("%v, want 1.9 of 3", v)
				}
				return
			}
			r, _ := rejudged(t, 0, file, "--judge", "contains")
			for _, s := range r.Systems[0].Scores {
				if s.Estimate == nil || s.Estimate.Value != 0.5 || s.Items != 4 {
					t.Errorf("judge %d: %+v, want 2 of 4", s.Judge, s)
				}
			}
		})
	}
}

// Every number of the result files of the Mem0 harness is reproduced, to the item, without
// a mapping.
func TestRejudgeFieldHarness(t *testing.T) {
	notQuick(t)
	for _, c := range []struct {
		file     string
		items    int
		unjudged int
		args     []string
		says     []string
	}{
		{"platform_locomo_results", 1540, 1, []string{"--claimed", "right=1410", "--claimed", "1=263/282", "--claimed", "2=298/321", "--claimed", "3=73/96", "--claimed", "4=776/841", "--claimed", "unjudged=1"}, []string{
			"1 row without a response", "which leaves 93.57%", "names 156 ids: all 129 wrong rows and all 1 without a verdict are among them, and all 1384 others are right", "1384 of 1540 are right, 89.87%", "not a proof",
		}},
		{"platform_longmemeval_results", 500, 0, []string{"--claimed", "right=467", "--claimed", "93.40%"}, nil},
		{"platform_longmemeval_top50_results", 500, 0, []string{"--claimed", "right=452", "--claimed", "90.40%", "--claimed", "categories=.9097", "--claimed", "abstention=29/30"}, []string{"3 rows with an empty response"}},
		{"oss_longmemeval_gpt5", 500, 0, []string{"--claimed", "right=455", "--claimed", "91.0%"}, []string{"500 rows left out: the same id"}},
		{"platform_beam_1m_results", 700, 0, []string{"--claimed", "right=491", "--claimed", ".6409"}, []string{"2415 nuggets: 1296 scored 1, 375 one half, 744 0", "the mean is 0.6049 with event ordering kept, 0.5932 without"}},
		{"platform_beam_10m_results", 200, 0, []string{"--claimed", "right=101", "--claimed", ".4860"}, []string{"621 nuggets", "0.4517", "0.4474"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			file := filepath.Join(sharedField, "mem0-harness/results", c.file+".json.gz")
			if _, err := os.Stat(file); err != nil {
				t.Skipf("there is no %s", file)
			}
			r, said := rejudged(t, 0, append([]string{file}, c.args...)...)
			s := r.Systems[0].Scores[0]
			if s.Items != c.items || s.Unjudged != c.unjudged {
				t.Errorf("%d items, %d unjudged, want %d, %d", s.Items, s.Unjudged, c.items, c.unjudged)
			}
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("the report does not say %q: %q", want, r.Systems[0].Notes)
				}
			}
		})
	}
}

// A real file of Agent Memory Benchmark: answer is the response, and gold_answers the key.
func TestRejudgeFieldAMB(t *testing.T) {
	file := filepath.Join(sharedField, "amb/locomo_cognee.json.gz")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("there is no %s", file)
	}
	r, _ := rejudged(t, 0, file, "--judge", "match/forced", "--judge", "contains")
	for i, want := range []struct{ value, within float64 }{{122.0 / 152, 1e-9}, {0.789, 0.01}, {0.322, 0.001}} {
		if s := r.Systems[0].Scores[i]; s.Estimate == nil || math.Abs(s.Estimate.Value-want.value) > want.within {
			t.Errorf("judge %d: %+v, want %v", i, s, want.value)
		}
	}
}

// Three published systems on the same questions, as published, read again and under two
// rules: one report, and no ranking that survives all of them.
func TestFieldMultiverse(t *testing.T) {
	notQuick(t)
	files, err := filepath.Glob(filepath.Join(sharedField, "mem0-harness/results/*longmemeval*.json.gz"))
	if err != nil || len(files) != 3 {
		t.Skipf("there are no three results on LongMemEval in %s", sharedField)
	}
	t.Parallel()
	dir := t.TempDir()
	args := append([]string{"rejudge", "--db", filepath.Join(dir, "deem.db"), "--judge", "contains", "--judge", "match/forced", "--html", filepath.Join(dir, "page.html")}, files...)
	var out, errw bytes.Buffer
	if exit := cli.Main(append(args, "--json"), strings.NewReader(""), &out, &errw); exit != 0 {
		t.Fatalf("exit code %d: %s", exit, errw.String())
	}
	var r sensitivity.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Systems) != 3 || len(r.Judges) != 4 || len(r.Orders) != 3 {
		t.Fatalf("%d systems, %d judges, %d pairs, want 3, 4, 3", len(r.Systems), len(r.Judges), len(r.Orders))
	}
	for _, o := range r.Orders {
		if established := o.Outcome == sensitivity.Stands || o.Outcome == sensitivity.Turned; !o.Paired || established || o.Under[0].N != 500 {
			t.Errorf("%s and %s: %+v, want 500 pairs of items and no order that every judge establishes", o.A, o.B, o)
		}
	}
	out.Reset()
	if exit := cli.Main(args, strings.NewReader(""), &out, &errw); exit != 0 {
		t.Fatalf("exit code %d: %s", exit, errw.String())
	}
	if n := strings.Count(out.String(), "●"); n != 11 {
		t.Errorf("%d scores are drawn, want 11: three systems under four judges, one of them without replies", n)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "page.html")); err != nil || strings.Count(string(page), "<circle") != 11 {
		t.Errorf("the page does not draw 11 scores (%v)", err)
	}
}
