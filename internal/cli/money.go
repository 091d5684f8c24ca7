package cli

import (
	"deem/internal/words"
	"deem/model"
)

// moneyFlag is a sum of dollars that may be absent, in millionths.
type moneyFlag struct{ to *optional[int64] }

func (f moneyFlag) String() string {
	if f.to == nil || !f.to.set {
		return ""
	}
	return words.Dollars(f.to.value)
}

func (f moneyFlag) Set(s string) error {
	v, err := model.ParseDollars(s)
	if err != nil {
		return err
	}
	f.to.value, f.to.set = v, true
	return nil
}

func (f moneyFlag) Type() string { return "dollars" }
