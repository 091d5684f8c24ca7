package metric

// FuzzyRatio is what golden vectors of fuzzywuzzy are held to.
var FuzzyRatio = fuzzyRatio
