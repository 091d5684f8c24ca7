package stat

// What tests outside the package must see inside.
var (
	BetaQuantile = betaQuantile
	BinomialMass = binomialMass
)
