package locomo

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
	"deem/internal/text"
	"deem/internal/words"
)

// A slot is a question of the data, with its response once it is found.
type slot struct {
	row
	id       string // of the item
	answer   row
	answered bool
}

// newSlot returns the slot for a row.
func newSlot(r row) (*slot, error) {
	switch {
	case text.Strip(r.question) == "":
		return nil, fmt.Errorf("it has no text under %q", questionColumn)
	case r.category == "":
		return nil, errors.New("the question has no category")
	case r.reference == nil && r.category != Adversarial:
		return nil, fmt.Errorf("the question %q has no answer to judge by", excerpt(r.question))
	}
	return &slot{row: r}, nil
}

// excerpt shortens a question for a message.
func excerpt(s string) string { return words.Clip(s, 60) }

// key normalises a question, so that equal questions have equal keys.
func key(question string) string {
	return strings.Join(text.Split(text.Lower(question)), " ")
}

// match gives every slot its id, and finds the question of each response. The id is the
// position in its conversation's list of questions, "conv-26/q12" as upstream's scripts
// count, from 0; else the file's own id; else the position in the file. A duplicate id is a
// problem.
func (j *join) match() {
	taken := map[string]place{}
	counts := map[string]int{}
	for _, s := range j.slots {
		switch n := counts[s.conversation]; {
		case s.index >= 0:
			s.id = fmt.Sprintf("%s/q%d", s.conversation, s.index)
		case s.row.id != "":
			s.id = s.row.id
		case s.conversation != "":
			s.id = s.conversation + "/" + strconv.Itoa(n)
		default:
			s.id = strconv.Itoa(n)
		}
		counts[s.conversation]++
		if first, ok := taken[s.id]; ok {
			j.wrong(s.place, fmt.Errorf("the question %q was given before, at %s", s.id, first))
			continue
		}
		taken[s.id] = s.place
	}
	if j.whole {
		return
	}
	m := &matcher{
		policy: j.policy, byID: map[string]*slot{}, byText: map[string][]*slot{},
		known: map[string]bool{}, votes: map[string]map[string]int{},
	}
	for _, s := range j.slots {
		m.byID[s.id] = s
		m.byText[key(s.question)] = append(m.byText[key(s.question)], s)
		m.known[s.conversation] = true
	}
	for _, r := range j.answers {
		m.vote(r)
	}
	for _, r := range j.answers {
		j.place(m, r)
	}
}

// place assigns a response to its question, and records where its reference or category
// differs from the data.
func (j *join) place(m *matcher, r row) {
	s, taken := m.find(r)
	switch {
	case s != nil && r.answered:
		s.answer, s.answered = r, true
		if j.left(s) {
			return
		}
		if r.category != "" && r.category != s.category {
			j.renamed = append(j.renamed, s.id)
		}
		if s.reference != nil && r.reference != nil && !sameKey(s, r) {
			j.rekeyed = append(j.rekeyed, s.id)
		}
	case s != nil:
		// The row says that the system gave no answer, which is the same as no row.
	case taken != nil:
		j.wrong(r.place, fmt.Errorf("the question %q was answered before, at %s", taken.id, taken.answer.place))
	case r.question != "":
		j.unknown = append(j.unknown, strconv.Quote(excerpt(r.question)))
	default:
		j.unknown = append(j.unknown, r.id)
	}
}

// sameKey reports whether both have the same reference.
func sameKey(s *slot, r row) bool {
	return s.reference != nil && r.reference != nil && text.Strip(*s.reference) == text.Strip(*r.reference)
}

// A matcher finds the question of a response.
type matcher struct {
	policy Policy
	byID   map[string]*slot
	byText map[string][]*slot // in the order of the data
	known  map[string]bool    // the conversations of the data

	// votes counts, for each name of a conversation in the response file, the
	// conversations that its questions belong to. Names are not reliable: the same
	// conversation is conv-26, 0, locomo_0, locomo_exp_user_0, or locomo_1 if counted
	// from 1.
	votes map[string]map[string]int
}

// vote counts a response for the conversation of its question, if that is unambiguous.
func (m *matcher) vote(r row) {
	list := m.byText[key(r.question)]
	if len(list) == 0 {
		return
	}
	for _, s := range list {
		if s.conversation != list[0].conversation {
			return
		}
	}
	if m.votes[r.conversation] == nil {
		m.votes[r.conversation] = map[string]int{}
	}
	m.votes[r.conversation][list[0].conversation]++
}

// conversation returns the data's name of a conversation, or "" if it is undecided.
func (m *matcher) conversation(name string) string {
	if m.known[name] || name == "" {
		return name
	}
	best, most := "", 0
	for c, n := range m.votes[name] {
		if n > most || n == most && c < best {
			best, most = c, n
		}
	}
	return best
}

// find returns the question that a row answers. If every such question already has its
// response, it returns the last of them as taken.
func (m *matcher) find(r row) (s, taken *slot) {
	if s := m.byID[CanonicalID(r.id)]; s != nil && (r.question == "" || key(r.question) == key(s.question)) {
		if s.answered {
			return nil, s
		}
		return s, nil
	}
	if r.question == "" {
		return nil, nil
	}
	conversation := m.conversation(r.conversation)
	best := -1
	for _, c := range m.byText[key(r.question)] {
		if conversation != "" && c.conversation != conversation {
			continue
		}
		if c.answered {
			taken = c
			continue
		}
		if fit := m.fit(c, r); fit > best {
			s, best = c, fit
		}
	}
	return s, taken
}

