package halumem

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
)

// A router makes items of one user after the other, under one reading, and counts
// what the person who runs it should know.
type router struct {
	reading   string
	questions bool // only those
	odd       oddities

	// The durations of users so far that no item carries yet.
	adding, searching []string
}

// oddities count what is not as published.
type oddities struct {
	moved       int // updates without anything retrieved, judged as integrity
	kept        int // such updates that the fixed reading keeps
	unasked     int // updates for which the system was never asked
	notStrings  int // is_update is neither "True" nor "False"
	unimportant int // points that are not interference and have no importance
	unknownType int // memory types that upstream does not know
	unanswered  int // questions without a response
	incomplete  int // questions without something else
	skipped     int // made-up sessions
	untimed     int // last users without an item, behind whom no item can carry their times
	renamed     int // points whose index another point of the session has
	points      int // memory points
	extracted   int // extracted memories
}

// items returns the items of a user, session by session, so that items with the
// same dialogue follow one another and a vendor's prompt cache can serve them.
func (r *router) items(u *user) []deem.Item {
	var list []deem.Item
	for i, s := range u.sessions {
		if s.generated {
			r.odd.skipped++
			continue
		}
		at := place{uuid: u.uuid, session: strconv.Itoa(i), taken: map[string]int{}}
		r.odd.points += len(s.points)
		r.odd.extracted += len(s.extracted)
		if !r.questions {
			points := r.points(at, s)
			list = append(list, points[Integrity]...)
			list = append(list, r.accuracy(at, s)...)
			list = append(list, points[Update]...)
		}
		list = append(list, r.asked(at, s)...)
	}
	r.addTimes(u)
	if r.odd.untimed++; len(list) > 0 {
		r.handTimes(list[0].Fields)
	}
	return list
}

// A place is where an item stands: a session of a user.
type place struct {
	uuid, session string
	taken         map[string]int // how often an id was given already
}

// item returns an item at this place. The number is unique in its stage unless the
// data number two points alike; the second one then gets a mark.
func (p place) item(stage, number string) deem.Item {
	id := p.uuid + "/" + p.session + "/" + stage + "/" + number
	if p.taken[id]++; p.taken[id] > 1 {
		id += "~" + strconv.Itoa(p.taken[id])
	}
	return deem.Item{
		ID: id, Category: stage, Cluster: p.uuid,
		Fields: map[string]string{fieldSession: p.session, fieldIndex: number},
	}
}

// set sets a field unless the value is empty.
func set(fields map[string]string, name, value string) {
	if value != "" {
		fields[name] = value
	}
}

// points returns an item for each memory point, by stage.
func (r *router) points(at place, s session) map[string][]deem.Item {
	byStage := map[string][]deem.Item{}
	for i, p := range s.points {
		number := p.index
		if number == "" || number == "None" {
			number = "at" + strconv.Itoa(i)
		}
		stage := r.route(p)
		it := at.item(stage, number)
		if it.ID[strings.LastIndexByte(it.ID, '/')+1:] != number {
			r.odd.renamed++
		}
		it.References = []string{p.content}
		for name, value := range map[string]string{
			fieldType: p.kind, fieldSource: p.source, fieldImportance: p.importance, fieldIsUpdate: p.isUpdate,
		} {
			set(it.Fields, name, value)
		}
		if it.Response = s.memories; stage == Update {
			it.Response = strings.Join(p.retrieved, "\n")
			it.Fields[fieldOriginal] = strings.Join(p.original, "\n")
			if p.noList {
				it.Fields[fieldMissing] = "list original_memories"
			}
		}
		r.lookAt(p)
		byStage[stage] = append(byStage[stage], it)
	}
	return byStage
}

// route says which stage a memory point is judged in. Upstream sends an update to
// the update judge only if the system retrieved something for it; with nothing
// retrieved the point silently moves to the integrity judge, and the denominators
// of both numbers depend on the system. The fixed reading keeps it, provided that
// the system was asked at all.
func (r *router) route(p point) string {
	switch {
	case !p.updates(r.reading):
		return Integrity
	case len(p.retrieved) > 0:
		return Update
	case !p.asked:
		r.odd.unasked++
		return Integrity
	case r.reading == Fixed:
		r.odd.kept++
		return Update
	}
	r.odd.moved++
	return Integrity
}

// lookAt counts what is odd about a point.
func (r *router) lookAt(p point) {
	if !p.asString || p.isUpdate != "True" && p.isUpdate != "False" {
		r.odd.notStrings++
	}
	if p.importance == "" && p.source != interference {
		r.odd.unimportant++
	}
	if !knownType(p.kind) {
		r.odd.unknownType++
	}
}

