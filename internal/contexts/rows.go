package contexts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/dataset"
	"deem/internal/reader"
	"deem/internal/rows"
	"deem/internal/text"
	"deem/internal/words"
)

// contextNames are the columns with contexts, a text or a list, our own first. The names are
// those that package rows compares: without case and punctuation.
var contextNames = []string{
	"contexts", "context", "search_context", "retrieved_contexts", "retrieved_context", "raw_recall", "retrieved_memories",
	"retrieved_passages", "retrieved_chunks", "retrieval.search_results", "retrieval_results.ranked_items", "search_results", "passages", "memories",
}

// contextsPart is the name of the contexts for --map.
const contextsPart = "field.contexts"

// looseNames are columns that hold contexts only next to a question: a list of this name may
// be a list of rows, too.
var looseNames = []string{"results", "retrieved"}

// speakerNames are the columns with the memories of each of two speakers.
var speakerNames = [2]string{"speaker_1_memories", "speaker_2_memories"}

// The columns of other parts that only files of contexts have.
var (
	idNames      = []string{"test_id", "key"}
	dateNames    = []string{reader.FieldDate, "reference_date", "query_timestamp", "date"}
	tokenNames   = []string{FieldTokens, "context_tokens", "recall_tokens"}
	latencyNames = []string{
		FieldLatency, "retrieve_time_ms", "search_duration_ms", "search_latency_ms", "retrieval.search_latency_ms", "duration_ms",
	}
	secondNames   = []string{"retrieval_duration", "search_time"}
	evidenceNames = []string{"evidence", "evidences", "answer_session_ids", "answer_evidences"}
	statusNames   = []string{"retrieval_status", "search_status", "status"}
)

// failedWords are the beginnings of a status that says that nothing was retrieved because
// something went wrong. A search that found nothing did not fail.
var failedWords = []string{"fail", "skip", "error", "timeout", "timed"}

// errorMark begins a text that stands for contexts after an error.
const errorMark = "[ADAPTER ERROR]"

// A builder makes items from rows.
type builder struct {
	mapping dataset.Mapping
	values  []rows.Value
	items   []deem.Item

	key    string            // what the column "answer" is: rows.References, rows.Response or ""
	seen   map[string]string // the place of each id
	placed map[string]int    // the number of rows in each conversation

	unnamed, shadowed, answers int
}

// metaPrefixes are the objects in which programs keep metadata of a question.
var metaPrefixes = []string{"", "meta.", "metadata."}

// part returns the value of a part of an item that is not the answer key.
func (b *builder) part(o rows.Node, part string) rows.Node {
	if column, ok := b.mapping[part]; ok {
		return o.At(column)
	}
	names := rows.Names(part)
	if part == rows.ID {
		names = slices.Concat(names, idNames)
	}
	for _, prefix := range metaPrefixes {
		for _, name := range names {
			if v := o.First(prefix + name); v.IsScalar() && !v.Blank() {
				return v
			}
		}
	}
	return rows.Node{}
}

// field returns the value of a field of an item.
func (b *builder) field(o rows.Node, field string, names ...string) rows.Node {
	if column, ok := b.mapping["field."+field]; ok {
		return o.At(column)
	}
	for _, prefix := range metaPrefixes {
		for _, name := range names {
			if v := o.First(prefix + name); v.Kind != rows.Missing {
				return v
			}
		}
	}
	return rows.Node{}
}

// contextsOf returns the value with the contexts of a row: a text, or a list. Missing means
// that there are none, which is not the same as an empty list.
func (b *builder) contextsOf(o rows.Node) rows.Node {
	if column, ok := b.mapping[contextsPart]; ok {
		return o.At(column)
	}
	for _, name := range contextNames {
		if v := o.First(name); v.Kind == rows.String || v.Kind == rows.List && !idsOnly(v) {
			return v
		}
	}
	if v := o.First(looseNames...); v.Kind == rows.List && !idsOnly(v) && b.part(o, rows.Question).Kind != rows.Missing {
		return v
	}
	return rows.Node{}
}

// halves returns the memories of each of two speakers.
func halves(o rows.Node) (first, second rows.Node, ok bool) {
	first, second = o.First(speakerNames[0]), o.First(speakerNames[1])
	return first, second, first.Kind == rows.List && second.Kind == rows.List
}

