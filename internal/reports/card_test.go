package reports_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/benchmark"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/judge"
	"deem/judge/rule"
	"deem/model/fake"
	"deem/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample returns a report with everything that a card can contain.
func sample(n int) report.Report {
	b := report.New(report.Head{
		Run: "20261115-9f3a2c", Judge: "longmemeval", JudgeHash: strings.Repeat("4f0c2a91", 8), JudgeKind: judge.KindModel,
		Reading: "upstream", Model: "openai:gpt-4o-2024-08-06", System: "rag", SystemModel: "openai:gpt-4o-mini",
		Dataset: "longmemeval_s", DatasetHash: strings.Repeat("9b1c", 16), Items: n, MaxUnjudged: new(0.1), Complete: true,
		Started: time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC), Ended: time.Date(2026, 11, 15, 9, 31, 0, 0, time.UTC),
		Harness: &doc.Harness{
			Deem:    "v1.2.3",
			Prompts: []doc.Prompt{{Name: "default", SHA256: strings.Repeat("ab", 32), Text: "Right? {}"}, {Name: "temporal", SHA256: strings.Repeat("cd", 32), Text: "When? {}"}},
			Params:  map[string]string{"temperature": "0", "max_tokens": "10"}, Policy: "abstention prompt where the id contains _abs",
			Excluded: []string{"category=other (3 items)"},
			Errata:   &doc.ErrataFile{File: "errata.json", Hash: strings.Repeat("12", 32), Faulty: 2},
			Lock:     &doc.Lock{Hash: strings.Repeat("ef", 32), Created: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC), Kept: true},
		},
	})
	for i := range n {
		rec := deem.Record{
			Item:     deem.Item{ID: fmt.Sprintf("q%d", i), Category: []string{"temporal", "multi|session"}[i%2]},
			Position: i, Judge: "longmemeval", Verdict: &deem.Verdict{Label: "no"},
			Calls: []deem.Call{{Model: "openai:gpt-4o-2024-08-06", Reply: &deem.Reply{Text: "no", Model: "gpt-4o-2024-08-06", Fingerprint: "fp_a1", Attempts: 1}}},
		}
		switch {
		case i%20 == 19:
			rec.Verdict, rec.Failure = nil, deem.Failf(deem.Refused, "no")
		case i%3 > 0:
			rec.Verdict = &deem.Verdict{Label: "yes", Score: 1}
		}
		b.Add(rec)
	}
	return b.Report()
}

