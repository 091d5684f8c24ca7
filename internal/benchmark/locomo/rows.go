package locomo

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
	"deem/internal/text"
)

// LoCoMo answers come in many formats: a list per conversation under its number or name,
// inside a list of conversations, inside a report, or as plain rows. They have the row in
// common, an object with a question. So the code searches a file for such objects, and the
// path to an object identifies the conversation.

// The columns that rows may have.
var (
	questionColumn      = "question"
	idColumns           = rows.NamesAfter(rows.ID, "question_id")
	conversationColumns = rows.NamesAfter(rows.Cluster, "sample_id")
	responseColumns     = without(rows.Names(rows.Response), predictionMark) // which is of one system
	referenceColumns    = without(rows.Names(rows.References), rows.Answer)  // the reference, unless there is a separate one
	contextColumns      = []string{ContextField, "context"}
)

const (
	predictionMark  = "prediction"
	questionsMember = "qa" // of a conversation in upstream's files
)

// containers are keys under which files keep their rows and that do not name a
// conversation.
var containers = []string{
	questionsMember, "results", "individual_results", "detailed_results", "conversations", "data", "items",
	"questions", "rows", "answers", "responses", "predictions", "samples", "evaluations",
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n == name })
}

// A place is the location of a row: a line, and a path in an object that fills a whole
// file.
type place struct {
	file string
	line int
	path string
}

func (p place) String() string {
	if p.path == "" {
		return fmt.Sprintf("%s:%d", p.file, p.line)
	}
	return fmt.Sprintf("%s:%d (%s)", p.file, p.line, p.path)
}

// A row is the content of a question, an answer, or both.
type row struct {
	place
	conversation string // as in the file; "" if it is not named
	index        int    // in the list of questions of its conversation; -1 if it is not in one
	id           string // the file's own

	question  string
	category  string
	reference *string
	trap      *string  // in category 5, the answer that the question is meant to provoke
	evidence  []string // ids of turns
	shown     string   // those turns, one per line
	history   *benchmark.History

	response  string
	answered  bool
	lookalike bool // there is an "answer", which may be the reference or the response
	context   []string
	retrieved bool              // there is a context, possibly empty
	took      map[string]string // usage of the system, as fields of the item
}

// An object contains the members of a JSON object, or the columns of a table's row.
type object struct {
	names  []string
	values map[string]benchmark.Value
	plain  map[string]string // from the names as [rows.Plain] compares them
}

func valueObject(v benchmark.Value) (object, bool) {
	o := object{values: map[string]benchmark.Value{}, plain: map[string]string{}}
	return o, v.Members(o.add)
}

func (o *object) add(name string, value benchmark.Value) {
	o.names = append(o.names, name)
	o.values[name] = value
	o.plain[rows.Plain(name)] = name
}

// get returns the value of a column, whose name may be spelled in another way.
func (o object) get(column string) benchmark.Value {
	if v, ok := o.values[column]; ok {
		return v
	}
	return o.values[o.plain[rows.Plain(column)]]
}

// first returns the value of the first of the columns that has one.
func (o object) first(columns ...string) (benchmark.Value, bool) {
	for _, c := range columns {
		if v := o.get(c); !v.Missing() {
			return v, true
		}
	}
	return benchmark.Value{}, false
}

// scalar returns the text of the first of the columns that has one. Lists and objects are
// not text.
func (o object) scalar(columns ...string) string {
	for _, c := range columns {
		v := o.get(c)
		if v.Blank() {
			continue
		}
		if raw := v.JSON(); raw[0] != '[' && raw[0] != '{' {
			return text.Strip(v.Str())
		}
	}
	return ""
}

// A walker finds the rows in the content of a file.
type walker struct {
	system string
	turns  map[string]string // of the current conversation, by id

	evidence  bool               // the text of the evidence is needed
	histories bool               // what was said is needed
	history   *benchmark.History // of the current conversation
	visit     func(row, error)   // the row has its place even if there is an error
	found     int
}

// deepest is the maximum depth of rows in an object. Real files need five.
const deepest = 8

// top looks for rows in a row of the file, which may itself be one.
func (w *walker) top(r *benchmark.Row) {
	before := w.found
	at := place{file: r.File, line: r.Line}
	o := object{values: map[string]benchmark.Value{}, plain: map[string]string{}}
	for _, name := range r.Names() {
		o.add(name, r.Get(name))
	}
	w.object(o, at, "", -1, 0)
	if _, empty := o.values[questionsMember]; w.found == before && !empty {
		w.visit(row{place: at}, errors.New("there is no question in it"))
	}
}

// object examines one object: a row, a conversation, or a container.
func (w *walker) object(o object, at place, conversation string, index, depth int) {
	if name := o.scalar(conversationColumns...); name != "" {
		conversation = name
	}
	if o.isRow(w.system) || index >= 0 {
		w.found++
		r, err := w.row(o)
		r.place, r.conversation, r.index = at, conversation, index
		w.visit(r, err)
		return
	}
	if depth == deepest {
		return
	}
	if v, ok := o.values[questionsMember]; ok {
		if w.evidence {
			w.turns = turnsOf(o.values["conversation"])
		}
		if w.histories {
			w.history = historyOf(o.values["conversation"])
		}
		w.list(v, at.into(questionsMember), conversation, true, depth)
		w.turns, w.history = nil, nil
		return
	}
	for _, name := range o.names {
		if inner, ok := valueObject(o.values[name]); ok {
			w.object(inner, at.into(name), conversation, -1, depth+1)
			continue
		}
		called := conversation
		if called == "" && !slices.Contains(containers, name) {
			called = name
		}
		w.list(o.values[name], at.into(name), called, false, depth)
	}
}

