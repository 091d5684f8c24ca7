package longbench

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"deem"
	"deem/stat"
	"deem/text"
)

// Metrics gather the records of a run and turn them into the published numbers. They
// take the records in the order of the items: upstream adds scores one by one, and
// the last digit of a sum of floats hangs on the order. Of an item that was judged
// several times, the first trial counts.
type Metrics struct {
	reading  string
	tasks    map[string]*tally
	order    []string // of the tasks, as they came
	choices  map[string]*tally
	unjudged []string
	strange  []string // judges other than ours
}

// NewMetrics returns metrics without records of a run under the given reading.
func NewMetrics(reading string) *Metrics {
	return &Metrics{reading: cmp.Or(reading, Upstream), tasks: map[string]*tally{}, choices: map[string]*tally{}}
}

// A tally counts the items of one task.
type tally struct {
	sum      float64 // as upstream adds up
	scores   stat.Moments
	right    int // with score 1
	unjudged int
	even     bool                  // of LongBench-E
	buckets  [len(bounds)]*numbers // by length
}

// numbers are the scores of one bucket of LongBench-E.
type numbers struct {
	list     []float64
	moments  stat.Moments
	unjudged int
}

// A bound is a bucket of LongBench-E: its name, and the length below which a text is
// in it.
type bound struct {
	name  string
	below float64
}

var bounds = [...]bound{{"0-4k", 4000}, {"4-8k", 8000}, {"8k+", math.Inf(1)}}

// Add adds a record.
func (m *Metrics) Add(rec deem.Record) {
	if rec.Trial != 0 {
		return // Trials of one item are no new items.
	}
	if rec.Judge != Name && !slices.Contains(m.strange, rec.Judge) {
		m.strange = append(m.strange, rec.Judge)
	}
	if rec.Verdict == nil {
		m.unjudged = append(m.unjudged, rec.Item.ID)
	}
	if rec.Item.Fields[fieldEdition] == V2 {
		m.addChoice(rec)
		return
	}
	t, ok := m.tasks[rec.Item.Category]
	if !ok {
		t = &tally{even: rec.Item.Fields[fieldEdition] == E}
		m.tasks[rec.Item.Category] = t
		m.order = append(m.order, rec.Item.Category)
	}
	t.add(rec)
}

// addChoice counts a record of LongBench v2 in the lines where upstream does. What
// is not easy is hard there, and what is neither short nor medium is long.
func (m *Metrics) addChoice(rec deem.Record) {
	difficulty, length := "Hard", "Long"
	if rec.Item.Fields[fieldDifficulty] == "easy" {
		difficulty = "Easy"
	}
	switch rec.Item.Fields[fieldLength] {
	case "short":
		length = "Short"
	case "medium":
		length = "Medium"
	}
	for _, name := range []string{overall, difficulty, length, domainPrefix + rec.Item.Category} {
		t, ok := m.choices[name]
		if !ok {
			t = &tally{}
			m.choices[name] = t
		}
		t.add(rec)
	}
}

func (t *tally) add(rec deem.Record) {
	var b *numbers
	if t.even {
		b = t.bucket(rec.Item.Fields[fieldLength])
	}
	if rec.Verdict == nil {
		t.unjudged++
		if b != nil {
			b.unjudged++
		}
		return
	}
	score := rec.Verdict.Score
	t.sum += score
	t.scores.Add(score, 1)
	if score == 1 {
		t.right++
	}
	if b != nil {
		b.list = append(b.list, score)
		b.moments.Add(score, 1)
	}
}

// bucket returns the bucket for texts of a length.
func (t *tally) bucket(length string) *numbers {
	n, err := strconv.ParseFloat(length, 64)
	if err != nil {
		return nil // not an item that Open made
	}
	i := slices.IndexFunc(bounds[:], func(b bound) bool { return n < b.below })
	if i < 0 {
		return nil // not a number
	}
	if t.buckets[i] == nil {
		t.buckets[i] = &numbers{}
	}
	return t.buckets[i]
}

// Unjudged returns the ids of the items without a verdict, sorted.
func (m *Metrics) Unjudged() []string { return slices.Sorted(slices.Values(m.unjudged)) }

