package metric_test

import (
	"math"
	"testing"

	"deem/internal/text/metric"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMem0(t *testing.T) {
	for _, tt := range []struct {
		response, reference string
		want                metric.Mem0Score
	}{
		{"", "", metric.Mem0Score{}},
		{" ", "\n", metric.Mem0Score{Exact: true}}, // upstream strips after it has looked whether there is a text
		{"Paris", "", metric.Mem0Score{}},
		{" PARIS ", "paris", metric.Mem0Score{Exact: true, F1: 1, BLEU: [4]float64{1, math.Sqrt(.1), math.Pow(.1, .66), math.Pow(.1, .75)}}},
		{"no, no, no!", "no", metric.Mem0Score{F1: 1, BLEU: [4]float64{1. / 6, math.Sqrt(1. / 6 * .1 / 5), math.Pow(1./6*.1/5*.1/4, .33), math.Pow(1./6*.1/5*.1/4*.1/3, .25)}}},
	} {
		got := metric.Mem0(tt.response, tt.reference)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("Mem0(%q, %q) (-want +got):\n%s", tt.response, tt.reference, diff)
		}
		if f1 := metric.Mem0F1(tt.response, tt.reference); f1 != got.F1 {
			t.Errorf("Mem0F1(%q, %q) = %v, and in Mem0 %v", tt.response, tt.reference, f1, got.F1)
		}
		if b := metric.Mem0BLEU1(tt.response, tt.reference); b != got.BLEU[0] {
			t.Errorf("Mem0BLEU1(%q, %q) = %v, and in Mem0 %v", tt.response, tt.reference, b, got.BLEU[0])
		}
	}
}

func TestSQuAD(t *testing.T) {
	questions := []metric.SQuADQuestion{
		{ID: "1", References: []string{"London", "The Paris!"}},
		{ID: "2", References: []string{"big red dog"}},
		{ID: "3", References: []string{"never answered"}},
		{ID: "4"},
	}
	exact, f1, err := metric.SQuAD(questions, map[string]string{"1": "paris", "2": "red dog", "9": "nobody asked"})
	if err != nil || exact != 25 || math.Abs(f1-45) > 1e-12 {
		t.Errorf("SQuAD = %v, %v, %v, want 25, 45", exact, f1, err)
	}
	if _, _, err := metric.SQuAD(questions, map[string]string{"4": "x"}); err == nil {
		t.Error("a response to a question without a reference has no error")
	}
	if _, _, err := metric.SQuAD(nil, nil); err == nil {
		t.Error("a dataset without a question has no error")
	}
}

func TestLoCoMoHasAnswer(t *testing.T) {
	for _, tt := range []struct {
		text       string
		references []string
		want       bool
	}{
		{"She moved to New York in May.", []string{"Paris", "new york"}, true},
		{"She moved to Newer York.", []string{"new york"}, false}, // whole words alone
		{"York New", []string{"New York"}, false},
		{"Cafe\u0301 Rosa", []string{"CAFÉ rosa"}, true}, // however accents are written
		{"Cafe Rosa", []string{"Café"}, false},
		{"U.S. troops", []string{"U.S."}, true},
		{"U.S. troops", []string{"US"}, false},
		{"anything", []string{"\u200b "}, true}, // there is nothing to find
		{"anything", nil, false},
		{"", []string{"a"}, false},
	} {
		if got := metric.LoCoMoHasAnswer(tt.text, tt.references); got != tt.want {
			t.Errorf("LoCoMoHasAnswer(%q, %q) = %t, want %t", tt.text, tt.references, got, tt.want)
		}
	}
	want := []string{"don", "'", "t", "3", ".", "5²北京", "€", "x"}
	if diff := cmp.Diff(want, metric.LoCoMoTokens("Don't 3.5²北京\u200b€\u0378\nX")); diff != "" {
		t.Errorf("LoCoMoTokens (-want +got):\n%s", diff)
	}
}