// list examines a list. The questions of a conversation are numbered, whatever they look
// like.
func (w *walker) list(v benchmark.Value, at place, conversation string, questions bool, depth int) {
	elements, _ := v.List()
	for i, e := range elements {
		o, ok := valueObject(e)
		if !ok {
			continue
		}
		here, index := at, -1
		here.path = fmt.Sprintf("%s[%d]", at.path, i)
		if questions {
			index = i
		}
		w.object(o, here, conversation, index, depth+1)
	}
}

func (p place) into(name string) place {
	if p.path != "" {
		name = p.path + "." + name
	}
	p.path = name
	return p
}

// isRow distinguishes a row from containers of rows: it has a question, or its id says
// which question it answers.
func (o object) isRow(system string) bool {
	if o.scalar(questionColumn) != "" {
		return true
	}
	_, answered := o.first(append(o.predictions(system), responseColumns...)...)
	return answered && o.scalar(idColumns...) != ""
}

// predictions returns the columns of upstream's script that contain responses:
// "prediction", or "gpt-4_prediction" for each system. If a system is named, only its
// column counts.
func (o object) predictions(system string) []string {
	if system != "" {
		return []string{system + "_" + predictionMark}
	}
	var list []string
	for _, name := range o.names {
		if name == predictionMark || strings.HasSuffix(name, "_"+predictionMark) {
			list = append(list, name)
		}
	}
	return list
}

func (w *walker) row(o object) (row, error) {
	// A table that went through pandas has 4.0 for 4.
	r := row{id: o.scalar(idColumns...), category: strings.TrimSuffix(o.scalar("category"), ".0"), history: w.history}
	if v, ok := o.first(questionColumn); ok {
		r.question = v.Str()
	}
	if v, ok := o.first(AdversarialField); ok {
		r.trap = new(v.Str())
	}
	if v, ok := o.first(EvidenceField); ok {
		r.evidence = texts(v)
		var lines []string
		for _, id := range r.evidence {
			if t, ok := w.turns[id]; ok {
				lines = append(lines, t)
			}
		}
		r.shown = text.Strip(strings.Join(lines, "\n"))
	}
	var it deem.Item
	benchmark.SetSystemFields(&it, func(path string) benchmark.Value {
		head, rest, _ := strings.Cut(path, ".")
		return o.values[head].Get(rest)
	})
	r.took = it.Fields
	if r.category != "" && categoryName(r.category) == "" {
		return r, deem.WithHint(fmt.Errorf("category %q is not one of 1 to 5", r.category),
			"names are not keys, because different people give them to different categories; write the number that the data has")
	}
	columns := o.predictions(w.system)
	if len(columns) > 1 {
		return r, deem.WithHint(fmt.Errorf("there are the responses of several systems: %s", strings.Join(columns, ", ")),
			"say which to judge: the system %q", strings.TrimSuffix(columns[0], "_"+predictionMark))
	}
	reference, keyed := o.first(referenceColumns...)
	either, ambiguous := o.first(rows.Answer)
	response, answered := o.first(append(columns, responseColumns...)...)
	switch {
	case ambiguous && !keyed:
		reference, keyed = either, true
		r.lookalike = !answered
	case ambiguous && !answered:
		// Zep and MemOS call the reference golden_answer and the response answer.
		response, answered = either, true
	}
	if keyed {
		r.reference = new(reference.Str())
	}
	if answered {
		r.response, r.answered = response.Str(), true
	}
	r.context, r.retrieved = o.context(columns)
	return r, nil
}

// contextID matches the id of a turn or of a session.
var contextID = regexp.MustCompile(`^[DS]\d+(:\d+)?$`)

// context returns the ids of what the system retrieved. Upstream stores them next to the
// prediction; in other files the context is usually the text itself, not a list of ids.
func (o object) context(predictions []string) ([]string, bool) {
	columns := contextColumns
	for _, p := range predictions {
		columns = append([]string{p + "_context"}, columns...)
	}
	v, _ := o.first(columns...)
	if _, ok := v.List(); !ok {
		return nil, false
	}
	list := texts(v)
	if slices.ContainsFunc(list, func(id string) bool { return !contextID.MatchString(id) }) {
		return nil, false
	}
	return list, true
}

// texts returns the strings of a list, or the value itself as the only one.
func texts(v benchmark.Value) []string {
	elements, ok := v.List()
	if !ok {
		if v.Blank() {
			return nil
		}
		return []string{v.Str()}
	}
	var list []string
	for _, e := range elements {
		list = append(list, e.Str())
	}
	return list
}

// session matches the name of a session in a conversation, and turnSession finds its number
// in the id of a turn.
var (
	session     = regexp.MustCompile(`^session_(\d+)$`)
	turnSession = regexp.MustCompile(`^D(\d+):`)
)

// turnsOf returns the turns of a conversation by id, formatted as lines for a judge that is
// shown the evidence.
func turnsOf(conversation benchmark.Value) map[string]string {
	o, ok := valueObject(conversation)
	if !ok {
		return nil
	}
	turns := map[string]string{}
	for _, name := range o.names {
		list, ok := o.values[name].List()
		if !ok || !session.MatchString(name) {
			continue
		}
		for _, v := range list {
			t, ok := valueObject(v)
			id := t.scalar("dia_id")
			if !ok || id == "" {
				continue
			}
			said := ""
			if m := turnSession.FindStringSubmatch(id); m != nil {
				if date := o.scalar("session_" + m[1] + "_date_time"); date != "" {
					said = ", said on " + date
				}
			}
			words := ""
			if v, ok := t.first("text"); ok {
				words = v.Str()
			}
			turns[id] = "[" + id + said + "] " + t.scalar("speaker") + `: "` + words + `"`
		}
	}
	return turns
}
