package beam

import (
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/judge"
)

// readerVersion is increased whenever a reading may give a different verdict, so that the
// judge's hash changes too.
const readerVersion = 2

//go:embed prompts
var promptFiles embed.FS

// A P is one of the judges of BEAM under one reading: it asks about each rubric item and,
// for event ordering, about the order. It is deterministic and safe for concurrent use.
type P struct {
	name, reading string
	prompts       map[string]string
	params        judge.Params

	// zero counts a call without a score as 0, as the programs of the vendors do. It is
	// used only for their score, never for a verdict.
	zero bool
}

var (
	_ judge.Readable = (*P)(nil)
	_ judge.Dialogue = (*P)(nil)
)

// Protocol returns the protocol of [Mem0Name], [OmniName] or [UpstreamName]. Upstream's
// prompts are those of the options, or else those in the clone that the param "repo" names.
func Protocol(name string, o benchmark.Options) (*P, error) {
	reading, err := benchmark.CheckReading(name, o.Reading, Readings())
	if err != nil {
		return nil, err
	}
	p := &P{name: name, reading: reading, params: judge.Params{Temperature: new(float64)}}
	switch name {
	case Mem0Name:
		p.params.JSON, p.params.MaxTokens = true, 4096
		p.prompts = embedded(map[string]string{promptSystem: "mem0/system.txt", promptNugget: "mem0/nugget.fmt.txt"})
	case OmniName:
		p.prompts = embedded(map[string]string{
			promptSystem: "omnimemeval/system.txt", promptNugget: "omnimemeval/rubric.fmt.txt", promptOrdering: "omnimemeval/ordering.fmt.txt",
		})
	case UpstreamName:
		if p.prompts = o.Prompts; p.prompts != nil {
			return p, checkPinned(p.prompts)
		}
		p.prompts, err = readClone(o.With["repo"])
		return p, err
	default:
		return nil, fmt.Errorf("beam has no judge %q; it has %s", name, strings.Join(Judges(), ", "))
	}
	return p, nil
}

// embedded returns prompts by name.
func embedded(files map[string]string) map[string]string {
	prompts := map[string]string{}
	for name, file := range files {
		b, err := promptFiles.ReadFile("prompts/" + file)
		if err != nil {
			panic("beam: a prompt is not embedded: " + err.Error())
		}
		prompts[name] = string(b)
	}
	return prompts
}

// The prompts of the judges by name.
const (
	promptSystem    = "system"
	promptNugget    = "nugget"
	promptOrdering  = "ordering"
	promptSame      = "same"
	promptSameAsked = "same_system"
)

// pinned lists upstream's prompts: the file of each, and the SHA-256 of its text.
var pinned = []struct{ name, file, sha string }{
	{promptNugget, "src/prompts.py", "d349c9a8559bed9c14bfe2e624212225b09218ff864258a739229c15f4c8e869"},
	{promptSameAsked, "src/evaluation/compute_metrics.py", "0863c78c1b27d36c97bb7bfd2d4d6b88ef69b093e92bb4719e665527722413e2"},
	{promptSame, "src/evaluation/compute_metrics.py", "6bf789b815decbeb1c27f5058e2416c2a6e167724c0433b1da27b0abe5cc73df"},
}

// readClone reads upstream's prompts from a clone of its repository. They are found by
// their hash, so that only the published bytes are used.
func readClone(repo string) (map[string]string, error) {
	c := benchmark.Clone{Judge: UpstreamName, URL: "github.com/mohammadtavakoli78/BEAM", At: "b2a3ee8", Path: repo}
	prompts := map[string]string{}
	for _, p := range pinned {
		prompt, err := c.Python(p.file, p.sha)
		if err != nil {
			return nil, err
		}
		prompts[p.name] = prompt
	}
	return prompts, nil
}

// checkPinned rejects prompts that are not upstream's.
func checkPinned(prompts map[string]string) error {
	for _, p := range pinned {
		if fmt.Sprintf("%x", sha256.Sum256([]byte(prompts[p.name]))) != p.sha {
			return fmt.Errorf("the prompt %q is not the one of BEAM with the SHA-256 %s", p.name, p.sha)
		}
	}
	return nil
}

// Name returns the name of the judge.
func (p *P) Name() string { return p.name }

// Reading returns the name of the current reading.
func (p *P) Reading() string { return p.reading }

// Spec returns the bytes of the prompts, the reading and the parameters.
func (p *P) Spec() judge.Spec {
	params := p.params
	return judge.Spec{Kind: judge.KindModel, Name: p.name, Version: readerVersion, Reading: p.reading, Prompts: p.prompts, Params: &params}
}

