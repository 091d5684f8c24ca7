package judge

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"deem"
	"deem/internal/text"
)

// A way is a parser of replies that finds a label, numbers, or either.
type way struct {
	label   func(p *declaredProtocol, r Reader, it deem.Item, reply string) (found, error)
	numbers func(p *declaredProtocol, r Reader, it deem.Item, reply string) (found, error)
}

// found is the result of a parser.
type found struct {
	label   string
	start   int // of the label in the reply, -1 if unknown
	numbers map[string]float64
	reason  string
	whole   bool // part of a complete structure, so that truncation after it does not matter
}

// ways are the parsers of replies, by name.
var ways = map[string]way{
	// exact: the reply is only the label, in any case.
	"exact": {label: readExact},
	// label: the label alone, or in the last line that the prompt demands.
	"label": {label: readLabel},
	// json: the reply is one JSON object.
	"json": {label: readJSONLabel, numbers: readJSONNumbers},
	// pattern: what the group of a regular expression matches.
	"pattern": {label: readPatternLabel, numbers: readPatternNumber},
	// ladder: strict JSON, else from the first { to the last }, else "name: 8". Numbers
	// are clamped to their scale, as in the published rubric judge.
	"ladder": {numbers: readLadder},
	// loads: the label in JSON, parsed like Python's json.loads, as published programs
	// do.
	"loads": {label: readLoads},
	// last: the last line that is a label, else the last label in the text after the
	// model's reasoning, else the label at the beginning of the reply.
	"last": {label: readLast},
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
	entries, err := entriesOf(it, reply.Text, len(list))
	if err != nil {
		return deem.Verdict{}, err
	}
	v, err := c.Judge(list, func(i int) (deem.Verdict, error) {
		if entries[i] == "" {
			return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply has no entry for it")
		}
		return p.readEntry(entries[i])
	})
	return marked(v, p.decl.Pass), err
}

// readEntry reads the entry about one criterion in a reply about several.
func (p *declaredProtocol) readEntry(entry string) (deem.Verdict, error) {
	w := ways["json"]
	if !strings.HasPrefix(entry, "{") {
		w = ways["label"]
	}
	return p.readWith(w, deem.Item{}, deem.Reply{Text: entry, Stop: deem.StopEnd})
}

// readOne reads a reply about the item as a whole, or about one criterion.
func (p *declaredProtocol) readOne(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	return p.readWith(ways[p.decl.Readings[p.reading].How], it, reply)
}

// readWith reads a reply with a parser.
func (p *declaredProtocol) readWith(w way, it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	read := w.label
	if len(p.decl.Aspects) > 0 {
		read = w.numbers
	}
	if read == nil {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply is not a JSON object: %s", clip(reply.Text))
	}
	f, err := read(p, p.decl.Readings[p.reading], it, reply.Text)
	switch {
	case err != nil:
		return deem.Verdict{}, err
	case reply.Stop == deem.StopLength && p.reading == Strict && !f.whole:
		return deem.Verdict{}, deem.Failf(deem.Truncated, "the reply was cut off at its limit of tokens: %s", clip(reply.Text))
	case f.numbers != nil:
		v := p.decl.Scored(f.numbers)
		v.Reason = f.reason
		return v, nil
	}
	v := deem.Verdict{Label: f.label, Reason: f.reason, Confidence: p.confidence(f, reply.Logprobs)}
	for _, l := range p.decl.Labels {
		if l.Label == f.label {
			v.Score = l.Score
		}
	}
	return v, nil
}

