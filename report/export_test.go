package report

// Pending returns how many items wait for a trial.
func (b *Builder) Pending() int { return len(b.items.pending) }

// Fixed returns the fixed-point sum of the numbers, as groups compute it.
func Fixed(numbers ...float64) float64 {
	var sum fixed
	for _, x := range numbers {
		sum = sum.plus(fixedOf(x))
	}
	return sum.float()
}

// MaxNamed is the number of clusters that are kept apart.

const (
	Differs        = differs
	MethodMover    = methodMover
	WarnFew        = warnFew
	WarnFewTrials  = warnFewTrials
	WarnFractional = warnFractional
)

// Constants that tests compare with.
const (
	MaxNamed = maxNamed
)