// Reread returns the protocol under the reading to compare with. Under the fixed reading
// upstream's prompts are filled differently, so no other reading applies to the same
// replies.
func (p *P) Reread() judge.Readable {
	other := *p
	switch {
	case p.name == UpstreamName && p.reading == Fixed:
		return nil
	case p.reading != Upstream:
		other.reading = Upstream
	case p.name == UpstreamName:
		other.reading = Float
	default:
		other.reading = Fixed
	}
	return &other
}

// FailuresWrong returns false. The programs of the vendors count a rubric item with an
// unreadable reply as 0, which does not make the whole question wrong, and upstream's
// program stops.
func (p *P) FailuresWrong() bool { return false }

// Request returns the request about the first rubric item.
func (p *P) Request(it deem.Item) (deem.Request, error) {
	reqs, err := p.Requests(it)
	if err != nil {
		return deem.Request{}, err
	}
	return reqs[0], nil
}

// Read reads the reply to that request.
func (p *P) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	return p.readNugget(it, reply.Text)
}

func rubricOf(it deem.Item) ([]string, error) {
	rubric, err := judge.ParseCriteria(it.Fields[fieldRubric])
	if err != nil || len(rubric) == 0 {
		return nil, deem.Failf(deem.Input, "the item has no rubric")
	}
	return rubric, nil
}

// Requests returns the requests about the rubric and, for event ordering, those about the
// order. Upstream's judge compares lines with events until one matches, so the result is
// the maximum.
func (p *P) Requests(it deem.Item) ([]deem.Request, error) {
	rubric, err := rubricOf(it)
	if err != nil {
		return nil, err
	}
	ordering := it.Category == EventOrdering
	if ordering && p.name == OmniName {
		return []deem.Request{p.askPositions(it, rubric)}, nil
	}
	var reqs []deem.Request
	for _, item := range rubric {
		reqs = append(reqs, p.askNugget(it, item))
	}
	if ordering && p.name == UpstreamName {
		for _, line := range p.lines(it.Response) {
			for _, item := range rubric {
				reqs = append(reqs, p.sameEventRequest(item, line))
			}
		}
	}
	return reqs, nil
}

// asking makes one call and returns the reply.
type asking = func(deem.Request) (deem.Reply, error)

// Talk asks about each rubric item, and about the order of events.
func (p *P) Talk(it deem.Item, ask asking) (deem.Verdict, error) {
	rubric, err := rubricOf(it)
	if err != nil {
		return deem.Verdict{}, err
	}
	ordering := it.Category == EventOrdering
	if ordering && p.name == OmniName {
		return p.callAndRead(it, ask, p.askPositions(it, rubric), func(reply string) (deem.Verdict, error) { return readPositions(reply, len(rubric)) })
	}
	var o order
	if ordering && p.name == UpstreamName {
		if o, err = p.order(it, rubric, ask); err != nil {
			return deem.Verdict{}, err
		}
	}
	rule := judge.Criteria{Failed: "partial"} // The question is unjudged, but the vendors' own score needs the other items.
	if p.name == UpstreamName {
		rule = judge.Criteria{}
	}
	v, err := rule.Judge(rubric, func(i int) (deem.Verdict, error) {
		return p.callAndRead(it, ask, p.askNugget(it, rubric[i]), func(reply string) (deem.Verdict, error) { return p.readNugget(it, reply) })
	})
	failed := slices.IndexFunc(v.Parts, func(part deem.Part) bool { return part.Failure != nil })
	switch {
	case err != nil:
		return deem.Verdict{}, err
	case failed >= 0:
		f := v.Parts[failed].Failure
		return deem.Verdict{}, &deem.Failure{Kind: f.Kind, Detail: fmt.Sprintf("criterion %d of %d: %s", failed+1, len(rubric), f.Detail)}
	case p.name == Mem0Name:
		pass := v.Score >= 0.5
		v.Pass, v.Label, v.Score = &pass, "FAIL", text.Round(v.Score, 4)
		if pass {
			v.Label = "PASS"
		}
	case ordering && p.name == UpstreamName:
		v.Aspects = map[string]float64{
			"precision": o.precision, "recall": o.recall, "f1": o.f1, "tau_norm": o.tau, "final_score": o.final,
			"llm_judge_score": v.Score,
		}
		if v.Score = o.tau; p.reading == Fixed {
			v.Score = o.final
		}
	}
	return v, nil
}

