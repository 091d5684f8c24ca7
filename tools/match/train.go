package main

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"

	"deem"
	"deem/internal/evidence"
)

// Folds is in how many parts the questions are cut to see what a model does with
// questions that it was not fitted to.
const Folds = 5

// fold returns the part that a question belongs to.
func fold(question string) int {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(strings.Join(strings.Fields(question), " ")))) //nolint:errcheck // never fails
	return int(h.Sum32()>>8) % Folds
}

// commonWords is how many words a model knows the frequency of.
const commonWords = 1500

// Words returns how much words tell, by how many questions and responses of rows
// have them.
func Words(rows []Row) evidence.Words {
	counts := map[string]int{}
	texts := 0
	asked := map[string]bool{}
	add := func(text string) {
		texts++
		seen := map[string]bool{}
		// Of an item without anything else, the judge weighs the content words of the question.
		evidence.New(deem.Item{Question: text, References: []string{""}}, func(w string) float64 {
			if !seen[w] && w[0] != '#' {
				seen[w] = true
				counts[w]++
			}
			return 1
		})
	}
	for _, r := range rows {
		add(r.Item.Response)
		if !asked[r.Item.Question] {
			asked[r.Item.Question] = true
			add(r.Item.Question)
		}
	}
	return newWords(counts, texts, commonWords)
}

// newWords returns the weights of the most frequent words of texts, given in how
// many of them each word is. It writes them as a model's file holds them: for each
// word four bytes of its hash and one of its weight, in sixteenths.
func newWords(counts map[string]int, texts, most int) evidence.Words {
	type entry struct {
		hash  uint32
		count int
	}
	var list []entry
	for word, n := range counts {
		h := fnv.New32a()
		h.Write([]byte(word)) //nolint:errcheck // never fails
		list = append(list, entry{h.Sum32(), n})
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.hash, b.hash))
	})
	weight := func(n int) uint8 {
		return uint8(min(255, math.Round(16*math.Log(float64(texts+1)/float64(n+1)))))
	}
	rare := weight(0)
	if len(list) > most {
		rare = weight(max(1, list[most].count/2))
		list = list[:most]
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	list = slices.CompactFunc(list, func(a, b entry) bool { return a.hash == b.hash })
	var raw []byte
	for _, e := range list {
		raw = append(binary.BigEndian.AppendUint32(raw, e.hash), min(weight(e.count), rare))
	}
	file, err := json.Marshal(map[string]any{"rare": rare, "common": raw})
	if err != nil {
		panic(err) // numbers and bytes
	}
	var w evidence.Words
	if err := json.Unmarshal(file, &w); err != nil {
		panic(err) // It was written above.
	}
	return w
}

// A Sheet is the evidence of labelled items, ready to be fitted to.
type Sheet struct {
	Rows  []Row // the labelled items, without the near misses
	made  int   // how many near misses follow them in the lists below
	words evidence.Words
	seen  []evidence.Evidence
	x     [][]float64 // the numbers of seen
	t     *table
	y     []float64
	fold  []int
}

// NewSheet gathers the evidence of rows.
func NewSheet(rows []Row) (*Sheet, error) {
	if len(rows) == 0 {
		return nil, errors.New("no labelled items")
	}
	s := &Sheet{Rows: rows, words: Words(rows)}
	misses := nearMisses(rows)
	s.made = len(misses)
	for _, r := range append(slices.Clone(rows), misses...) {
		e := evidence.New(r.Item, s.words.Weight)
		s.seen, s.x = append(s.seen, e), append(s.x, e.Numbers)
		s.y = append(s.y, number(r.Right))
		s.fold = append(s.fold, fold(r.Item.Question))
	}
	s.t = newTable(s.x)
	return s, nil
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// raises lists the evidence of which more can only speak for a response, and
// lowers that of which more can only speak against it. Without these orders the
// trees learn what happens to hold of the answers they saw, as that long answers
// with one number are right; with them the model is also a judge of other answers.
var (
	raises = strings.Fields("rule share recall recall_all run near trigrams trigrams_new precision first_precision")
	lowers = strings.Fields("heaviest_missing missing missing_names missing_figures other_names other_figures hedges place replaced other_day")
)

func directions() []int {
	var list []int
	for _, name := range evidence.Names() {
		switch {
		case slices.Contains(raises, name):
			list = append(list, 1)
		case slices.Contains(lowers, name):
			list = append(list, -1)
		default:
			list = append(list, 0)
		}
	}
	return list
}

// fit fits trees to the items outside of one fold; -1 leaves none out.
func (s *Sheet) fit(without int, set Settings) *evidence.Model {
	w := make([]float64, len(s.y))
	for i := range w {
		w[i] = number(s.fold[i] != without)
		if i >= len(s.Rows) {
			w[i] *= set.withDefaults().Misses
		}
	}
	m := &evidence.Model{Evidence: evidence.Names(), Words: s.words, Accept: 1}
	m.Base, m.Trees = boost(s.t, s.y, w, directions(), set)
	return m
}

// HeldOut returns, for each item, the log-odds that trees fitted to the other folds
// give it. The folds are fitted two at a time.
func (s *Sheet) HeldOut(set Settings) []float64 {
	odds := make([]float64, len(s.Rows))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for k := range Folds {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			m := s.fit(k, set)
			for i := range odds {
				if s.fold[i] == k {
					odds[i] = m.Odds(s.x[i])
				}
			}
		})
	}
	wg.Wait()
	return odds
}

