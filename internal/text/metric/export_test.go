package metric

// FuzzyRatio is exported for the golden vectors of fuzzywuzzy.
var FuzzyRatio = fuzzyRatio
