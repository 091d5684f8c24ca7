package halumem

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/benchmark"
)

// Metrics computes HaluMem's metrics from records. It keeps counts and sums by user, not
// records, so memory does not grow with the number of items, except for the attribution of
// wrong answers: about thirty bytes per memory point, and a line per wrong answer.
//
// The order of records does not change any estimate. It can change the last digit of the
// sums in upstream's file, which adds floats in the given order, as upstream does.
type Metrics struct {
	// MaxUnjudged is the share of unjudged items above which a metric is withheld; 0
	// means 0.01.
	MaxUnjudged float64

	reading  string
	later    int // records of later trials
	foreign  int // records whose category or label does not belong to the benchmark
	failures map[string]map[deem.Kind]int

	users     benchmark.Clustered // all records, to detect users with several
	recall    scores              // of memory points: scored 2
	resisted  scores              // of interference: scored 0
	weighted  weighted
	target    scores // of memories about the topics of memory points
	memories  scores // of all memories
	updates   choice
	questions choice
	byType    map[string]*typeScores
	byKind    map[string]choice // of questions
	byHard    map[string]choice // of questions, by difficulty
	times     times
	where     attribution
}

// defaultMaxUnjudged is the share of unjudged items from which a metric says more about the
// judge than about the system.
const defaultMaxUnjudged = 0.01

// NewMetrics returns empty metrics for records of the named reading; "" means [Upstream],
// and so does an unknown name, because [Protocol] has already checked it.
func NewMetrics(reading string) *Metrics {
	name, err := checkReading(reading)
	if err != nil {
		name = Upstream
	}
	return &Metrics{
		reading:   name,
		failures:  map[string]map[deem.Kind]int{},
		updates:   newChoice(updateLabels),
		questions: newChoice(qaLabels),
		byType:    map[string]*typeScores{},
		byKind:    map[string]choice{},
		byHard:    map[string]choice{},
		where:     attribution{seed: maphash.MakeSeed(), outcomes: map[uint64]outcome{}},
	}
}

// scores sums the scores of items, from 0 to 1. Items of one user are not independent, so
// the sums of each user are kept: all counts an unjudged item as 0, and valid leaves it
// out.
type scores struct {
	items, judged, hits int     // a hit is a score of 1
	sum                 float64 // in the order of the records, as upstream adds
	all, valid          benchmark.Clustered
}

// add adds a score with its weight; a negative score means a failure.
func (t *scores) add(user string, score, weight float64) {
	t.items++
	if score < 0 {
		t.all.Add(user, 0, weight)
		return
	}
	t.judged++
	if score == 1 {
		t.hits++
	}
	t.sum += score * weight
	t.all.Add(user, score, weight)
	t.valid.Add(user, score, weight)
}

// mark returns 1 for a hit, 0 for a miss, and -1 for an unjudged item.
func mark(judged, hit bool) float64 {
	switch {
	case !judged:
		return -1
	case hit:
		return 1
	}
	return 0
}

// A choice maps each label of the judge to its scores: 1 for items with this label.
type choice map[string]*scores

func newChoice(labels []string) choice {
	c := choice{}
	for _, label := range labels {
		c[label] = &scores{}
	}
	return c
}

// add adds a label; "" means a failure.
func (c choice) add(user, label string) {
	for name, t := range c {
		t.add(user, mark(label != "", label == name), 1)
	}
}

// typeScores counts the memory points of one type over two stages: those fully extracted,
// those correctly updated, and both together.
type typeScores struct{ integrity, update, both scores }

func (t *typeScores) add(user string, judged, integrity, update bool) {
	t.integrity.add(user, mark(judged, integrity), 1)
	t.update.add(user, mark(judged, update), 1)
	t.both.add(user, mark(judged, integrity || update), 1)
}

// weighted sums scores weighted by the importance of their memory points.
type weighted struct {
	scores
	weight         float64
	judgedWeight   float64
	fraction       bool // some importance has a fraction, so that Python's sum is a float
	judgedFraction bool
	without        int // points without an importance
}

// add adds half of a score with its importance; a negative score means a failure.
func (w *weighted) add(user string, score int, importance string) {
	x, err := strconv.ParseFloat(strings.TrimSpace(importance), 64)
	if err != nil {
		w.without++
		return
	}
	isFloat := strings.ContainsAny(importance, ".eE")
	w.scores.add(user, 0.5*float64(score), x)
	w.weight += x
	w.fraction = w.fraction || isFloat
	if score >= 0 {
		w.judgedWeight += x
		w.judgedFraction = w.judgedFraction || isFloat
	}
}

// times sums milliseconds.
type times struct {
	adding, searching           float64
	knowsAdding, knowsSearching bool
}

// add adds the durations in the fields of an item, one by one.
func (t *times) add(fields map[string]string) {
	if list, ok := fields[fieldAddTimes]; ok {
		t.knowsAdding = true
		addDurations(&t.adding, list)
	}
	if list, ok := fields[fieldSearchTimes]; ok {
		t.knowsSearching = true
		addDurations(&t.searching, list)
	}
}