// idsOnly reports whether all elements of a list are ids: texts without a space.
func idsOnly(list rows.Node) bool {
	for _, e := range list.Vals {
		if e.Kind != rows.String || e.Text == "" || strings.ContainsAny(e.Text, " \n\t") || len(e.Text) != len([]rune(e.Text)) {
			return false
		}
	}
	return len(list.Vals) > 0
}

// grade takes objects with contexts as rows.
func (b *builder) grade(o rows.Node, keyed bool) rows.Grade {
	_, _, two := halves(o)
	retrieved := two || b.contextsOf(o).Kind != rows.Missing
	question := b.part(o, rows.Question).Kind != rows.Missing
	switch {
	case retrieved && (question || keyed || b.part(o, rows.ID).Kind != rows.Missing):
		return rows.Strong
	case retrieved:
		return rows.Nameless
	case question:
		return rows.Opaque
	}
	return rows.None
}

// learn decides what the column "answer" is. Next to another column with the key it is what
// the system answered. Next to an answer of the system, or to evidence, it is the key.
func (b *builder) learn(found []rows.Row) {
	has := func(part string) bool {
		names := slices.DeleteFunc(rows.Names(part), func(name string) bool { return name == rows.Answer })
		return slices.ContainsFunc(found, func(r rows.Row) bool { return r.Node.First(names...).Kind != rows.Missing })
	}
	evidence := slices.ContainsFunc(found, func(r rows.Row) bool { return r.Node.First(evidenceNames...).Kind != rows.Missing })
	switch {
	case has(rows.References):
		b.key = rows.Response
	case has(rows.Response) || evidence:
		b.key = rows.References
	}
}

// references returns the answer key of a row.
func (b *builder) references(o rows.Node) []string {
	if column, ok := b.mapping[rows.References]; ok {
		return o.At(column).Texts()
	}
	for _, prefix := range metaPrefixes {
		for _, name := range rows.Names(rows.References) {
			if name == rows.Answer && b.key != rows.References {
				continue
			}
			if list := o.First(prefix + name).Texts(); len(list) > 0 {
				return list
			}
		}
	}
	return nil
}

// add makes an item of a row.
func (b *builder) add(r rows.Row) error {
	it := deem.Item{
		Question: b.part(r.Node, rows.Question).Str(), References: b.references(r.Node),
		Category: cmp.Or(b.part(r.Node, rows.Category).Str(), r.Category),
		Cluster:  cmp.Or(b.part(r.Node, rows.Cluster).Str(), enclosing(b.values[r.Value].Node, r.Path), r.Group),
		Fields:   map[string]string{},
	}
	it.ID = cmp.Or(b.part(r.Node, rows.ID).Str(), r.Key)
	it.Cluster = cmp.Or(it.Cluster, rows.Conversation(it.ID))
	b.placed[it.Cluster]++
	if it.ID == "" {
		b.unnamed++
		it.ID = strings.TrimPrefix(fmt.Sprintf("%s:%d", it.Cluster, b.placed[it.Cluster]), ":")
	}
	where := fmt.Sprintf("%s:%d", r.File, r.Line)
	if before, ok := b.seen[it.ID]; ok {
		return deem.WithHint(deem.Problem{File: r.File, Line: r.Line, Message: fmt.Sprintf("the id %s is that of the row at %s, too", words.Printable(it.ID), before)},
			"name the column of an id that is unique: --map id=COLUMN")
	}
	b.seen[it.ID] = where
	if err := b.setFields(&it, r); err != nil {
		return err
	}
	b.items = append(b.items, it)
	return nil
}

