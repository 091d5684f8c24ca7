package model

import (
	"fmt"

	"deem"
)

// A Tiered model is asked for a class of service of its vendor's, as OpenAI's "flex" or
// "priority". Such a class has prices of its own, half or twice the usual ones, and the
// built-in table has only the usual ones.
type tiered interface {
	// ServiceTier returns the class that is asked for, "" when that is left to the vendor.
	ServiceTier() string
}

// TierOf returns the class of service for which m, or the model that it wraps, is asked,
// as far as it has a price of its own; see ownTier.
func TierOf(m deem.Model) string {
	if t, ok := As[tiered](m); ok {
		return ownTier(t.ServiceTier())
	}
	return ""
}

// ownTier returns tier, or "" when it is one that costs the usual price.
func ownTier(tier string) string {
	switch tier {
	case "auto", "default", "standard":
		return ""
	}
	return tier
}

// OfTier returns the price of the named model at a class of service, as [TierOf] returns
// it. For "" that is [Prices.Of]. For any other the built-in table does not count, and p
// is taken to be about that class.
func (p Prices) OfTier(name, tier string) (Price, bool) {
	if tier == "" {
		return p.Of(name)
	}
	for _, entries := range [][]Price{free, p.Entries} {
		if price, ok := longest(entries, name); ok {
			return price, true
		}
	}
	return Price{}, false
}

// AtTier returns the name of a model with the class of service for which it is asked.
func AtTier(name, tier string) string {
	if tier == "" {
		return name
	}
	return fmt.Sprintf("%s with service-tier=%s", name, tier)
}
