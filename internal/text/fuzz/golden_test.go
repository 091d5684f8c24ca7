package fuzz_test

import (
	"testing"

	"deem/internal/golden"
	"deem/internal/text/fuzz"
)

func TestGolden(t *testing.T) {
	golden.Test(t, map[string]golden.Metric{
		"fuzzywuzzy_difflib":     wuzzy(fuzz.FuzzyWuzzy{}),
		"fuzzywuzzy_levenshtein": wuzzy(fuzz.FuzzyWuzzy{Levenshtein: true}),
		"rapidfuzz":              golden.Of(rapidAndThe),
	}, golden.Options{})
}

type pair struct{ S1, S2 string }

func wuzzy(f fuzz.FuzzyWuzzy) golden.Metric {
	return golden.Of(func(in pair) (any, error) {
		a, b := in.S1, in.S2
		return map[string]any{
			"ratio": f.Ratio(a, b), "partial_ratio": f.PartialRatio(a, b),
			"token_sort_ratio": f.TokenSortRatio(a, b), "partial_token_sort_ratio": f.PartialTokenSortRatio(a, b),
			"token_set_ratio": f.TokenSetRatio(a, b), "partial_token_set_ratio": f.PartialTokenSetRatio(a, b),
			"QRatio": f.QRatio(a, b), "UQRatio": f.UQRatio(a, b), "WRatio": f.WRatio(a, b),
		}, nil
	})
}

func rapidAndThe(in pair) (any, error) {
	a, b := in.S1, in.S2
	r, f := fuzz.RapidFuzz{}, fuzz.TheFuzz{}
	return map[string]any{
		"ratio": r.Ratio(a, b), "partial_ratio": r.PartialRatio(a, b),
		"token_sort_ratio": r.TokenSortRatio(a, b), "token_set_ratio": r.TokenSetRatio(a, b), "token_ratio": r.TokenRatio(a, b),
		"WRatio": r.WRatio(a, b), "QRatio": r.QRatio(a, b),
		"thefuzz_ratio": f.Ratio(a, b), "thefuzz_partial_ratio": f.PartialRatio(a, b),
		"thefuzz_token_sort_ratio": f.TokenSortRatio(a, b), "thefuzz_token_set_ratio": f.TokenSetRatio(a, b),
		"thefuzz_WRatio": f.WRatio(a, b),
	}, nil
}
