package locomo

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"deem"
	"deem/judge"
)

// The names of the judges that ask a model. Their prompts are our own, and neither
// is the prompt that Mem0 published and others copied.
const (
	StrictName     = "locomo/strict"     // every fact of the reference, and nothing against it
	LenientName    = "locomo/lenient"    // the same answer, coarser dates and wording allowed
	AbstentionName = "locomo/abstention" // category 5: whether the response declines
)

//go:embed judges/*.yaml prompts/*.txt
var files embed.FS

// Judges returns the declared judges of the benchmark by name, fresh copies each
// time.
func Judges() map[string]*judge.Declaration {
	all := map[string]*judge.Declaration{}
	for _, name := range []string{StrictName, LenientName, AbstentionName} {
		all[name] = mustParse(name)
	}
	return all
}

// mustParse reads an embedded judge, which a test has read before.
func mustParse(name string) *judge.Declaration {
	file := "judges/" + strings.TrimPrefix(name, Name+"/") + ".yaml"
	data, err := files.ReadFile(file)
	if err != nil {
		panic("locomo: a judge is not embedded: " + err.Error())
	}
	d, err := judge.Parse(file, data, func(prompt string) ([]byte, error) {
		return files.ReadFile(path.Join(path.Dir(file), prompt))
	})
	if err != nil {
		panic("locomo: " + err.Error())
	}
	return d
}

// A QA is a declared judge for categories 1 to 4 with a policy for category 5. It
// is pure and may be used by several goroutines.
type QA struct {
	policy     Policy
	main       *judge.Declared
	abstention *judge.Declared // nil unless the policy asks
}

var (
	_ judge.Readable = (*QA)(nil)
	_ judge.Decider  = (*QA)(nil)
)

// Protocol returns the judge of that name, [StrictName] or [LenientName], with the
// policy for category 5, "" meaning [Excluded].
func Protocol(name string, category5 Policy) (*QA, error) {
	if name != StrictName && name != LenientName {
		return nil, fmt.Errorf("no judge %q with a policy for category 5; there are %s, %s", name, StrictName, LenientName)
	}
	return newQA(mustParse(name), category5)
}

// newQA returns the judge that a declaration makes with a policy for category 5.
func newQA(d *judge.Declaration, category5 Policy) (*QA, error) {
	policy, err := ParsePolicy(string(category5))
	if err != nil {
		return nil, err
	}
	p := &QA{policy: policy}
	if p.main, err = d.Protocol(""); err != nil {
		return nil, err
	}
	if policy == Abstention {
		a := mustParse(AbstentionName)
		a.Params = d.Params
		p.abstention, err = a.Protocol("")
	}
	return p, err
}

// Spec returns the declaration, the policy, and the prompt for category 5 if there is one.
func (p *QA) Spec() judge.Spec {
	s := p.main.Spec()
	s.Options = map[string]string{"category5": string(p.policy)}
	if p.abstention != nil {
		s.Prompts = map[string]string{"abstention": p.abstention.Declaration().Prompt}
	}
	return s
}

// Name returns the name of the judge for categories 1 to 4.
func (p *QA) Name() string { return p.main.Name() }

// Reading returns the name of the reading in force.
func (p *QA) Reading() string { return p.main.Reading() }

// Category5 returns the policy.
func (p *QA) Category5() Policy { return p.policy }

// FailuresWrong returns false: no published program stands behind these judges.
func (p *QA) FailuresWrong() bool { return p.main.FailuresWrong() }

// Reread returns the judge under the other reading of its declaration, or nil if
// that has only one.
func (p *QA) Reread() judge.Readable {
	other, ok := p.main.Reread().(*judge.Declared)
	if !ok {
		return nil
	}
	return &QA{policy: p.policy, main: other, abstention: p.abstention}
}

// Decide gives upstream's verdict on an item of category 5 under the policy
// [Phrases]. Everything else must be asked.
func (p *QA) Decide(it deem.Item) (deem.Verdict, bool) {
	if it.Category != Adversarial || p.policy != Phrases {
		return deem.Verdict{}, false
	}
	return phrases(it), true
}

// Request renders the prompt for it.
func (p *QA) Request(it deem.Item) (deem.Request, error) {
	d, err := p.declared(it)
	if err != nil {
		return deem.Request{}, err
	}
	return d.Request(it)
}

// Read returns the verdict on it that the reply gives.
func (p *QA) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	d, err := p.declared(it)
	if err != nil {
		return deem.Verdict{}, err
	}
	return d.Read(it, reply)
}

// declared returns the protocol that asks about it.
func (p *QA) declared(it deem.Item) (*judge.Declared, error) {
	switch {
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

// JudgeNames returns the names of the judges of the benchmark: the rule, and those
// that ask a model.
func JudgeNames() []string {
	return append([]string{F1Name}, slices.Sorted(maps.Keys(Judges()))...)
}
