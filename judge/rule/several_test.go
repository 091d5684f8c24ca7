package rule_test

import (
	"errors"
	"testing"

	"deem"
	"deem/judge/match"
	"deem/judge/rule"
)

func TestSeveralGivesTheScoresOfAll(t *testing.T) {
	j, err := rule.Several(ruleNamed("f1"), rule.Exact(), rule.Contains())
	if err != nil {
		t.Fatal(err)
	}
	v, err := j.Judge(t.Context(), deem.Item{References: []string{"in Porto"}, Response: "she lives in Porto"})
	if err != nil {
		t.Fatal(err)
	}
	f1, _ := ruleNamed("f1").Judge(t.Context(), deem.Item{References: []string{"in Porto"}, Response: "she lives in Porto"})
	if v.Score != f1.Score || v.Label != f1.Label || v.Aspects["f1"] != f1.Score || v.Aspects["exact"] != 0 || v.Aspects["contains"] != 1 {
		t.Errorf("verdict %+v, want that of f1 with all three scores", v)
	}
	if j.Name() != "f1+exact+contains" {
		t.Errorf("Name() = %s", j.Name())
	}
	other, err := rule.Several(rule.Exact(), ruleNamed("f1"))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := deem.JudgeHash(j)
	b, _ := deem.JudgeHash(other)
	if a == b {
		t.Error("other rules have the same hash")
	}
}

func TestSeveralIsUnjudgedWhereOneIs(t *testing.T) {
	j, err := rule.Several(rule.Exact(), match.New())
	if err != nil {
		t.Fatal(err)
	}
	_, err = j.Judge(t.Context(), deem.Item{Response: "x"})
	if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.Input {
		t.Errorf("error %v, want a failure of kind input", err)
	}
	if _, err := rule.Several(rule.Exact()); err == nil {
		t.Error("one rule was taken for several")
	}
	if _, err := rule.Several(rule.Exact(), rule.Exact()); err == nil {
		t.Error("the same rule twice was taken for several")
	}
}
