package metric_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"deem/internal/golden"
	"deem/internal/text"
	"deem/internal/text/jieba"
	"deem/internal/text/metric"
)

func TestGolden(t *testing.T) {
	metrics := map[string]golden.Metric{
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
		"longbench_rouge_zh": pyROUGE(metric.LongBenchROUGEZh, func(s string) string { return strings.Join(jieba.Cut(s), " ") }),

		"rouge_score":         golden.Of(func(in rougeInput) (any, error) { return in.scores(false), nil }),
		"rouge_score_stemmer": golden.Of(func(in rougeInput) (any, error) { return in.scores(true), nil }),
		"rouge_score_multi":   golden.Of(func(in rougeInput) (any, error) { return in.best(), nil }),
		"pltrdy_rouge":        golden.Of(pltrdy),

		"sacrebleu_sentence_bleu": golden.Of(func(in bleuInput) (any, error) {
			return in.report(in.metric().Sentence(in.Hypothesis, in.sentence(t)))
		}),
		"sacrebleu_corpus_bleu": golden.Of(func(in bleuInput) (any, error) {
			return in.report(in.metric().Corpus(in.Hypotheses, in.corpus(t)))
		}),
		"sacrebleu_chrf": golden.Of(func(in bleuInput) (any, error) {
			return in.chrf().Sentence(in.Hypothesis, in.sentence(t))
		}),
		"sacrebleu_chrf_pp": golden.Of(func(in bleuInput) (any, error) {
			return in.chrf().Sentence(in.Hypothesis, in.sentence(t))
		}),
		"sacrebleu_corpus_chrf": golden.Of(func(in bleuInput) (any, error) {
			return in.chrf().Corpus(in.Hypotheses, in.corpus(t))
		}),

		"locomo_f1":          pair(metric.LoCoMoF1),
		"locomo_f1_multi":    pair(metric.LoCoMoF1Multi),
		"locomo_rougel":      pair(metric.LoCoMoROUGE),
		"locomo_exact_match": golden.Of(locomoExact),
		"locomo_eval_qa":     golden.Of(locomoQA),
		"locomo_cat5_answer": golden.Of(func(in locomoInput) (any, error) {
			return metric.LoCoMoChoice(in.ModelPrediction, in.AnswerKey["a"], in.AnswerKey["b"]), nil
		}),

		"locomo_has_answer": golden.Of(locomoHasAnswer),

		"infinitebench_task_mean": golden.Of(infiniteMean),

		"squad_v11_dataset": golden.Of(squadDataset),
		"mem0_metrics":      golden.Of(mem0),
	}
	for _, task := range metric.InfiniteBenchTasks() {
		metrics["infinitebench_"+task] = golden.Of(func(in infiniteInput) (any, error) {
			return metric.InfiniteBench(task, in.Prediction, in.Label, in.ModelName)
		})
	}
	const constant = "upstream gives it for an empty text alone, as 0"
	golden.Test(t, metrics, golden.Options{Left: map[string]string{
		"rouge1_f": constant, "rouge2_f": constant, "rougeL_f": constant,
		"bert_f1": constant, "meteor": constant, "sbert_similarity": constant,
	}})
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
		// Of a text without a sentence nothing is read out.
		r, _ := metric.NewPyRouge(words(in.Prediction), words(in.GroundTruth), true)
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

// best takes the first of the targets that gives the best F, for each score.
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
	r, err := metric.NewPyRouge(in.Hyp, in.Ref, in.Exclusive)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for name, s := range map[string]metric.PRF{"rouge-1": r.One, "rouge-2": r.Two, "rouge-l": r.L} {
		out[name] = map[string]any{"r": s.Recall, "p": s.Precision, "f": s.F1}
	}
	return out, nil
}

type bleuInput struct {
	Hypothesis        string
	Hypotheses        []string
	References        json.RawMessage
	SmoothMethod      string   `json:"smooth_method"`
	SmoothValue       *float64 `json:"smooth_value"`
	Lowercase         bool
	Tokenize          string
	UseEffectiveOrder bool `json:"use_effective_order"`

	CharOrder    int `json:"char_order"`
	WordOrder    int `json:"word_order"`
	Beta         float64
	Whitespace   bool
	EpsSmoothing bool `json:"eps_smoothing"`
}

func (in bleuInput) metric() metric.BLEU {
	return metric.BLEU{
		Tokenize: in.Tokenize, Lowercase: in.Lowercase, Smooth: in.SmoothMethod,
		SmoothValue: in.SmoothValue, EffectiveOrder: in.UseEffectiveOrder,
	}
}

func (in bleuInput) chrf() metric.ChrF {
	return metric.ChrF{
		CharOrder: in.CharOrder, WordOrder: in.WordOrder, Beta: in.Beta, Lowercase: in.Lowercase,
		Whitespace: in.Whitespace, EpsSmoothing: in.EpsSmoothing,
	}
}

func (in bleuInput) sentence(t *testing.T) []string {
	var refs []string
	if err := json.Unmarshal(in.References, &refs); err != nil {
		t.Fatal(err)
	}
	return refs
}

// corpus turns sets of references into lists by response. A null is not a reference.
func (in bleuInput) corpus(t *testing.T) [][]string {
	var sets [][]*string
	if err := json.Unmarshal(in.References, &sets); err != nil {
		t.Fatal(err)
	}
	list := make([][]string, len(in.Hypotheses))
	for i := range list {
		for _, set := range sets {
			if i < len(set) && set[i] != nil {
				list[i] = append(list[i], *set[i])
			}
		}
	}
	return list
}

func (in bleuInput) report(s metric.BLEUScore, err error) (any, error) {
	return map[string]any{
		"score": s.Score, "counts": s.Counts, "totals": s.Totals, "precisions": s.Precisions,
		"bp": s.BrevityPenalty, "sys_len": s.ResponseLength, "ref_len": s.ReferenceLength,
	}, err
}

type locomoInput struct {
	Category          int
	Prediction        any
	Answer            any
	GroundTruths      []string `json:"ground_truths"`
	Evidence          []string
	PredictionContext []string          `json:"prediction_context"`
	ModelPrediction   string            `json:"model_prediction"`
	AnswerKey         map[string]string `json:"answer_key"`
	Answers           []string
	Text              string
}

func locomoExact(in locomoInput) (any, error) {
	for _, ref := range in.GroundTruths {
		if metric.LoCoMoExact(text.Str(in.Prediction), ref) {
			return true, nil
		}
	}
	return false, nil
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

func locomoHasAnswer(in locomoInput) (any, error) {
	out := map[string]any{"has_answer": metric.LoCoMoHasAnswer(in.Text, in.Answers)}
	if utf8.RuneCountInString(in.Text) <= 400 { // The vectors list the words of short texts alone.
		out["text_tokens"] = metric.LoCoMoTokens(in.Text)
	}
	return out, nil
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
	var questions []metric.SQuADQuestion
	for _, q := range in.Questions {
		questions = append(questions, metric.SQuADQuestion{ID: q.ID, References: q.Answers})
	}
	exact, f1, err := metric.SQuAD(questions, in.Predictions)
	return map[string]any{"exact_match": exact, "f1": f1}, err
}

func mem0(in struct{ Prediction, Reference any }) (any, error) {
	s := metric.Mem0(text.Str(in.Prediction), text.Str(in.Reference))
	exact := 0
	if s.Exact {
		exact = 1
	}
	return map[string]any{
		"exact_match": exact, "f1": s.F1,
		"bleu1": s.BLEU[0], "bleu2": s.BLEU[1], "bleu3": s.BLEU[2], "bleu4": s.BLEU[3],
	}, nil
}
