package probe

// Constants that tests compare with.
const (
	AspectFirst = aspectFirst
	AspectFlip  = aspectFlip
	WarnSteady  = warnSteady
)
