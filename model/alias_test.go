package model

// Internals that tests outside the package need.
type BreakOptions = breakOptions

var (
	Break = newBreaker
	Retry = newRetrier
)
