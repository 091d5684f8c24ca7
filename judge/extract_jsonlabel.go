package judge

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"deem"
)

// verdictKeys are the keys under which judges give their verdict, in order of preference.
var verdictKeys = []string{
	"label", "verdict", "final_verdict", "judgment", "judgement", "final_judgment", "final_judgement",
	"decision", "final_decision", "evaluation_result", "classification",
	"grade", "result", "final_answer",
	"answer", "is_correct", "correct", "correctness", "evaluation", "assessment", "conclusion", "choice",
	"category", "output", "score", "rating", "winner", "preference",
	"标签", "判断", "判定", "结论", "结果", "评估结果", "评价", "答案",
}

// surely is the number of verdictKeys, from the first, that always hold a verdict. An
// "answer" may also be the reference answer.
const surely = 11

// otherKeys matches keys whose values are not the judge's verdict.
var otherKeys = lazy(`reference|gold|expected|response|question|candidate|ground|target|hypothesis|predict|example|option|label_set|choices|labels|reason|explan|ration|thought|analysis|comment|feedback|evidence|quote|理由|原因|解释|分析`)

// objectVerdict returns the value of o under a verdict key, or the only label among its
// values, or the verdict of an object within it. tries is false if o gives no verdict at
// all; the error is that of a verdict which is not a label.
func (m *menu) objectVerdict(o *object) (found Found, tries bool, err error) {
	var refused error
	for _, key := range verdictKeys {
		if o.halfKey != "" && sameKey(o.halfKey, key) {
			return Found{}, true, deem.Failf(deem.Truncated, "the value of %q was cut off", key)
		}
		if f, ok := o.get(key); !ok || len(objectsIn(f.value)) > 0 {
			continue
		}
		found, err := m.verdict(o, key)
		if err == nil {
			for _, sure := range verdictKeys[:surely] {
				f, _ := o.get(sure)
				if other, ok := m.any(f.value); ok && other != found.Label {
					return Found{}, true, contradiction(found.Label, other)
				}
			}
			return found, true, nil
		}
		if f, ok := errors.AsType[*deem.Failure](err); ok && f.Kind == deem.Contradictory {
			return Found{}, true, err
		}
		refused = cmp.Or(refused, err)
	}
	if found, ok := m.onlyValue(o); ok {
		return found, true, nil
	}
	for _, f := range slices.Backward(o.fields) {
		for _, in := range slices.Backward(objectsIn(f.value)) {
			if found, tries, err := m.objectVerdict(in); tries && !otherKeys().MatchString(keyOf(f.key)) {
				return found, true, err
			}
		}
	}
	return Found{}, refused != nil, refused
}

// onlyValue returns the label of o if exactly one label occurs among its values.
func (m *menu) onlyValue(o *object) (Found, bool) {
	var found []Found
	for _, f := range o.fields {
		if otherKeys().MatchString(keyOf(f.key)) {
			continue
		}
		if s, ok := f.value.(string); ok {
			if label, ok := m.value(s); ok {
				found = append(found, Found{label, "json", f.start, f.end})
			}
		}
	}
	if len(found) != 1 {
		return Found{}, false
	}
	return found[0], true
}

// verdict reads the value of o under key.
func (m *menu) verdict(o *object, key string) (Found, error) {
	f, _ := o.get(key)
	label, ok := m.any(f.value)
	if !ok {
		return Found{}, deem.Failf(deem.Unparseable, "%q is %s, which is not a label", f.key, show(export(f.value)))
	}
	for _, g := range o.fields {
		if sameKey(g.key, key) {
			if other, ok := m.any(g.value); ok && other != label {
				return Found{}, contradiction(other, label)
			}
		}
	}
	return Found{label, "json", f.start, f.end}, nil
}

// any reads a JSON value as a label.
func (m *menu) any(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return m.value(v)
	case json.Number:
		return m.equal(string(v))
	case bool: // a label if the labels are yes and no, or true and false
		for _, pair := range [][2]string{{"yes", "no"}, {"true", "false"}, {"是", "否"}} {
			yes, ok1 := m.equal(pair[0])
			no, ok2 := m.equal(pair[1])
			switch {
			case !ok1 || !ok2 || len(m.labels) != 2:
			case v:
				return yes, true
			default:
				return no, true
			}
		}
	case []any:
		if len(v) == 1 {
			return m.any(v[0])
		}
	}
	return "", false
}

// value reads a string as a label: the label alone, with or without decoration, or the
// label followed by punctuation and remarks that mention no other label.
func (m *menu) value(s string) (string, bool) {
	core := strings.TrimFunc(s, isDecoration)
	if label, ok := m.equal(core); ok {
		return label, true
	}
	if label, ok := m.equal(strings.TrimSpace(s)); ok {
		return label, true
	}
	r := newReading(m, s)
	f := r.first()
	if f == nil {
		return "", false
	}
	for i := range r.mentions {
		if r.mention(i).label != f.Label {
			return "", false
		}
	}
	return f.Label, true
}

// isDecoration reports whether r is decoration that may surround a label.
func isDecoration(r rune) bool {
	return isSpace(r) || isMarkup(r) || isStop(r) || strings.ContainsRune("✅❌✔✖☑✓✗🟢🔴-=•", r)
}
