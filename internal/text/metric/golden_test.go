package metric_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"deem/internal/test/golden"
	"deem/internal/text"
	"deem/internal/text/metric"
)

func TestGolden(t *testing.T) {
	metrics := map[string]golden.Metric{
		"jieba_cut": golden.Of(func(in struct{ Text string }) (any, error) {
			return metric.JiebaCut(in.Text), nil
		}),
		"longbench_qa_f1":                pair(func(got, want string) float64 { return metric.F1(got, want).F1 }),
		"longbench_qa_f1_zh":             pair(func(got, want string) float64 { return metric.F1Zh(got, want).F1 }),
		"longbench_count":                pair(metric.Count),
		"longbench_retrieval":            pairErr(metric.Retrieval),
		"longbench_retrieval_zh":         pairErr(metric.RetrievalZh),
		"longbench_code_sim_difflib":     pair(metric.CodeSimDifflib),
		"longbench_code_sim_levenshtein": pair(metric.CodeSimLevenshtein),
		"longbench_classification": golden.Of(func(in longBenchInput) (any, error) {
			return metric.Classification(in.Prediction, in.GroundTruth, in.AllClasses), nil
		}),
		"longbench_rouge":    pyROUGE(metric.LongBenchROUGE, func(s string) string { return s }),
		"longbench_rouge_zh": pyROUGE(metric.LongBenchROUGEZh, func(s string) string { return strings.Join(metric.JiebaCut(s), " ") }),

		"rouge_score":         golden.Of(func(in rougeInput) (any, error) { return in.scores(false), nil }),
		"rouge_score_stemmer": golden.Of(func(in rougeInput) (any, error) { return in.scores(true), nil }),
		"rouge_score_multi":   golden.Of(func(in rougeInput) (any, error) { return in.best(), nil }),
		"pltrdy_rouge":        golden.Of(pltrdy),

		"sacrebleu_sentence_bleu": golden.Of(func(in bleuInput) (any, error) {
			if in.Tokenize != "13a" || in.Lowercase || in.SmoothMethod != "exp" || !in.UseEffectiveOrder {
				return golden.Skip, nil
			}
			return map[string]any{"score": metric.BLEU(in.Hypothesis, in.References)}, nil
		}),

		"locomo_f1":               pair(metric.LoCoMoF1),
		"locomo_f1_multi":         pair(metric.LoCoMoF1Multi),
		"locomo_eval_qa":          golden.Of(locomoQA),
		"infinitebench_task_mean": golden.Of(infiniteMean),

		"squad_v11_dataset": golden.Of(squadDataset),
		"mem0_metrics":      golden.Of(mem0),

		"fuzzywuzzy_difflib":     golden.Of(fuzzy(text.DifflibRatio)),
		"fuzzywuzzy_levenshtein": golden.Of(fuzzy(text.InDelRatio)),
	}
	for _, task := range infiniteTasks {
		metrics["infinitebench_"+task] = golden.Of(func(in infiniteInput) (any, error) {
			return metric.InfiniteBench(task, in.Prediction, in.Label, in.ModelName)
		})
	}
	maps.Copy(metrics, nltkMetrics)
	golden.Test(t, metrics, golden.Options{})
}

// infiniteTasks are the twelve tasks of InfiniteBench.
var infiniteTasks = []string{
	"passkey", "number_string", "kv_retrieval", "longdialogue_qa_eng", "longbook_sum_eng",
	"longbook_choice_eng", "longbook_qa_eng", "longbook_qa_chn", "math_find", "math_calc",
	"code_run", "code_debug",
}

type pairInput struct {
	Prediction  string
	GroundTruth string `json:"ground_truth"`
}

func pair(f func(response, reference string) float64) golden.Metric {
	return pairErr(func(response, reference string) (float64, error) { return f(response, reference), nil })
}

func pairErr(f func(response, reference string) (float64, error)) golden.Metric {
	return golden.Of(func(in pairInput) (any, error) { return f(in.Prediction, in.GroundTruth) })
}

type longBenchInput struct {
	pairInput
	AllClasses []string `json:"all_classes"`
}

func pyROUGE(f func(response, reference string, upstream bool) float64, words func(string) string) golden.Metric {
	return golden.Of(func(in pairInput) (any, error) {
		// A text without a sentence has no result.
		r, _ := metric.NewPyRouge(words(in.Prediction), words(in.GroundTruth))
		return map[string]any{
			"score":           f(in.Prediction, in.GroundTruth, true),
			"score_unlimited": f(in.Prediction, in.GroundTruth, false),
			"recon_calls":     r.Depth,
		}, nil
	})
}

type rougeInput struct {
	Target, Prediction string
	Targets            []string
	UseStemmer         bool `json:"use_stemmer"`
}

