package report

import (
	"fmt"
	"math"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// Detectable is the smallest difference from another run over the same items that would be
// detected with the given power.
type Detectable struct {
	N int `json:"n"`

	// EffectiveN is the equivalent number of independent items if items come in clusters,
	// and Clusters is the number of clusters. Both are 0 without clusters. EffectiveN is
	// also 0 if clustering does not reduce N.
	EffectiveN float64 `json:"effective_n,omitempty"`
	Clusters   int     `json:"clusters,omitempty"`

	Difference float64 `json:"difference"` // 1 if no difference would be detected
	Level      float64 `json:"level"`
	Power      float64 `json:"power"` // the probability of detecting it

	// Discordance is the assumed share of items with different verdicts in the other run.
	// It is 0 for a mean score, where SD is the assumed standard deviation of the
	// differences: that of the scores themselves.
	Discordance float64 `json:"discordance,omitempty"`
	SD          float64 `json:"sd,omitempty"`
}

// detectable returns the smallest difference that the judged items could show, or nil if no
// item is judged.
//
// Undecided items count as in the interval. The other run is taken to have as many of them.
func (t *tally) detectable(metric string, est *stat.Estimate, calibration float64) *Detectable {
	m := t.values(metric)
	if est == nil || m.N() < 2 {
		return nil
	}
	guesses := t.guesses.Allowance(m.Weight(), calibration)
	guesses = guesses.And(guesses)
	d := &Detectable{N: m.N(), Level: stat.DefaultLevel, Power: stat.DefaultPower}
	n := m.N()
	e := est.EffectiveN
	if est.Clusters > 0 && e == 0 {
		e = float64(est.Clusters) // clusters that do not differ count as one item each
	}
	if e >= 1 && e < float64(n) {
		d.EffectiveN, n = e, int(e)
	}
	d.Clusters = est.Clusters
	if metric == doc.MeanScore {
		if d.SD = math.Sqrt(m.Variance()); d.SD == 0 {
			return nil
		}
		least := max(stat.MinDetectable(n, d.SD/math.Sqrt(float64(n)), math.Inf(1), d.Level, d.Power), d.inClusters(d.SD, n))
		d.Difference = math.Min(1, guesses.Detectable(least, d.Level, d.Power))
		return d
	}
	d.Discordance = doc.AssumedDiscordance
	least := max(stat.MinDetectablePaired(n, d.Discordance, d.Level, d.Power), d.inClusters(math.Sqrt(d.Discordance), n))
	d.Difference = guesses.Detectable(least, d.Level, d.Power)
	if d.Difference > d.Discordance { // a difference cannot exceed the discordance
		d.Difference = 1
	}
	return d
}

// inClusters returns the smallest difference that the clusters can show if differences have
// the standard deviation sd and n is the effective number of items; 0 without clusters. A
// comparison permutes whole clusters, so a handful of clusters shows little, however many
// items they have.
func (d *Detectable) inClusters(sd float64, n int) float64 {
	if d.Clusters == 0 {
		return 0
	}
	return stat.MinDetectable(d.Clusters, sd/math.Sqrt(float64(n)), float64(d.Clusters-1), d.Level, d.Power)
}

// String describes the detectable difference, without a full stop.
func (d *Detectable) String() string {
	n := doc.NEquals(d.N)
	if d.Clusters > 0 {
		n += " in " + words.Count(d.Clusters, "cluster")
	}
	if d.EffectiveN > 0 {
		n += fmt.Sprintf(", worth %.0f independent items", d.EffectiveN)
	}
	assumed := fmt.Sprintf("assumes %s discordant items", wholePercent(d.Discordance))
	if d.Discordance == 0 {
		assumed = fmt.Sprintf("assumes that differences vary as scores do, SD %.2f", d.SD)
	}
	if d.Clusters > 0 {
		assumed += ", and differences as clustered as scores, which is usually too careful"
	}
	least := plainPoints(d.Difference)
	if d.Difference >= 1 {
		few := words.Count(d.N, "item")
		if d.Clusters > 0 {
			few = words.Count(d.Clusters, "cluster")
		}
		return fmt.Sprintf("with %s no difference to another run over the same items reaches %s power (%s; %s)", few, wholePercent(d.Power), n, assumed)
	}
	return fmt.Sprintf("smallest detectable difference to another run over the same items: %s (%s power; %s; %s)", least, wholePercent(d.Power), n, assumed)
}

func wholePercent(x float64) string { return fmt.Sprintf("%.0f%%", 100*x) }
