package pairwise

// Unexported names for the tests.
const (
	AspectFlip = aspectFlip
	Tie        = winTie
)
