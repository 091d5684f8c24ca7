package judge

import (
	"strings"

	"deem"
	"deem/internal/text"
)

// A way is a parser of replies that finds a label, numbers, or either.
type way struct {
	label   func(p *declaredProtocol, r Reader, s said) (found, error)
	numbers func(p *declaredProtocol, r Reader, s said) (found, error)
}

// said is a reply prepared for parsing.
type said struct {
	raw    string // the unchanged reply
	body   string // without the model's reasoning, and with quotes from the response blanked
	offset int    // of body in raw, -1 if it is not contiguous
}

// found is the result of a parser.
type found struct {
	label   string
	start   int // of the label in body, -1 if unknown
	numbers map[string]float64
	reason  string
	whole   bool // part of a complete structure, so that truncation after it does not matter
}

// ways are the parsers of replies, by name.
var ways = map[string]way{
	// exact: the reply is only the label, in any case.
	"exact": {label: readExact},
	// label: the one label that the reply clearly states.
	"label": {label: readLabel},
	// json: a JSON object somewhere in the reply; for numbers also "name: 8".
	"json": {label: readJSONLabel, numbers: readJSONNumbers},
	// ladder: strict JSON, else from the first { to the last }, else "name: 8". Numbers
	// are clamped to their scale, as in the published rubric judge.
	"ladder": {numbers: readLadder},
	// loads: the label in JSON, parsed like Python's json.loads, as published programs
	// do.
	"loads": {label: readLoads},
	// last: the last line that is a label, else the last label in the text after the
	// model's reasoning, else the label at the beginning of the reply.
	"last": {label: readLast},
	// rating: the last [[8]] or "Rating: 8".
	"rating": {numbers: readRating},
}

// Read returns the verdict that the reply gives on the item under the protocol's reading.
func (p *declaredProtocol) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	if c := p.decl.Criteria; c != nil && !c.each() {
		return p.readTogether(it, reply)
	}
	return p.readOne(it, reply)
}

// readOne reads a reply about the item as a whole, or about one criterion.
func (p *declaredProtocol) readOne(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	r := p.decl.Readings[p.reading]
	w := ways[r.How]
	read := w.label
	if len(p.decl.Aspects) > 0 {
		read = w.numbers
	}
	s := listen(reply.Text, it.Response)
	f, err := read(p, r, s)
	switch {
	case err != nil:
		return deem.Verdict{}, err
	case reply.Stop == deem.StopLength && p.reading == Strict && !f.whole:
		return deem.Verdict{}, deem.Failf(deem.Truncated, "the reply was cut off at its limit of tokens: %s", clip(s.raw))
	case f.numbers != nil:
		v := p.decl.Scored(f.numbers)
		v.Reason = f.reason
		return v, nil
	default:
		return p.labelled(f, s, reply.Logprobs), nil
	}
}

// listen prepares a reply for parsing.
func listen(reply, response string) said {
	body := withoutThinking(reply)
	return said{raw: reply, body: masked(body, response), offset: strings.Index(reply, body)}
}

// labelled returns the verdict for a label.
func (p *declaredProtocol) labelled(f found, s said, tokens []deem.TokenLogprob) deem.Verdict {
	v := deem.Verdict{Label: f.label, Reason: f.reason, Confidence: p.confidence(f, s, tokens)}
	for _, l := range p.decl.Labels {
		if l.Label == f.label {
			v.Score = l.Score
		}
	}
	return v
}

// Scored returns the verdict for the numbers of all aspects, which a model or a person has
// given. The score is their weighted mean, each mapped from its scale to 0 to 1.
func (d *Declaration) Scored(numbers map[string]float64) deem.Verdict {
	v := deem.Verdict{Label: "scored", Aspects: numbers, Score: mean(d.Aspects, numbers)}
	if d.Criteria == nil {
		v = marked(v, d.Pass)
	}
	for _, a := range d.Aspects {
		if a.Must == nil {
			continue
		}
		if pass := numbers[a.Name] >= *a.Must; !pass || v.Pass == nil {
			v.Pass, v.Label = &pass, passLabel(pass)
		}
	}
	return v
}

