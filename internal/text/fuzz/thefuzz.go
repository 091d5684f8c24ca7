package fuzz

// TheFuzz is thefuzz 0.22: the ratios of [RapidFuzz] as whole numbers. All but the first two
// are of the texts in lower case and without punctuation, and without the characters of
// Latin-1 that are not ASCII unless the name begins with U.
type TheFuzz struct{}

// Ratio is [RapidFuzz.Ratio], rounded.
func (TheFuzz) Ratio(a, b string) int { return round(RapidFuzz{}.Ratio(a, b)) }

// PartialRatio is [RapidFuzz.PartialRatio], rounded.
func (TheFuzz) PartialRatio(a, b string) int { return round(RapidFuzz{}.PartialRatio(a, b)) }

// TokenSortRatio is [RapidFuzz.TokenSortRatio] of the processed texts.
func (TheFuzz) TokenSortRatio(a, b string) int { return whole(RapidFuzz{}.TokenSortRatio, a, b, true) }

// PartialTokenSortRatio is [RapidFuzz.PartialTokenSortRatio] of the processed texts.
func (TheFuzz) PartialTokenSortRatio(a, b string) int {
	return whole(RapidFuzz{}.PartialTokenSortRatio, a, b, true)
}

// TokenSetRatio is [RapidFuzz.TokenSetRatio] of the processed texts.
func (TheFuzz) TokenSetRatio(a, b string) int { return whole(RapidFuzz{}.TokenSetRatio, a, b, true) }

// PartialTokenSetRatio is [RapidFuzz.PartialTokenSetRatio] of the processed texts.
func (TheFuzz) PartialTokenSetRatio(a, b string) int {
	return whole(RapidFuzz{}.PartialTokenSetRatio, a, b, true)
}

// QRatio is [RapidFuzz.QRatio] of the processed texts.
func (TheFuzz) QRatio(a, b string) int { return whole(RapidFuzz{}.QRatio, a, b, true) }

// UQRatio is [TheFuzz.QRatio] with all of Latin-1.
func (TheFuzz) UQRatio(a, b string) int { return whole(RapidFuzz{}.QRatio, a, b, false) }

// WRatio is [RapidFuzz.WRatio] of the processed texts.
func (TheFuzz) WRatio(a, b string) int { return whole(RapidFuzz{}.WRatio, a, b, true) }

// UWRatio is [TheFuzz.WRatio] with all of Latin-1.
func (TheFuzz) UWRatio(a, b string) int { return whole(RapidFuzz{}.WRatio, a, b, false) }

func whole(ratio func(a, b string) float64, a, b string, ascii bool) int {
	return round(ratio(processed(a, ascii), processed(b, ascii)))
}
