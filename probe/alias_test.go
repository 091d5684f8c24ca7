package probe

// Unexported names for the tests.
const (
	Empty    = kindEmpty
	Invented = kindInvented
	Polite   = kindPolite
)

var (
	ErrNone = errNone
	Kit     = kit
	Of      = of
)

type StringRate = stringRate
