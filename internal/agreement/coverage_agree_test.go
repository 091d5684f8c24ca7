package agreement_test

import (
	"fmt"
	"math/rand/v2"

	"deem/internal/agreement"
	"deem/internal/reports/agree"
	"deem/stat"
)

// A world is items in clusters, a judge, and people who label some of them.
type world struct {
	clusters, size int
	right, icc     float64 // the share of right answers, and its correlation within clusters
	accepts        float64 // the share of right answers that the judge accepts
	rejects        float64 // the share of wrong answers that it rejects
	labels         int
}

// draw returns an agreement over items of which choose picks those that people label.
func (w world) draw(rng *rand.Rand, choose func(pairs []agree.Pair) []int) *agree.Builder {
	var pairs []agree.Pair
	var truths []bool
	for i, share := range clusterShares(rng, w.clusters, w.right, w.icc) {
		cluster := ""
		if w.size > 1 {
			cluster = fmt.Sprint(i)
		}
		for range w.size {
			right := rng.Float64() < share
			n := len(pairs)
			p := judged(fmt.Sprint(n), cluster, "", n, decide(rng, right, w.accepts, w.rejects), nil)
			// A judge that is wrong is less sure of itself.
			sure := 0.5 + rng.Float64()/2
			if (p.Verdict.Score == 1) != right {
				sure = 0.5 + rng.Float64()/4
			}
			p.Verdict.Confidence = &sure
			pairs, truths = append(pairs, p), append(truths, right)
		}
	}
	for _, i := range choose(pairs) {
		if pairs[i].Truth == nil {
			pairs[i].Truth = &agree.Truth{}
		}
		pairs[i].Truth.Yes = truths[i]
		if truths[i] {
			pairs[i].Truth.Score = 1
		}
	}
	b := agree.New(agree.Options{People: true, Draws: 2})
	for _, p := range pairs {
		b.Add(p)
	}
	return b
}

// simple chooses labels at random.
func (w world) simple(rng *rand.Rand) func([]agree.Pair) []int {
	return func(pairs []agree.Pair) []int { return rng.Perm(len(pairs))[:w.labels] }
}

// agreeCells are what "deem agree" prints of 200 labels in 50 clusters and in 6.
func agreeCells() []cell {
	var cells []cell
	for _, w := range []world{
		{clusters: 50, size: 20, icc: 0},
		{clusters: 50, size: 20, icc: 0.1},
		{clusters: 50, size: 20, icc: 0.3},
		{clusters: 6, size: 100, icc: 0},
		{clusters: 6, size: 100, icc: 0.1},
		{clusters: 6, size: 100, icc: 0.3},
	} {
		w.right, w.accepts, w.rejects, w.labels = 0.7, 0.9, 0.8, 200
		truth := population(w.right, w.accepts, w.rejects)
		kappa := truth.Beyond(agreement.CohenKappa, 1e9, agreement.Design{}, 0.95).Value
		numbers := []number{
			{"PPI++", w.right, func(a agree.Agreement) stat.Estimate { return a.Corrected.PPI.Estimate }},
			{"Rogan-Gladen", w.right, func(a agree.Agreement) stat.Estimate { return a.Corrected.RoganGladen }},
			{"stratified", w.right, func(a agree.Agreement) stat.Estimate { return a.Corrected.Stratified }},
			{"labels alone", w.right, func(a agree.Agreement) stat.Estimate { return a.Corrected.People }},
			{"kappa", kappa, func(a agree.Agreement) stat.Estimate { return a.All.Kappa }},
		}
		cells = append(cells, numbersOf(numbers, fmt.Sprintf("200 labels in %d clusters, ICC %g", w.clusters, w.icc), nominal, func(rng *rand.Rand) *agree.Builder {
			return w.draw(rng, w.simple(rng))
		})...)
	}
	return cells
}

// A number is one of those that "deem agree" prints.
type number struct {
	name  string
	truth float64
	of    func(agree.Agreement) stat.Estimate
}

