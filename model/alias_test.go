package model

// What tests outside the package must see inside.
type BreakOptions = breakOptions

var (
	Break = newBreaker
	Retry = newRetrier
)
