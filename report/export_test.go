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

const (
	Differs        = differs
	WarnFew        = warnFew
	WarnFewTrials  = warnFewTrials
	WarnFractional = warnFractional
)

// Constants that tests compare with.
const (
	MaxNamed = maxNamed
)

// Words returns the sentence about the noise in a document.
func (n *Noise) Words() string { return n.words() }

// Words returns the sentence about the detectable difference in a document.
