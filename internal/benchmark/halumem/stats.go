package halumem

import (
	"io"
	"strconv"

	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/internal/words"
)

// WriteStats writes upstream's own statistics, as under "overall_score" in the file
// <frame>_eval_stat_result.json: the same keys in the same order, the same arithmetic,
// Python's floats, an indentation of four. Unjudged items count like upstream's invalid
// ones. The lists of judged rows that follow in upstream's file are left out: a run stores
// records, and deem export writes them.
//
// Where upstream would divide by zero and stop, the value is null, and "deem_notes" lists
// it.
func (m *Metrics) WriteStats(w io.Writer) error {
	s := &statFile{m: m}
	var f1 any // null without items, which the notes of its parts explain
	if m.target.items > 0 && m.recall.items > 0 {
		f1 = f1Of(m.target.sum/float64(m.target.items), float64(m.recall.hits)/float64(m.recall.items))
	}
	recall, weighted := m.recall, m.weighted
	if weighted.without > 0 {
		s.notes = append(s.notes, words.Count(weighted.without, "memory point")+" without importance left out, and upstream stops here with a KeyError")
	}
	integrity := text.Dict{
		{Key: "recall(all)", Value: s.ratio("recall(all)", float64(recall.hits), float64(recall.items))},
		{Key: "recall(valid)", Value: s.ratio("recall(valid)", float64(recall.hits), float64(recall.judged))},
		{Key: "weighted_recall(all)", Value: s.ratio("weighted_recall(all)", weighted.sum, weighted.weight)},
		{Key: "weighted_recall(valid)", Value: s.ratio("weighted_recall(valid)", weighted.sum, weighted.judgedWeight)},
		{Key: "memory_valid_importance_sum", Value: pythonSum(weighted.judgedWeight, weighted.judgedFraction)},
		{Key: "memory_importance_sum", Value: pythonSum(weighted.weight, weighted.fraction)},
		{Key: "memory_valid_num", Value: recall.judged},
		{Key: "memory_num", Value: recall.items},
	}
	r, t, h := m.resisted, m.target, m.memories
	accuracy := text.Dict{
		{Key: "interference_accuracy(all)", Value: s.ratio("interference_accuracy(all)", float64(r.hits), float64(r.items))},
		{Key: "interference_accuracy(valid)", Value: s.ratio("interference_accuracy(valid)", float64(r.hits), float64(r.judged))},
		{Key: "interference_memory_valid_num", Value: r.judged},
		{Key: "interference_memory_num", Value: r.items},
		{Key: "target_accuracy(all)", Value: s.ratio("target_accuracy(all)", t.sum, float64(t.items))},
		{Key: "target_accuracy(valid)", Value: s.ratio("target_accuracy(valid)", t.sum, float64(t.judged))},
		{Key: "target_memory_valid_num", Value: t.judged},
		{Key: "target_memory_num", Value: t.items},
		{Key: "weighted_accuracy(all)", Value: s.ratio("weighted_accuracy(all)", h.sum, float64(h.items))},
		{Key: "weighted_accuracy(valid)", Value: s.ratio("weighted_accuracy(valid)", h.sum, float64(h.judged))},
		{Key: "memory_valid_num", Value: h.judged},
		{Key: "memory_num", Value: h.items},
	}
	overall := text.Dict{
		{Key: "memory_integrity", Value: integrity},
		{Key: "memory_accuracy", Value: accuracy},
		{Key: "memory_extraction_f1", Value: f1},
		{Key: "memory_update", Value: s.choice(m.updates, updateLabels, updateRatios, "update_memory")},
		{Key: "question_answering", Value: s.choice(m.questions, qaLabels, qaRatios, "qa")},
		{Key: "memory_type_accuracy", Value: s.types()},
		{Key: "time_consuming", Value: s.times()},
	}
	file := text.Dict{{Key: "overall_score", Value: overall}}
	if len(s.notes) > 0 {
		file = append(file, text.Member{Key: "deem_notes", Value: s.notes})
	}
	_, err := io.WriteString(w, benchmark.Dumps(file, "    "))
	return err
}

// A statFile collects the contents of upstream's file.
type statFile struct {
	m     *Metrics
	notes []any
}

// ratio returns a quotient, or null with a note where upstream would stop.
func (s *statFile) ratio(name string, a, b float64) any {
	if b == 0 {
		s.notes = append(s.notes, name+": there is nothing to divide by, and upstream stops here with a ZeroDivisionError")
		return nil
	}
	return a / b
}

// pythonSum returns a sum as in Python: an integer as long as no fraction was added.
func pythonSum(sum float64, fraction bool) any {
	if fraction {
		return sum
	}
	return int(sum)
}

// choice returns the ratios of labels, and the two denominators under names that begin with
// stem.
func (s *statFile) choice(c choice, labels []string, names map[string]string, stem string) text.Dict {
	var d text.Dict
	items, judged := c[labels[0]].items, c[labels[0]].judged
	for _, label := range labels {
		hits := float64(c[label].hits)
		for _, of := range []struct {
			name string
			n    int
		}{{"(all)", items}, {"(valid)", judged}} {
			key := names[label] + of.name
			d = append(d, text.Member{Key: key, Value: s.ratio(key, hits, float64(of.n))})
		}
	}
	return append(d, text.Member{Key: stem + "_valid_num", Value: judged}, text.Member{Key: stem + "_num", Value: items})
}

func (s *statFile) types() text.Dict {
	var d text.Dict
	for _, name := range s.m.typeNames() {
		t := s.m.byType[name]
		if t == nil {
			t = &typeScores{}
		}
		if !knownType(name) {
			s.notes = append(s.notes, strconv.Quote(name)+" is not a type of memory that upstream knows, and it stops here with a KeyError")
		}
		n := t.both.items
		integrity := s.ratio(name, float64(t.integrity.hits), float64(n))
		var update, both any
		if n > 0 {
			a, b := float64(t.integrity.hits)/float64(n), float64(t.update.hits)/float64(n)
			update, both = b, a+b
		}
		d = append(d, text.Member{Key: name, Value: text.Dict{
			{Key: "memory_integrity_acc", Value: integrity},
			{Key: "memory_update_acc", Value: update},
			{Key: "total_num", Value: n},
			{Key: "memory_acc", Value: both},
		}})
	}
	return d
}

func (s *statFile) times() text.Dict {
	adding := minutes(s.m.times.adding, s.m.times.knowsAdding)
	searching := minutes(s.m.times.searching, s.m.times.knowsSearching)
	d := text.Dict{
		{Key: "add_dialogue_duration_time", Value: nil},
		{Key: "search_memory_duration_time", Value: nil},
		{Key: "total_duration_time", Value: nil},
	}
	if adding != nil {
		d[0].Value = *adding
	}
	if searching != nil {
		d[1].Value = *searching
	}
	if adding == nil || searching == nil {
		s.notes = append(s.notes, "time_consuming: the records do not hold all durations")
		return d
	}
	d[2].Value = *adding + *searching
	return d
}
