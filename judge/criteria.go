package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deem"
	"deem/internal/text"
)

// Criteria describes how the list of criteria of an item becomes one verdict: each
// criterion gets its own verdict, which the verdict on the item keeps as a [deem.Part].
type Criteria struct {
	// Field is the field of the item that contains the list: a JSON list of strings, or
	// text with one criterion per line.
	Field string `json:"field,omitempty"`

	// Split says how the list is made from the response if the item has no such field:
	// "sentences", or "" if the item must have the field.
	Split string `json:"split,omitempty"`

	Ask    string `json:"ask,omitempty"`    // how calls are made; "" means "each"
	Score  string `json:"score,omitempty"`  // how the criteria count; "" means "mean"
	Failed string `json:"failed,omitempty"` // what a failed criterion means; "" means "unjudged"
}

// The values of the fields of [Criteria].
const (
	askEach     = "each"     // one call per criterion
	askTogether = "together" // one call for all criteria

	scoreMean = "mean" // the mean over the criteria
	scoreAll  = "all"  // 1 if every criterion has a score of 1, otherwise 0
	scoreAny  = "any"  // the highest score of a criterion

	splitSentences = "sentences" // each sentence of the response is a criterion

	failedUnjudged = "unjudged" // one failed criterion leaves the item without a verdict
	failedPartial  = "partial"  // the score is that of the other criteria
)

// The slots of a prompt about criteria.
const (
	slotCriterion = "criterion" // the criterion that a call is about
	slotCriteria  = "criteria"  // all criteria, numbered from 1
	slotAspects   = "aspects"   // the scales of the judge's aspects, with the meaning of their values
)

func (c *Criteria) each() bool { return c != nil && c.Ask != askTogether }

// check validates the criteria.
func (c Criteria) check() error {
	if c.Field == "" {
		return errors.New("criteria wants the name of the field with the list, as \"criteria: checklist\"")
	}
	for _, one := range []struct {
		key, is string
		of      []string
	}{
		{"ask", c.Ask, []string{askEach, askTogether}},
		{"score", c.Score, []string{scoreMean, scoreAll, scoreAny}},
		{"split", c.Split, []string{"", splitSentences}},
		{"failed", c.Failed, []string{failedUnjudged, failedPartial}},
	} {
		if !slices.Contains(one.of, one.is) {
			return fmt.Errorf("criteria: %s is %q; it is %s", one.key, one.is, strings.Join(one.of, ", "))
		}
	}
	return nil
}

// of returns the criteria of an item. It is an error if there are none.
func (c Criteria) of(it deem.Item) ([]string, error) {
	raw, ok := it.Fields[c.Field]
	if !ok && c.Split == splitSentences {
		list := sentences(it.Response)
		if len(list) == 0 {
			return nil, deem.Failf(deem.Input, "the response has no sentence")
		}
		return list, nil
	}
	if !ok {
		return nil, deem.Failf(deem.Input, "the item has no field %q with criteria", c.Field)
	}
	list, err := ParseCriteria(raw)
	switch {
	case err != nil:
		return nil, deem.Failf(deem.Input, "field %q: %v", c.Field, err)
	case len(list) == 0:
		return nil, deem.Failf(deem.Input, "field %q has no criterion", c.Field)
	}
	return list, nil
}

// bullet matches the marker at the beginning of a list line.
var bullet = regexp.MustCompile(`^(?:[-*•]|\d+[.)])\s+(?:\[[ xX]?\]\s+)?`)

// ParseCriteria parses a list of criteria: a list of strings in JSON or Python syntax, or
// one criterion per line, with or without a bullet or number.
func ParseCriteria(raw string) ([]string, error) {
	var list []string
	if strings.HasPrefix(text.Strip(raw), "[") && json.Valid([]byte(raw)) {
		if err := json.Unmarshal([]byte(raw), &list); err != nil {
			return nil, errors.New("a list of criteria holds texts only")
		}
		return list, nil
	}
	if list, ok := text.ParseList(raw); ok {
		return list, nil
	}
	for line := range strings.Lines(raw) {
		line = text.Strip(line)
		if line = text.Strip(bullet.ReplaceAllString(line, "")); line != "" {
			list = append(list, line)
		}
	}
	return list, nil
}

// sentenceEnd matches the end of a sentence with the space that follows.
var sentenceEnd = regexp.MustCompile(`[.!?]["'”’)\]]*\s+|[。！？]["'”’」』）]*\s*`)

// noEnd matches a full stop that does not end a sentence: after a title, an abbreviation,
// an initial, or a number at the beginning of a line.
var noEnd = regexp.MustCompile(`(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|approx|e\.g|i\.e|a\.m|p\.m|[A-Z]|\d{1,2})\.$`)

// sentences splits text into sentences, line by line. If in doubt it keeps two sentences
// together.
func sentences(s string) []string {
	var list []string
	add := func(sentence string) {
		if sentence = text.Strip(sentence); strings.ContainsFunc(sentence, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			list = append(list, sentence)
		}
	}
	for line := range strings.Lines(s) {
		line = bullet.ReplaceAllString(text.Strip(line), "")
		begin := 0
		for _, at := range sentenceEnd.FindAllStringIndex(line, -1) {
			next, _ := utf8.DecodeRuneInString(line[at[1]:])
			if !unicode.IsLower(next) && !noEnd.MatchString(strings.TrimRight(line[begin:at[1]], " \t")) {
				add(line[begin:at[1]])
				begin = at[1]
			}
		}
		add(line[begin:])
	}
	return list
}