// setFields sets the contexts, and what else is known about the retrieval.
func (b *builder) setFields(it *deem.Item, r rows.Row) error {
	list, err := b.passages(it, r)
	if err != nil {
		return err
	}
	it.Fields[reader.FieldContexts], err = reader.EncodeContexts(list)
	if err != nil {
		return err
	}
	set := func(field string, v rows.Node) {
		if v.IsScalar() && !v.Blank() {
			it.Fields[field] = v.Str()
		}
	}
	set(reader.FieldDate, b.field(r.Node, reader.FieldDate, dateNames...))
	set(FieldTokens, b.field(r.Node, FieldTokens, tokenNames...))
	set(FieldLatency, b.field(r.Node, FieldLatency, latencyNames...))
	for _, name := range secondNames {
		if s, ok := r.Node.First(name).Float(); ok && it.Fields[FieldLatency] == "" {
			it.Fields[FieldLatency] = text.Float(s * 1000)
		}
	}
	if why := b.failure(r.Node); why != "" {
		it.Fields[reader.FieldStatus] = why
	}
	if v := r.Node.First("raw_response"); v.Kind == rows.Object || v.Kind == rows.List {
		b.shadowed++
	}
	if !r.Node.First("reflect_answer").Blank() {
		b.answers++
	}
	return nil
}

// failure returns why the retrieval of a row failed, "" if it did not.
func (b *builder) failure(o rows.Node) string {
	status := b.field(o, reader.FieldStatus, statusNames...).Str()
	why := o.First("error")
	detail := why.Str()
	if why.Kind == rows.Object {
		detail = strings.TrimPrefix(why.First("type").Str()+": "+why.First("message").Str(), ": ")
	}
	lower := strings.ToLower(status)
	failed := slices.ContainsFunc(failedWords, func(word string) bool { return strings.HasPrefix(lower, word) })
	contexts := b.contextsOf(o)
	switch {
	case contexts.Kind == rows.String && strings.HasPrefix(contexts.Text, errorMark):
		return words.Clip(contexts.Text, 200)
	case failed && detail != "":
		return words.Clip(status+": "+detail, 200)
	case failed:
		return status
	case status == "" && detail != "" && (why.Kind == rows.String || why.Kind == rows.Object):
		return words.Clip(detail, 200)
	}
	return ""
}

// enclosing returns the id of the innermost object around a row that has one: that of a
// conversation.
func enclosing(value rows.Node, path string) string {
	parts := strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
	id, n := "", value
	for _, part := range parts {
		if n.Kind == rows.Object && path != "" {
			if v := n.First(slices.Concat(rows.Names(rows.Cluster), rows.Names(rows.ID))...); v.IsScalar() && !v.Blank() {
				id = v.Str()
			}
		}
		n = n.Index(part)
	}
	return id
}

// notes says what the user should know about the rows.
func (b *builder) notes() []string {
	var list []string
	note := func(n int, format string) {
		if n > 0 {
			list = append(list, fmt.Sprintf(format, words.Count(n, "row")))
		}
	}
	note(b.unnamed, "%s without an id: an item is named by its conversation and its place in it")
	note(b.shadowed, "%s with a raw_response: the system's own reader may have seen it, and the column of contexts is used here")
	note(b.answers, "%s with an answer of the system's own, which is not used")
	return list
}

// idColumn returns a column of rows that has the ids of passages in place of contexts.
func idColumn(found []rows.Row) string {
	for _, r := range found {
		for i, key := range r.Keys {
			if strings.Contains(rows.Plain(key), "context") && r.Vals[i].Kind == rows.List && idsOnly(r.Vals[i]) {
				return key
			}
		}
	}
	return ""
}

// rankingOnly reports whether the values are objects with a list of ids for each question.
func rankingOnly(values []rows.Value) bool {
	ids := 0
	for _, v := range values {
		for _, list := range v.Vals {
			if list.Kind != rows.List || len(list.Vals) > 0 && !idsOnly(list) {
				return false
			}
			ids += len(list.Vals)
		}
	}
	return ids > 0
}

// countNames are columns that say how much was retrieved.
var countNames = []string{"context_chars", "context_tokens", "n_hits", "num_results", "total_results", "n_contexts", "num_memories"}

// countColumns returns the columns of any object of the values that count contexts.
func countColumns(values []rows.Value) []string {
	var list []string
	var visit func(n rows.Node)
	visit = func(n rows.Node) {
		for i, v := range n.Vals {
			if i < len(n.Keys) && slices.Contains(countNames, n.Keys[i]) && !slices.Contains(list, n.Keys[i]) {
				list = append(list, n.Keys[i])
			}
			visit(v)
		}
	}
	for _, v := range values {
		visit(v.Node)
	}
	return list
}
