// Package locomoplus implements the LoCoMo-Plus benchmark: LoCoMo's questions, and cues from
// which an assistant should remember something that nobody asks for (the category
// Cognitive). A model judges each answer with the prompt of its category.
//
// The source is github.com/xjtuleeyf/Locomo-Plus at commit 059f4e3, without a licence, so
// the prompts are read from the user's clone. File names in comments refer to its folder
// evaluation_framework/task_eval.
package locomoplus

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
	"deem/internal/text"
	"deem/judge"
)

// Name is the name of the benchmark and of its judge.
const Name = "locomo-plus"

// The readings.
const (
	Strict   = judge.Strict   // the label of a JSON object that the category offers
	Upstream = judge.Upstream // as llm_as_judge.py, which takes "incorrect" for correct
)

// readings returns the names of the readings, the default first.
func readings() []string { return []string{Strict, Upstream} }

// version is increased whenever a reading may give a different verdict.
const version = 1

// url is upstream's repository.
const url = "github.com/xjtuleeyf/Locomo-Plus"

// fallback is the category of items without one of the others.
const fallback = "default"

// sums are the SHA-256 of the prompts in prompt.py by category.
var sums = map[string]string{
	"multi-hop":    "6eba7bc55145d57a06c90fb96a9daf7965b68dbb480b975d2b1583b59124741a",
	"single-hop":   "e0cc6dfb7fb33aeafeed27e6db214eff15278738298384817479f09f5f5997d4",
	"temporal":     "f951d90c7a759c12eff5ceeb963129c2be79b529209b9fb2ddcfbafb2a40aa3d",
	"common-sense": "3147a06f69f3229233ecb367249c42afe6485d45c18957c6d2286a2eb28ea904",
	"adversarial":  "2a73bc69e8051121a6332c3fb14605574bacc3cb58173fdd72b5803f4bd40a69",
	"Cognitive":    "83875348ab831a4f2932457bc951d37654db9f77ecaf50e7a8aacf5ff566a08b",
	fallback:       "117bbafb8c4d388e5fe814a098851c361087497b515331b457e144bf1cffe9f9",
}

// scores are the labels and their scores; whole are the categories without a partial one.
var (
	scores = map[string]float64{"correct": 1, "partial": .5, "wrong": 0}
	whole  = []string{"temporal", "adversarial", "Cognitive"}
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: "LoCoMo's questions, and cues where an assistant should remember what nobody asks for", Kind: benchmark.KindMemory,
		Where: url, Licence: "none found", Readings: readings(),
		Params: []benchmark.Param{{Name: "repo", About: "a clone of " + url + ", from which the prompts are read"}},
		Judges: []string{Name},
		Judge: func(_ string, o benchmark.Options) (benchmark.Judge, error) {
			return benchmark.Cloned(o, Prompts, Protocol)
		},
		Open: func(ctx context.Context, o benchmark.Options) (benchmark.Set, error) {
			return benchmark.Join{
				Options: o, ID: []string{"id", "question_id"}, Response: rows.NamesAfter(rows.Response, "prediction"),
				Further: append(slices.Clone(questionColumns), "category", fieldEvidence, "ground_truth", "answer"), Key: key, Question: readQuestion,
			}.Open(ctx)
		},
		Metrics: func(context.Context, benchmark.Options) (benchmark.Metrics, error) {
			return &benchmark.Table{
				Benchmark: Name, Metric: "score", By: []string{"category"}, Group: func(it deem.Item, _ string) string { return it.Category },
			}, nil
		},
	}
}

// fieldEvidence is the column and the field with what the answer should draw on.
const fieldEvidence = "evidence"

var questionColumns = []string{"question", "trigger_query", "trigger"}

// key returns the id of a row without one.
func key(row *benchmark.Row) (string, bool) {
	parts := []string{benchmark.Text(row, "category"), benchmark.Text(row, fieldEvidence), goldOf(row), questionOf(row)}
	return benchmark.Digest(strings.Join(parts, "\n")), parts[1]+parts[3] != ""
}

func questionOf(row *benchmark.Row) string {
	if v, ok := benchmark.First(row, questionColumns...); ok {
		return v.Str()
	}
	return ""
}

func goldOf(row *benchmark.Row) string {
	return cmp.Or(benchmark.Text(row, "ground_truth"), benchmark.Text(row, "answer"))
}