// fit scores how well a response fits one of several equal questions: by reference, then by
// category, then by whether the question counts.
func (m *matcher) fit(s *slot, r row) int {
	fit := 0
	if sameKey(s, r) {
		fit += 4
	}
	if r.category != "" && r.category == s.category {
		fit += 2
	}
	if s.category != Adversarial || m.policy != Excluded {
		fit++
	}
	return fit
}

// CanonicalID converts the id of a question in the style of MemOS, "locomo_0_qa12", to
// deem's, "conv-26/q12". It returns any other id unchanged.
func CanonicalID(id string) string {
	var conversation, question int
	if n, err := fmt.Sscanf(id, "locomo_%d_qa%d", &conversation, &question); n != 2 || err != nil {
		return id
	}
	if conversation < 0 || conversation >= len(published) || fmt.Sprintf("locomo_%d_qa%d", conversation, question) != id {
		return id
	}
	return fmt.Sprintf("%s/q%d", published[conversation], question)
}

// left reports whether the policy leaves the slot out.
func (j *join) left(s *slot) bool { return s.category == Adversarial && j.policy == Excluded }

// missing notes the questions that were left out or have no response, or makes each of the
// latter a problem.
func (j *join) missing(requireAll bool) {
	var open, out []string
	for _, s := range j.slots {
		switch {
		case j.left(s):
			out = append(out, s.id)
		case !s.answered:
			open = append(open, s.id)
			if requireAll {
				j.wrong(s.place, fmt.Errorf("question %q has no response", s.id))
			}
		}
	}
	if len(out) > 0 {
		j.notes = append(j.notes, fmt.Sprintf("%s of category 5 (adversarial) left out: the policy for it is %q", words.Count(len(out), "question"), Excluded))
	}
	j.notes = benchmark.Note(j.notes, j.unknown, "response", "to no question of the data, left out")
	j.notes = benchmark.Note(j.notes, open, "question", "without a response, in no number")
	j.notes = benchmark.Note(j.notes, j.renamed, "response", "in a file that has another category than the data, whose category counts")
	j.notes = benchmark.Note(j.notes, j.rekeyed, "response", "in a file that has another reference than the data, whose reference counts")
}

// item returns the item for a question and its response.
func (s *slot) item() deem.Item {
	it := deem.Item{ID: s.id, Category: s.category, Cluster: s.conversation, Question: s.question, Response: s.answer.response}
	if s.reference != nil {
		it.References = []string{*s.reference}
	}
	fields := maps.Clone(s.answer.took)
	if fields == nil {
		fields = map[string]string{}
	}
	if s.trap != nil {
		fields[AdversarialField] = *s.trap
	}
	if len(s.evidence) > 0 {
		fields[EvidenceField] = list(s.evidence)
	}
	if s.shown != "" {
		fields[EvidenceTextField] = s.shown
	}
	if s.answer.retrieved {
		fields[ContextField] = list(s.answer.context)
		if gold := goldOf(s.evidence, s.answer.context); len(gold) > 0 && !slices.Equal(gold, s.evidence) {
			fields[goldField] = list(gold)
		}
	}
	if len(fields) > 0 {
		it.Fields = fields
	}
	return it
}

// goldField is the field in which a report on retrieval expects the ids that should be
// found.
const goldField = "gold_ids"

// goldOf returns the turns of the evidence or, if the system retrieves sessions, their
// sessions.
func goldOf(evidence, context []string) []string {
	gold := apart(evidence)
	if len(context) == 0 || !strings.HasPrefix(context[0], "S") {
		return gold
	}
	var sessions []string
	for _, id := range gold {
		session, _, _ := strings.Cut("S"+id[1:], ":")
		if !slices.Contains(sessions, session) {
			sessions = append(sessions, session)
		}
	}
	return sessions
}

// list writes ids as a JSON list.
func list(ids []string) string {
	b, err := json.Marshal(append([]string{}, ids...))
	if err != nil {
		panic("locomo: " + err.Error()) // Strings can always be encoded.
	}
	return string(b)
}

// nothing returns an error that says why there are no items.
func (j *join) nothing(o Options) error {
	answered := slices.ContainsFunc(j.slots, func(s *slot) bool { return s.answered })
	switch {
	case answered:
		return deem.WithHint(errors.New("every question with a response is of category 5, which is left out"),
			"the policies %q and %q score it", Phrases, Abstention)
	case len(j.slots) == 0:
		return fmt.Errorf("no question in %s", strings.Join(slices.Concat(o.Data, o.Responses), ", "))
	case j.whole:
		return deem.WithHint(fmt.Errorf("no question of %s has a response", strings.Join(slices.Concat(o.Data, o.Responses), ", ")),
			"name the file with the system's responses too, or put them in a column %q", rows.Response)
	case len(j.unknown) == 0:
		return fmt.Errorf("no row of %s has a response", strings.Join(o.Responses, ", "))
	default:
		return deem.WithHint(errors.New("no response answers a question of the data"),
			"questions are found by their text or their id; the first response is to %s", j.unknown[0])
	}
}
