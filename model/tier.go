package model

import "deem"

// A tiered model requests a service tier of its vendor, such as OpenAI's "flex" or
// "priority". Tiers have their own prices, half or twice the usual ones; the built-in table
// has only the usual ones.
type tiered interface {
	// ServiceTier returns the requested tier, or "" for the vendor's default.
	ServiceTier() string
}

// TierOf returns the service tier that m, or the model it wraps, requests, if the tier has
// its own price, and otherwise "".
func TierOf(m deem.Model) string {
	t, ok := As[tiered](m)
	if !ok {
		return ""
	}
	switch tier := t.ServiceTier(); tier {
	case "auto", "default", "standard":
		return ""
	default:
		return tier
	}
}