func readQuestion(it *deem.Item, row *benchmark.Row) error {
	it.Question, it.Category = questionOf(row), cmp.Or(benchmark.Text(row, "category"), fallback)
	if gold := goldOf(row); gold != "" {
		it.References = []string{gold}
	}
	evidence := benchmark.Text(row, fieldEvidence)
	if it.Category == "Cognitive" && evidence == "" {
		return benchmark.At(row, "question %q has no evidence, and nothing else tells what to remember", it.ID)
	}
	benchmark.SetField(it, fieldEvidence, evidence)
	return nil
}

// Prompts reads the prompts from a clone of upstream's repository.
func Prompts(repo string) (map[string]string, error) {
	c := benchmark.Clone{Judge: Name, URL: url, At: "059f4e3d", Path: repo}
	prompts := map[string]string{}
	for category, sum := range sums {
		var err error
		if prompts[category], err = c.Python("evaluation_framework/task_eval/prompt.py", sum); err != nil {
			return nil, err
		}
	}
	return prompts, nil
}

// A P is the protocol under one reading.
type P struct {
	reading string
	prompts map[string]string
}

var _ judge.Readable = (*P)(nil)

// Protocol returns the protocol with the given prompts; "" means [Strict].
func Protocol(reading string, prompts map[string]string) (*P, error) {
	reading, err := benchmark.CheckReading(Name, reading, readings())
	if err != nil {
		return nil, err
	}
	return &P{reading, prompts}, nil
}

// Name returns the name of the judge.
func (p *P) Name() string { return Name }

// Reading returns the name of the current reading.
func (p *P) Reading() string { return p.reading }

// maxTokens is the length of a reply in llm_as_judge.py.
const maxTokens = 512

// Spec returns the prompts and the reading.
func (p *P) Spec() judge.Spec {
	return judge.Spec{
		Kind: judge.KindModel, Name: Name, Version: version, Reading: p.reading, Prompts: p.prompts,
		Params: &judge.Params{MaxTokens: maxTokens, Temperature: new(float64)},
	}
}

// FailuresWrong returns true under upstream's reading, which scores a reply without a label
// as 0.
func (p *P) FailuresWrong() bool { return p.reading == Upstream }

// Reread returns the protocol under the other reading.
func (p *P) Reread() judge.Readable {
	return &P{map[string]string{Upstream: Strict, Strict: Upstream}[p.reading], p.prompts}
}

// Request renders the prompt of the item's category.
func (p *P) Request(it deem.Item) (deem.Request, error) {
	prompt, ok := p.prompts[it.Category]
	if !ok {
		prompt = p.prompts[fallback]
	}
	gold := ""
	if len(it.References) > 0 {
		gold = it.References[0]
	}
	req := deem.Prompt(benchmark.Format(prompt, "gold", gold, "pred", it.Response, "evidence", it.Fields[fieldEvidence]))
	req.MaxTokens, req.Temperature = maxTokens, new(float64)
	return req, nil
}

// Read returns the label of a reply and its score.
func (p *P) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	if p.reading == Upstream {
		label, reason := readUpstream(reply.Text)
		if label = text.Lower(text.Strip(label)); label == "" {
			return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply has no label")
		}
		return deem.Verdict{Label: label, Score: scores[label], Reason: reason}, nil // Any other label is worth 0.
	}
	o, err := judge.ReadObject(it, reply.Text, "label")
	if err != nil {
		return deem.Verdict{}, err
	}
	labels := []string{"correct", "wrong", "partial"}
	if slices.Contains(whole, it.Category) {
		labels = labels[:2]
	}
	found, err := o.Label("label", labels)
	if err != nil {
		return deem.Verdict{}, err
	}
	return deem.Verdict{Label: found.Label, Score: scores[found.Label], Reason: o.Text("reason")}, nil
}

// object matches a label that stands before a reason.
var object = regexp.MustCompile(`\{[^{}]*"label"\s*:\s*["']([^"']+)["'][^{}]*"reason"\s*:\s*["']([^"']*)["']`)

// readUpstream corresponds to _parse_judge_response: an object by pattern, else as JSON,
// else the first of three words that occurs, also inside another word.
func readUpstream(reply string) (label, reason string) {
	reply = text.Strip(reply)
	if m := object.FindStringSubmatch(reply); m != nil {
		return m[1], text.Strip(m[2])
	}
	if o, err := text.Loads(reply); err == nil {
		said, isText := textOf(o["label"])
		why, isReason := textOf(o["reason"])
		if label = text.Strip(said); isText && isReason {
			return label, text.Strip(why)
		}
	}
	for _, word := range []string{"correct", "wrong", "partial"} {
		if strings.Contains(text.Lower(reply), word) {
			return word, reply
		}
	}
	return label, reply
}

// textOf returns the text of a value, where what Python takes for false is "".
func textOf(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok || v == nil || v == false
}
