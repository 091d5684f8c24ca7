package compare

import (
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"deem"
	"deem/internal/doc"
)

// Join pairs the records of several runs by the ids of their items and yields a row for
// each item. The trials of an item must be adjacent and count with their mean, and ids must
// be unique within a run.
//
// The runs are read in parallel, one record of each at a time, and a row is yielded as soon
// as all runs have supplied their part. If the runs have their items in the same order, as
// runs over the same questions do, at most one row waits. Otherwise rows wait in an index
// by id and take a few hundred bytes each, whatever the length of the texts. Rows that some
// run does not have come last, in the order in which they were read.
func Join(runs ...iter.Seq2[deem.Record, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		j := joiner{names: map[string]string{}, waiting: map[string]*waitingRow{}, seed: maphash.MakeSeed()}
		var stops []func()
		defer func() {
			for _, stop := range stops {
				stop()
			}
		}()
		for _, run := range runs {
			next, stop := iter.Pull2(j.items(run))
			j.next, stops = append(j.next, next), append(stops, stop)
		}
		if err := j.pair(yield); err != nil {
			yield(Row{}, err)
		}
	}
}

// A joiner pairs the records of several runs.
type joiner struct {
	next    []func() (runItem, error, bool) // nil once a run has ended
	names   map[string]string               // categories, labels and other names, interned
	waiting map[string]*waitingRow
	order   []*waitingRow // all rows that wait, and some that no longer do
	seed    maphash.Seed
}

type waitingRow struct {
	row   Row
	parts int // the number of runs that have supplied theirs
}

// pair yields all rows. It returns the first error of a run.
func (j *joiner) pair(yield func(Row, error) bool) error {
	for open := true; open; {
		open = false
		for i, next := range j.next {
			if next == nil {
				continue
			}
			it, err, ok := next()
			switch {
			case !ok:
				j.next[i] = nil
				continue
			case err != nil:
				return err
			}
			open = true
			w, ok := j.waiting[it.id]
			if !ok {
				w = &waitingRow{row: Row{ID: it.id, Cells: make([]Cell, len(j.next))}}
				j.waiting[it.id] = w
				// Rows that no longer wait are removed once they are half of the queue, so that
				// it grows with the rows that wait and not with the rows read.
				if len(j.order) > 64 && len(j.order) > 2*len(j.waiting) {
					j.order = slices.DeleteFunc(j.order, func(old *waitingRow) bool { return old.parts == len(j.next) })
				}
				j.order = append(j.order, w)
			}
			w.row.Cells[i] = it.cell
			if w.parts++; w.parts < len(j.next) {
				continue
			}
			delete(j.waiting, it.id)
			if !yield(w.row, nil) {
				return nil
			}
		}
	}
	for _, w := range j.order {
		if w.parts < len(j.next) && !yield(w.row, nil) {
			return nil
		}
	}
	return nil
}

// A runItem is an item of one run.
type runItem struct {
	id   string
	cell Cell
}

// items yields the items of a run, each with the mean of its trials.
func (j *joiner) items(run iter.Seq2[deem.Record, error]) iter.Seq2[runItem, error] {
	return func(yield func(runItem, error) bool) {
		var it runItem
		var trials []Cell
		for rec, err := range run {
			if len(trials) > 0 && (err != nil || rec.Item.ID != it.id || rec.Position != trials[0].Position) {
				if it.cell = meanOf(trials); !yield(it, nil) {
					return
				}
				trials = trials[:0]
			}
			if err != nil {
				yield(runItem{}, err)
				return
			}
			if len(trials) == 0 {
				it.id = strings.Clone(rec.Item.ID)
			}
			trials = append(trials, j.cell(rec))
		}
		if len(trials) > 0 {
			it.cell = meanOf(trials)
			yield(it, nil)
		}
	}
}

// meanOf combines the trials of an item.
func meanOf(trials []Cell) Cell {
	out := trials[0]
	if len(trials) == 1 {
		return out
	}
	var judged []*deem.Verdict
	for _, c := range trials {
		if c.Judged {
			judged = append(judged, &deem.Verdict{Label: c.Label, Score: c.Score, Pass: c.Pass})
		}
	}
	if len(judged) == 0 {
		return out
	}
	all := doc.MeanOf(judged)
	out.Judged, out.Kind, out.Guess, out.Pass = true, "", nil, nil
	out.Failed = float64(len(trials)-len(judged)) / float64(len(trials))
	out.Label, out.Score, out.Verdicts, out.Yes, out.Graded = all.First.Label, all.Score, all.N, all.Yes, all.Graded
	if all.Marked {
		out.Pass = new(out.yes())
	}
	return out
}

func (j *joiner) cell(rec deem.Record) Cell {
	it := rec.Item
	var references maphash.Hash
	references.SetSeed(j.seed)
	for _, s := range it.References {
		_, _ = references.WriteString(s) // never fails
		_ = references.WriteByte(0)      // never fails; with a terminator, the boundaries of texts count
	}
	prompt := it.Fields["answer_prompt"]
	if len(prompt) > 64 { // a whole prompt, and not the name of one
		hash, err := deem.Hash(prompt)
		if err != nil {
			panic(err) // a string can always be marshaled
		}
		prompt = "hash " + deem.ShortHash(hash)
	}
	c := Cell{
		Present: true, Position: rec.Position,
		Category: j.name(it.Category), Cluster: j.name(it.Cluster),
		question: maphash.String(j.seed, it.Question), references: references.Sum64(),
		answeredBy: j.name(it.Fields["answer_model"]), prompt: j.name(prompt),
		took: doc.TookBy(it),
	}
	c.Weight, _ = doc.WeightOf(it)
	switch {
	case rec.Failure != nil:
		c.Kind, c.Guess = rec.Failure.Kind, rec.Failure.Probability
	case rec.Verdict == nil || !(rec.Verdict.Score >= 0 && rec.Verdict.Score <= 1):
		c.Kind = deem.OutOfRange
	default:
		c.Judged, c.Label, c.Score, c.Pass = true, j.name(rec.Verdict.Label), rec.Verdict.Score, rec.Verdict.Pass
	}
	return c
}

// name returns a copy of s, which may be a substring of a long text.
func (j *joiner) name(s string) string {
	if kept, ok := j.names[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	j.names[s] = s
	return s
}
