package stat

// What tests outside the package must see inside.
const (
	ScaleInterval = scaleInterval
	ScaleOrdinal  = scaleOrdinal
	ScaleRatio    = scaleRatio
)

var (
	LabelsNeeded = labelsNeeded
	NeededNTwo   = neededNTwo
	Unbounded    = unbounded
)