// Locate returns the label that a reply gives on the item under a reading, and its position
// in the reply.
func (d *Declaration) Locate(reading string, it deem.Item, reply string) (Found, error) {
	p, err := d.Protocol(reading)
	if err != nil {
		return Found{}, err
	}
	r := d.Readings[p.Reading()]
	read := ways[r.How].label
	declared, ok := p.(*declaredProtocol)
	if !ok || read == nil {
		return Found{}, fmt.Errorf("judge %s gives no label for the whole item", d.Name)
	}
	f, err := read(declared, r, it, reply)
	return Found{Label: f.label, Start: f.start, Reason: f.reason}, err
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
func readExact(p *declaredProtocol, _ Reader, _ deem.Item, reply string) (found, error) {
	got := text.Upper(text.Strip(reply))
	for _, l := range p.decl.Labels {
		if got == text.Upper(l.Label) {
			return found{label: l.Label, start: strings.Index(reply, text.Strip(reply))}, nil
		}
	}
	return found{}, deem.Failf(deem.Unparseable, "the reply is none of %s: %s", strings.Join(p.decl.labelNames(), ", "), clip(reply))
}

func readLabel(p *declaredProtocol, r Reader, it deem.Item, reply string) (found, error) {
	f, err := p.forms[r.Line].Read(it, reply)
	return found{label: f.Label, start: f.Start, reason: f.Reason}, err
}

func readJSONLabel(p *declaredProtocol, r Reader, it deem.Item, reply string) (found, error) {
	if r.Line != "" && !startsObject(reply) && !startsObject(Answer(reply)) {
		return readLabel(p, r, it, reply) // The vendor does not hold its models to JSON.
	}
	key := cmp.Or(r.Key, "label")
	o, err := ReadObject(it, reply, key)
	if err != nil {
		return found{}, err
	}
	if err := p.checkQuote(it, o); err != nil {
		return found{}, err
	}
	f, err := o.Label(key, p.decl.labelNames())
	return found{label: f.Label, start: f.Start, whole: true, reason: reasonIn(o, r)}, err
}

// startsObject reports whether a text begins with a JSON object, possibly in a fence.
func startsObject(s string) bool { return strings.HasPrefix(unfenced(text.Strip(s)), "{") }

// quoteKey is the key of the quote from the response.
const quoteKey = "quote"

// checkQuote checks the quote that a judge must give as evidence. An empty response has
// nothing to quote.
func (p *declaredProtocol) checkQuote(it deem.Item, o *Object) error {
	quote := text.Strip(o.Text(quoteKey))
	switch {
	case !p.decl.Quotes || quote == "" && text.Strip(it.Response) == "":
		return nil
	case quote == "":
		return deem.Failf(deem.Quote, "the reply quotes nothing of the response")
	case !strings.Contains(squeeze(it.Response), squeeze(quote)):
		return deem.Failf(deem.Quote, "the response does not say %q", clip(quote))
	}
	return nil
}

func readJSONNumbers(p *declaredProtocol, r Reader, it deem.Item, reply string) (found, error) {
	var names []string
	for _, a := range p.decl.Aspects {
		names = append(names, a.Name)
	}
	o, err := ReadObject(it, reply, names...)
	if err != nil {
		return found{}, err
	}
	if err := p.checkQuote(it, o); err != nil {
		return found{}, err
	}
	f := found{numbers: map[string]float64{}, whole: true, reason: reasonIn(o, r)}
	for _, a := range p.decl.Aspects {
		if f.numbers[a.Name], err = a.Number(o.Fields[a.Name]); err != nil {
			failure, _ := errors.AsType[*deem.Failure](err)
			return found{}, &deem.Failure{Kind: failure.Kind, Detail: a.Name + ": " + failure.Detail}
		}
	}
	return f, nil
}

func readPatternLabel(p *declaredProtocol, r Reader, it deem.Item, reply string) (found, error) {
	said, start, err := matchPattern(it, reply, p.patterns[r.Pattern])
	if err != nil {
		return found{}, err
	}
	for _, l := range p.decl.Labels {
		if strings.EqualFold(l.Label, said) {
			return found{label: l.Label, start: start}, nil
		}
	}
	return found{}, deem.Failf(deem.Unparseable, "%q is not one of %s", clip(said), strings.Join(p.decl.labelNames(), ", "))
}

func readPatternNumber(p *declaredProtocol, r Reader, it deem.Item, reply string) (found, error) {
	said, _, err := matchPattern(it, reply, p.patterns[r.Pattern])
	if err != nil {
		return found{}, err
	}
	a := p.decl.Aspects[0]
	n, err := a.Number(said)
	return found{numbers: map[string]float64{a.Name: n}}, err
}

// reasonKeys are the usual keys of an explanation.
var reasonKeys = []string{"reasoning", "reason", "explanation", "rationale"}

// reasonIn returns the explanation in an object, under the key that the parser names or else
// under a usual one.
func reasonIn(o *Object, r Reader) string {
	if r.Reason != "" {
		return o.Text(r.Reason)
	}
	for _, key := range reasonKeys {
		if s := o.Text(key); s != "" {
			return s
		}
	}
	return ""
}

// confidence returns the probability of the token that begins the label, among the tokens
// at that position that begin any of the labels. It is nil if the reply has no
// log-probabilities or they do not settle it.
func (p *declaredProtocol) confidence(f found, tokens []deem.TokenLogprob) *float64 {
	if len(tokens) == 0 || f.start < 0 {
		return nil
	}
	end := 0
	i := slices.IndexFunc(tokens, func(t deem.TokenLogprob) bool {
		end += len(t.Token)
		return f.start < end
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
