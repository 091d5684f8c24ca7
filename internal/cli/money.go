package cli

import (
	"deem/internal/catalog"
	"deem/internal/words"
	"deem/model"
)

// moneyFlag is a sum of dollars that may be absent, in millionths.
type moneyFlag struct{ to *catalog.Optional[int64] }

func (f moneyFlag) String() string {
	if f.to == nil || !f.to.Set {
		return ""
	}
	return words.ExactDollars(f.to.Value)
}

func (f moneyFlag) Set(s string) error {
	v, err := model.ParseDollars(s)
	if err != nil {
		return err
	}
	f.to.Value, f.to.Set = v, true
	return nil
}

func (f moneyFlag) Type() string { return "dollars" }
