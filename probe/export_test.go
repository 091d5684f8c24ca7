package probe

// Unexported names for the tests.
const (
	AspectFirst = aspectFirst
	AspectFlip  = aspectFlip
	WarnSteady  = warnSteady
)
