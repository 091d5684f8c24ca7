package published

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"deem"
	"deem/internal/dataset"
	"deem/internal/words"
)

// A builder makes a set from rows.
type builder struct {
	*Set
	src    Source
	layout layout

	indexes map[string]int // of rows, by conversation
	used    map[string]string
	echoes  int // rows whose response contains the question
	labels  map[string]int

	empty     int     // rows with an empty response
	largest   float64 // of the numbers in verdict columns
	largestIn string  // its column
}

// readRows makes a set from the rows of any program.
func (s *Set) readRows(src Source, rows []row, l layout) error {
	b := &builder{Set: s, src: src, layout: l, indexes: map[string]int{}, used: map[string]string{}, labels: map[string]int{}}
	b.asRows, b.elsewhere = true, map[string][]*deem.Verdict{}
	rows, err := b.only(rows)
	if err != nil {
		return err
	}
	if rows, err = b.pick(rows); err != nil {
		return err
	}
	for _, r := range rows {
		it := b.item(r)
		position := len(b.items)
		b.items = append(b.items, it)
		if v, _ := b.layout.value(r.node, partResponse); !v.isScalar() {
			b.unanswered[position] = true
		} else if it.Response == "" {
			b.empty++
		}
		for _, c := range b.layout.others {
			words := b.layout.words
			words.inverted = c.inverted
			b.elsewhere[c.path] = append(b.elsewhere[c.path], words.read(c.votes(r.node)[0]).verdict)
		}
		if q := strings.TrimSpace(it.Question); len(q) > 20 && len(it.Response) > 2*len(q) && strings.Contains(it.Response, q) {
			b.echoes++
		}
		if i := slices.IndexFunc(r.keys, rerunName.MatchString); i >= 0 && isMarked(r.vals[i]) {
			b.rerun[position] = true
		}
		if path, ok := b.layout.mapping[partTruth]; ok { // A value that is not a verdict is not a truth either.
			words := b.layout.words
			words.inverted = slices.ContainsFunc(verdictColumns, func(c verdictColumn) bool { return c.path == path && c.inverted })
			v := b.take(r, partTruth)
			b.measure(v, path)
			b.truth = append(b.truth, words.read(v).verdict)
		}
		if b.layout.verdict.path == "" {
			continue
		}
		for trial, v := range b.layout.verdict.votes(r.node) {
			o := b.layout.words.read(v)
			if status := r.member("status"); status.kind == str && slices.Contains(skippedWords, strings.ToLower(status.text)) {
				o = failed(deem.Unsure, "the file says that this row was %s", clip(status.text))
			}
			rec := deem.Record{Position: position, Trial: trial, Verdict: o.verdict, Failure: o.failure}
			if o.failure != nil && o.failure.Kind == deem.OutOfRange {
				b.measure(v, b.layout.verdict.path)
			}
			b.addDetails(&rec, r, v)
			b.records = append(b.records, rec)
		}
	}
	b.describe(len(rows))
	if b.largest <= 1 || b.src.Scale != 0 {
		return nil
	}
	return deem.WithHint(fmt.Errorf("%s: %s holds numbers up to %v, and a score lies between 0 and 1", strings.Join(b.names, ", "), b.largestIn, b.largest),
		"name the highest possible score: --scale %v", b.largest)
}

// measure records the largest number.
func (b *builder) measure(v node, column string) {
	if x, ok := v.float(); ok && x > b.largest {
		b.largest, b.largestIn = x, column
	}
}

// All selects all systems together.
const All = "all"

// A SeveralError is returned if a file contains the results of several systems and none was
// selected.
type SeveralError struct {
	Systems []string
	text    string
}

func (e *SeveralError) Error() string { return e.text }

// pick selects the rows of one system, if a file has several that answer the same
// questions.
func (b *builder) pick(rows []row) ([]row, error) {
	for _, column := range b.layout.columns[partSystem] {
		var systems []string
		repeated := false // the same question has several of them
		seen := map[string]string{}
		for _, r := range rows {
			v := r.at(column)
			if !v.isScalar() {
				continue
			}
			system := v.str()
			systems = addNew(systems, system)
			key := r.conversation
			for _, part := range []string{partID, partQuestion, partCluster} {
				v, _ := b.layout.value(r.node, part)
				key += "\x00" + v.str()
			}
			if before, ok := seen[key]; ok && before != system {
				repeated = true
			}
			seen[key] = system
		}
		if len(systems) < 2 || !repeated {
			continue
		}
		if b.src.Pick == All {
			return rows, nil
		}
		if b.src.Pick == "" {
			return nil, deem.WithHint(&SeveralError{Systems: systems, text: fmt.Sprintf("%s holds the results of several systems, by its column %q: %s", strings.Join(b.names, ", "), column, listed(systems))},
				"choose one: --pick %s; take each by itself: --pick each; or take them together: --pick %s", systems[0], All)
		}
		if !slices.Contains(systems, b.src.Pick) {
			return nil, noPick(b.src.Pick, "system", systems)
		}
		all := len(rows)
		rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.at(column).str() != b.src.Pick })
		b.leave("%s of other systems left out", words.Count(all-len(rows), "row"))
		b.used[partSystem] = column
		return rows, nil
	}
	if b.src.Pick != "" {
		return nil, fmt.Errorf("%s holds one system, so there is no %q to pick", strings.Join(b.names, ", "), b.src.Pick)
	}
	return rows, nil
}

