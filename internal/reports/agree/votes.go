package agree

import (
	"fmt"
	"strings"

	"deem"
	"deem/internal/agreement"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// Votes says what several judges are worth together: how many judges whose errors are
// independent, and whether their common verdict is better than the best of them alone.
type Votes struct {
	// Items are those that people labelled and on which all judges voted; Others are labelled
	// items without a vote of some judge, or without a common verdict.
	Items  int `json:"items"`
	Others int `json:"others"`

	Effective   stat.Estimate `json:"effective"`   // from 1 to the number of judges
	Correlation stat.Estimate `json:"correlation"` // the mean of that of the errors of two judges

	Together stat.Estimate `json:"together"` // the share of items on which the common verdict is right
	Judges   []Voter       `json:"judges"`
	Best     string        `json:"best"` // the judge that is right most often

	// Gain is Together minus the agreement of the best judge. Its level is that of as many
	// comparisons as there are judges, because the best was chosen by the same labels.
	Gain stat.Estimate `json:"gain"`
}

// A Voter is one of the judges.
type Voter struct {
	Name      string        `json:"name"`
	Agreement stat.Estimate `json:"agreement"` // the share of items on which it is right
}

// VotesBuilder collects the votes of several judges on labelled items.
type VotesBuilder struct {
	names  []string
	wrong  agreement.Votes
	right  []stat.Values      // by judge
	gains  []stat.Differences // by judge: the common verdict against its own
	common stat.Values
	others int
}

// NewVotes returns a builder for the named judges.
func NewVotes(names []string) *VotesBuilder {
	return &VotesBuilder{names: names, right: make([]stat.Values, len(names)), gains: make([]stat.Differences, len(names))}
}

// Add adds a labelled item: the vote of each judge, the common verdict, and what is true. A
// vote that is nil is missing.
func (b *VotesBuilder) Add(it deem.Item, votes []*bool, common *bool, truth bool) {
	wrong := make([]bool, len(votes))
	for i, v := range votes {
		if v == nil || common == nil {
			b.others++
			return
		}
		wrong[i] = *v != truth
	}
	weight, _ := doc.WeightOf(it)
	cluster := strings.Clone(it.Cluster)
	b.wrong.Add(cluster, weight, wrong)
	together := agreement.Number(*common == truth)
	b.common.Add(cluster, together, weight)
	for i, off := range wrong {
		b.right[i].Add(cluster, agreement.Number(!off), weight)
		b.gains[i].Add(cluster, agreement.Number(!off), together, weight)
	}
}

// Majority returns what most of the votes say; nil if they are evenly split or one is
// missing.
func Majority(votes []*bool) *bool {
	yes := 0
	for _, v := range votes {
		if v == nil {
			return nil
		}
		if *v {
			yes++
		}
	}
	if 2*yes == len(votes) {
		return nil
	}
	return new(2*yes > len(votes))
}

// Votes returns the result; nil if no labelled item has all votes, or there are fewer than
// two judges.
func (b *VotesBuilder) Votes() *Votes {
	if b.wrong.Items() == 0 || len(b.names) < 2 {
		return nil
	}
	v := &Votes{Items: b.wrong.Items(), Others: b.others, Together: b.common.Score(true).At(stat.DefaultLevel)}
	v.Effective, v.Correlation = b.wrong.Effective(stat.DefaultLevel)
	best := 0
	for i, name := range b.names {
		v.Judges = append(v.Judges, Voter{name, b.right[i].Score(true).At(stat.DefaultLevel)})
		if v.Judges[i].Agreement.Value > v.Judges[best].Agreement.Value {
			best = i
		}
	}
	v.Best = b.names[best]
	v.Gain = b.gains[best].Score(true).At(1 - (1-stat.DefaultLevel)/float64(len(b.names)))
	return v
}

// Short returns the number of effective votes in a few words.
func (v *Votes) Short() string {
	if v.Effective.Method == stat.MethodNone {
		return "unknown: " + strings.Join(v.Effective.Warnings, "; ")
	}
	return fmt.Sprintf("%.1f independent votes %s of %d; errors correlate %.2f, %s",
		v.Effective.Value, v.Effective.Ends("%.1f", 1), len(v.Judges), v.Correlation.Value, doc.NEquals(v.Items))
}

// Worth says how many votes the judges are worth, and whether one judge is enough.
func (v *Votes) Worth(common string) string {
	n := len(v.Judges)
	text := ""
	if v.Effective.Method != stat.MethodNone {
		text = fmt.Sprintf("The %d votes are worth %.1f independent ones %s, on %s with labels. ",
			n, v.Effective.Value, v.Effective.Ends("%.1f", 1), words.Count(v.Items, "item"))
	}
	alone := v.alone()
	shares := fmt.Sprintf("%s agrees with people on %s, %s on %s (%s)", v.Best, doc.Percent(alone.Value), common, doc.Percent(v.Together.Value), doc.Points(v.Gain))
	switch {
	case v.Gain.Method == stat.MethodNone:
		return text + shares + ": these labels do not tell which is better."
	case v.Gain.Lo > 0:
		return text + "Several judges are better than one: " + shares + "."
	case v.Gain.Hi <= 0:
		return text + "One judge is enough: " + shares + "."
	}
	return text + "These labels do not show that more than one judge is needed: " + shares + "."
}

// alone returns the agreement of the best judge.
func (v *Votes) alone() stat.Estimate {
	for _, j := range v.Judges {
		if j.Name == v.Best {
			return j.Agreement
		}
	}
	return stat.Estimate{}
}