func (in rougeInput) scores(stem bool) map[string]any {
	return map[string]any{
		"rouge1":    prf(metric.ROUGEN(in.Prediction, in.Target, 1, stem)),
		"rouge2":    prf(metric.ROUGEN(in.Prediction, in.Target, 2, stem)),
		"rougeL":    prf(metric.ROUGEL(in.Prediction, in.Target, stem)),
		"rougeLsum": prf(metric.ROUGELsum(in.Prediction, in.Target, stem)),
	}
}

func prf(s metric.PRF) map[string]any {
	return map[string]any{"precision": s.Precision, "recall": s.Recall, "fmeasure": s.F1}
}

// best returns, for each score, the first of the targets with the best F.
func (in rougeInput) best() any {
	var best map[string]any
	for _, in.Target = range in.Targets {
		scores := in.scores(in.UseStemmer)
		if best == nil {
			best = scores
			continue
		}
		for k, s := range scores {
			if s.(map[string]any)["fmeasure"].(float64) > best[k].(map[string]any)["fmeasure"].(float64) {
				best[k] = s
			}
		}
	}
	return best
}

func pltrdy(in struct {
	Hyp, Ref  string
	Exclusive bool
},
) (any, error) {
	if !in.Exclusive {
		return golden.Skip, nil
	}
	r, err := metric.NewPyRouge(in.Hyp, in.Ref)
	if err != nil {
		return nil, err
	}
	return map[string]any{"rouge-l": map[string]any{"r": r.L.Recall, "p": r.L.Precision, "f": r.L.F1}}, nil
}

type bleuInput struct {
	Hypothesis        string
	References        []string
	SmoothMethod      string `json:"smooth_method"`
	Lowercase         bool
	Tokenize          string
	UseEffectiveOrder bool `json:"use_effective_order"`
}

type locomoInput struct {
	Category          int
	Prediction        any
	Answer            any
	GroundTruths      []string `json:"ground_truths"`
	Evidence          []string
	PredictionContext []string `json:"prediction_context"`
}

func locomoQA(in locomoInput) (any, error) {
	if in.Answer == nil {
		return nil, errors.New("no answer")
	}
	response, ok := in.Prediction.(string)
	if !ok {
		return nil, fmt.Errorf("prediction %v", in.Prediction)
	}
	if in.PredictionContext != nil && len(in.PredictionContext) == 0 && len(in.Evidence) > 0 {
		return nil, errors.New("no context")
	}
	s, err := metric.LoCoMo(in.Category, response, text.Str(in.Answer))
	return map[string]any{"score": s, "recall": metric.LoCoMoRecall(in.Evidence, in.PredictionContext)}, err
}

type infiniteInput struct {
	Prediction  string
	Label       any
	ModelName   string `json:"model_name"`
	Task        string
	Predictions []string
	Labels      []any
}

func infiniteMean(in infiniteInput) (any, error) {
	sum := 0.0
	for i, p := range in.Predictions {
		s, err := metric.InfiniteBench(in.Task, p, in.Labels[i], in.ModelName)
		if err != nil {
			return nil, err
		}
		sum += s
	}
	if len(in.Predictions) == 0 {
		return math.NaN(), nil
	}
	return sum / float64(len(in.Predictions)), nil
}

func squadDataset(in struct {
	Questions []struct {
		ID      string
		Answers []string
	}
	Predictions map[string]string
},
) (any, error) {
	if len(in.Questions) == 0 {
		return nil, errors.New("no question to score")
	}
	exact, f1 := 0.0, 0.0
	for _, q := range in.Questions {
		response, ok := in.Predictions[q.ID]
		if !ok {
			continue
		}
		if len(q.Answers) == 0 {
			return nil, errors.New("no reference")
		}
		same, best := 0.0, 0.0
		for _, ref := range q.Answers {
			if text.SQuAD(ref) == text.SQuAD(response) {
				same = 1
			}
			best = max(best, metric.F1(response, ref).F1)
		}
		exact += same
		f1 += best
	}
	n := float64(len(in.Questions))
	return map[string]any{"exact_match": 100 * exact / n, "f1": 100 * f1 / n}, nil
}

func fuzzy(similarity func(a, b string) float64) func(in struct{ S1, S2 string }) (any, error) {
	return func(in struct{ S1, S2 string }) (any, error) {
		return map[string]any{"ratio": metric.FuzzyRatio(in.S1, in.S2, similarity)}, nil
	}
}

func mem0(in struct{ Prediction, Reference any }) (any, error) {
	response, reference := text.Str(in.Prediction), text.Str(in.Reference)
	return map[string]any{"f1": metric.Mem0F1(response, reference), "bleu1": metric.Mem0BLEU1(response, reference)}, nil
}
