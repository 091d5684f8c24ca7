package longmemeval

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/text"
	"deem/judge"
)

// The readings: ways in which a prompt is chosen and a reply becomes a verdict.
const (
	// Upstream follows evaluate_qa.py bug for bug: a reply is yes if "yes" stands
	// anywhere in it, and no otherwise.
	Upstream = "upstream"

	// Strict asks as upstream does and wants the reply to begin with the word yes
	// or no; anything else is a failure.
	Strict = "strict"

	// Seed follows the port in the astrocyte project: it finds abstention by the
	// type of the question and not by its id, allows 4 tokens, and wants the
	// reply to begin with the letters of yes or no.
	Seed = "seed"
)

// Readings returns the names of the readings, the default first.
func Readings() []string { return []string{Upstream, Strict, Seed} }

// readerVersion is raised when a reading may give another verdict than before, so
// that the judge's hash changes with it.
const readerVersion = 1

// The rules that say which questions get the abstention prompt.
const (
	abstentionByID   = "id contains " + abstentionMark
	abstentionByType = "type ends in " + abstentionMark
)

// abstentionPrompt is the name of the prompt for questions without an answer.
const abstentionPrompt = abstention

//go:embed prompts/*.txt
var promptFiles embed.FS

// promptOf names the prompt of each type.
var promptOf = map[string]string{
	"single-session-user":       "default",
	"single-session-assistant":  "default",
	"multi-session":             "default",
	"temporal-reasoning":        "temporal-reasoning",
	"knowledge-update":          "knowledge-update",
	"single-session-preference": "single-session-preference",
}

// A QA is the protocol of evaluate_qa.py under one reading. It is pure and may be
// used by several goroutines.
type QA struct{ id identity }

var _ judge.Readable = (*QA)(nil)

// identity is all that makes the protocol what it is, and all that is needed to
// ask and to read again.
type identity struct {
	Benchmark   string            `json:"benchmark"`
	Reading     string            `json:"reading"`
	Reader      int               `json:"reader_version"`
	Prompts     map[string]string `json:"prompts"`    // the bytes, by name
	Types       map[string]string `json:"types"`      // the prompt of each type
	Abstention  string            `json:"abstention"` // the rule for the abstention prompt
	MaxTokens   int               `json:"max_tokens"`
	Temperature float64           `json:"temperature"`
}

// Protocol returns the LongMemEval judge's protocol under the named reading; ""
// means [Upstream].
func Protocol(reading string) (*QA, error) {
	id := identity{
		Benchmark: Name, Reading: reading, Reader: readerVersion,
		Prompts: prompts(), Types: maps.Clone(promptOf), Abstention: abstentionByID, MaxTokens: 10,
	}
	switch reading {
	case "":
		id.Reading = Upstream
	case Upstream, Strict:
	case Seed:
		id.Abstention, id.MaxTokens = abstentionByType, 4
	default:
		return nil, fmt.Errorf("judge %s has no reading %q; it has %s", Name, reading, strings.Join(Readings(), ", "))
	}
	return &QA{id}, nil
}

// prompts returns the published prompts by name.
func prompts() map[string]string {
	all := map[string]string{}
	for _, name := range append(slices.Collect(maps.Values(promptOf)), abstentionPrompt) {
		b, err := promptFiles.ReadFile("prompts/" + name + ".txt")
		if err != nil {
			panic("longmemeval: a prompt is not embedded: " + err.Error())
		}
		all[name] = string(b)
	}
	return all
}

// Restore returns the protocol out of the identity of a judge, as a store or a
// bundle keeps it.
func Restore(judgeIdentity []byte) (*QA, error) {
	var of struct {
		Protocol identity `json:"protocol"`
	}
	if err := json.Unmarshal(judgeIdentity, &of); err != nil {
		return nil, fmt.Errorf("restore judge: %w", err)
	}
	if err := of.Protocol.check(); err != nil {
		return nil, fmt.Errorf("restore judge: %w", err)
	}
	return &QA{of.Protocol}, nil
}