// marked applies a pass mark to a verdict, if there is one.
func marked(v deem.Verdict, mark *float64) deem.Verdict {
	if mark == nil {
		return v
	}
	pass := v.Score >= *mark
	v.Pass, v.Label = &pass, passLabel(pass)
	return v
}

func passLabel(pass bool) string {
	if pass {
		return "pass"
	}
	return "fail"
}

// mean returns the weighted mean of the numbers. If all scales have the same length it
// divides once, at the end: (8+6)/20 is exactly 0.7, as published, but (0.8+0.6)/2 has a
// rounding error that matters for a pass mark of 0.7.
func mean(aspects []Aspect, numbers map[string]float64) float64 {
	length := aspects[0].Max - aspects[0].Min
	var sum, weights float64
	for _, a := range aspects {
		stretch := length / (a.Max - a.Min)
		sum += a.Weight * (numbers[a.Name] - a.Min) * stretch
		weights += a.Weight
	}
	return min(max(sum/(length*weights), 0), 1)
}

// labels returns the names of the labels.
func (p *declaredProtocol) labels() []string {
	names := make([]string, len(p.decl.Labels))
	for i, l := range p.decl.Labels {
		names[i] = l.Label
	}
	return names
}

// scales returns the scales of the aspects.
func (p *declaredProtocol) scales() map[string]scale {
	scales := map[string]scale{}
	for _, a := range p.decl.Aspects {
		scales[a.Name] = a.scale()
	}
	return scales
}

// readExact compares like Python's reply.strip().upper() == label.
func readExact(p *declaredProtocol, _ Reader, s said) (found, error) {
	got := text.Upper(text.Strip(s.raw))
	for _, l := range p.decl.Labels {
		if got == text.Upper(l.Label) {
			return found{label: l.Label, start: strings.Index(s.body, text.Strip(s.raw))}, nil
		}
	}
	return found{}, deem.Failf(deem.Unparseable, "the reply is none of %s: %s", strings.Join(p.labels(), ", "), clip(s.raw))
}

func readLabel(p *declaredProtocol, _ Reader, s said) (found, error) {
	f, err := findLabel(s.body, p.labels())
	if err != nil {
		return found{}, err
	}
	return found{label: f.Label, start: f.Start, whole: f.How == "json", reason: reasonOf(s.body, "")}, nil
}

func readJSONLabel(p *declaredProtocol, r Reader, s said) (found, error) {
	key := r.Key
	if key == "" {
		key = "label"
	}
	f, err := findLabelIn(s.body, key, p.labels())
	if err != nil {
		return found{}, err
	}
	return found{label: f.Label, start: f.Start, whole: true, reason: reasonOf(s.body, r.Reason)}, nil
}

func readJSONNumbers(p *declaredProtocol, r Reader, s said) (found, error) {
	scales := p.scales()
	numbers, err := findAspects(s.body, scales)
	if err != nil {
		return found{}, err
	}
	_, whole := FindObject(s.body, sortedKeys(scales)...)
	return found{numbers: numbers, whole: whole, reason: reasonOf(s.body, r.Reason)}, nil
}

func readRating(p *declaredProtocol, _ Reader, s said) (found, error) {
	a := p.decl.Aspects[0]
	n, err := findRating(s.body, p.scales()[a.Name])
	if err != nil {
		return found{}, err
	}
	return found{numbers: map[string]float64{a.Name: n}}, nil
}

// usualReasons are the usual keys of the explanation.
var usualReasons = []string{"reasoning", "reason", "explanation", "rationale"}

// reasonOf returns the explanation in the last JSON object that has one.
func reasonOf(body, key string) string {
	keys := usualReasons
	if key != "" {
		keys = []string{key}
	}
	o, k, _ := lastOfAny(body, keys...)
	return strings.Clone(o.Text(k)) // A substring would keep the whole body in memory.
}