// accuracy returns an item for each extracted memory. They share the two long
// strings.
func (r *router) accuracy(at place, s session) []deem.Item {
	list := make([]deem.Item, len(s.extracted))
	for i, memory := range s.extracted {
		it := at.item(Accuracy, strconv.Itoa(i))
		it.Response = memory
		it.Fields[fieldDialogue], it.Fields[fieldGolden] = s.dialogue, s.golden
		list[i] = it
	}
	return list
}

// asked returns an item for each question.
func (r *router) asked(at place, s session) []deem.Item {
	list := make([]deem.Item, len(s.questions))
	for i, q := range s.questions {
		it := at.item(QA, strconv.Itoa(i))
		it.Question, it.References, it.Response = q.text, []string{q.answer}, q.response
		missing := q.missing
		if q.nullResponse && r.reading == Fixed {
			// Upstream puts a null into the prompt as the word None and has it
			// judged as if the system had said so.
			it.Response, missing = "", "system_response"
		}
		it.Fields[fieldEvidence] = strings.Join(q.evidence, "\n")
		for name, value := range map[string]string{
			fieldKind: q.kind, fieldDifficulty: q.difficulty, fieldContext: q.context, fieldMissing: missing,
			"search_duration_ms": q.searchTime, "response_duration_ms": q.answerTime,
		} {
			set(it.Fields, name, value)
		}
		benchmark.SetSystemFields(&it, q.value.Get)
		if it.Fields[deem.FieldLatency] == "" {
			set(it.Fields, deem.FieldLatency, added(q.searchTime, q.answerTime))
		}
		if q.hasContext {
			it.Fields[fieldRetrieved] = retrieval(q.text, q.context, q.evidence)
		}
		switch missing {
		case "":
		case "system_response":
			r.odd.unanswered++
		default:
			r.odd.incomplete++
		}
		list[i] = it
	}
	return list
}

// added returns how long a response took: the time of the answer, and that of the search
// before it.
func added(search, answer string) string {
	y, err := strconv.ParseFloat(answer, 64)
	if err != nil {
		return ""
	}
	if x, err := strconv.ParseFloat(search, 64); err == nil {
		y += x
	}
	return text.Float(y)
}

// addTimes notes the durations of all sessions and searches of a user in the order
// of the file, because the sum of floats depends on their order. Made-up sessions
// count: upstream adds up their times too.
func (r *router) addTimes(u *user) {
	for _, s := range u.sessions {
		if s.addTime != "" {
			r.adding = append(r.adding, s.addTime)
		}
		for _, q := range s.questions {
			if q.searchTime != "" {
				r.searching = append(r.searching, q.searchTime)
			}
		}
	}
}

// handTimes puts the durations noted so far into the fields of an item. The fields
// are there even when empty: no durations add up to 0, and that is not the same as
// unknown ones.
func (r *router) handTimes(fields map[string]string) {
	fields[fieldAddTimes] = strings.Join(r.adding, " ")
	fields[fieldSearchTimes] = strings.Join(r.searching, " ")
	r.adding, r.searching, r.odd.untimed = nil, nil, 0
}

// retrieval says how many lines of the evidence the context seems to hold, as
// "1/2". Systems keep memories in their own words, so it can only seem so: a line
// counts as held when at least half of its words are in the context, of those that
// the question does not have already.
func retrieval(question, context string, evidence []string) string {
	inContext, inQuestion := wordsOf(context), wordsOf(question)
	held := 0
	for _, line := range evidence {
		if holds(inContext, inQuestion, line) {
			held++
		}
	}
	return strconv.Itoa(held) + "/" + strconv.Itoa(len(evidence))
}

func holds(inContext, inQuestion map[string]bool, line string) bool {
	words := wordsOf(line)
	telling := map[string]bool{}
	for w := range words {
		if !inQuestion[w] {
			telling[w] = true
		}
	}
	if len(telling) == 0 {
		telling = words
	}
	found := 0
	for w := range telling {
		if inContext[w] {
			found++
		}
	}
	return 2*found >= len(telling)
}

// wordsOf returns the words that can tell one memory from another: those of four
// letters or more, and those with a digit.
func wordsOf(s string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsFuncSeq(text.Lower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(w) >= 4 || strings.ContainsAny(w, "0123456789") {
			words[w] = true
		}
	}
	return words
}
