package report

// Pending returns how many items wait for a trial.
func (b *Builder) Pending() int { return len(b.items.pending) }

// Fixed returns the sum of the numbers as groups sum them up.
func Fixed(numbers ...float64) float64 {
	var sum fixed
	for _, x := range numbers {
		sum = sum.plus(fixedOf(x))
	}
	return sum.float()
}

// MaxNamed is how many clusters are told apart.

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
