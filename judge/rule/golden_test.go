package rule_test

import (
	"context"
	"testing"

	"deem"
	"deem/internal/test/golden"
	"deem/judge/rule"
)

// TestGolden compares the judges by metric with the programs they are named after. The
// metrics have their own tests; this one covers the path from an item to a verdict.
func TestGolden(t *testing.T) {
	t.Parallel()
	ask := func(name string, scale float64, references []string, response string) (any, error) {
		j, _ := rule.Named(name)
		v, err := j.Judge(t.Context(), deem.Item{References: references, Response: response})
		return v.Score * scale, err
	}
	pair := func(name string) golden.Metric {
		return golden.Of(func(in pairInput) (any, error) { return ask(name, 1, []string{in.GroundTruth}, in.Prediction) })
	}
	unlimited := func(name string) golden.Metric {
		return golden.Of(func(in pairInput) (any, error) {
			s, err := ask(name, 1, []string{in.GroundTruth}, in.Prediction)
			return map[string]any{"score_unlimited": s}, err
		})
	}
	golden.Test(t, map[string]golden.Metric{
		"squad_v11_em_f1": golden.Of(func(in squadInput) (any, error) {
			return squad(ask, in.GroundTruths, in.Prediction)
		}),
		"longbench_qa_f1":    pair("f1"),
		"longbench_qa_f1_zh": pair("f1/zh"),
		"locomo_f1":          pair("f1/locomo"),
		"longbench_rouge":    unlimited("rouge-l"),
		"longbench_rouge_zh": unlimited("rouge-l/zh"),
		"rouge_score_stemmer": golden.Of(func(in rougeInput) (any, error) {
			return rouges(t.Context(), in.Target, in.Prediction)
		}),
		"levenshtein": golden.Of(func(in struct{ S1, S2 string }) (any, error) {
			s, err := ask("edit", 1, []string{in.S2}, in.S1)
			return map[string]any{"ratio": s}, err
		}),
		"sacrebleu_sentence_bleu": golden.Of(func(in bleuInput) (any, error) {
			if in.Tokenize != "13a" || in.Lowercase || in.SmoothMethod != "exp" || !in.UseEffectiveOrder {
				return golden.Skip, nil
			}
			s, err := ask("bleu", 100, in.References, in.Hypothesis)
			return map[string]any{"score": s}, err
		}),
	}, golden.Options{})
}

// An asker runs the named rule and multiplies its score by scale.
type asker func(name string, scale float64, references []string, response string) (any, error)

type squadInput struct {
	Prediction   string
	GroundTruths []string `json:"ground_truths"`
}

// squad runs the rules of SQuAD v1.1.
func squad(ask asker, references []string, response string) (any, error) {
	if len(references) == 0 {
		return golden.Skip, nil // The original accepts an empty list; here such an item is unjudged.
	}
	f1, err := ask("f1", 1, references, response)
	if err != nil {
		return nil, err
	}
	exact, err := ask("exact/squad", 1, references, response)
	return map[string]any{"f1": f1, "exact_match": exact}, err
}

type bleuInput struct {
	Hypothesis        string
	References        []string
	SmoothMethod      string `json:"smooth_method"`
	Lowercase         bool
	Tokenize          string
	UseEffectiveOrder bool `json:"use_effective_order"`
}

type pairInput struct {
	Prediction  string
	GroundTruth string `json:"ground_truth"`
}

type rougeInput struct{ Target, Prediction string }

// rouges runs the four judges by rouge_score.
func rouges(ctx context.Context, target, prediction string) (any, error) {
	out := map[string]any{}
	for _, name := range []string{"rouge1", "rouge2", "rougeL", "rougeLsum"} {
		j, _ := rule.Named(name)
		v, err := j.Judge(ctx, deem.Item{References: []string{target}, Response: prediction})
		if err != nil {
			return nil, err
		}
		out[name] = map[string]any{
			"fmeasure": v.Score, "precision": v.Aspects["precision"], "recall": v.Aspects["recall"],
		}
	}
	return out, nil
}
