package agreement_test

import (
	"fmt"
	"math/rand/v2"

	"deem/internal/agreement"
	"deem/internal/reports/agree"
)

// judged returns an item with a verdict, and with a label when truth is not nil.
func judged(id, cluster, category string, position int, says bool, truth *bool) agree.Pair {
	rec := record(id, cluster, category, says)
	p := agree.Pair{Item: rec.Item, Position: position, Verdict: rec.Verdict}
	if truth != nil {
		p.Truth = &agree.Truth{Yes: *truth}
		if *truth {
			p.Truth.Score = 1
		}
	}
	return p
}

// decide returns what a judge says of an answer, if it accepts right ones and rejects wrong
// ones with these probabilities.
func decide(rng *rand.Rand, right bool, accepts, rejects float64) bool {
	if right {
		return rng.Float64() < accepts
	}
	return rng.Float64() >= rejects
}

// population returns the shares of a judge that accepts and rejects so.
func population(prevalence, accepts, rejects float64) agreement.YesNo {
	return agreement.YesNo{
		TP: prevalence * accepts, FN: prevalence * (1 - accepts),
		FP: (1 - prevalence) * (1 - rejects), TN: (1 - prevalence) * rejects,
	}
}

// kappaCells are kappa and AC1 of labels drawn at random, from 20 labels on.
func kappaCells() []cell {
	var cells []cell
	for _, n := range []int{20, 50, 200} {
		for _, p := range []float64{0.5, 0.8, 0.95} {
			const accepts, rejects = 0.95, 0.8
			truth := population(p, accepts, rejects)
			kappa := truth.Beyond(agreement.CohenKappa, 1e9, agreement.Design{}, 0.95).Value
			ac1 := truth.Beyond(agreement.GwetAC, 1e9, agreement.Design{}, 0.95).Value
			setting := fmt.Sprintf("%d labels, %g say yes", n, p)
			cells = append(cells, shared([]string{"kappa, " + setting, "AC1, " + setting}, atLeast, 4, func(rng *rand.Rand) []outcome {
				b := agree.New(agree.Options{People: true, Draws: 2})
				for i := range n {
					right := rng.Float64() < p
					b.Add(judged(fmt.Sprint(i), "", "", i, decide(rng, right, accepts, rejects), &right))
				}
				all := b.Agreement().All
				return []outcome{held(all.Kappa, kappa), held(all.AC1, ac1)}
			})...)
		}
	}
	return cells
}
