package catalog_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/benchmark"
	"deem/internal/catalog"
	"deem/internal/store"
	"deem/judge"
	"deem/model/fake"
)

// yes opens models that reply yes to everything.
func yes(name, _ string) (deem.Model, error) {
	return fake.Func(name, func(context.Context, deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: "yes", Stop: deem.StopEnd}, nil
	}), nil
}

// kept returns a judge chosen by name, and its spec in a store.
func kept(t testing.TB, name string, o catalog.JudgeOptions) (deem.Judge, store.JudgeSpec) {
	t.Helper()
	c, err := catalog.Choose(name, o, false)
	if err != nil {
		t.Fatal(err)
	}
	var models []deem.Model
	for _, l := range c.Leaves() {
		m, err := yes(cmp.Or(l.Spec.Model, "fake:one"), "")
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	j, err := c.WithModels(models).Judge()
	if err != nil {
		t.Fatal(err)
	}
	text, err := deem.Canonical(judge.SpecOf(j))
	if err != nil {
		t.Fatal(err)
	}
	hash, err := deem.JudgeHash(j)
	if err != nil {
		t.Fatal(err)
	}
	return j, store.JudgeSpec{Name: j.Name(), Hash: hash, Identity: text}
}

// TestStored rebuilds every judge that can be chosen by name from its stored spec: each is
// the same judge and makes the same requests.
func TestStored(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	type named struct {
		name string
		o    catalog.JudgeOptions
	}
	judges := []named{
		{"f1+rougeL+bleu", catalog.JudgeOptions{}},
		{"f1", catalog.JudgeOptions{Pass: catalog.Optional[float64]{Value: 0.6, Set: true}}},
		{"rubric", catalog.JudgeOptions{Reading: "strict", Pass: catalog.Optional[float64]{Value: 0.9, Set: true}, MaxTokens: 7}},
		{write("panel.yaml", "kind: panel\nname: three\nrule: mean\npass: 0.4\nmembers: [match, {judge: universal, weight: 2}, {judge: universal, model: 'fake:two', reading: strict}]\n"), catalog.JudgeOptions{}},
		{write("repeat.yaml", "kind: repeat\nname: often\njudge: universal\ntimes: 3\n"), catalog.JudgeOptions{}},
		{write("cascade.yaml", "kind: cascade\nname: turns\nstages: [{judge: match, threshold: 0.9}, panel.yaml, people]\n"), catalog.JudgeOptions{}},
		{write("both.yaml", "kind: pairwise\nname: both\njudge: universal\n"), catalog.JudgeOptions{}},
	}
	for _, name := range catalog.JudgeNames() {
		needsMore := []string{"semantic", "personamem/open", "evermembench/upstream", "beam/upstream", "locomo-plus", "clbench"} // data, or a clone of a repository
		if !slices.Contains(needsMore, name) {
			judges = append(judges, named{name, catalog.JudgeOptions{}})
		}
	}
	for _, b := range benchmark.All() {
		for _, name := range b.Judges {
			for _, reading := range b.Readings {
				if _, err := b.Judge(name, benchmark.Options{Reading: reading}); err == nil { // Not every judge has every reading.
					judges = append(judges, named{name, catalog.JudgeOptions{Reading: reading}})
				}
			}
		}
	}
	for _, policy := range []string{"excluded", "phrases", "abstention"} {
		judges = append(judges, named{"locomo/strict", catalog.JudgeOptions{With: map[string]string{"category5": policy}}})
	}
	for _, n := range judges {
		want, spec := kept(t, n.name, n.o)
		got, err := catalog.Stored(spec, catalog.Parts{Model: yes})
		if err != nil {
			t.Errorf("%s %+v: %v", n.name, n.o, err)
			continue
		}
		if d := judge.Diff(judge.SpecOf(want), judge.SpecOf(got)); len(d) > 0 {
			t.Errorf("%s %+v comes back as another judge: %v", n.name, n.o, d)
		}
	}
}

// TestStoredRefuses checks that a spec of a judge that this version of deem does not have
// gives an error that names the difference.
func TestStoredRefuses(t *testing.T) {
	for _, tt := range []struct{ name, old, now, want string }{
		{"match", `"version":8`, `"version":7`, "they differ in parser (version)"},
		{"match", `"name":"match"`, `"name":"guess"`, "no rule guess"},
		{"rougeL", `"pass":0.4`, `"pass":4`, "not between 0 and 1"},
		{"universal", `"version":2`, `"version":9`, "version 9"},
		{"universal", `"reading":"upstream"`, `"reading":"loud"`, `no reading "loud"`},
		{"longmemeval", `Question`, `Query`, "they differ in prompt (prompts."},
		{"longmemeval", `id contains _abs`, `by mood`, "they differ in prompt (options.abstention)"},
		{"longmemeval", `"max_tokens":10`, `"max_tokens":500`, "they differ in parameters (params.max_tokens)"},
		{"halumem", `"reading":"upstream"`, `"reading":"loud"`, `no reading "loud"`},
		{"locomo/strict", `"category5":"excluded"`, `"category5":"sometimes"`, "sometimes"},
		{"locomo/strict", `"score":1`, `"score":0.5`, "they differ in labels"},
		{"longbench", `"reading":"upstream"`, `"reading":"loud"`, `no reading "loud"`},
	} {
		_, spec := kept(t, tt.name, catalog.JudgeOptions{})
		text := strings.Replace(string(spec.Identity), tt.old, tt.now, 1)
		if text == string(spec.Identity) {
			t.Errorf("the spec of %s does not hold %s: %s", tt.name, tt.old, text)
		}
		spec.Identity = []byte(text)
		if _, err := catalog.Stored(spec, catalog.Parts{Model: yes}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %s: error %v, want %q", tt.name, tt.now, err, tt.want)
		}
	}
	_, spec := kept(t, "match", catalog.JudgeOptions{})
	spec.Hash = strings.Repeat("0", 64)
	if _, err := catalog.Stored(spec, catalog.Parts{}); err == nil {
		t.Error("a judge with another hash than its run was made")
	}
}

// FuzzBuild builds judges from the specs in untrusted run files. A judge that can be built
// can be rebuilt from its spec, and returns verdicts or failures.
func FuzzBuild(f *testing.F) {
	for _, name := range []string{"match", "f1+rougeL", "universal", "rubric", "longmemeval", "halumem", "locomo/strict", "locomo/f1", "longbench", "pairwise"} {
		_, spec := kept(f, name, catalog.JudgeOptions{})
		f.Add([]byte(spec.Identity), "1")
	}
	f.Add([]byte(`{"kind":"panel","name":"p","members":[{"name":"a","judge":{"kind":"rule","name":"exact","version":1}},{"name":"b","judge":{"kind":"panel","name":"c"}}]}`), "qa")
	f.Add([]byte(`{"kind":"repeat","name":"p","times":1000000000,"members":[{"judge":{"kind":"people","name":"people"}}]}`), "")
	f.Fuzz(func(t *testing.T, text []byte, category string) {
		s, err := judge.ParseSpec(text)
		if err != nil {
			return
		}
		j, err := catalog.Build(s, catalog.Parts{Model: yes})
		if err != nil {
			return
		}
		again, err := catalog.Build(judge.SpecOf(j), catalog.Parts{Model: yes})
		if err != nil {
			t.Fatalf("%s makes a judge, and its spec none: %v", text, err)
		}
		if d := judge.Diff(judge.SpecOf(j), judge.SpecOf(again)); len(d) > 0 {
			t.Errorf("made twice, %s is another judge: %v", text, d)
		}
		it := deem.Item{ID: "a_abs", Category: category, Question: "q", References: []string{"a"}, Response: "{question}", Fields: map[string]string{"stage": category}}
		if v, err := j.Judge(t.Context(), it); err == nil && !(v.Score >= 0 && v.Score <= 1) {
			t.Errorf("%s gives %+v", text, v)
		}
	})
}