// numbersOf returns a cell for each number of the same labels.
func numbersOf(numbers []number, setting string, want span, draw func(*rand.Rand) *agree.Builder) []cell {
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = n.name + ", " + setting
	}
	cells := shared(names, want, 6, func(rng *rand.Rand) []outcome {
		a := draw(rng).Agreement()
		outcomes := make([]outcome, len(numbers))
		for i, n := range numbers {
			outcomes[i] = held(n.of(a), n.truth, clusterWarnings...)
		}
		return outcomes
	})
	for i, n := range numbers {
		if n.name == "kappa" { // From few labels it cannot promise less than it does.
			cells[i].want = atLeast
		}
	}
	return cells
}

// selectionCells are labels that were chosen, and labels that were not.
func selectionCells() []cell {
	w := world{clusters: 600, size: 1, right: 0.7, accepts: 0.9, rejects: 0.8, labels: 150}
	alarm := func(c *agree.Corrected) outcome { return outcome{hit: c.Mix.Differs} }
	leastSure := func(rng *rand.Rand) func([]agree.Pair) []int {
		return func(pairs []agree.Pair) []int {
			var places []int
			for _, i := range rng.Perm(len(pairs)) {
				if *pairs[i].Verdict.Confidence < 0.7 && len(places) < w.labels {
					places = append(places, i)
				}
			}
			return places
		}
	}
	first := func([]agree.Pair) []int {
		places := make([]int, w.labels)
		for i := range places {
			places[i] = i
		}
		return places
	}
	return []cell{
		{name: "labels drawn at random: called selected", want: alarms, cost: 4, draw: func(rng *rand.Rand) outcome {
			return alarm(w.draw(rng, w.simple(rng)).Corrected())
		}},
		{name: "labels from the least sure half: called selected", want: span{0.95, 1}, cost: 4, draw: func(rng *rand.Rand) outcome {
			return alarm(w.draw(rng, leastSure(rng)).Corrected())
		}},
		{name: "labels of the first items: called selected", want: span{0.95, 1}, cost: 4, draw: func(rng *rand.Rand) outcome {
			return alarm(w.draw(rng, first).Corrected())
		}},
		{name: "labels from the least sure half: PPI++ holds, or warns", want: nominal, cost: 4, draw: func(rng *rand.Rand) outcome {
			return held(w.draw(rng, leastSure(rng)).Corrected().PPI.Estimate, w.right, agree.WarnSelected)
		}},
	}
}

// planCells are the error rates and the agreement that "deem agree" prints of 40 and 120
// labels that a plan drew. The judge rejects 1.8% of right answers; most labels of rejected
// answers are there because a plan takes at least five of them.
func planCells() []cell {
	var cells []cell
	for _, labels := range []int{40, 120} {
		w := world{clusters: 1000, size: 1, right: 0.9, accepts: 0.982, rejects: 0.7, labels: labels}
		truth := population(w.right, w.accepts, w.rejects)
		numbers := []number{
			{"false rejects", 1 - w.accepts, func(a agree.Agreement) stat.Estimate { return a.All.FalseReject }},
			{"false accepts", 1 - w.rejects, func(a agree.Agreement) stat.Estimate { return a.All.FalseAccept }},
			{"agreement", truth.TP + truth.TN, func(a agree.Agreement) stat.Estimate { return a.All.Agreement }},
			{"kappa", truth.Beyond(agreement.CohenKappa, 1e9, agreement.Design{}, 0.95).Value, func(a agree.Agreement) stat.Estimate { return a.All.Kappa }},
			{"number to quote", w.right, func(a agree.Agreement) stat.Estimate { return a.Corrected.Quoted() }},
		}
		cells = append(cells, numbersOf(numbers, fmt.Sprintf("plan of %d labels", labels), nominal, func(rng *rand.Rand) *agree.Builder {
			return w.draw(rng, func(pairs []agree.Pair) []int {
				from := make([]agree.Candidate, len(pairs))
				confidence := make([]float64, len(pairs))
				for i, p := range pairs {
					from[i], confidence[i] = agree.Candidate{Yes: p.Verdict.Score == 1}, p.Confidence()
				}
				for i, unsure := range agree.Unsure(confidence) {
					from[i].Unsure = unsure
				}
				var places []int
				for _, c := range agree.DrawStrata(from, w.labels, rng.Uint64()) {
					pairs[c.Place].Truth = &agree.Truth{Stratum: fmt.Sprint("plan-", c.Stratum), Of: c.Of, Probability: float64(c.Drawn) / float64(c.Of)}
					places = append(places, c.Place)
				}
				return places
			})
		})...)
	}
	return cells
}
