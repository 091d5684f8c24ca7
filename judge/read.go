package judge

import (
	"cmp"
	"math"
	"slices"
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

// Read returns the verdict that the reply gives on the item under the protocol's reading. A
// reply about several criteria at once is a JSON list with one entry per criterion, and
// each entry is read like a reply about that criterion alone.
func (p *declaredProtocol) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	c := p.decl.Criteria
	if c == nil || c.each() {
		return p.readOne(it, reply)
	}
	list, err := c.of(it)
	if err != nil {
		return deem.Verdict{}, err
	}
	entries, err := entriesOf(listen(reply.Text, it.Response).body, len(list))
	if err != nil {
		return deem.Verdict{}, err
	}
	v, err := c.Judge(list, func(i int) (deem.Verdict, error) {
		if entries[i] == "" {
			return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply has no entry for it")
		}
		return p.readOne(deem.Item{}, deem.Reply{Text: entries[i], Stop: deem.StopEnd})
	})
	return marked(v, p.decl.Pass), err
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
	}
	v := deem.Verdict{Label: f.label, Reason: f.reason, Confidence: p.confidence(f, s, reply.Logprobs)}
	for _, l := range p.decl.Labels {
		if l.Label == f.label {
			v.Score = l.Score
		}
	}
	return v, nil
}

// listen prepares a reply for parsing.
func listen(reply, response string) said {
	body := withoutThinking(reply)
	return said{raw: reply, body: masked(body, response), offset: strings.Index(reply, body)}
}

// Scored returns the verdict for the numbers of all aspects, which a model or a person has
// given. The score is their weighted mean, each mapped from its scale to 0 to 1. If all
// scales have the same length it divides once, at the end: (8+6)/20 is exactly 0.7, as
// published, but (0.8+0.6)/2 has a rounding error that matters for a pass mark of 0.7.
func (d *Declaration) Scored(numbers map[string]float64) deem.Verdict {
	length := d.Aspects[0].Max - d.Aspects[0].Min
	var sum, weights float64
	for _, a := range d.Aspects {
		stretch := length / (a.Max - a.Min)
		sum += a.Weight * (numbers[a.Name] - a.Min) * stretch
		weights += a.Weight
	}
	v := deem.Verdict{Label: "scored", Aspects: numbers, Score: min(max(sum/(length*weights), 0), 1)}
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

// labelNames returns the names of the labels.
func (d *Declaration) labelNames() []string {
	names := make([]string, len(d.Labels))
	for i, l := range d.Labels {
		names[i] = l.Label
	}
	return names
}

// readExact compares like Python's reply.strip().upper() == label.
func readExact(p *declaredProtocol, _ Reader, s said) (found, error) {
	got := text.Upper(text.Strip(s.raw))
	for _, l := range p.decl.Labels {
		if got == text.Upper(l.Label) {
			return found{label: l.Label, start: strings.Index(s.body, text.Strip(s.raw))}, nil
		}
	}
	return found{}, deem.Failf(deem.Unparseable, "the reply is none of %s: %s", strings.Join(p.decl.labelNames(), ", "), clip(s.raw))
}

func readLabel(p *declaredProtocol, _ Reader, s said) (found, error) {
	f, err := FindLabel(s.body, "", p.decl.labelNames())
	if err != nil {
		return found{}, err
	}
	return found{label: f.Label, start: f.Start, whole: f.How == "json", reason: reasonOf(s.body, "")}, nil
}

func readJSONLabel(p *declaredProtocol, r Reader, s said) (found, error) {
	f, err := FindLabel(s.body, cmp.Or(r.Key, "label"), p.decl.labelNames())
	if err != nil {
		return found{}, err
	}
	return found{label: f.Label, start: f.Start, whole: true, reason: reasonOf(s.body, r.Reason)}, nil
}

func readJSONNumbers(p *declaredProtocol, r Reader, s said) (found, error) {
	aspects := map[string]Aspect{}
	for _, a := range p.decl.Aspects {
		aspects[a.Name] = a
	}
	numbers, err := findAspects(s.body, aspects)
	if err != nil {
		return found{}, err
	}
	_, whole := FindObject(s.body, sortedKeys(aspects)...)
	return found{numbers: numbers, whole: whole, reason: reasonOf(s.body, r.Reason)}, nil
}

func readRating(p *declaredProtocol, _ Reader, s said) (found, error) {
	a := p.decl.Aspects[0]
	n, err := findRating(s.body, a)
	if err != nil {
		return found{}, err
	}
	return found{numbers: map[string]float64{a.Name: n}}, nil
}

// reasonOf returns the explanation in the last JSON object that has one, under the key or,
// if it is "", under a usual one.
func reasonOf(body, key string) string {
	keys := []string{"reasoning", "reason", "explanation", "rationale"}
	if key != "" {
		keys = []string{key}
	}
	o, k, _ := lastOfAny(body, keys...)
	return strings.Clone(o.Text(k)) // A substring would keep the whole body in memory.
}

// confidence returns the probability of the token that begins the label, among the tokens
// at that position that begin any of the labels. It is nil if the reply has no
// log-probabilities or they do not settle it.
func (p *declaredProtocol) confidence(f found, s said, tokens []deem.TokenLogprob) *float64 {
	if len(tokens) == 0 || f.start < 0 || s.offset < 0 {
		return nil
	}
	end := 0
	i := slices.IndexFunc(tokens, func(t deem.TokenLogprob) bool {
		end += len(t.Token)
		return s.offset+f.start < end
	})
	if i < 0 {
		return nil
	}
	token := tokens[i]
	probs := map[string]float64{token.Token: math.Exp(token.Logprob)}
	for _, t := range token.Top {
		probs[t.Token] = math.Exp(t.Logprob)
	}
	mine, all := 0.0, 0.0
	for _, t := range sortedKeys(probs) {
		begin := strings.ToLower(strings.TrimLeft(t, " \t\r\n\"'*"))
		begun := slices.DeleteFunc(p.decl.labelNames(), func(l string) bool { return !strings.HasPrefix(strings.ToLower(l), begin) })
		if begin == "" || len(begun) != 1 {
			continue
		}
		all += probs[t]
		if begun[0] == f.label {
			mine += probs[t]
		}
	}
	c := min(mine/all, 1)
	if math.IsNaN(c) {
		return nil
	}
	return &c
}
