package halumem

import (
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/stat"
)

// Metrics turn records into HaluMem's numbers. They keep counts and sums and no
// records, so memory does not grow with the number of items, but for what tells
// where wrong answers went wrong: some thirty bytes for each memory point, and a
// line for each wrong answer.
//
// The order of records changes no estimate. It can change the last digit of the
// sums in upstream's own file, which adds floats in the order it is given; so does
// it upstream.
type Metrics struct {
	// MaxUnjudged is the share of unjudged items above which a number is withheld;
	// 0 means 0.01.
	MaxUnjudged float64

	reading   string
	later     int // records of later trials
	strangers int // records that no stage can count
	failures  map[string]map[deem.Kind]int

	recall    tally // of memory points: scored 2
	resisted  tally // of interference: scored 0
	weighted  weighted
	target    halves // of memories about what the memory points are about
	memories  halves // of all memories
	updates   choice
	questions choice
	byType    map[string]*typeTally
	byKind    map[string]*choice // of questions
	byHard    map[string]*choice // of questions, by difficulty
	times     times
	where     attribution
}

// defaultMaxUnjudged is the share of unjudged items from which on a number says
// more about the judge than about the system.
const defaultMaxUnjudged = 0.01

// NewMetrics returns empty metrics for records of the named reading; "" means
// [Upstream], and so does a name that is none, because the records were made under
// a reading that [Protocol] knew.
func NewMetrics(reading string) *Metrics {
	name, err := checkReading(reading)
	if err != nil {
		name = Upstream
	}
	return &Metrics{
		reading:   name,
		failures:  map[string]map[deem.Kind]int{},
		updates:   choice{counts: map[string]int{}},
		questions: choice{counts: map[string]int{}},
		byType:    map[string]*typeTally{},
		byKind:    map[string]*choice{},
		byHard:    map[string]*choice{},
		where:     newAttribution(),
	}
}

// A tally counts hits among items.
type tally struct{ items, judged, hits int }

func (t *tally) add(judged, hit bool) {
	t.items++
	if judged {
		t.judged++
	}
	if hit {
		t.hits++
	}
}

// A choice counts the labels of items.
type choice struct {
	items, judged int
	counts        map[string]int
}

// add adds a label; "" stands for a failure.
func (c *choice) add(label string) {
	c.items++
	if label != "" {
		c.judged++
		c.counts[label]++
	}
}

// A typeTally counts the memory points of one type over two stages.
type typeTally struct{ items, judged, integrity, update int }

func (t *typeTally) add(judged bool) {
	if t.items++; judged {
		t.judged++
	}
}

// halves gather scores of 0, 1 and 2 as halves of a whole.
type halves struct {
	items, judged int
	sum           float64 // added up as upstream does
	all, valid    stat.Moments
}

// add adds a score; a negative one stands for a failure, which counts as 0 where
// all items count.
func (h *halves) add(score int) {
	h.items++
	if score < 0 {
		h.all.Add(0, 1)
		return
	}
	h.judged++
	h.sum += 0.5 * float64(score)
	h.all.Add(0.5*float64(score), 1)
	h.valid.Add(0.5*float64(score), 1)
}

// weighted gathers scores by the importance of their memory points.
type weighted struct {
	items, judged  int
	sum            float64
	weight         float64
	judgedWeight   float64
	fraction       bool // some importance has a fraction, so that Python's sum is a float
	judgedFraction bool
	without        int // points without an importance
	all, valid     stat.Moments
}

// add adds a score with its importance; a negative score stands for a failure.
func (w *weighted) add(score int, importance string) {
	x, err := strconv.ParseFloat(strings.TrimSpace(importance), 64)
	if err != nil {
		w.without++
		return
	}
	isFloat := strings.ContainsAny(importance, ".eE")
	w.items++
	w.weight += x
	w.fraction = w.fraction || isFloat
	if score < 0 {
		w.all.Add(0, x)
		return
	}
	w.judged++
	w.judgedWeight += x
	w.judgedFraction = w.judgedFraction || isFloat
	w.sum += 0.5 * float64(score) * x
	w.all.Add(0.5*float64(score), x)
	w.valid.Add(0.5*float64(score), x)
}

// times add up milliseconds.
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

// Add adds a record. Only the first trial counts: judging an item again makes no
// new item.
func (m *Metrics) Add(rec deem.Record) {
	if rec.Trial != 0 {
		m.later++
		return
	}
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
		m.addAccuracy(rec)
	case Update:
		m.addUpdate(rec)
	case QA:
		m.addQuestion(rec)
	default:
		m.strangers++
	}
}

// scoreOf returns the score of a record, -1 when it has none, and false when its
// verdict is none of this benchmark's.
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
		m.strangers++
		return
	}
	fields := rec.Item.Fields
	if fields[fieldSource] == interference {
		m.resisted.add(score >= 0, score == 0)
	} else {
		m.recall.add(score >= 0, score == 2)
		m.weighted.add(score, fields[fieldImportance])
		m.where.extracted(rec, score)
	}
	if t := m.typeOf(fields); t != nil {
		t.add(score >= 0)
		if score == 2 {
			t.integrity++
		}
	}
}

// typeOf returns the tally of the point's type. Upstream counts points of
// interference as if they should have been remembered; the fixed reading leaves
// them out.
func (m *Metrics) typeOf(fields map[string]string) *typeTally {
	if m.reading == Fixed && fields[fieldSource] == interference {
		return nil
	}
	return entry(m.byType, fields[fieldType], func() *typeTally { return &typeTally{} })
}

// entry returns the value under a key, made when it is new.
func entry[T any](table map[string]*T, key string, fresh func() *T) *T {
	if table[key] == nil {
		table[key] = fresh()
	}
	return table[key]
}

func (m *Metrics) addAccuracy(rec deem.Record) {
	score, ok := scoreOf(rec)
	if !ok {
		m.strangers++
		return
	}
	m.memories.add(score)
	if rec.Verdict != nil && rec.Verdict.Aspects[aspectIncluded] == 1 {
		m.target.add(score)
	}
}

// labelOf returns the label of a record, "" when it has none, and false when it is
// none that its stage offers.
func labelOf(rec deem.Record) (string, bool) {
	if rec.Verdict == nil {
		return "", true
	}
	return rec.Verdict.Label, slices.Contains(labelsOf(rec.Item.Category), rec.Verdict.Label)
}

func (m *Metrics) addUpdate(rec deem.Record) {
	label, ok := labelOf(rec)
	if !ok {
		m.strangers++
		return
	}
	m.updates.add(label)
	m.where.updated(rec)
	if t := m.typeOf(rec.Item.Fields); t != nil {
		t.add(label != "")
		if label == correct {
			t.update++
		}
	}
}

func (m *Metrics) addQuestion(rec deem.Record) {
	label, ok := labelOf(rec)
	if !ok {
		m.strangers++
		return
	}
	fresh := func() *choice { return &choice{counts: map[string]int{}} }
	fields := rec.Item.Fields
	m.questions.add(label)
	entry(m.byKind, fields[fieldKind], fresh).add(label)
	entry(m.byHard, fields[fieldDifficulty], fresh).add(label)
	if label != "" && label != correct {
		m.where.wrong(rec)
	}
}
