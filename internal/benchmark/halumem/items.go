package halumem

import (
	"maps"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
)

// A router makes items from one user after another, under one reading, and counts oddities
// for the user of deem.
type router struct {
	reading   string
	questions bool // only the stage "qa"
	odd       oddities

	// The durations of users so far that are not yet stored in an item.
	adding, searching []string
}

// oddities counts deviations from the published data.
type oddities struct {
	moved       int // updates for which nothing was retrieved, judged as integrity
	kept        int // such updates that the fixed reading keeps
	unasked     int // updates for which the system was never asked
	notStrings  int // is_update is neither "True" nor "False"
	unimportant int // points that are not interference and have no importance
	unknownType int // memory types that upstream does not define
	unanswered  int // questions without a response
	incomplete  int // questions without another required value
	skipped     int // made-up sessions
	untimed     int // users at the end without an item, whose times no later item can carry
	renamed     int // points with the same index as another point of the session
	points      int // memory points
	extracted   int // extracted memories
}

// items returns the items of a user, session by session, so that items with the same
// dialogue are adjacent and benefit from a vendor's prompt cache.
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
			for k, memory := range s.extracted { // The items share the two long strings.
				it := at.item(Accuracy, strconv.Itoa(k))
				it.Response = memory
				it.Fields[fieldDialogue], it.Fields[fieldGolden] = s.dialogue, s.golden
				list = append(list, it)
			}
			list = append(list, points[Update]...)
		}
		list = append(list, r.asked(at, s)...)
	}
	// The durations are collected in file order, because the sum of floats depends on the
	// order. Made-up sessions count: upstream adds their times too.
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
	if r.odd.untimed++; len(list) > 0 {
		// The fields are set even if empty: no durations add up to 0, which is
		// different from unknown.
		list[0].Fields[fieldAddTimes] = strings.Join(r.adding, " ")
		list[0].Fields[fieldSearchTimes] = strings.Join(r.searching, " ")
		r.adding, r.searching, r.odd.untimed = nil, nil, 0
	}
	return list
}

// A place is the location of an item: a session of a user.
type place struct {
	uuid, session string
	taken         map[string]int // how many times an id was used already
}

// item returns an item at this place. The number is unique in its stage unless the data
// give two points the same number; the second one then gets a suffix.
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
		if !p.asString || p.isUpdate != "True" && p.isUpdate != "False" {
			r.odd.notStrings++
		}
		if p.importance == "" && p.source != interference {
			r.odd.unimportant++
		}
		if !knownType(p.kind) {
			r.odd.unknownType++
		}
		byStage[stage] = append(byStage[stage], it)
	}
	return byStage
}

// route returns the stage in which a memory point is judged. Upstream sends an update to
// the update judge only if the system retrieved something for it; otherwise the point
// silently moves to the integrity judge, so the denominators of both metrics depend on the
// system. The fixed reading keeps it as an update, provided that the system was asked at
// all.
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

// asked returns an item for each question.
func (r *router) asked(at place, s session) []deem.Item {
	list := make([]deem.Item, len(s.questions))
	for i, q := range s.questions {
		it := at.item(QA, strconv.Itoa(i))
		it.Question, it.References, it.Response = q.text, []string{q.answer}, q.response
		missing := q.missing
		if q.nullResponse && r.reading == Fixed {
			// Upstream puts null into the prompt as the word None and judges it
			// as the system's answer.
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

// added returns the duration of a response: that of the answer plus that of the search
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

// retrieval estimates how many lines of the evidence the context contains, for example
// "1/2". It is a heuristic, because systems paraphrase memories: a line counts if at least
// half of its words, without those of the question, are in the context.
func retrieval(question, context string, evidence []string) string {
	inContext, inQuestion := wordsOf(context), wordsOf(question)
	held := 0
	for _, line := range evidence {
		words := wordsOf(line)
		telling := maps.Clone(words)
		maps.DeleteFunc(telling, func(w string, _ bool) bool { return inQuestion[w] })
		if len(telling) == 0 {
			telling = words
		}
		found := 0
		for w := range telling {
			if inContext[w] {
				found++
			}
		}
		if 2*found >= len(telling) {
			held++
		}
	}
	return strconv.Itoa(held) + "/" + strconv.Itoa(len(evidence))
}

// wordsOf returns the words that can distinguish memories: those with at least four
// letters, and those with a digit.
func wordsOf(s string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsFuncSeq(text.Lower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(w) >= 4 || strings.ContainsAny(w, "0123456789") {
			words[w] = true
		}
	}
	return words
}
