package probe

// What tests outside the package must see inside.
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
