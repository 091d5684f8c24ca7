package personamem

import (
	"regexp"
	"strconv"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/judge"
)

// Choice returns the judge of chosen options under a reading; "" means [Upstream].
func Choice(reading string) (deem.Judge, error) {
	reading, err := benchmark.CheckReading(ChoiceName, reading, Readings())
	if err != nil {
		return nil, err
	}
	by := map[string]string{Upstream: benchmark.ChoicePersonaMem, OmniMemEval: benchmark.ChoiceOmniMemEval, Strict: benchmark.ChoiceStrict}[reading]
	return benchmark.NewChoice(by, ChoiceName, reading), nil
}

// The SHA-256 of JUDGE_PROMPT_NARROW_POSITIVE and JUDGE_PROMPT_NARROW_NEGATIVE in
// inference_utils.py.
const (
	positiveSum = "f462671eceeb4ef07610b3e13afc8312c6622def032539062951b584375e87b5"
	negativeSum = "1f0d8e0276fd4059e2364fb1da57ce89a12550629933901f96aaa84493427a0f"
)

// The names of the prompts.
const (
	positive = "positive"
	negative = "negative" // for a preference against personalisation
)

// readerVersion is increased whenever a reading may give a different verdict.
const readerVersion = 2

// Prompts reads the prompts for open answers from a clone of upstream's repository.
func Prompts(repo string) (map[string]string, error) {
	r := benchmark.Clone{Judge: OpenName, URL: "github.com/bowen-upenn/PersonaMem-v2", At: "fc1603041d3520b97fec6d073c1c234b5a191347", Path: repo}
	yes, err := r.Python("inference_utils.py", positiveSum)
	if err != nil {
		return nil, err
	}
	no, err := r.Python("inference_utils.py", negativeSum)
	return map[string]string{positive: yes, negative: no}, err
}

// OpenAnswers is the protocol of open answers under one reading.
type OpenAnswers struct {
	reading string
	prompts map[string]string
}

var _ judge.Readable = (*OpenAnswers)(nil)

// Protocol returns the protocol of open answers with the given prompts.
func Protocol(reading string, prompts map[string]string) (*OpenAnswers, error) {
	reading, err := benchmark.CheckReading(OpenName, reading, []string{Upstream, Strict})
	if err != nil {
		return nil, err
	}
	return &OpenAnswers{reading, prompts}, nil
}

// Name returns "personamem/open".
func (p *OpenAnswers) Name() string { return OpenName }

// Reading returns the name of the current reading.
func (p *OpenAnswers) Reading() string { return p.reading }

// Spec returns the prompts and the reading.
func (p *OpenAnswers) Spec() judge.Spec {
	return judge.Spec{Kind: judge.KindModel, Name: OpenName, Version: readerVersion, Reading: p.reading, Prompts: p.prompts}
}

// FailuresWrong returns true under upstream's reading: its program scores a reply without a
// number as 0.
func (p *OpenAnswers) FailuresWrong() bool { return p.reading == Upstream }

// Reread returns the protocol under the other reading.
func (p *OpenAnswers) Reread() judge.Readable {
	other := map[string]string{Upstream: Strict, Strict: Upstream}[p.reading]
	return &OpenAnswers{other, p.prompts}
}

// Request renders the prompt for the preference.
func (p *OpenAnswers) Request(it deem.Item) (deem.Request, error) {
	preference, ok := it.Fields[fieldPreference]
	switch {
	case !ok:
		return deem.Request{}, deem.Failf(deem.Input, "the item has no preference")
	case strings.HasPrefix(it.Response, "ERROR:"):
		return deem.Request{}, deem.Failf(deem.Input, "the response is an error of the system, which upstream leaves out: %.60s", it.Response)
	case it.Fields[benchmark.OptionsField] != "":
		return deem.Request{}, deem.Failf(deem.Input, "the response takes an option, which is judged by %s", ChoiceName)
	}
	name := positive
	if strings.HasPrefix(strings.ToLower(preference), "do not") {
		name = negative
	}
	return deem.Prompt(benchmark.Format(p.prompts[name], "user_query", it.Question, "preference", preference, "model_response", it.Response)), nil
}

// The patterns of extract_judge_decision in inference_utils.py, in order.
var (
	boxed = []*regexp.Regexp{
		regexp.MustCompile(`\\boxed\{([0-9]*\.?[0-9]+)\}`),
		regexp.MustCompile(`\\boxed\s*\{([0-9]*\.?[0-9]+)\}`),
	}
	scored = []*regexp.Regexp{
		regexp.MustCompile(`(?i)score[:\s]+([0-9]*\.?[0-9]+)`),
		regexp.MustCompile(`(?i)rating[:\s]+([0-9]*\.?[0-9]+)`),
		regexp.MustCompile(`([0-9]*\.[0-9]+)\s*/\s*1\.?0?`),
	}
)

// Read returns the score. Upstream's reading clamps a boxed number to the scale and, if
// there is none, looks for other numbers; the strict one requires one boxed number on the
// scale that does not stand in the item's own texts.
func (p *OpenAnswers) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	score, err := readUpstream(reply.Text)
	if p.reading != Upstream {
		score, err = readStrictly(it, reply.Text)
	}
	if err != nil {
		return deem.Verdict{}, err
	}
	return deem.Verdict{Label: "scored", Score: score}, nil
}

// readUpstream corresponds to extract_judge_decision.
func readUpstream(reply string) (float64, error) {
	for _, pattern := range boxed {
		if m := pattern.FindStringSubmatch(reply); m != nil {
			if score, err := strconv.ParseFloat(m[1], 64); err == nil {
				return min(score, 1), nil
			}
		}
	}
	for _, pattern := range scored {
		if m := pattern.FindStringSubmatch(reply); m != nil {
			if score, err := strconv.ParseFloat(m[1], 64); err == nil && score <= 1 {
				return score, nil
			}
		}
	}
	return 0, errUnboxed
}

var errUnboxed = deem.Failf(deem.Unparseable, "the reply has no score in \\boxed{}")

// readStrictly reads the one boxed number.
func readStrictly(it deem.Item, reply string) (float64, error) {
	said := ""
	for _, m := range boxed[1].FindAllStringSubmatch(judge.Answer(reply), -1) {
		switch {
		case said != "" && m[1] != said:
			return 0, deem.Failf(deem.Contradictory, "the reply boxes %s and %s", said, m[1])
		case judge.Quotes(it, m[0]):
			return 0, deem.Failf(deem.Contradictory, "%s also stands in the item", m[0])
		}
		said = m[1]
	}
	if said == "" {
		return 0, errUnboxed
	}
	score, err := strconv.ParseFloat(said, 64)
	if err != nil || score > 1 {
		return 0, deem.Failf(deem.OutOfRange, "%s is above 1", said)
	}
	return score, nil
}