// check reports an identity that this program cannot follow.
func (id identity) check() error {
	switch {
	case id.Benchmark != Name:
		return errors.New("this is no judge of " + Name)
	case id.Reader != readerVersion:
		return fmt.Errorf("its replies were read by version %d, and this deem reads by version %d", id.Reader, readerVersion)
	case !slices.Contains(Readings(), id.Reading):
		return fmt.Errorf("unknown reading %q", id.Reading)
	case id.Abstention != abstentionByID && id.Abstention != abstentionByType:
		return fmt.Errorf("unknown rule %q for the abstention prompt", id.Abstention)
	case id.MaxTokens < 1:
		return fmt.Errorf("%d tokens are no limit", id.MaxTokens)
	}
	for name, prompt := range id.Prompts {
		if strings.Count(prompt, "{}") != slots {
			return fmt.Errorf("prompt %q has not %d slots", name, slots)
		}
	}
	for _, name := range append(slices.Sorted(maps.Values(id.Types)), abstentionPrompt) {
		if id.Prompts[name] == "" {
			return fmt.Errorf("prompt %q is missing", name)
		}
	}
	return nil
}

// Name returns "longmemeval".
func (p *QA) Name() string { return Name }

// Reading returns the name of the reading in force.
func (p *QA) Reading() string { return p.id.Reading }

// Identity returns the bytes of all prompts, the rule that chooses among them, the
// parameters and the reading.
func (p *QA) Identity() any { return p.id }

// FailuresWrong reports whether the program behind the reading counts a reply that
// it cannot read as wrong. The seed does. Under upstream such replies are "no"
// verdicts already; what is unjudged there, upstream has no number for: it tries
// again without end, or it crashes.
func (p *QA) FailuresWrong() bool { return p.id.Reading == Seed }

// Reread returns the protocol under its other reading: strict, or upstream when
// strict is in force. Prompts and parameters stay what they are.
func (p *QA) Reread() judge.Readable {
	id := p.id
	id.Reading = Strict
	if p.id.Reading == Strict {
		id.Reading = Upstream
	}
	return &QA{id}
}

// WithMaxTokens returns the protocol with another limit of tokens, for models that
// think before they answer. It is another judge than the published one, and its
// identity says so.
func (p *QA) WithMaxTokens(n int) *QA {
	id := p.id
	id.MaxTokens = n
	return &QA{id}
}

// Request renders the prompt for it: one user message, as published.
func (p *QA) Request(it deem.Item) (deem.Request, error) {
	prompt, err := p.prompt(it)
	if err != nil {
		return deem.Request{}, err
	}
	switch {
	case it.Question == "":
		return deem.Request{}, deem.Failf(deem.Input, "the item has no question")
	case len(it.References) == 0:
		return deem.Request{}, deem.Failf(deem.Input, "the item has no reference")
	}
	req := deem.Prompt(fill(prompt, it.Question, reference(it.References), it.Response))
	req.MaxTokens = p.id.MaxTokens
	req.Temperature = &p.id.Temperature
	return req, nil
}

// prompt chooses the prompt for it.
func (p *QA) prompt(it deem.Item) (string, error) {
	abstains := isAbstention(it.ID)
	if p.id.Abstention == abstentionByType {
		abstains = strings.HasSuffix(it.Category, abstentionMark)
	}
	if abstains {
		return p.id.Prompts[abstentionPrompt], nil
	}
	name, ok := p.id.Types[it.Category]
	if !ok {
		return "", deem.Failf(deem.Input, "there is no prompt for %s", unknownType(it.Category))
	}
	return p.id.Prompts[name], nil
}

// reference returns the references as upstream writes the value that it read: the
// text of one, and several as Python writes a list.
func reference(refs []string) string {
	if len(refs) == 1 {
		return refs[0]
	}
	return text.Repr(refs)
}

// slots is how many slots each prompt has: question, reference and response.
const slots = 3

// fill puts the values into the slots in one pass, so that braces in a value stay
// text.
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