func markdown(t testing.TB, r report.Report, write func(w *bytes.Buffer, r report.Report) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func whole(w *bytes.Buffer, r report.Report) error { return doc.Markdown(w, r.Document()) }
func alone(w *bytes.Buffer, r report.Report) error { return reports.CardMarkdown(w, r) }

func asAggregate(w *bytes.Buffer, r report.Report) error {
	return reports.Aggregate(w, r, reports.AggregateSource{Organization: "ACME", Relationship: "third_party", Retrieved: time.Unix(1794736800, 0)})
}

func TestCardGolden(t *testing.T) {
	withheld := sample(60)
	withheld.Hold = &report.Hold{Reason: "3 of 60 items (5%) are unjudged, and at most 1% may be", Unjudged: 3, Items: 60, Limit: 0.01}
	withheld.Metrics[0].Judged = nil
	for i := range withheld.Categories {
		withheld.Categories[i].Judged, withheld.Categories[i].Rest = nil, nil
	}
	published := sample(60)
	published.PublishedText = "Overall Accuracy: 0.5\n  temporal: 0.4 | 10\n"
	empty := report.New(report.Head{Judge: "exact", JudgeKind: judge.KindRule}).Report()
	for _, g := range []struct {
		file  string
		r     report.Report
		write func(w *bytes.Buffer, r report.Report) error
	}{
		{"report.md", published, whole},
		{"withheld.md", withheld, whole},
		{"empty.md", empty, whole},
		{"card.md", sample(60), alone},
		{"aggregate.json", sample(60), asAggregate},
		{"aggregate_withheld.json", withheld, asAggregate},
	} {
		t.Run(g.file, func(t *testing.T) {
			got := markdown(t, g.r, g.write)
			path := filepath.Join("testdata", "card", g.file+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A withheld score appears nowhere.
func TestWithheld(t *testing.T) {
	r := sample(60)
	value := fmt.Sprintf("%.1f%%", 100*r.Metrics[0].Judged.Value)
	if !strings.Contains(markdown(t, r, whole), value) {
		t.Fatalf("the report does not show %s: the test checks nothing", value)
	}
	r.Hold, r.Metrics[0].Judged, r.Categories = &report.Hold{Reason: "too many"}, nil, nil
	for name, write := range map[string]func(w *bytes.Buffer, r report.Report) error{"report": whole, "card": alone} {
		if text := markdown(t, r, write); strings.Contains(text, value) || !strings.Contains(text, "withheld") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if text := markdown(t, r, asAggregate); strings.Contains(text, `"evaluation_result_id": "accuracy"`) || !strings.Contains(text, `"accuracy/strict"`) {
		t.Errorf("aggregate:\n%s", text)
	}
}

// If the data allow no interval, none is written: [0, 1] would be a claim.
func TestAggregateWithoutInterval(t *testing.T) {
	b := report.New(report.Head{Judge: "exact", Dataset: "d.jsonl", Items: 40, Complete: true})
	for i := range 40 { // of a single conversation
		rec := deem.Record{Item: deem.Item{ID: fmt.Sprint(i), Cluster: "c"}, Position: i, Verdict: &deem.Verdict{Label: "x", Score: float64(i % 2)}}
		b.Add(rec)
	}
	if text := markdown(t, b.Report(), asAggregate); strings.Contains(text, "confidence_interval") || !strings.Contains(text, `"num_samples": 40`) {
		t.Errorf("an interval is written:\n%s", text)
	}
}

func TestAggregateOfNothing(t *testing.T) {
	err := reports.Aggregate(&bytes.Buffer{}, report.New(report.Head{Judge: "exact"}).Report(), reports.AggregateSource{})
	if !errors.Is(err, reports.ErrNoScore) {
		t.Errorf("error %v, want ErrNoScore", err)
	}
}

// With any names, a table keeps its columns and there is no markup outside code spans.
func TestHostileNames(t *testing.T) {
	const evil = "a|b`c``|@someone #1 <img src=x> ![i](u) [l](u)\n# head\x1b[2J\u202e"
	r := sample(60)
	h := &r.Head
	h.Judge, h.Dataset, h.System, h.SystemModel, h.Model, h.JudgeNote, h.Reading = evil, evil, evil, evil, evil, evil, evil
	h.Harness = &doc.Harness{
		Deem: evil, Prompts: []doc.Prompt{{Name: evil, SHA256: evil}}, Params: map[string]string{evil: evil}, Policy: evil, Excluded: []string{evil},
		Errata: &doc.ErrataFile{File: evil, Hash: evil}, Lock: &doc.Lock{Hash: evil, Broken: []string{evil}},
	}
	r.Categories[0].Name, r.Failures[0].Kind, r.Failures[0].Examples = evil, evil, []string{evil, "`"}
	r.Notes = append(r.Notes, evil)
	text := markdown(t, r, whole)
	if strings.ContainsAny(text, "\x1b\u202e") || strings.Contains(text, "\n# head") {
		t.Error("control characters came through")
	}
	columns := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| ") {
			columns = 0
			continue
		}
		n := len(regexp.MustCompile(`(^|[^\\])\|`).FindAllString(line, -1))
		if columns == 0 {
			columns = n
		}
		if n != columns {
			t.Errorf("a row has %d bars, want %d: %s", n, columns, line)
		}
	}
	for _, bad := range []string{"@someone", "<img", "![i]", "[l]"} {
		if outside := outsideCode(text); strings.Contains(outside, bad) {
			t.Errorf("%q stands outside of code:\n%s", bad, outside)
		}
	}
}

// outsideCode returns Markdown without its code spans and escaped characters.
func outsideCode(text string) string {
	text = regexp.MustCompile("```[^\n]*?[^`]```|``[^\n]*?[^`]``|`[^`\n]*`").ReplaceAllString(text, "")
	return regexp.MustCompile(`\\.(<!-- -->)?`).ReplaceAllString(text, "_")
}

// nobody is a model that is never called.
var nobody = fake.Func("fake:nobody", nil)

func names(list []doc.Prompt) []string {
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}

// The hash of a prompt is that of its file.
func TestDescribeDeclared(t *testing.T) {
	d, ok := judge.Builtin("universal")
	if !ok {
		t.Fatal("there is no judge universal")
	}
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	got := reports.DescribeHarness(judge.SpecOf(judge.New(p, nobody)))
	sum := sha256.Sum256([]byte(d.Prompt))
	want := []doc.Prompt{{Name: "prompt", SHA256: hex.EncodeToString(sum[:]), Text: d.Prompt}}
	if diff := cmp.Diff(want, got.Prompts); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	if got.Params["temperature"] != "0" {
		t.Errorf("params = %v, want temperature 0", got.Params)
	}
}

// Every benchmark judge that uses a model has prompts to show.
func TestDescribeBenchmarks(t *testing.T) {
	asked := 0
	for _, b := range benchmark.All() {
		for _, name := range b.Judges {
			j, err := b.Judge(name, benchmark.Options{})
			if err != nil && strings.Contains(deem.HintOf(err), "--with repo=") {
				continue // its prompts are in the user's clone
			}
			if err != nil {
				t.Fatal(err)
			}
			if j.Protocol == nil {
				continue
			}
			asked++
			got := reports.DescribeHarness(judge.SpecOf(judge.New(j.Protocol, nobody)))
			if len(got.Prompts) == 0 {
				t.Errorf("%s: %d prompts, params %v", name, len(got.Prompts), got.Params)
			}
			for _, p := range got.Prompts {
				if p.Name == "" || len(p.SHA256) != 64 || p.Text == "" {
					t.Errorf("%s: prompt %+v", name, p)
				}
			}
		}
	}
	if asked < 4 {
		t.Errorf("%d judges that ask a model, want at least 4", asked)
	}
}

func TestDescribeForms(t *testing.T) {
	for _, c := range []struct {
		identity string
		prompts  []string
		params   map[string]string
		policy   string
	}{
		{`{"kind":"rule","name":"exact","version":1,"pass":0.7,"options":{"case":"fold"}}`, nil, map[string]string{"pass": "0.7", "version": "1"}, ""},
		{
			`{"kind":"model","version":1,"options":{"category5":"abstention"},"declaration":{"prompt":"a","system":"s","params":{"temperature":0}},"prompts":{"abstention":"b"},"model":"m","settings":"thinking=off"}`,
			[]string{"abstention", "prompt", "system"},
			map[string]string{"temperature": "0", "settings": "thinking=off"},
			"category 5 (adversarial): abstention",
		},
		{
			`{"kind":"model","prompts":{"prompt":"x","b":"y"},"options":{"abstention":"id contains _abs"},"params":{"max_tokens":10,"temperature":0,"optional":["seed"]}}`,
			[]string{"b", "prompt"},
			map[string]string{"max_tokens": "10", "temperature": "0"},
			"abstention prompt where the id contains _abs",
		},
		{ // a panel of two models and a rule
			`{"kind":"panel","rule":"majority","tie":"fail","quorum":2,"members":[
				{"name":"a","judge":{"kind":"model","declaration":{"prompt":"x","params":{"temperature":0}},"model":"m"}},
				{"name":"b","judge":{"kind":"model","declaration":{"prompt":"y","params":{"temperature":1}},"model":"n"}},
				{"name":"c","judge":{"kind":"rule","name":"exact","version":1}}]}`,
			[]string{"a", "b"},
			map[string]string{"rule": "majority", "tie": "fail", "quorum": "2", "temperature": "0", "b temperature": "1", "version": "1"},
			"",
		},
		{
			`{"kind":"cascade","members":[{"name":"cheap","threshold":0.9,"judge":{"kind":"model","declaration":{"prompt":"x"}}},{"name":"people","judge":{"kind":"people"}}]}`,
			[]string{"cheap"},
			map[string]string{"threshold": "0.9"},
			"",
		},
		{`"just a name"`, nil, map[string]string{}, ""},
	} {
		spec, err := judge.ParseSpec([]byte(c.identity))
		if err != nil {
			t.Fatal(err)
		}
		got := reports.DescribeHarness(spec)
		if !slices.Equal(names(got.Prompts), c.prompts) || !maps.Equal(got.Params, c.params) || got.Policy != c.policy {
			t.Errorf("Describe(%s) = %v, %v, %q, want %v, %v, %q", c.identity, names(got.Prompts), got.Params, got.Policy, c.prompts, c.params, c.policy)
		}
	}
}

func TestDescribeRule(t *testing.T) {
	r, _ := rule.Named("exact")
	if got := reports.DescribeHarness(judge.SpecOf(r)); len(got.Prompts) != 0 || got.Params["version"] == "" {
		t.Errorf("Describe(exact) = %+v, want a version and no prompt", got)
	}
}

func FuzzDescribe(f *testing.F) {
	f.Add([]byte(`{"prompts":{"a":"b"},"params":{"temperature":0}}`))
	f.Add([]byte(`{"members":[{"judge":{"declaration":{"prompt":"x"}}}]}`))
	f.Fuzz(func(t *testing.T, identity []byte) {
		spec, err := judge.ParseSpec(identity)
		if err != nil {
			return
		}
		got := reports.DescribeHarness(spec)
		for _, p := range got.Prompts {
			if sum := sha256.Sum256([]byte(p.Text)); hex.EncodeToString(sum[:]) != p.SHA256 {
				t.Errorf("the hash of prompt %q is not that of its text", p.Name)
			}
		}
		if _, err := json.Marshal(got); err != nil {
			t.Error(err)
		}
	})
}

// The folder of a dataset is private.
func TestAggregateNamesNoFolders(t *testing.T) {
	r := sample(60)
	r.Head.Dataset = `/home/somebody/secret/a.jsonl, C:\Users\somebody\b.jsonl`
	text := markdown(t, r, asAggregate)
	if strings.Contains(text, "somebody") || !strings.Contains(text, `"evaluation_id": "a.jsonl, b.jsonl/openai/gpt-4o-mini/`) {
		t.Errorf("the aggregate names folders:\n%.300s", text)
	}
}
