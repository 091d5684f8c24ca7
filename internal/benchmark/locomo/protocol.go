package locomo

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"deem"
	"deem/internal/benchmark"
	"deem/judge"
)

// The names of deem's own LLM judges. The folder judges also contains those published by
// vendors; see [Vendors].
const (
	StrictName     = "locomo/strict"     // every fact of the reference, and no contradiction
	LenientName    = "locomo/lenient"    // the same answer; coarser dates and other wording are allowed
	AbstentionName = "locomo/abstention" // category 5: whether the response declines
)

//go:embed judges/*.yaml prompts/*.txt
var files embed.FS

// declarations returns the declared judges of the benchmark by name.
var declarations = sync.OnceValue(func() map[string]*judge.Declaration { return benchmark.Declared(files) })

// Declared returns a new copy of the named declared judge, or nil.
func Declared(name string) *judge.Declaration {
	d, ok := declarations()[name]
	if !ok {
		return nil
	}
	return new(*d)
}

// Vendors returns the names of the judges published by vendors.
func Vendors() []string {
	own := []string{StrictName, LenientName, AbstentionName}
	return slices.DeleteFunc(benchmark.DeclaredNames(files, Name), func(name string) bool { return slices.Contains(own, name) })
}

// A QA is a declared judge for categories 1 to 4 with a policy for category 5. It is
// deterministic and safe for concurrent use.
type QA struct {
	policy     Policy
	main       judge.Readable
	abstention judge.Readable // nil unless the policy needs a model
	unshown    judge.Readable // for items without evidence; nil unless the judge is shown evidence
}

var (
	_ judge.Readable = (*QA)(nil)
	_ judge.Decider  = (*QA)(nil)
)

// Protocol returns the named LLM judge under one of its readings, "" meaning the default
// one, with the policy for category 5, "" meaning [Excluded].
func Protocol(name, reading string, category5 Policy) (*QA, error) {
	d := Declared(name)
	if d == nil || name == AbstentionName {
		return nil, fmt.Errorf("LoCoMo has no judge %q that asks a model", name)
	}
	policy, err := ParsePolicy(string(category5))
	if err != nil {
		return nil, err
	}
	if d.Vendor == "" && slices.Contains(Readings(), reading) {
		reading = "" // a reading of the rule; these judges have only one
	}
	p := &QA{policy: policy}
	if p.main, err = d.Protocol(reading); err != nil {
		return nil, err
	}
	if plain, ok := strings.CutSuffix(d.Name, evidenceSuffix); ok {
		if p.unshown, err = Declared(plain).Protocol(reading); err != nil {
			return nil, err
		}
	}
	if policy == Abstention {
		a := Declared(AbstentionName)
		a.Params = d.Params
		p.abstention, err = a.Protocol("")
	}
	return p, err
}

// evidenceSuffix ends the name of a judge that is shown the evidence. Without the suffix it
// is the name of the judge for items without evidence.
const evidenceSuffix = "-evidence"

// ShowsEvidence reports whether a judge is shown the evidence.
func ShowsEvidence(name string) bool { return strings.HasSuffix(name, evidenceSuffix) }

// Spec returns the declaration, the policy, and the prompt for category 5, if any.
func (p *QA) Spec() judge.Spec {
	s := p.main.Spec()
	s.Options = map[string]string{"category5": string(p.policy)}
	s.Prompts = map[string]string{}
	if p.abstention != nil {
		s.Prompts["abstention"] = p.abstention.Spec().Declaration.Prompt
	}
	if p.unshown != nil {
		s.Prompts["without evidence"] = p.unshown.Spec().Declaration.Prompt
	}
	return s
}

// Name returns the name of the judge for categories 1 to 4.
func (p *QA) Name() string { return p.main.Name() }

// Reading returns the name of the current reading.
func (p *QA) Reading() string { return p.main.Reading() }

// FailuresWrong returns the FailuresWrong field of the declaration.
func (p *QA) FailuresWrong() bool { return p.main.FailuresWrong() }

// Reread returns the judge under the other reading of its declaration, or nil if it has
// only one.
func (p *QA) Reread() judge.Readable {
	other := p.main.Reread()
	if other == nil {
		return nil
	}
	twin := *p
	twin.main = other
	if p.unshown != nil {
		twin.unshown = p.unshown.Reread() // It has the same readings.
	}
	return &twin
}

// Decide returns upstream's verdict on an item of category 5 under the policy [Phrases].
// Everything else needs a call.
func (p *QA) Decide(it deem.Item) (deem.Verdict, bool) {
	if it.Category != Adversarial || p.policy != Phrases {
		return deem.Verdict{}, false
	}
	return phrases(it), true
}

// Request renders the prompt for an item.
func (p *QA) Request(it deem.Item) (deem.Request, error) {
	d, err := p.declared(it)
	if err != nil {
		return deem.Request{}, err
	}
	return d.Request(it)
}

// Read returns the verdict that the reply gives on the item.
func (p *QA) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	d, err := p.declared(it)
	if err != nil {
		return deem.Verdict{}, err
	}
	return d.Read(it, reply)
}

func (p *QA) declared(it deem.Item) (judge.Readable, error) {
	switch {
	case it.Category != Adversarial && p.unshown != nil && it.Fields[EvidenceTextField] == "":
		return p.unshown, nil
	case it.Category != Adversarial:
		return p.main, nil
	case p.policy == Abstention:
		return p.abstention, nil
	case p.policy == Phrases:
		return nil, deem.Failf(deem.Input, "category 5 is decided by phrases and not asked")
	default:
		return nil, left()
	}
}
