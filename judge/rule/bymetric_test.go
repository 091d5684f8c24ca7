package rule_test

import (
	"math"
	"testing"

	"deem"
	"deem/judge/rule"

	"github.com/google/go-cmp/cmp"
)

func TestByMetric(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, tt := range []struct {
		name, response string
		references     []string
		label          string
		score          float64
		pass           *bool
	}{
		{"f1/zh", "北京大学。", []string{"清华大学", "北京大学"}, "full", 1, nil},
		{"f1/zh", "在北京大学读书", []string{"北京大学"}, "partial", .5, nil},
		{"f1/locomo", "running and jumping", []string{"runs, jumps"}, "full", 1, nil},
		{"rouge1", "the dogs", []string{"the cat", "dogs the"}, "full", 1, nil},
		{"rougeL", "she liked trains", []string{"she likes trains a lot"}, "partial", .75, &yes},
		{"rougeL", "she liked trains", []string{"he hates the trains and planes"}, "partial", 2. / 9, &no},
		{"rougeL", "北京", []string{"北京"}, "none", 0, &no}, // rouge_score drops Chinese
		{"rouge-l/zh", "我爱北京", []string{"我爱北京"}, "full", 1, nil},
		{"rouge-l", "...", []string{"a b"}, "none", 0, nil},
		{"rouge-l", "a b", []string{"a b"}, "full", 1, nil},
		{"bleu", "the cat sat on the mat", []string{"the cat sat on the mat"}, "full", 1, &yes},
		{"bleu", "the cat sat on the mat", []string{"a dog"}, "none", 0, &no},
		{"bleu", "", []string{"a dog"}, "none", 0, &no},
		{"edit", "kitten", []string{"sitting", "kitchen"}, "partial", 10. / 13, nil},
		{"edit", "", []string{""}, "full", 1, nil},
	} {
		j, ok := rule.Named(tt.name)
		if !ok {
			t.Fatalf("no rule %q", tt.name)
		}
		v, err := j.Judge(t.Context(), deem.Item{References: tt.references, Response: tt.response})
		if err != nil || v.Label != tt.label || math.Abs(v.Score-tt.score) > 1e-8 || v.Score > 1 {
			t.Errorf("%s(%q, %q) = %s %v, %v, want %s %v", tt.name, tt.references, tt.response, v.Label, v.Score, err, tt.label, tt.score)
		}
		if diff := cmp.Diff(tt.pass, v.Pass); diff != "" {
			t.Errorf("%s(%q, %q): pass (-want +got):\n%s", tt.name, tt.references, tt.response, diff)
		}
	}
}

func TestByMetricAspects(t *testing.T) {
	item := deem.Item{References: []string{"nothing", "big red dog"}, Response: "red dog"}
	v, err := ruleNamed("rouge1").Judge(t.Context(), item)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]float64{"precision": 1, "recall": 2. / 3}, v.Aspects); diff != "" {
		t.Errorf("aspects (-want +got):\n%s", diff)
	}
	if v, err = ruleNamed("bleu").Judge(t.Context(), item); err != nil || v.Aspects != nil {
		t.Errorf("bleu has aspects %v, %v, want none", v.Aspects, err)
	}
}

func TestByMetricIdentity(t *testing.T) {
	for _, tt := range []struct {
		judge deem.Judge
		want  string
	}{
		{ruleNamed("f1/zh"), `{"kind":"rule","name":"f1/zh","version":1}`},
		{ruleNamed("bleu"), `{"kind":"rule","name":"bleu","pass":0.3,"version":1}`},
		{ruleNamed("rougeL"), `{"kind":"rule","name":"rougeL","pass":0.4,"version":1}`},
		{withPass(t, ruleNamed("rougeL"), .5), `{"kind":"rule","name":"rougeL","pass":0.5,"version":1}`},
		{withPass(t, ruleNamed("edit"), .9), `{"kind":"rule","name":"edit","pass":0.9,"version":1}`},
	} {
		got, err := deem.Canonical(tt.judge.(deem.Identified).Identity())
		if err != nil || string(got) != tt.want {
			t.Errorf("identity of %s = %s, %v, want %s", tt.judge.Name(), got, err, tt.want)
		}
	}
}

func BenchmarkByMetric(b *testing.B) {
	it := deem.Item{
		References: []string{"In May 2023 the committee decided to move to Berlin since the rent had doubled."},
		Response:   "The committee decided on 7 May 2023 to move the office to Berlin, because rents had doubled.",
	}
	for _, name := range []string{"f1", "f1/zh", "f1/locomo", "rouge1", "rouge2", "rougeL", "rougeLsum", "rouge-l", "bleu", "edit"} {
		j, _ := rule.Named(name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := j.Judge(b.Context(), it); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
