package published

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"deem"
	"deem/internal/dataset"
	"deem/internal/rows"
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
func (s *Set) readRows(src Source, found []rows.Row, l layout) error {
	b := &builder{Set: s, src: src, layout: l, indexes: map[string]int{}, used: map[string]string{}, labels: map[string]int{}}
	b.asRows, b.elsewhere = true, map[string][]*deem.Verdict{}
	found, err := b.only(found)
	if err != nil {
		return err
	}
	if found, err = b.pick(found); err != nil {
		return err
	}
	for _, r := range found {
		it := b.item(r)
		position := len(b.items)
		b.items = append(b.items, it)
		b.places = append(b.places, place{r.Value, r.Path})
		if v, _ := b.layout.value(r.Node, partResponse); !v.IsScalar() {
			b.unanswered[position] = true
		} else if it.Response == "" {
			b.empty++
		}
		for _, c := range b.layout.others {
			words := b.layout.words
			words.inverted = c.Inverted
			b.elsewhere[c.Path] = append(b.elsewhere[c.Path], words.read(c.In(r.Node)[0]).verdict)
		}
		if q := strings.TrimSpace(it.Question); len(q) > 20 && len(it.Response) > 2*len(q) && strings.Contains(it.Response, q) {
			b.echoes++
		}
		if i := slices.IndexFunc(r.Keys, rerunName.MatchString); i >= 0 && isMarked(r.Vals[i]) {
			b.rerun[position] = true
		}
		if path, ok := b.layout.mapping[partTruth]; ok { // A value that is not a verdict is not a truth either.
			words := b.layout.words
			words.inverted = slices.ContainsFunc(rows.Verdicts(), func(c rows.Verdict) bool { return c.Path == path && c.Inverted })
			v := b.take(r, partTruth)
			b.measure(v, path)
			b.truth = append(b.truth, words.read(v).verdict)
		}
		if b.layout.verdict.Path == "" {
			continue
		}
		for trial, v := range b.layout.verdict.In(r.Node) {
			o := b.layout.words.read(v)
			if status := r.Member("status"); status.Kind == rows.String && slices.Contains(skippedWords, strings.ToLower(status.Text)) {
				o = failed(deem.Unsure, "the file says that this row was %s", clip(status.Text))
			}
			rec := deem.Record{Position: position, Trial: trial, Verdict: o.verdict, Failure: o.failure}
			if o.failure != nil && o.failure.Kind == deem.OutOfRange {
				b.measure(v, b.layout.verdict.Path)
			}
			b.addDetails(&rec, r, v)
			b.records = append(b.records, rec)
		}
	}
	b.describe(len(found))
	if b.largest <= 1 || b.src.Scale != 0 {
		return nil
	}
	return deem.WithHint(fmt.Errorf("%s: %s holds numbers up to %v, and a score lies between 0 and 1", strings.Join(b.names, ", "), b.largestIn, b.largest),
		"name the highest possible score: --scale %v", b.largest)
}

