package contexts

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/reader"
	"deem/internal/words"
)

// joinedFields are the fields that contexts give to the items of a dataset.
var joinedFields = []string{reader.FieldContexts, reader.FieldDate, reader.FieldSpeakers, reader.FieldStatus, FieldTokens, FieldLatency}

// Join finds the contexts of each item of a dataset: by id, else by the text of the question
// within its conversation. Contexts without ids and questions belong to the questions of the
// dataset in its order. It returns what the items gain, in the order of the dataset, and how
// many contexts belong to none. Items without contexts, or with more than one candidate, are
// an error that names them.
func (s *Set) Join(data iter.Seq2[deem.Item, error]) (fields []map[string]string, unused int, err error) {
	j := &join{byID: map[string]int{}, byText: map[string][]int{}, votes: map[string]map[string]int{}, set: s, used: make([]bool, len(s.items))}
	for it, err := range data {
		if err != nil {
			return nil, 0, err
		}
		j.data = append(j.data, it)
	}
	if !slices.ContainsFunc(s.items, func(it deem.Item) bool { return it.Question != "" }) && !j.sharesIDs() {
		return j.byPlace()
	}
	j.index()
	var missing, ambiguous []string
	for _, it := range j.data {
		at, several := j.find(it)
		switch {
		case several:
			ambiguous = append(ambiguous, it.ID)
		case at < 0:
			missing = append(missing, it.ID)
		default:
			j.used[at] = true
			fields = append(fields, s.gains(at))
		}
	}
	name := strings.Join(s.names, ", ")
	switch {
	case len(missing) > 0:
		return nil, 0, deem.WithHint(fmt.Errorf("%s has no contexts for %s: %s", name, words.Count(len(missing), "item"), some(missing)),
			"an item without contexts cannot be answered; leave it out with --exclude id=%s, or give its contexts an empty list", missing[0])
	case len(ambiguous) > 0:
		return nil, 0, deem.WithHint(fmt.Errorf("%s has several contexts for %s with the same question: %s", name, words.Count(len(ambiguous), "item"), some(ambiguous)),
			"give the rows the ids of the data; or leave such items out with --exclude id=%s", ambiguous[0])
	}
	for _, used := range j.used {
		if !used {
			unused++
		}
	}
	return fields, unused, nil
}

// some lists the first of many ids.
func some(ids []string) string {
	const most = 5
	if len(ids) > most {
		return words.Printable(strings.Join(ids[:most], ", ")) + ", ..."
	}
	return words.Printable(strings.Join(ids, ", "))
}

// gains returns the fields of an item that a dataset's item gains.
func (s *Set) gains(at int) map[string]string {
	gained := maps.Clone(s.items[at].Fields)
	maps.DeleteFunc(gained, func(name, _ string) bool { return !slices.Contains(joinedFields, name) })
	return gained
}

// A join is the state of joining contexts with a dataset.
type join struct {
	set  *Set
	data []deem.Item
	used []bool // by position of the contexts

	byID   map[string]int
	byText map[string][]int

	// votes counts, for each conversation of the dataset, the names that files of contexts
	// give it. Few programs keep the name.
	votes map[string]map[string]int
}

// textKey makes equal questions equal texts.
func textKey(question string) string {
	return strings.Join(strings.Fields(strings.ToLower(question)), " ")
}

// sharesIDs reports whether some contexts have the id of an item.
func (j *join) sharesIDs() bool {
	ids := map[string]bool{}
	for _, it := range j.data {
		ids[it.ID] = true
	}
	return slices.ContainsFunc(j.set.items, func(it deem.Item) bool { return ids[it.ID] })
}

// index prepares the search, and lets questions that occur once say which conversation of
// the contexts is which of the dataset.
func (j *join) index() {
	for i, it := range j.set.items {
		j.byID[it.ID] = i
		if it.Question != "" {
			j.byText[textKey(it.Question)] = append(j.byText[textKey(it.Question)], i)
		}
	}
	times := map[string]int{}
	for _, it := range j.data {
		times[textKey(it.Question)]++
	}
	for _, it := range j.data {
		found := j.byText[textKey(it.Question)]
		if times[textKey(it.Question)] > 1 || len(found) != 1 {
			continue
		}
		if j.votes[it.Cluster] == nil {
			j.votes[it.Cluster] = map[string]int{}
		}
		j.votes[it.Cluster][j.set.items[found[0]].Cluster]++
	}
}

// find returns the position of an item's contexts, -1 if there are none, and whether several
// would do.
func (j *join) find(it deem.Item) (at int, several bool) {
	if i, ok := j.byID[it.ID]; ok {
		if q := j.set.items[i].Question; q == "" || textKey(q) == textKey(it.Question) {
			return i, false
		}
	}
	found := j.byText[textKey(it.Question)]
	for _, narrower := range []func(c deem.Item) bool{
		func(c deem.Item) bool { return c.Cluster == it.Cluster || j.votes[it.Cluster][c.Cluster] > 0 },
		func(c deem.Item) bool { return slices.Equal(c.References, it.References) },
		func(c deem.Item) bool { return c.Category == it.Category },
	} {
		if len(found) < 2 {
			break
		}
		fewer := slices.DeleteFunc(slices.Clone(found), func(i int) bool { return !narrower(j.set.items[i]) })
		if len(fewer) > 0 {
			found = fewer
		}
	}
	if len(found) == 0 {
		return -1, false
	}
	first := found[0]
	differs := func(i int) bool {
		return !maps.Equal(j.set.gains(i), j.set.gains(first))
	}
	return first, slices.ContainsFunc(found, differs)
}

// byPlace joins contexts that have neither ids nor questions. Each conversation must have as
// many of them as questions.
func (j *join) byPlace() (fields []map[string]string, unused int, err error) {
	type part struct {
		name string
		n    int
	}
	parts := func(list []deem.Item) (all []part) {
		for _, it := range list {
			if len(all) == 0 || all[len(all)-1].name != it.Cluster {
				all = append(all, part{name: it.Cluster})
			}
			all[len(all)-1].n++
		}
		return all
	}
	name := strings.Join(j.set.names, ", ")
	asked, given := parts(j.data), parts(j.set.items)
	hint := "contexts without ids and questions are joined by their place; --exclude category=NAME leaves out questions that were not asked"
	if len(asked) != len(given) {
		return nil, 0, deem.WithHint(fmt.Errorf("%s has contexts of %s without ids and questions, and the data has %s", name,
			words.Count(len(given), "conversation"), words.Count(len(asked), "conversation")), "%s", hint)
	}
	for i := range asked {
		if asked[i].n != given[i].n {
			return nil, 0, deem.WithHint(fmt.Errorf("%s has %s for %s, without ids and questions, and the data has %s about %s", name,
				words.Count(given[i].n, "context"), words.Printable(given[i].name), words.Count(asked[i].n, "question"), words.Printable(asked[i].name)), "%s", hint)
		}
	}
	for i := range j.set.items {
		fields = append(fields, j.set.gains(i))
	}
	return fields, 0, nil
}
