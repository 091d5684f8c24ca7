package report

import (
	"math"

	"deem/stat"
)

// assumedDiscordance is the share of items on which two runs are taken to differ.
// Systems that are worth comparing usually differ on a tenth to a third of the items.
const assumedDiscordance = 0.2

// Detectable is the smallest difference to another run over the same items that could
// be seen: what a run of this size is good for.
type Detectable struct {
	N int `json:"n"`

	// EffectiveN is what N is worth when items come in clusters. It is 0 when they do
	// not.
	EffectiveN float64 `json:"effective_n,omitempty"`

	Difference float64 `json:"difference"` // 1 when no difference could be seen
	Level      float64 `json:"level"`
	Power      float64 `json:"power"` // the chance of seeing it

	// Discordance is the share of items that is assumed to get other verdicts in the
	// other run. It is 0 for a mean score, where SD is the assumed standard deviation
	// of the differences: that of the scores themselves.
	Discordance float64 `json:"discordance,omitempty"`
	SD          float64 `json:"sd,omitempty"`
}

// detectable returns the smallest difference that the judged items could show, nil
// when there are none.
func (t *tally) detectable(metric string, est *stat.Estimate) *Detectable {
	m := t.values(metric)
	if est == nil || m.N() < 2 {
		return nil
	}
	d := &Detectable{N: m.N(), Level: stat.DefaultLevel, Power: stat.DefaultPower}
	n := m.N()
	e := est.EffectiveN
	if est.Clusters > 0 && e == 0 {
		e = float64(est.Clusters) // clusters that do not differ count as one item each
	}
	if e >= 1 && e < float64(n) {
		d.EffectiveN, n = e, int(e)
	}
	if metric == MeanScore {
		d.SD = math.Sqrt(m.Variance())
		d.Difference = math.Min(1, stat.MinDetectable(n, d.SD, d.Level, d.Power))
		if d.SD == 0 {
			return nil
		}
		return d
	}
	d.Discordance = assumedDiscordance
	d.Difference = stat.MinDetectablePaired(n, d.Discordance, d.Level, d.Power)
	return d
}
