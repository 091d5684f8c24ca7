package halumem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem/internal/benchmark"
	"deem/internal/text"
)

// A user is one line of the results file, reduced to what is needed.
type user struct {
	uuid     string
	sessions []session
}

// A session is one conversation of a user with the system, with the memories that the
// system extracted.
type session struct {
	generated bool // made-up filler between the real sessions, which upstream skips
	addTime   string
	points    []point
	dialogue  string
	golden    string
	extracted []string
	memories  string // the extracted ones, one per line
	questions []question
}

// A point is a memory point: something that a system should remember or, if it is
// interference, should not.
type point struct {
	content, kind, source, importance, index string

	isUpdate  string // in Python's format: "True" for the string and the boolean
	asString  bool   // is_update is a string, as published
	original  []string
	noList    bool // original_memories is not a list of strings
	asked     bool // the system was asked what it remembers about the point
	retrieved []string
}

// A question is a question about the sessions so far, with the system's response.
type question struct {
	text, answer, response, context, kind, difficulty string

	evidence               []string
	searchTime, answerTime string
	hasContext             bool
	nullResponse           bool
	missing                string // the first key that is missing
	value                  benchmark.Value
}

// object contains the members of a JSON object.
type object map[string]benchmark.Value

// objectOf returns the members of a value. Of two equal keys the last counts.
func objectOf(v benchmark.Value) (object, bool) {
	o := object{}
	ok := v.Members(func(key string, value benchmark.Value) { o[key] = value })
	return o, ok
}

// has reports whether the object has the key, whatever its value.
func (o object) has(key string) bool {
	_, ok := o[key]
	return ok
}

// str returns the value as Python would format it in a prompt, or "" if the key is missing.
func (o object) str(key string) string {
	if !o.has(key) {
		return ""
	}
	return o[key].Str()
}

// number returns the text of a number, or "".
func (o object) number(key string) string {
	if _, ok := o[key].Float(); !ok {
		return ""
	}
	return o[key].Str()
}

// stringsOf returns a list of strings, and reports false for anything else.
func stringsOf(v benchmark.Value) ([]string, bool) {
	values, ok := v.List()
	if !ok {
		return nil, false
	}
	list := make([]string, len(values))
	for i, value := range values {
		if !benchmark.IsText(value) {
			return nil, false
		}
		list[i] = value.Str()
	}
	return list, true
}

// readSession parses a session. Of a session that upstream skips, only the times are read.
func readSession(v benchmark.Value) (session, error) {
	o, ok := objectOf(v)
	if !ok {
		return session{}, errors.New("it is not an object")
	}
	s := session{generated: truthy(o["is_generated_qa_session"]), addTime: o.number("add_dialogue_duration_ms")}
	var err error
	if s.questions, err = readQuestions(o); err != nil || s.generated {
		return s, err
	}
	points, ok := o["memory_points"].List()
	if !ok {
		return s, errors.New("it has no list of memory_points")
	}
	var golden []string // the memory points that are not interference
	for i, v := range points {
		p, err := readPoint(v)
		if err != nil {
			return s, fmt.Errorf("memory point %d: %w", i, err)
		}
		s.points = append(s.points, p)
		if p.source != interference {
			golden = append(golden, p.content)
		}
	}
	if s.extracted, ok = stringsOf(o["extracted_memories"]); !ok {
		return s, errors.New("extracted_memories is not a list of strings; is this the file that a system's adapter wrote?")
	}
	s.memories, s.golden = strings.Join(s.extracted, "\n"), strings.Join(golden, "\n")
	s.dialogue, err = readDialogue(o)
	return s, err
}

// truthy reports whether Python treats the value as true.
func truthy(v benchmark.Value) bool {
	if benchmark.IsText(v) {
		return v.Str() != ""
	}
	return !slices.Contains([]string{"None", "False", "0", "0.0", "-0.0", "[]", "{}"}, v.Str())
}

func readPoint(v benchmark.Value) (point, error) {
	o, ok := objectOf(v)
	if !ok {
		return point{}, errors.New("it is not an object")
	}
	for _, key := range []string{"memory_content", "is_update", "memory_source"} {
		if o[key].Missing() {
			return point{}, fmt.Errorf("it has no %s", key)
		}
	}
	p := point{
		content: o.str("memory_content"), kind: o.str("memory_type"), source: o.str("memory_source"),
		importance: o.number("importance"), index: o.str("index"),
		isUpdate: o.str("is_update"), asString: benchmark.IsText(o["is_update"]),
	}
	p.original, ok = stringsOf(o["original_memories"])
	p.noList = !ok
	if p.asked = !o["memories_from_system"].Missing(); !p.asked {
		return p, nil
	}
	if p.retrieved, ok = stringsOf(o["memories_from_system"]); !ok {
		return p, errors.New("memories_from_system is not a list of strings")
	}
	return p, nil
}

// readDialogue renders the turns like evaluation.py: one line per turn, and an empty line
// after the assistant's.
func readDialogue(o object) (string, error) {
	turns, ok := o["dialogue"].List()
	if !ok {
		return "", errors.New("it has no list of turns in dialogue")
	}
	var lines []string
	for i, v := range turns {
		turn, _ := objectOf(v)
		for _, key := range []string{"timestamp", "role", "content"} {
			if !turn.has(key) {
				return "", fmt.Errorf("turn %d of the dialogue has no %s", i, key)
			}
		}
		lines = append(lines, "["+turn.str("timestamp")+"]"+turn.str("role")+": "+turn.str("content"))
		if turn.str("role") == "assistant" {
			lines = append(lines, "")
		}
	}
	return strings.Join(lines, "\n"), nil
}

// readQuestions parses the questions of a session. A missing value concerns only its item.
func readQuestions(o object) ([]question, error) {
	if !o.has("questions") {
		return nil, nil
	}
	values, ok := o["questions"].List()
	if !ok {
		return nil, errors.New("questions is not a list")
	}
	list := make([]question, len(values))
	for i, v := range values {
		o, ok := objectOf(v)
		if !ok {
			return nil, fmt.Errorf("question %d is not an object", i)
		}
		q := question{
			value: v, text: o.str("question"), answer: o.str("answer"), response: o.str("system_response"),
			context: o.str("context"), hasContext: !o["context"].Missing(),
			kind: o.str("question_type"), difficulty: o.str("difficulty"),
			searchTime: o.number("search_duration_ms"), answerTime: o.number("response_duration_ms"),
			nullResponse: o.has("system_response") && o["system_response"].Missing(),
		}
		for _, key := range []string{"question", "answer", "system_response"} {
			if q.missing == "" && !o.has(key) {
				q.missing = key
			}
		}
		if q.evidence, ok = evidenceOf(o["evidence"]); !ok {
			q.missing = cmp.Or(q.missing, "evidence")
		}
		list[i] = q
	}
	return list, nil
}

// evidenceOf returns the memory points that a question depends on. The list may be empty:
// some questions ask for information that was never given.
func evidenceOf(v benchmark.Value) ([]string, bool) {
	values, ok := v.List()
	if !ok {
		return nil, false
	}
	list := make([]string, len(values))
	for i, value := range values {
		o, _ := objectOf(value)
		if !benchmark.IsText(o["memory_content"]) {
			return nil, false
		}
		list[i] = o.str("memory_content")
	}
	return list, true
}

// updates reports whether the point is an update under a reading. Upstream compares with
// the string "True", so that a JSON boolean is not an update; the fixed reading accepts
// both.
func (p point) updates(reading string) bool {
	if reading == Fixed {
		return text.Lower(p.isUpdate) == "true"
	}
	return p.asString && p.isUpdate == "True"
}
