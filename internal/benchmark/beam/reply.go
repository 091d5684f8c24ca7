package beam

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/text"
	"deem/internal/words"
	"deem/judge"
)

// nugget returns the verdict on one rubric item. The label is the score as the model stated
// it, and the score is the value that counts.
func nugget(said string, score float64, reason string) (deem.Verdict, error) {
	if math.IsNaN(score) || math.IsInf(score, 0) {
		return deem.Verdict{}, deem.Failf(deem.OutOfRange, "the score is %s", said)
	}
	return deem.Verdict{Label: said, Score: score, Reason: reason}, nil
}

func unreadable(reply string) error {
	return deem.Failf(deem.Unparseable, "the reply has no score: %s", clip(reply))
}

func clip(s string) string { return words.Clip(strings.Join(text.Split(s), " "), 80) }

// clamp returns the nearest score that was offered, as two vendors do.
func clamp(score float64) float64 {
	switch {
	case score >= 0.75:
		return 1
	case score >= 0.25:
		return 0.5
	}
	return 0
}

// offered reads the score of a reply that is one JSON object, as the prompts demand. If
// anyScore is true, numbers between the offered ones are accepted too.
func offered(it deem.Item, reply string, anyScore bool) (deem.Verdict, error) {
	o, err := judge.ReadObject(it, reply, "score")
	if err != nil {
		return deem.Verdict{}, err
	}
	score, err := judge.Aspect{Max: 1}.Number(o.Fields["score"])
	switch {
	case err != nil:
		return deem.Verdict{}, err
	case !anyScore && !slices.Contains([]float64{0, 0.5, 1}, score):
		return deem.Verdict{}, deem.Failf(deem.OutOfRange, "the score is %v, and 0, 0.5 and 1 were offered", score)
	}
	return nugget(text.Float(score), score, o.Text("reason"))
}

// loads parses JSON like Python's json.loads.
func loads(raw string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("extra data")
	}
	return v, nil
}

// pyFloat returns float(v), and reports whether Python accepts v.
func pyFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil || math.IsInf(f, 0)
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case string:
		f, err := strconv.ParseFloat(strings.ReplaceAll(text.Strip(v), "_", ""), 64)
		return f, err == nil
	}
	return 0, false
}

// saidScore returns a score as the model stated it.
func saidScore(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

func reasonIn(fields map[string]any) string {
	s, _ := fields["reason"].(string)
	return s
}

// readMem0 reads like Mem0's harness: a JSON object, possibly inside "final"; a score that
// is missing or not a number is 0. The harness counts a reply that is not JSON as 0 after
// five attempts; here it is a failure.
func readMem0(reply string) (deem.Verdict, error) {
	v, err := loads(text.Strip(reply))
	fields, ok := v.(map[string]any)
	if err != nil || !ok {
		return deem.Verdict{}, unreadable(reply)
	}
	if final, ok := fields["final"]; ok && len(fields) == 1 {
		if inner, ok := final.(string); ok {
			if final, err = loads(inner); err != nil {
				return deem.Verdict{}, unreadable(reply)
			}
		}
		if inner, ok := final.(map[string]any); ok {
			fields = inner
		}
	}
	said, given := fields["score"]
	score, _ := pyFloat(said)
	label := "none"
	if given {
		label = saidScore(said)
	}
	return nugget(label, clamp(score), reasonIn(fields))
}

var (
	omniObject    = regexp.MustCompile(`\{[^{}]*"score"\s*:\s*([0-9.]+)[^{}]*\}`)
	omniScore     = regexp.MustCompile(`"?score"?\s*[:=]\s*([0-9.]+)`)
	omniPositions = regexp.MustCompile(`(?s)\{[^{}]*"positions"\s*:\s*\[.*?\]\s*\}`)
)

// readOmni reads like OmniMemEval's _extract_item_score, but returns a failure for an
// unreadable reply, which OmniMemEval counts as 0.
func readOmni(reply string) (deem.Verdict, error) {
	if m := omniObject.FindString(reply); m != "" {
		if v, err := loads(m); err == nil {
			fields, _ := v.(map[string]any)
			if score, ok := pyFloat(fields["score"]); ok {
				return nugget(saidScore(fields["score"]), clamp(score), reasonIn(fields))
			}
		}
	}
	m := omniScore.FindStringSubmatch(reply)
	if m == nil {
		return deem.Verdict{}, unreadable(reply)
	}
	score, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return deem.Verdict{}, unreadable(reply) // The program stops at it.
	}
	return nugget(m[1], clamp(score), firstRunes(reply, 200))
}