func addDurations(sum *float64, list string) {
	for field := range strings.FieldsSeq(list) {
		if ms, err := strconv.ParseFloat(field, 64); err == nil {
			*sum += ms
		}
	}
}

// Add adds a record. Only the first trial counts: judging an item again does not make a new
// item.
func (m *Metrics) Add(rec deem.Record) {
	if rec.Trial != 0 {
		m.later++
		return
	}
	m.users.Add(rec.Item.Cluster, 0, 1)
	m.times.add(rec.Item.Fields)
	if rec.Failure != nil {
		stage := m.failures[rec.Item.Category]
		if stage == nil {
			stage = map[deem.Kind]int{}
			m.failures[rec.Item.Category] = stage
		}
		stage[rec.Failure.Kind]++
	}
	switch rec.Item.Category {
	case Integrity:
		m.addIntegrity(rec)
	case Accuracy:
		score, ok := scoreOf(rec)
		if !ok {
			m.foreign++
			return
		}
		m.memories.add(rec.Item.Cluster, 0.5*float64(score), 1)
		if rec.Verdict != nil && rec.Verdict.Aspects[aspectIncluded] == 1 {
			m.target.add(rec.Item.Cluster, 0.5*float64(score), 1)
		}
	case Update:
		m.addUpdate(rec)
	case QA:
		m.addQuestion(rec)
	default:
		m.foreign++
	}
}

// scoreOf returns the score of a record, or -1 if it has none. It reports false if the
// verdict is not one of this benchmark.
func scoreOf(rec deem.Record) (int, bool) {
	if rec.Verdict == nil {
		return -1, true
	}
	switch rec.Verdict.Label {
	case "0", "1", "2":
		return int(rec.Verdict.Label[0] - '0'), true
	}
	return 0, false
}

func (m *Metrics) addIntegrity(rec deem.Record) {
	score, ok := scoreOf(rec)
	if !ok {
		m.foreign++
		return
	}
	user, fields := rec.Item.Cluster, rec.Item.Fields
	if fields[fieldSource] == interference {
		m.resisted.add(user, mark(score >= 0, score == 0), 1)
	} else {
		m.recall.add(user, mark(score >= 0, score == 2), 1)
		m.weighted.add(user, score, fields[fieldImportance])
		m.where.enter(rec, map[int]outcome{0: missed, 1: halfMissed, 2: kept}[score])
	}
	if t := m.typeOf(fields); t != nil {
		t.add(user, score >= 0, score == 2, false)
	}
}

// typeOf returns the scores of the point's type. Upstream counts interference points as if
// they should have been remembered; the fixed reading leaves them out.
func (m *Metrics) typeOf(fields map[string]string) *typeScores {
	if m.reading == Fixed && fields[fieldSource] == interference {
		return nil
	}
	name := fields[fieldType]
	if m.byType[name] == nil {
		m.byType[name] = &typeScores{}
	}
	return m.byType[name]
}

// labelOf returns the label of a record, or "" if it has none. It reports false if its
// stage does not offer the label.
func labelOf(rec deem.Record) (string, bool) {
	if rec.Verdict == nil {
		return "", true
	}
	return rec.Verdict.Label, slices.Contains(labelsOf(rec.Item.Category), rec.Verdict.Label)
}

func (m *Metrics) addUpdate(rec deem.Record) {
	label, ok := labelOf(rec)
	if !ok {
		m.foreign++
		return
	}
	m.updates.add(rec.Item.Cluster, label)
	switch label {
	case "":
	case correct:
		m.where.enter(rec, kept)
	default:
		m.where.enter(rec, outdated)
	}
	if t := m.typeOf(rec.Item.Fields); t != nil {
		t.add(rec.Item.Cluster, label != "", false, label == correct)
	}
}

func (m *Metrics) addQuestion(rec deem.Record) {
	label, ok := labelOf(rec)
	if !ok {
		m.foreign++
		return
	}
	user, fields := rec.Item.Cluster, rec.Item.Fields
	m.questions.add(user, label)
	for _, group := range []struct {
		table map[string]choice
		key   string
	}{{m.byKind, fields[fieldKind]}, {m.byHard, fields[fieldDifficulty]}} {
		if group.table[group.key] == nil {
			group.table[group.key] = newChoice(qaLabels)
		}
		group.table[group.key].add(user, label)
	}
	if label == "" || label == correct {
		return
	}
	lost := wrongAnswer{id: rec.Item.ID, position: rec.Position, retrieved: fields[fieldRetrieved]}
	for line := range strings.SplitSeq(fields[fieldEvidence], "\n") {
		if line != "" {
			lost.evidence = append(lost.evidence, m.where.key(user, line))
		}
	}
	m.where.lost = append(m.where.lost, lost)
}
