package model

// Internals that tests outside the package need.
var (
	Break  = newBreaker
	Budget = newBudgeted
	Limit  = newLimiter
	Meter  = newMeter
	Retry  = newRetrier
	Spare  = newParamFilter
)
