package longmemeval

import (
	"embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/judge"
)

// The readings: how a prompt is chosen and a reply becomes a verdict.
const (
	// Upstream follows evaluate_qa.py, including its bugs: a reply is yes if it
	// contains "yes" anywhere, and no otherwise.
	Upstream = "upstream"

	// Strict asks as upstream does, but the reply must begin with the word yes or no;
	// anything else is a failure.
	Strict = "strict"

	// Seed follows the port in the astrocyte project: it detects abstention by the type
	// of the question, not by its id, allows 4 tokens, and requires the reply to begin
	// with the letters of yes or no.
	Seed = "seed"
)

// Readings returns the names of the readings, the default first.
func Readings() []string { return []string{Upstream, Strict, Seed} }

// readerVersion is increased whenever a reading, or the choice of a prompt, may give a
// different verdict, so that the judge's hash changes too.
const readerVersion = 2

// The rules that select the questions for the abstention prompt.
const (
	abstentionByID   = "id contains " + abstentionMark
	abstentionByType = "type ends in " + abstentionMark
)

// abstentionPrompt is the name of the prompt for unanswerable questions.
const abstentionPrompt = abstention

//go:embed prompts/*.txt
var promptFiles embed.FS

// promptOf maps each type to its prompt.
var promptOf = map[string]string{
	"single-session-user":       "default",
	"single-session-assistant":  "default",
	"multi-session":             "default",
	"temporal-reasoning":        "temporal-reasoning",
	"knowledge-update":          "knowledge-update",
	"single-session-preference": "single-session-preference",
}

// A QA is the protocol of evaluate_qa.py under one reading. It is deterministic and safe
// for concurrent use.
type QA struct {
	reading    string
	prompts    map[string]string // the bytes, by name
	abstention string            // the rule for the abstention prompt
	maxTokens  int
}

var _ judge.Readable = (*QA)(nil)

// Protocol returns the protocol of the LongMemEval judge under the named reading; "" means
// [Upstream].
func Protocol(reading string) (*QA, error) {
	reading, err := benchmark.CheckReading(Name, reading, Readings())
	if err != nil {
		return nil, err
	}
	p := &QA{reading: reading, prompts: map[string]string{}, abstention: abstentionByID, maxTokens: 10}
	if reading == Seed {
		p.abstention, p.maxTokens = abstentionByType, 4
	}
	all := benchmark.Embedded(promptFiles)
	for _, name := range append(slices.Collect(maps.Values(promptOf)), abstentionPrompt) {
		p.prompts[name] = all[name]
	}
	return p, nil
}

// Name returns "longmemeval".
func (p *QA) Name() string { return Name }

// Reading returns the name of the current reading.
func (p *QA) Reading() string { return p.reading }

// Spec returns the bytes of all prompts, the rule that chooses among them, the parameters
// and the reading.
func (p *QA) Spec() judge.Spec {
	return judge.Spec{
		Kind: judge.KindModel, Name: Name, Version: readerVersion, Reading: p.reading, Prompts: p.prompts,
		Options: map[string]string{"abstention": p.abstention}, Params: &judge.Params{MaxTokens: p.maxTokens, Temperature: new(float64)},
	}
}

// FailuresWrong reports whether the program behind the reading counts an unreadable reply
// as wrong. The seed does. Under upstream such replies are "no" verdicts already; for
// unjudged items upstream has no score, because it retries without end or crashes.
func (p *QA) FailuresWrong() bool { return p.reading == Seed }

// Reread returns the protocol under its other reading: strict, or upstream if the current
// one is strict. Prompts and parameters do not change.
func (p *QA) Reread() judge.Readable {
	other := *p
	if other.reading = Strict; p.reading == Strict {
		other.reading = Upstream
	}
	return &other
}

// Request renders the prompt for an item: one user message, as published.
func (p *QA) Request(it deem.Item) (deem.Request, error) {
	abstains := isAbstention(it.ID)
	if p.abstention == abstentionByType {
		abstains = strings.HasSuffix(it.Category, abstentionMark)
	}
	name, ok := promptOf[it.Category]
	if abstains {
		name = abstentionPrompt
	}
	switch {
	case !ok && !abstains:
		return deem.Request{}, deem.Failf(deem.Input, "there is no prompt for %s", unknownType(it.Category))
	case it.Question == "":
		return deem.Request{}, deem.Failf(deem.Input, "the item has no question")
	case len(it.References) == 0:
		return deem.Request{}, deem.Failf(deem.Input, "the item has no reference")
	}
	// Upstream formats a single reference unchanged, and several as a Python list.
	reference := it.References[0]
	if len(it.References) > 1 {
		reference = text.Repr(it.References)
	}
	req := deem.Prompt(fill(p.prompts[name], it.Question, reference, it.Response))
	req.MaxTokens = p.maxTokens
	req.Temperature = new(float64)
	return req, nil
}

// fill puts the values into the slots in one pass, so that braces in a value stay text.
func fill(prompt string, values ...string) string {
	var b strings.Builder
	for _, value := range values {
		before, rest, _ := strings.Cut(prompt, "{}")
		b.WriteString(before)
		b.WriteString(value)
		prompt = rest
	}
	return b.String() + prompt
}

//go:embed judges/*.yaml prompts/mem0.txt
var vendorFiles embed.FS

// Vendors returns the judges that vendors published for the benchmark, by name.
var Vendors = sync.OnceValue(func() map[string]*judge.Declaration { return benchmark.Declared(vendorFiles) })
