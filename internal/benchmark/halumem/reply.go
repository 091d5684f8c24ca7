package halumem

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/text"
	"deem/internal/words"
	"deem/judge"
)

// aspectIncluded is the aspect of an accuracy verdict that says whether the memory is about
// a topic of the memory points, 1 or 0.
const aspectIncluded = "included"

// The keys of the JSON that the prompts ask for.
const (
	keyScore    = "score"
	keyAccuracy = "accuracy_score"
	keyIncluded = "is_included_in_golden_memories"
	keyLabel    = "evaluation_result"
)

// reasonOf is the key of the explanation, which differs between prompts.
var reasonOf = map[string]string{Integrity: "reasoning", Accuracy: "reason", Update: "reason", QA: "reasoning"}

// scale is the scale of memories and memory points.
var scale = judge.Aspect{Max: 2, Integer: true}

// Read returns the verdict that the reply gives under the protocol's reading.
func (p *P) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	read := readStrictly
	if p.reading == Upstream {
		read = readUpstream
	}
	v, f := read(it, reply.Text)
	if f != nil {
		return deem.Verdict{}, f
	}
	return v, nil
}

// readUpstream reads like llms.py and evaluation.py. Where they mark a reply as invalid,
// the failure is unparseable.
func readUpstream(it deem.Item, reply string) (deem.Verdict, *deem.Failure) {
	fenced, ok := fencedJSON(reply)
	if !ok {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply has no object between ```json and ```: %s", clip(reply))
	}
	object, err := text.Loads(fenced)
	if err != nil {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the fenced text is not a JSON object: %v: %s", err, clip(fenced))
	}
	reason, _ := object[reasonOf[it.Category]].(string)
	switch it.Category {
	case Integrity:
		return upstreamScore(it, object[keyScore], reason)
	case Accuracy:
		v, f := upstreamScore(it, object[keyAccuracy], reason)
		v.Aspects = map[string]float64{aspectIncluded: includedUpstream(object[keyIncluded])}
		return v, f
	}
	label, _ := object[keyLabel].(string)
	if !slices.Contains(labelsOf(it.Category), label) {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "%s is none of %s, which upstream notes as invalid: %s",
			keyLabel, strings.Join(labelsOf(it.Category), ", "), clip(text.Repr(object[keyLabel])))
	}
	return labelled(label, reason), nil
}

// upstreamScore converts a score like Python's int: 2, "2", " 2 ", 2.9 and true are scores,
// "2.0" and null are not.
func upstreamScore(it deem.Item, value any, reason string) (deem.Verdict, *deem.Failure) {
	n, ok := text.Int(value)
	if !ok {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the score is not an integer to Python, which upstream notes as invalid: %s", clip(text.Repr(value)))
	}
	if n < 0 || n > 2 {
		return deem.Verdict{}, deem.Failf(deem.OutOfRange, "the score %d lies outside 0 to 2; upstream would count it, as %d halves", n, n)
	}
	v := scored(it, int(n))
	v.Reason = reason
	return v, nil
}

// includedUpstream treats only the strings "true" and "True" as included, not even the JSON
// boolean true.
func includedUpstream(value any) float64 {
	if s, ok := value.(string); ok && (s == "true" || s == "True") {
		return 1
	}
	return 0
}

// readStrictly reads a reply that is one JSON object with the requested keys, and checks its
// values against those offered.
func readStrictly(it deem.Item, reply string) (deem.Verdict, *deem.Failure) {
	keys := map[string][]string{Integrity: {keyScore}, Accuracy: {keyAccuracy, keyIncluded}}[it.Category]
	if keys == nil {
		keys = []string{keyLabel}
	}
	o, err := judge.ReadObject(it, reply, keys...)
	if err != nil {
		return deem.Verdict{}, asFailure(err)
	}
	var v deem.Verdict
	if keys[0] == keyLabel {
		found, err := o.Label(keyLabel, labelsOf(it.Category))
		if err != nil {
			return deem.Verdict{}, asFailure(err)
		}
		v = labelled(found.Label, "")
	} else {
		n, err := scale.Number(o.Fields[keys[0]])
		if err != nil {
			return deem.Verdict{}, asFailure(err)
		}
		v = scored(it, int(n))
	}
	if it.Category == Accuracy {
		included, ok := inclusion(o.Fields[keyIncluded])
		if !ok {
			return deem.Verdict{}, deem.Failf(deem.Unparseable, "%s is neither true nor false: %s", keyIncluded, clip(text.Repr(o.Fields[keyIncluded])))
		}
		v.Aspects = map[string]float64{aspectIncluded: included}
	}
	v.Reason = explanation(it, o)
	return v, nil
}

// inclusion reads true and false, as a boolean or as a word in any case.
func inclusion(value any) (float64, bool) {
	if b, ok := value.(bool); ok {
		value = strconv.FormatBool(b)
	}
	s, _ := value.(string)
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	return 0, false
}

// explanation returns the judge's reason. Its key differs between prompts and between
// models.
func explanation(it deem.Item, o *judge.Object) string {
	return cmp.Or(o.Text(reasonOf[it.Category]), o.Text("reason"), o.Text("reasoning"))
}

// scored returns the verdict for a score. The label is the score as in the prompt. A point
// of interference counts the other way round, as in upstream's aggregation: the system is
// right only if the point is not in its memory.
func scored(it deem.Item, n int) deem.Verdict {
	v := deem.Verdict{Label: strconv.Itoa(n), Score: float64(n) / 2}
	if it.Category == Integrity && it.Fields[fieldSource] == interference {
		if v.Score = 0; n == 0 {
			v.Score = 1
		}
	}
	return v
}

func labelled(label, reason string) deem.Verdict {
	v := deem.Verdict{Label: label, Reason: reason}
	if label == correct {
		v.Score = 1
	}
	return v
}

// labelsOf returns the labels that the prompt of a stage offers.
func labelsOf(stage string) []string {
	if stage == QA {
		return qaLabels
	}
	return updateLabels
}

// asFailure returns an error of package judge, which is always a failure.
func asFailure(err error) *deem.Failure {
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return f
	}
	return deem.Failf(deem.Unparseable, "%v", err)
}

// clipped is the maximum length of a reply quoted in a failure.
const clipped = 120

// clip returns the beginning of a text on one line, for a message.
func clip(s string) string { return words.Clip(strings.Join(strings.Fields(s), " "), clipped) }

const (
	fence     = "```"
	jsonFence = "```json"
)

// fencedJSON finds what llms.py searches for: the first ```json, then white space as
// defined by Python, and then the shortest text that begins with { and ends with }, white
// space and ```. It is not a regular expression, because Go's \s matches only ASCII.
func fencedJSON(reply string) (string, bool) {
	for {
		i := strings.Index(reply, jsonFence)
		if i < 0 {
			return "", false
		}
		reply = reply[i+len(jsonFence):]
		rest := strings.TrimLeftFunc(reply, text.IsSpace)
		if strings.HasPrefix(rest, "{") {
			// A later fence cannot end where this one does not.
			return fencedObject(rest)
		}
	}
}

// fencedObject returns the shortest prefix of s that ends with } and is followed by white
// space and a fence.
func fencedObject(s string) (string, bool) {
	for from := 1; ; {
		i := strings.Index(s[from:], fence)
		if i < 0 {
			return "", false
		}
		end := strings.TrimRightFunc(s[:from+i], text.IsSpace)
		if len(end) > 1 && end[len(end)-1] == '}' {
			return end, true
		}
		from += i + 1
	}
}