// A Scored item has the probability that a model gives it, and whether match decides on it.
type Scored struct {
	P       float64
	Decides bool
}

// Scores judges each item by a model that was not fitted to its question, calibrated on the
// held-out log-odds of the other folds, with the given limit.
func (s *Sheet) Scores(odds []float64, limit float64) []Scored {
	scored := make([]Scored, len(odds))
	for k := range Folds {
		m := &evidence.Model{Line: s.line(odds, k), Accept: limit, Reject: round(1 - limit)}
		for i := range odds {
			if s.fold[i] == k {
				p := s.seen[i].Bounded(m.Calibrated(odds[i]))
				scored[i] = Scored{p, s.seen[i].Decides(p, m)}
			}
		}
	}
	return scored
}

// line fits the calibration to held-out log-odds outside of one fold. It is fitted
// to groups of items: a curve through single items follows the noise, and claims to
// be certain at both ends.
func (s *Sheet) line(odds []float64, without int) []evidence.Knot {
	var order []int
	for i := range odds {
		if s.fold[i] != without {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareFloats(odds[a], odds[b]) })
	groups := max(2, min(40, len(order)/50))
	var x, y, w []float64
	for g := range groups {
		part := order[g*len(order)/groups : (g+1)*len(order)/groups]
		if len(part) == 0 {
			continue
		}
		sum, yes := 0.0, .5
		for _, i := range part {
			sum += odds[i]
			yes += s.y[i]
		}
		n := float64(len(part))
		x, y, w = append(x, sum/n), append(y, yes/(n+1)), append(w, n)
	}
	rising(y, w)
	knots := make([]evidence.Knot, len(x))
	for i := range x {
		knots[i] = evidence.Knot{Odds: round(x[i]), Probability: round(y[i])}
	}
	return knots
}

// rising makes y rise with the least squared error, by pooling neighbours that are in the
// wrong order (Ayer and others, Annals of Mathematical Statistics 26, 1955).
func rising(y, w []float64) {
	type block struct {
		y, w float64
		n    int
	}
	var blocks []block
	for i := range y {
		b := block{y[i], w[i], 1}
		for k := len(blocks) - 1; k >= 0 && blocks[k].y >= b.y; k-- {
			last := blocks[k]
			b = block{(last.y*last.w + b.y*b.w) / (last.w + b.w), last.w + b.w, last.n + b.n}
			blocks = blocks[:k]
		}
		blocks = append(blocks, b)
	}
	i := 0
	for _, b := range blocks {
		for range b.n {
			y[i] = b.y
			i++
		}
	}
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Sure is the least probability with which the judge decides, whatever the labels
// allow: an item on which it would be wrong three times in ten is one to ask
// somebody else about.
const Sure = .7

// Fit fits the whole model: trees to all items, and line and limits to what trees
// say about questions they were not fitted to. agreement is how often the judge has
// to be right where it decides.
func (s *Sheet) Fit(set Settings, agreement float64) *evidence.Model {
	odds := s.HeldOut(set)
	m := s.fit(-1, set)
	m.Line = s.line(odds, -1)
	limit := s.lowest(odds, agreement)
	m.Accept, m.Reject = limit, round(1-limit)
	return m
}

// lowest returns the lowest limit, from Sure in steps of a hundredth, at which the items
// that match decides agree with their labels as often as asked.
func (s *Sheet) lowest(odds []float64, agreement float64) float64 {
	for limit := round(Sure); limit < 1; limit = round(limit + .01) {
		agree, n := 0, 0
		for i, sc := range s.Scores(odds, limit) {
			if !sc.Decides {
				continue
			}
			n++
			if (sc.P >= .5) == s.Rows[i].Right {
				agree++
			}
		}
		if n > 0 && float64(agree) >= agreement*float64(n) {
			return limit
		}
	}
	return 1
}

// Coverage returns the largest share of items that can be decided, the surest
// first, with at least the given agreement.
func Coverage(probs []float64, right []bool, agreement float64) float64 {
	order := make([]int, len(probs))
	for i := range order {
		order[i] = i
	}
	sure := func(i int) float64 { return math.Abs(probs[i] - .5) }
	slices.SortStableFunc(order, func(a, b int) int { return compareFloats(sure(b), sure(a)) })
	best, agree := 0, 0
	for n, i := range order {
		if (probs[i] >= .5) == right[i] {
			agree++
		}
		// Items that are equally sure are decided together.
		last := n+1 == len(order) || sure(order[n+1]) != sure(i)
		if last && float64(agree) >= agreement*float64(n+1) {
			best = n + 1
		}
	}
	return float64(best) / float64(len(order))
}
