package probe

// Unexported names for the tests.
const (
	AspectFirst = aspectFirst
	AspectFlip  = aspectFlip
)

var (
	ErrNone  = errNone
	Kit      = kit
	Made     = kindsOf(table)
	NewProbe = newProbe
	Of       = of
	Wanted   = wanted
)

type StringRate = stringRate