// measure records the largest number.
func (b *builder) measure(v rows.Node, column string) {
	if x, ok := v.Float(); ok && x > b.largest {
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
func (b *builder) pick(found []rows.Row) ([]rows.Row, error) {
	for _, column := range b.layout.columns[partSystem] {
		var systems []string
		repeated := false // the same question has several of them
		seen := map[string]string{}
		for _, r := range found {
			v := r.At(column)
			if !v.IsScalar() {
				continue
			}
			system := v.Str()
			systems = addNew(systems, system)
			key := r.Group
			for _, part := range []string{partID, partQuestion, partCluster} {
				v, _ := b.layout.value(r.Node, part)
				key += "\x00" + v.Str()
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
			return found, nil
		}
		if b.src.Pick == "" {
			return nil, deem.WithHint(&SeveralError{Systems: systems, text: fmt.Sprintf("%s holds the results of several systems, by its column %q: %s", strings.Join(b.names, ", "), column, listed(systems))},
				"choose one: --pick %s; take each by itself: --pick each; or take them together: --pick %s", systems[0], All)
		}
		if !slices.Contains(systems, b.src.Pick) {
			return nil, noPick(b.src.Pick, "system", systems)
		}
		all := len(found)
		found = slices.DeleteFunc(slices.Clone(found), func(r rows.Row) bool { return r.At(column).Str() != b.src.Pick })
		b.leave("%s of other systems left out", words.Count(all-len(found), "row"))
		b.used[partSystem] = column
		return found, nil
	}
	if b.src.Pick != "" {
		return nil, fmt.Errorf("%s holds one system, so there is no %q to pick", strings.Join(b.names, ", "), b.src.Pick)
	}
	return found, nil
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
func (b *builder) take(r rows.Row, part string) rows.Node {
	v, column := b.layout.value(r.Node, part)
	if column != "" && v.Kind != rows.Missing {
		if _, ok := b.used[part]; !ok {
			b.used[part] = column
		}
	}
	return v
}

func (b *builder) item(r rows.Row) deem.Item {
	it := deem.Item{
		Category: strings.TrimSuffix(strings.TrimSpace(b.take(r, partCategory).Str()), ".0"), // pandas writes 4.0 for 4
		Question: b.take(r, partQuestion).Str(),
		Response: b.take(r, partResponse).Str(),
		Cluster:  r.Group,
	}
	if v := b.take(r, partCluster); v.IsScalar() {
		it.Cluster = v.Str()
	}
	if it.Category == "" {
		it.Category = r.Category
	}
	if it.Cluster == it.Category && strings.ContainsFunc(it.Cluster, unicode.IsLetter) {
		it.Cluster = "" // The list is named after the subject of its rows.
	}
	it.References = b.references(r)
	// A question may be asked twice, so it is not a key: a row without an id is numbered in
	// its conversation.
	index := b.indexes[it.Cluster]
	b.indexes[it.Cluster]++
	if v := b.take(r, partID); v.IsScalar() && !v.Blank() {
		it.ID = v.Str()
	} else if it.ID = r.Key; it.ID != "" {
	} else if it.ID = fmt.Sprintf("q%d", index); it.Cluster != "" {
		it.ID = it.Cluster + "/" + it.ID
	}
	if it.Cluster == "" {
		it.Cluster = rows.Conversation(it.ID)
	}
	fields := map[string]string{}
	if date := r.Member("question_date"); date.IsScalar() {
		fields["question_date"] = date.Str()
	}
	for _, field := range rows.SystemFields() {
		for _, name := range rows.Names(field) {
			if v := r.At(name); v.IsScalar() && !v.Blank() && fields[field] == "" {
				fields[field] = dataset.InMilliseconds(name, v.Str())
			}
		}
	}
	if len(fields) > 0 {
		it.Fields = fields
	}
	return it
}

// references returns the correct answers of a row, which may be in several columns.
func (b *builder) references(r rows.Row) []string {
	v := b.take(r, partReferences)
	list := v.Texts()
	if b.src.Split != "" {
		list = nil
		for _, text := range v.Texts() {
			for part := range strings.SplitSeq(text, b.src.Split) {
				if part = strings.TrimSpace(part); part != "" {
					list = append(list, part)
				}
			}
		}
	}
	if v.Kind != rows.Missing {
		return list
	}
	for i, key := range r.Keys {
		if numbered.MatchString(key) && !r.Vals[i].Blank() {
			list = append(list, r.Vals[i].Str())
			b.used[partReferences] = strings.TrimRight(key, "0123456789") + "N"
		}
	}
	return list
}

// addDetails adds the row's other information about the verdict to a record.
func (b *builder) addDetails(rec *deem.Record, r rows.Row, vote rows.Node) {
	if m := b.take(r, partModel); m.IsScalar() && b.JudgeModel == "" {
		b.JudgeModel = m.Str()
	}
	reply := b.take(r, partReply)
	if b.layout.verdict.Reply && vote.Kind == rows.String {
		reply = vote
	}
	if reply.Kind == rows.String && rec.Trial == 0 && reply.Text != "" {
		rec.Calls = []deem.Call{recordedCall(reply.Text)}
	}
	if rec.Failure != nil {
		if why := r.Member("judge_failure_reason"); why.Kind == rows.String {
			rec.Failure.Detail += ": " + clip(why.Text)
		}
		return
	}
	b.labels[rec.Verdict.Label]++
	var reason rows.Node // next to the verdict, or in a separate column
	if at := strings.LastIndexByte(b.layout.verdict.Path, '.'); at >= 0 {
		reason = r.At(b.layout.verdict.Path[:at]).Member("reason")
	}
	if reason.Kind != rows.String {
		reason = b.take(r, partReason)
	}
	if reason.Kind == rows.String && reason.Text != "" {
		rec.Verdict.Reason = reason.Text
	}
	if rec.Trial > 0 {
		return
	}
	found := map[string]float64{} // the results of formulas for the response, by name
	for _, o := range []rows.Node{r.Node, r.Member("metrics"), r.Member("evaluation")} {
		for i, key := range o.Keys {
			v := o.Vals[i]
			if v.Kind == rows.Object {
				v = v.Member("score")
			}
			if x, ok := v.Float(); ok && v.Kind == rows.Number && aspectName.MatchString(key) {
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
func (b *builder) describe(found int) {
	for _, part := range Parts() {
		if column := b.used[part]; column != "" && part != partLabel {
			b.Columns = append(b.Columns, part+"="+column)
		}
	}
	b.lacksResponses = len(b.unanswered) == found
	switch n := len(b.unanswered); {
	case b.lacksResponses:
		b.Note("no column holds responses, so only the recorded verdicts are counted")
	case n > 0:
		b.Note("%s without a response: they are unjudged for every judge that is asked now, and not wrong", words.Count(n, "row"))
	}
	if b.empty > 0 {
		b.Note("%s with an empty response: that is what the system gave, and judges judge it", words.Count(b.empty, "row"))
	}
	if 2*b.echoes > found {
		b.notes = append(b.notes, fmt.Sprintf("in %d of %d rows the response repeats the question: the column %q may hold the prompt, and then another judge would judge that", b.echoes, found, b.used[partResponse]))
	}
	if b.layout.verdict.Path == "" {
		return
	}
	b.Columns = append(b.Columns, partLabel+"="+b.layout.verdict.Path)
	b.formula = b.layout.verdict.Rule
	b.identity = map[string]string{"column": b.layout.verdict.Path}
	for name, value := range map[string]any{
		"inverted": b.layout.verdict.Inverted, "yes": b.src.Yes, "no": b.src.No, "scale": b.src.Scale, "pick": b.src.Pick,
	} {
		switch text, _ := deem.Canonical(value); string(text) {
		case "false", "null", "[]", "0", `""`: // not set
		default:
			b.identity[name] = strings.Trim(string(text), `"`)
		}
	}
	var right []string
	for _, label := range slices.Sorted(maps.Keys(b.labels)) {
		o := b.layout.words.read(rows.Node{Kind: rows.String, Text: label})
		if o.verdict != nil && o.verdict.Score == 1 {
			right = append(right, label)
		}
	}
	isGraded := func(rec deem.Record) bool {
		return rec.Verdict != nil && rec.Verdict.Score != 0 && rec.Verdict.Score != 1
	}
	switch column := b.layout.verdict.Path; {
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
			list[i] = c.Path
		}
		b.notes = append(b.notes, fmt.Sprintf("there are verdicts in other columns too: %s; --map label=%s takes them", listed(list), b.layout.others[0].Path))
	}
}

// only removes rows that do not match the source's conditions, and notes how many remain: a
// score of some rows must not be mistaken for that of all.
func (b *builder) only(found []rows.Row) ([]rows.Row, error) {
	if len(b.src.Only) == 0 {
		return found, nil
	}
	left := found
	var asked []string
	for _, condition := range b.src.Only {
		column, value, valued := strings.Cut(condition, "=")
		column, value = strings.TrimSpace(column), strings.TrimSpace(value)
		if !slices.ContainsFunc(found, func(r rows.Row) bool { return r.Has(column) || r.At(column).Kind != rows.Missing }) {
			return nil, deem.WithHint(fmt.Errorf("no row has a column %q to choose rows by", column), "the columns here are: %s", listed(found[0].Keys))
		}
		left = slices.DeleteFunc(slices.Clone(left), func(r rows.Row) bool {
			v := r.At(column)
			if valued {
				return !strings.EqualFold(v.Str(), value)
			}
			return v.Kind == rows.Missing // An empty text is a value, and so is "None": the system answered so.
		})
		if !valued {
			condition = "a value in " + column
		}
		asked = append(asked, condition)
	}
	if len(left) == 0 {
		return nil, fmt.Errorf("none of %s has %s", words.Count(len(found), "row"), strings.Join(asked, " and "))
	}
	b.leave("%d of %s are taken, those with %s", len(left), words.Count(len(found), "row"), strings.Join(asked, " and "))
	return left, nil
}