// A Line is one published number, over judged items.
type Line struct {
	Name   string `json:"name"`
	Metric string `json:"metric,omitempty"` // "" where several are put together

	// Score is the number as upstream rounds it, from 0 to 100; nil, null in JSON,
	// when no item is judged, where upstream stops or prints NaN.
	Score *float64 `json:"score"`

	N        int `json:"n"`        // judged items
	Unjudged int `json:"unjudged"` // items without a verdict, in no number

	// Estimate is the unrounded share, from 0 to 1, with its interval.
	Estimate *stat.Estimate `json:"estimate"`

	Buckets []Line `json:"buckets,omitempty"` // of LongBench-E, by length
}

// Tasks returns the score of each task, in the order of eval.py.
func (m *Metrics) Tasks() []Line {
	lines := make([]Line, 0, len(m.order))
	for _, name := range slices.SortedStableFunc(slices.Values(m.order), func(a, b string) int { return rank(a) - rank(b) }) {
		t, _ := taskOf(name)
		l := m.tasks[name].line(name)
		l.Metric = t.metric
		lines = append(lines, l)
	}
	return lines
}

// line returns the score of a task: Wilson's interval for verdicts that are right
// or wrong, Student's for graded ones.
func (t *tally) line(name string) Line {
	l := Line{Name: name, N: t.scores.N(), Unjudged: t.unjudged, Estimate: estimate(t.scores)}
	if l.N > 0 {
		score := text.Round(100*t.sum/float64(l.N), 2)
		l.Score = &score
	}
	for i, b := range t.buckets {
		if t.even {
			l.Buckets = append(l.Buckets, b.line(bounds[i].name))
		}
	}
	return l
}

// line returns the score of a bucket, which may be nil.
func (b *numbers) line(name string) Line {
	if b == nil {
		return Line{Name: name}
	}
	l := Line{Name: name, N: len(b.list), Unjudged: b.unjudged, Estimate: estimate(b.moments)}
	if l.N > 0 {
		score := text.NumpyRound(100*numpyMean(b.list), 2)
		l.Score = &score
	}
	return l
}

// estimate returns the mean of scores with its interval, nil without any.
func estimate(m stat.Moments) *stat.Estimate {
	if m.N() == 0 {
		return nil
	}
	est := stat.MeanIn(m, stat.DefaultLevel, stat.Unit)
	if m.Binary() {
		est = stat.Proportion(int(math.Round(m.Mean()*float64(m.N()))), m.N())
	}
	return &est
}

// MethodMover names the interval of the mean over tasks; see there.
const MethodMover = "mover"

// Mean returns the mean over the tasks that have judged items, each weighing the
// same whatever its number of items. Upstream's program prints none; its tables do.
//
// The tasks are independent samples, so the distances from each score to the ends of
// its own interval add up in squares, apart for the lower and the upper side (Zou
// and Donner, Statistics in Medicine 27, 2008, 1693-1702).
func (m *Metrics) Mean() Line {
	return mean("mean over tasks", m.Tasks())
}

// mean returns the mean over lines, and over each of their buckets.
func mean(name string, lines []Line) Line {
	l := Line{Name: name}
	est := stat.Estimate{Level: stat.DefaultLevel, Method: MethodMover}
	k, sum, below, above := 0.0, 0.0, 0.0, 0.0
	for _, t := range lines {
		l.N, l.Unjudged = l.N+t.N, l.Unjudged+t.Unjudged
		if t.Estimate == nil {
			continue
		}
		k++
		sum += t.Estimate.Value
		below += square(t.Estimate.Value - t.Estimate.Lo)
		above += square(t.Estimate.Hi - t.Estimate.Value)
	}
	if k == 0 {
		return l
	}
	est.Value, est.N = sum/k, l.N
	est.Lo, est.Hi = math.Max(0, est.Value-math.Sqrt(below)/k), math.Min(1, est.Value+math.Sqrt(above)/k)
	score := text.Round(100*est.Value, 2)
	l.Estimate, l.Score = &est, &score
	for i := range bounds {
		if parts := bucketsOf(lines, i); len(parts) > 0 {
			l.Buckets = append(l.Buckets, mean(bounds[i].name, parts))
		}
	}
	return l
}

func square(x float64) float64 { return float64(x * x) } // not fused into a sum, so that every processor gives the same digits

// bucketsOf returns the i-th bucket of each line that has buckets.
func bucketsOf(lines []Line, i int) []Line {
	var parts []Line
	for _, l := range lines {
		if len(l.Buckets) > i {
			parts = append(parts, l.Buckets[i])
		}
	}
	return parts
}