// choose returns which of several scorers, filters or the like is read: the one that the
// user picked, or else the usual one.
func (s *Set) choose(pick, usual, what string, names []string) (string, error) {
	if pick == "" {
		pick = usual
	} else if !slices.Contains(names, pick) {
		return "", noPick(pick, what, names)
	}
	if len(names) > 1 {
		s.Note("there are several %ss: %s; --pick chooses another than %s", what, listed(names), pick)
	}
	return pick, nil
}

// addNew appends a name that is not in the list yet.
func addNew(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

func noPick(name, what string, there []string) error {
	return deem.WithHint(fmt.Errorf("there is no %s %q in it", what, name), "there are: %s", listed(there))
}

// listed lists the first of many names.
func listed(names []string) string { return words.Printable(dataset.Listed(names)) }

// take returns the value of a part and records its column.
func (b *builder) take(r row, part string) node {
	v, column := b.layout.value(r.node, part)
	if column != "" && v.kind != missing {
		if _, ok := b.used[part]; !ok {
			b.used[part] = column
		}
	}
	return v
}

// item makes the item of a row.
func (b *builder) item(r row) deem.Item {
	it := deem.Item{
		Category: strings.TrimSuffix(strings.TrimSpace(b.take(r, partCategory).str()), ".0"), // pandas writes 4.0 for 4
		Question: b.take(r, partQuestion).str(),
		Response: b.take(r, partResponse).str(),
		Cluster:  r.conversation,
	}
	if v := b.take(r, partCluster); v.isScalar() {
		it.Cluster = v.str()
	}
	if it.Cluster == it.Category && strings.ContainsFunc(it.Cluster, unicode.IsLetter) {
		it.Cluster = "" // The list is named after the subject of its rows.
	}
	it.References = b.references(r)
	// A question may be asked twice, so it is not a key: a row without an id is numbered in
	// its conversation.
	index := b.indexes[it.Cluster]
	b.indexes[it.Cluster]++
	if v := b.take(r, partID); v.isScalar() && !v.blank() {
		it.ID = v.str()
	} else if it.ID = fmt.Sprintf("q%d", index); it.Cluster != "" {
		it.ID = it.Cluster + "/" + it.ID
	}
	fields := map[string]string{}
	if date := r.member("question_date"); date.isScalar() {
		fields["question_date"] = date.str()
	}
	for _, field := range dataset.SystemFields() {
		for _, name := range dataset.ColumnNames(field) {
			if v := r.at(name); v.isScalar() && !v.blank() && fields[field] == "" {
				fields[field] = dataset.InMilliseconds(name, v.str())
			}
		}
	}
	if len(fields) > 0 {
		it.Fields = fields
	}
	return it
}

// references returns the correct answers of a row, which may be in several columns.
func (b *builder) references(r row) []string {
	v := b.take(r, partReferences)
	list := v.texts()
	if b.src.Split != "" {
		list = nil
		for _, text := range v.texts() {
			for part := range strings.SplitSeq(text, b.src.Split) {
				if part = strings.TrimSpace(part); part != "" {
					list = append(list, part)
				}
			}
		}
	}
	if v.kind != missing {
		return list
	}
	for i, key := range r.keys {
		if numbered.MatchString(key) && !r.vals[i].blank() {
			list = append(list, r.vals[i].str())
			b.used[partReferences] = strings.TrimRight(key, "0123456789") + "N"
		}
	}
	return list
}

// addDetails adds the row's other information about the verdict to a record.
func (b *builder) addDetails(rec *deem.Record, r row, vote node) {
	if m := b.take(r, partModel); m.isScalar() && b.JudgeModel == "" {
		b.JudgeModel = m.str()
	}
	reply := b.take(r, partReply)
	if b.layout.verdict.reply && vote.kind == str {
		reply = vote
	}
	if reply.kind == str && rec.Trial == 0 && reply.text != "" {
		rec.Calls = []deem.Call{recordedCall(reply.text)}
	}
	if rec.Failure != nil {
		if why := r.member("judge_failure_reason"); why.kind == str {
			rec.Failure.Detail += ": " + clip(why.text)
		}
		return
	}
	b.labels[rec.Verdict.Label]++
	var reason node // next to the verdict, or in a separate column
	if at := strings.LastIndexByte(b.layout.verdict.path, '.'); at >= 0 {
		reason = r.at(b.layout.verdict.path[:at]).member("reason")
	}
	if reason.kind != str {
		reason = b.take(r, partReason)
	}
	if reason.kind == str && reason.text != "" {
		rec.Verdict.Reason = reason.text
	}
	if rec.Trial > 0 {
		return
	}
	found := map[string]float64{} // the results of formulas for the response, by name
	for _, o := range []node{r.node, r.member("metrics"), r.member("evaluation")} {
		for i, key := range o.keys {
			v := o.vals[i]
			if v.kind == object {
				v = v.member("score")
			}
			if x, ok := v.float(); ok && v.kind == number && aspectName.MatchString(key) {
				found[key] = x
				b.aspects = addNew(b.aspects, key)
			}
		}
	}
	if len(found) > 0 {
		rec.Verdict.Aspects = found
	}
}

// recordedCall returns a call that was made and paid for elsewhere.
func recordedCall(reply string) deem.Call {
	return deem.Call{Reply: &deem.Reply{Text: reply, Stop: deem.StopEnd, Cached: true}}
}

// describe describes how the rows were read.
func (b *builder) describe(rows int) {
	for _, part := range Parts() {
		if column := b.used[part]; column != "" && part != partLabel {
			b.Columns = append(b.Columns, part+"="+column)
		}
	}
	b.lacksResponses = len(b.unanswered) == rows
	switch n := len(b.unanswered); {
	case b.lacksResponses:
		b.Note("no column holds responses, so only the recorded verdicts are counted")
	case n > 0:
		b.Note("%s without a response: they are unjudged for every judge that is asked now, and not wrong", words.Count(n, "row"))
	}
	if b.empty > 0 {
		b.Note("%s with an empty response: that is what the system gave, and judges judge it", words.Count(b.empty, "row"))
	}
	if 2*b.echoes > rows {
		b.notes = append(b.notes, fmt.Sprintf("in %d of %d rows the response repeats the question: the column %q may hold the prompt, and then another judge would judge that", b.echoes, rows, b.used[partResponse]))
	}
	if b.layout.verdict.path == "" {
		return
	}
	b.Columns = append(b.Columns, partLabel+"="+b.layout.verdict.path)
	b.formula = b.layout.verdict.rule
	b.identity = map[string]string{"column": b.layout.verdict.path}
	for name, value := range map[string]any{
		"inverted": b.layout.verdict.inverted, "yes": b.src.Yes, "no": b.src.No, "scale": b.src.Scale, "pick": b.src.Pick,
	} {
		switch text, _ := deem.Canonical(value); string(text) {
		case "false", "null", "[]", "0", `""`: // not set
		default:
			b.identity[name] = strings.Trim(string(text), `"`)
		}
	}
	var right []string
	for _, label := range slices.Sorted(maps.Keys(b.labels)) {
		o := b.layout.words.read(node{kind: str, text: label})
		if o.verdict != nil && o.verdict.Score == 1 {
			right = append(right, label)
		}
	}
	isGraded := func(rec deem.Record) bool {
		return rec.Verdict != nil && rec.Verdict.Score != 0 && rec.Verdict.Score != 1
	}
	switch column := b.layout.verdict.path; {
	case slices.ContainsFunc(b.records, isGraded):
		b.Rule = "the score is the number in " + column
		if b.src.Scale > 0 && b.src.Scale != 1 {
			b.Rule += fmt.Sprintf(" of %v", b.src.Scale)
		}
	case len(right) > 0:
		b.Rule = fmt.Sprintf("a row is right when %s is %s", column, strings.Join(right, " or "))
	default:
		b.Rule = "a row is right when " + column + " says so, and none does"
	}
	if len(b.layout.others) > 0 {
		list := make([]string, len(b.layout.others))
		for i, c := range b.layout.others {
			list[i] = c.path
		}
		b.notes = append(b.notes, fmt.Sprintf("there are verdicts in other columns too: %s; --map label=%s takes them", listed(list), b.layout.others[0].path))
	}
}

// only removes rows that do not match the source's conditions, and notes how many remain: a
// score of some rows must not be mistaken for that of all.
func (b *builder) only(rows []row) ([]row, error) {
	if len(b.src.Only) == 0 {
		return rows, nil
	}
	left := rows
	var asked []string
	for _, condition := range b.src.Only {
		column, value, valued := strings.Cut(condition, "=")
		column, value = strings.TrimSpace(column), strings.TrimSpace(value)
		if !slices.ContainsFunc(rows, func(r row) bool { return r.has(column) || r.at(column).kind != missing }) {
			return nil, deem.WithHint(fmt.Errorf("no row has a column %q to choose rows by", column), "the columns here are: %s", listed(rows[0].keys))
		}
		left = slices.DeleteFunc(slices.Clone(left), func(r row) bool {
			v := r.at(column)
			if valued {
				return !strings.EqualFold(v.str(), value)
			}
			return v.kind == missing // An empty text is a value, and so is "None": the system answered so.
		})
		if !valued {
			condition = "a value in " + column
		}
		asked = append(asked, condition)
	}
	if len(left) == 0 {
		return nil, fmt.Errorf("none of %s has %s", words.Count(len(rows), "row"), strings.Join(asked, " and "))
	}
	b.leave("%d of %s are taken, those with %s", len(left), words.Count(len(rows), "row"), strings.Join(asked, " and "))
	return left, nil
}
