package benchmark

import (
	"iter"
	"math"

	"deem"
	"deem/stat"
)

// An Estimate is a number with its confidence interval.
type Estimate = stat.Estimate

// Clustered are scores with the clusters of their items.
type Clustered = stat.Clustered

// MethodNone is the method of an estimate without an interval.
const MethodNone = stat.MethodNone

// Level is the confidence level of the intervals.
const Level = stat.DefaultLevel

// Judged yields the first trial of each item that has a verdict, which are the rows of a
// result file. It counts the items without one in left. Iteration ends after an error.
func Judged(records iter.Seq2[deem.Record, error], left *int) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		for rec, err := range records {
			switch {
			case err != nil:
				yield(rec, err)
				return
			case rec.Trial == 0 && rec.Verdict == nil:
				*left++
			case rec.Trial == 0 && !yield(rec, nil):
				return
			}
		}
	}
}

// A Tally counts the items of one line. The zero value is empty.
type Tally struct {
	scores   stat.Clustered
	sum      float64
	right    int
	unjudged int
}

// Add counts a record.
func (t *Tally) Add(rec deem.Record) {
	if rec.Verdict == nil {
		t.unjudged++
		return
	}
	t.Score(rec.Item.Cluster, rec.Verdict.Score)
}

// Score counts a score that does not come from a record, for an item of the given cluster.
func (t *Tally) Score(cluster string, score float64) {
	t.scores.Add(cluster, score, 1)
	t.sum += score
	if score == 1 {
		t.right++
	}
}

// Merge adds the items of another tally.
func (t *Tally) Merge(other *Tally) {
	t.scores.Merge(&other.scores)
	t.sum += other.sum
	t.right += other.right
	t.unjudged += other.unjudged
}

// N returns the number of judged items.
func (t *Tally) N() int { return t.scores.Moments().N() }

// Right returns the number of items with score 1.
func (t *Tally) Right() int { return t.right }

// Unjudged returns the number of items without a verdict.
func (t *Tally) Unjudged() int { return t.unjudged }

// All returns the number of items, judged or not.
func (t *Tally) All() int { return t.N() + t.unjudged }

// Mean returns the mean of the scores. It does not depend on their order.
func (t *Tally) Mean() float64 { return t.scores.Moments().Mean() }

// Sum returns the sum of the scores, added one by one as upstream's programs do. Its last
// digit depends on the order.
func (t *Tally) Sum() float64 { return t.sum }

// Clustered reports whether any cluster has two or more items.
func (t *Tally) Clustered() bool { return t.N() > t.scores.Clusters() }

// Estimate returns the mean with the same interval as in a report, or nil if there are no
// items. clustered says whether the items of the whole run have clusters.
func (t *Tally) Estimate(clustered bool) *Estimate {
	if t.N() == 0 {
		return nil
	}
	est := t.scores.Score(Level, clustered)
	return &est
}

// Line returns the tally as a line of the table; see [Tally.Estimate].
func (t *Tally) Line(clustered bool) Line {
	return Line{N: t.N(), Unjudged: t.unjudged, Estimate: t.Estimate(clustered)}
}

// A Line is the part of a line that the tables of all benchmarks share.
type Line struct {
	N        int `json:"n"`        // judged items
	Unjudged int `json:"unjudged"` // items without a verdict, not counted in the score

	// Estimate is the share from 0 to 1 with its interval. It is nil, null in JSON, if
	// there is no judged item.
	Estimate *Estimate `json:"estimate"`
}

// Interval returns the ends of the interval of an estimate in per cent, or "-" if there is
// none, for example for questions about a single conversation.
func Interval(e *Estimate) string {
	if e == nil {
		return "-"
	}
	return e.Ends("%.1f", 100)
}

// MethodMover is the method of the interval of [Mean].
const MethodMover = "mover"

// Mean returns the mean over the lines that have judged items. Each line has the same
// weight, whatever its number of items.
//
// The lines are independent samples, so the squared distances from each score to the ends
// of its interval are added, separately for the lower and the upper side (Zou and Donner,
// Statistics in Medicine 27, 2008, 1693-1702).
func Mean(lines []Line) Line {
	var mean Line
	k, sum, below, above, method := 0.0, 0.0, 0.0, 0.0, MethodMover
	for _, l := range lines {
		mean.N, mean.Unjudged = mean.N+l.N, mean.Unjudged+l.Unjudged
		if l.Estimate == nil {
			continue
		}
		if l.Estimate.Method == stat.MethodNone {
			method = stat.MethodNone
		}
		k++
		sum += l.Estimate.Value
		below += square(l.Estimate.Value - l.Estimate.Lo)
		above += square(l.Estimate.Hi - l.Estimate.Value)
	}
	if k == 0 {
		return mean
	}
	value := sum / k
	mean.Estimate = &Estimate{
		Value: value, N: mean.N, Level: Level, Method: method,
		Lo: math.Max(0, value-math.Sqrt(below)/k), Hi: math.Min(1, value+math.Sqrt(above)/k),
	}
	return mean
}

func square(x float64) float64 { return float64(x * x) } // not fused into a sum, so that every processor gives the same digits
