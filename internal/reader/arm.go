package reader

// An arm is another source of contexts than the system under test. What a reader answers
// from it shows how much a score says about the system: the lowest that a system can miss,
// and the highest that it can reach.
const (
	ArmNone    = "none"    // no contexts
	ArmFull    = "full"    // the whole history
	ArmOracle  = "oracle"  // the passages that contain the answer
	ArmRefuse  = "refuse"  // no contexts, and the answer is [Refusal]
	ArmShuffle = "shuffle" // the contexts of another question
)

// Arms returns the names of the arms.
func Arms() []string { return []string{ArmNone, ArmFull, ArmOracle, ArmRefuse, ArmShuffle} }

// Refusal is the answer of the arm refuse.
const Refusal = "I do not know: the information is not available."