// about returns the item with the criterion of one call.
func about(it deem.Item, criterion string) deem.Item {
	it.Fields = maps.Clone(it.Fields)
	if it.Fields == nil {
		it.Fields = map[string]string{}
	}
	it.Fields[slotCriterion] = criterion
	return it
}

// Judge decides a list of criteria. The function one decides the i-th of them. Its error is
// a *[deem.Failure] if that criterion could not be judged; any other error ends Judge. If a
// failed criterion leaves the item unjudged, the remaining criteria are skipped. The label
// of the verdict is "scored".
func (c Criteria) Judge(list []string, one func(i int) (deem.Verdict, error)) (deem.Verdict, error) {
	var sum, best float64
	judged, full := 0, 0
	var failure *deem.Failure // of the last criterion that failed
	parts := make([]deem.Part, 0, len(list))
	for i, name := range list {
		v, err := one(i)
		f, failed := errors.AsType[*deem.Failure](err)
		switch {
		case err != nil && !failed:
			return deem.Verdict{}, err
		case failed && c.Failed != failedPartial:
			return deem.Verdict{}, &deem.Failure{Kind: f.Kind, Detail: fmt.Sprintf("criterion %d of %d: %s", i+1, len(list), f.Detail)}
		case failed:
			failure = f
			parts = append(parts, deem.Part{Name: name, Failure: f})
			continue
		}
		judged++
		sum += v.Score
		best = max(best, v.Score)
		if v.Score == 1 {
			full++
		}
		parts = append(parts, deem.Part{Name: name, Label: v.Label, Score: &v.Score, Reason: v.Reason})
	}
	switch {
	case judged == 0 && failure != nil:
		return deem.Verdict{}, failure
	case judged == 0:
		return deem.Verdict{}, deem.Failf(deem.Input, "there is no criterion")
	}
	v := deem.Verdict{Label: "scored", Score: sum / float64(judged), Parts: parts}
	switch {
	case c.Score == scoreAny:
		v.Score = best
	case c.Score == scoreAll && full == judged:
		v.Score = 1
	case c.Score == scoreAll:
		v.Score = 0
	}
	if judged < len(parts) {
		v.Reason = fmt.Sprintf("%d of %d criteria could not be judged; the score is that of the others", len(parts)-judged, len(parts))
	}
	return v, nil
}

// A perCriterion is a declared protocol that makes one call per criterion.
type perCriterion struct{ *declaredProtocol }

var _ Dialogue = perCriterion{}

// Requests returns one request per criterion.
func (p perCriterion) Requests(it deem.Item) ([]deem.Request, error) {
	list, err := p.decl.Criteria.of(it)
	if err != nil {
		return nil, err
	}
	reqs := make([]deem.Request, len(list))
	for i, criterion := range list {
		if reqs[i], err = p.render(about(it, criterion)); err != nil {
			return nil, err
		}
	}
	return reqs, nil
}

// Talk makes one call per criterion.
func (p perCriterion) Talk(it deem.Item, ask func(deem.Request) (deem.Reply, error)) (deem.Verdict, error) {
	reqs, err := p.Requests(it)
	if err != nil {
		return deem.Verdict{}, err
	}
	list, _ := p.decl.Criteria.of(it) // Requests succeeded with it.
	v, err := p.decl.Criteria.Judge(list, func(i int) (deem.Verdict, error) {
		reply, err := ask(reqs[i])
		if err != nil {
			return deem.Verdict{}, err
		}
		return Read(p, it, reply)
	})
	return marked(v, p.decl.Pass), err
}

// entriesOf returns the entries for n criteria in a reply, as text. The reply is one JSON
// object with one list. An entry may name its criterion under "criterion"; otherwise its
// position decides. A missing entry is "".
func entriesOf(it deem.Item, reply string, n int) ([]string, error) {
	o, err := ReadObject(it, reply)
	if err != nil {
		return nil, err
	}
	var found []any
	for _, key := range sortedKeys(o.Fields) {
		list, ok := o.Fields[key].([]any)
		if ok && found != nil {
			return nil, deem.Failf(deem.Contradictory, "the reply has more than one list: %s", clip(o.text))
		}
		if ok {
			found = list
		}
	}
	entries, numbered := make([]string, n), 0
	for i, e := range found {
		at := i
		if fields, ok := e.(map[string]any); ok {
			if k, err := (Aspect{Min: 1, Max: float64(n), Integer: true}).Number(fields[slotCriterion]); err == nil {
				at = int(k) - 1
				numbered++
			}
		}
		if at >= n || entries[at] != "" {
			return nil, deem.Failf(deem.Contradictory, "the reply has %d entries for %d criteria, or two for one: %s", len(found), n, clip(o.text))
		}
		if s, ok := e.(string); ok {
			entries[at] = s
			continue
		}
		entries[at] = quoted(e)
	}
	if len(found) == 0 || len(found) < n && numbered < len(found) {
		return nil, deem.Failf(deem.Unparseable, "the reply has %d JSON entries for %d criteria: %s", len(found), n, clip(o.text))
	}
	return entries, nil
}