func firstRunes(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n])
	}
	return s
}

// readPositions reads the positions of a rubric's events in a response, and scores them
// like OmniMemEval's _judge_event_ordering: tau times coverage.
func readPositions(reply string, events int) (deem.Verdict, error) {
	v, err := loads(omniPositions.FindString(reply))
	fields, ok := v.(map[string]any)
	list, isList := fields["positions"].([]any)
	if err != nil || !ok || !isList {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply has no positions: %s", clip(reply))
	}
	var want, got []int
	for i, e := range list {
		entry, ok := e.(map[string]any)
		if !ok {
			return deem.Verdict{}, deem.Failf(deem.Unparseable, "a position is not an object: %s", clip(reply))
		}
		place := any(json.Number("-1"))
		if p, ok := entry["position"]; ok {
			place = p
		}
		at, ok := pyFloat(place)
		if _, isText := place.(string); !ok || isText {
			return deem.Verdict{}, deem.Failf(deem.Unparseable, "a position is not a number: %s", clip(reply))
		}
		if at > 0 && i < events {
			// Only the order of the positions matters; scaling keeps fractions
			// apart.
			want, got = append(want, i), append(got, int(math.Round(at*1024)))
		}
	}
	coverage := float64(len(want)) / float64(events)
	aspects := map[string]float64{"coverage": coverage}
	score := coverage * 0.5
	if len(want) >= 2 {
		tau := tauB(want, got)
		if math.IsNaN(tau) {
			tau = 0
		}
		aspects["tau_norm"] = math.Max(0, (tau+1)/2)
		score = aspects["tau_norm"] * coverage
	}
	return deem.Verdict{Label: "scored", Score: score, Aspects: aspects}, nil
}

var (
	fencedJSON = regexp.MustCompile("(?s)```(?:json)?\\s*(\\[.*\\]|\\{.*\\})\\s*```")
	anyJSON    = regexp.MustCompile(`(?s)(\{.*?\}|\[.*?\])`)
)

// readUpstream reads a rubric item as upstream does: int() of the score for nine abilities,
// and float() for event ordering. The range is not checked. If the conversion fails,
// upstream stops. JSON is parsed like upstream's parse_json_response; where that falls back
// to a repairing library, deem uses its own lenient parser.
func readUpstream(reply string, truncate bool) (deem.Verdict, error) {
	reply = text.Strip(reply)
	whole := reply
	if strings.HasPrefix(reply, "```") {
		if m := fencedJSON.FindStringSubmatch(reply); m != nil {
			whole = text.Strip(m[1])
		}
	}
	v, err := loads(whole)
	if err != nil {
		if m := anyJSON.FindString(whole); m != "" {
			v, err = loads(m)
		}
	}
	fields, ok := v.(map[string]any)
	if err != nil {
		if fields, ok = judge.Repair(reply, "score"); !ok {
			return deem.Verdict{}, unreadable(reply)
		}
	} else if !ok {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the reply is JSON and not an object: %s", clip(reply))
	}
	said, given := fields["score"]
	if !given {
		return deem.Verdict{}, unreadable(reply)
	}
	score, ok := pyFloat(said)
	if truncate {
		var n int64
		n, ok = text.Int(said)
		score = float64(n)
	}
	if !ok {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the score is not a number: %s", clip(saidScore(said)))
	}
	return nugget(saidScore(said), score, reasonIn(fields))
}

// saysYes reads the reply whether two snippets describe the same event, as upstream does.
func saysYes(reply string) (deem.Verdict, error) {
	if strings.Contains(text.Lower(reply), "yes") {
		return deem.Verdict{Label: "YES", Score: 1}, nil
	}
	return deem.Verdict{Label: "NO"}, nil
}

// yesOrNo is the form that the question about two snippets demands.
var yesOrNo = judge.MustForm("", "YES", "NO")

// clearlySays reads the same reply, but accepts only YES or NO alone.
func clearlySays(reply string) (deem.Verdict, error) {
	f, err := yesOrNo.Read(deem.Item{}, reply)
	if err != nil {
		return deem.Verdict{}, err
	}
	v := deem.Verdict{Label: f.Label}
	if f.Label == "YES" {
		v.Score = 1
	}
	return v, nil
}
