package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"

	"deem/judge/match"
	"deem/stat"
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
func Words(rows []Row) match.Words {
	counts := map[string]int{}
	texts := 0
	asked := map[string]bool{}
	add := func(text string) {
		texts++
		seen := map[string]bool{}
		for _, w := range match.ContentWords(text) {
			if !seen[w] && w[0] != '#' {
				seen[w] = true
				counts[w]++
			}
		}
	}
	for _, r := range rows {
		add(r.Item.Response)
		if !asked[r.Item.Question] {
			asked[r.Item.Question] = true
			add(r.Item.Question)
		}
	}
	return match.NewWords(counts, texts, commonWords)
}

// A Sheet is the evidence of labelled items, ready to be fitted to.
type Sheet struct {
	Rows  []Row // the labelled items, without the near misses
	all   []Row // with the near misses after them, as in the lists below
	words match.Words
	seen  []match.Evidence
	x     [][]float64 // the numbers of seen
	t     *table
	y     []float64
	w     []float64 // how much each item counts
	fold  []int
}

// NewSheet gathers the evidence of rows.
func NewSheet(rows []Row) (*Sheet, error) {
	if len(rows) == 0 {
		return nil, errors.New("no labelled items")
	}
	s := &Sheet{Rows: rows, words: Words(rows)}
	s.all = append(slices.Clone(rows), nearMisses(rows)...)
	for _, r := range s.all {
		e := match.NewEvidence(r.Item, &s.words)
		s.seen, s.x = append(s.seen, e), append(s.x, e.Numbers)
		s.y = append(s.y, number(r.Right))
		s.fold = append(s.fold, fold(r.Item.Question))
	}
	s.t = newTable(s.x)
	s.w = weights(s.all, len(rows))
	return s, nil
}

// weights returns how much each item counts: those of a large set less, so that no set
// drowns the others. The near misses after the first n have a weight of their own.
func weights(rows []Row, n int) []float64 {
	sizes := map[string]float64{}
	for _, r := range rows[:n] {
		sizes[r.From]++
	}
	w := make([]float64, len(rows))
	for i, r := range rows {
		w[i] = math.Pow(1000/sizes[r.From], balance)
	}
	return w
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// rising lists the evidence of which more can only speak for a response, and
// falling that of which more can only speak against it. Without these orders the
// trees learn what happens to hold of the answers they saw, as that long answers
// with one number are right; with them the model is also a judge of other answers.
var (
	rising  = strings.Fields("rule share recall recall_all run near trigrams trigrams_new precision first_precision")
	falling = strings.Fields("heaviest_missing missing missing_names missing_figures other_names other_figures hedges place replaced other_day")
)

func directions() []int {
	var list []int
	for _, name := range match.EvidenceNames() {
		switch {
		case slices.Contains(rising, name):
			list = append(list, 1)
		case slices.Contains(falling, name):
			list = append(list, -1)
		default:
			list = append(list, 0)
		}
	}
	return list
}

// A choice says which items take part.
type choice func(i int) bool

func everything(int) bool { return true }

// fit fits trees to the chosen items.
func (s *Sheet) fit(in choice, set Settings) *match.Model {
	w := make([]float64, len(s.y))
	for i := range w {
		if !in(i) {
			continue
		}
		w[i] = s.w[i]
		if i >= len(s.Rows) {
			w[i] *= set.withDefaults().Misses
		}
	}
	m := &match.Model{Evidence: match.EvidenceNames(), Words: s.words, Accept: 1}
	m.Base, m.Trees = boost(s.t, s.y, w, directions(), set)
	return m
}

// HeldOut returns, for each chosen item, the log-odds that trees fitted to the chosen items
// of the other folds give it. The folds are fitted two at a time.
func (s *Sheet) HeldOut(in choice, set Settings) []float64 {
	odds := make([]float64, len(s.Rows))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for k := range Folds {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			m := s.fit(func(i int) bool { return in(i) && s.fold[i] != k }, set)
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

// Probabilities returns the probability of each item by a model that was not fitted
// to its question, calibrated on the held-out log-odds of the other folds.
func (s *Sheet) Probabilities(odds []float64) ([]float64, error) {
	probs := make([]float64, len(odds))
	for k := range Folds {
		line, err := s.line(odds, func(i int) bool { return s.fold[i] != k })
		if err != nil {
			return nil, err
		}
		m := &match.Model{Line: line}
		for i := range odds {
			if s.fold[i] == k {
				probs[i] = s.seen[i].Bounded(m.Calibrated(odds[i]))
			}
		}
	}
	return probs, nil
}

// line fits the calibration to held-out log-odds of the chosen items. It is fitted
// to groups of items: a curve through single items follows the noise, and claims to
// be certain at both ends.
func (s *Sheet) line(odds []float64, in choice) ([]match.Knot, error) {
	var order []int
	for i := range odds {
		if in(i) {
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
		sum, yes, n := 0.0, .5, 0.0
		for _, i := range part {
			sum += s.w[i] * odds[i]
			yes += s.w[i] * s.y[i]
			n += s.w[i]
		}
		x, y, w = append(x, sum/n), append(y, yes/(n+1)), append(w, n)
	}
	fit, err := stat.Isotonic(x, y, w, stat.IsotonicOptions{})
	if err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	knots := make([]match.Knot, len(fit.X))
	for i := range fit.X {
		knots[i] = match.Knot{Odds: round(fit.X[i]), Probability: round(fit.Y[i])}
	}
	return knots, nil
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

// balance is how strongly large sets are weighed down: 0 counts all items alike, 1 all sets.
const balance = .5

// Sure is the least probability with which the judge decides, whatever the labels
// allow: an item on which it would be wrong three times in ten is one to ask
// somebody else about.
const Sure = .7

// Fit fits the whole model to the chosen items: trees to all of them, and line and limits
// to what trees say about questions they were not fitted to. agreement is how often the
// judge has to be right where it decides.
func (s *Sheet) Fit(in choice, set Settings, agreement float64) (*match.Model, error) {
	odds := s.HeldOut(in, set)
	m := s.fit(in, set)
	var err error
	if m.Line, err = s.line(odds, in); err != nil {
		return nil, err
	}
	var probs []float64
	var right []bool
	for i, r := range s.Rows {
		if in(i) {
			probs, right = append(probs, s.seen[i].Bounded(m.Calibrated(odds[i]))), append(right, r.Right)
		}
	}
	limit := lowest(probs, right, agreement)
	m.Accept, m.Reject = limit, round(1-limit)
	return m, nil
}

// lowest returns the lowest limit, from Sure in steps of a hundredth, at which the
// items that are at least as sure agree with their labels as often as asked.
func lowest(probs []float64, right []bool, agreement float64) float64 {
	for limit := round(Sure); limit < 1; limit = round(limit + .01) {
		agree, n := 0, 0
		for i, p := range probs {
			if max(p, 1-p) < limit {
				continue
			}
			n++
			if (p >= .5) == right[i] {
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