// order aligns the lines of the response with the rubric and scores their order.
func (p *P) order(it deem.Item, rubric []string, ask asking) (order, error) {
	lines, read := p.lines(it.Response), saysYes
	if p.reading == Fixed {
		read = clearlySays
	}
	aligned, err := align(rubric, lines, func(item, line int) (bool, error) {
		v, err := p.callAndRead(it, ask, p.sameEventRequest(rubric[item], lines[line]), read)
		return v.Score == 1, err
	})
	if err != nil {
		return order{}, err
	}
	if p.reading == Fixed {
		return fixedOrder(rubric, aligned), nil
	}
	o, err := orderOf(rubric, aligned)
	if err != nil {
		return o, deem.Failf(deem.OutOfRange, "%v", err)
	}
	return o, nil
}

// lines returns the lines of a response that may be events. Upstream uses all lines.
func (p *P) lines(response string) []string {
	lines := strings.Split(response, "\n")
	if p.reading == Fixed {
		lines = slices.DeleteFunc(lines, func(line string) bool { return !isEvent(line) })
	}
	return lines
}

// A parserProtocol is the protocol with a different parser.
type parserProtocol struct {
	*P
	read func(reply string) (deem.Verdict, error)
}

func (h parserProtocol) Read(_ deem.Item, reply deem.Reply) (deem.Verdict, error) {
	return h.read(reply.Text)
}

// callAndRead makes one call and reads the reply. An empty reply is a failure.
func (p *P) callAndRead(it deem.Item, ask asking, req deem.Request, read func(string) (deem.Verdict, error)) (deem.Verdict, error) {
	reply, err := ask(req)
	var v deem.Verdict
	if err == nil {
		v, err = judge.Read(parserProtocol{p, read}, it, reply)
	}
	if _, failed := errors.AsType[*deem.Failure](err); failed && p.zero {
		return deem.Verdict{Label: "none"}, nil
	}
	return v, err
}

// readNugget reads the reply about one rubric item.
func (p *P) readNugget(it deem.Item, reply string) (deem.Verdict, error) {
	switch {
	case p.reading == Fixed, p.reading == Float && p.name != UpstreamName:
		return offered(it, reply, p.reading == Float)
	case p.name == Mem0Name:
		return readMem0(reply)
	case p.name == OmniName:
		return readOmni(reply)
	}
	return readUpstream(reply, p.reading == Upstream && it.Category != EventOrdering)
}

// askNugget renders the prompt about one rubric item.
func (p *P) askNugget(it deem.Item, item string) deem.Request {
	if p.name != UpstreamName {
		return p.request(p.prompts[promptSystem], benchmark.Format(p.prompts[promptNugget],
			"question", it.Question, "nugget", item, "rubric_item", item, "llm_response", it.Response, "response", it.Response))
	}
	// Upstream replaces one mark after the other, so a mark inside a value is filled
	// again.
	prompt := p.prompts[promptNugget]
	if p.reading == Fixed {
		prompt = strings.NewReplacer("<question>", it.Question, "<rubric_item>", item, "<llm_response>", it.Response).Replace(prompt)
	} else {
		prompt = strings.ReplaceAll(strings.ReplaceAll(prompt, "<rubric_item>", item), "<llm_response>", it.Response)
	}
	return p.request("", prompt)
}

// askPositions renders the prompt about the positions of all events.
func (p *P) askPositions(it deem.Item, rubric []string) deem.Request {
	list := make([]string, len(rubric))
	for i, item := range rubric {
		list[i] = fmt.Sprintf("%d. %s", i+1, item)
	}
	return p.request(p.prompts[promptSystem], benchmark.Format(p.prompts[promptOrdering],
		"question", it.Question, "reference_ordering", strings.Join(list, "\n"), "response", it.Response))
}

// sameEventRequest renders the prompt that compares an event with a line of the response.
func (p *P) sameEventRequest(item, line string) deem.Request {
	return p.request(p.prompts[promptSameAsked], benchmark.Format(p.prompts[promptSame], "first_paragraph", item, "second_paragraph", line))
}

func (p *P) request(system, user string) deem.Request {
	var messages []deem.Message
	if system != "" {
		messages = append(messages, deem.Message{Role: "system", Content: system})
	}
	return deem.Request{
		Messages:    append(messages, deem.Message{Role: "user", Content: user}),
		Temperature: p.params.Temperature, MaxTokens: p.params.MaxTokens, JSON: p.params.JSON,
	}
}
