package model

import (
	"fmt"

	"deem"
)

// A tiered model requests a service tier of its vendor, such as OpenAI's "flex" or
// "priority". Tiers have their own prices, half or twice the usual ones; the built-in table
// has only the usual ones.
type tiered interface {
	// ServiceTier returns the requested tier, or "" for the vendor's default.
	ServiceTier() string
}

// TierOf returns the service tier that m, or the model it wraps, requests, if the tier has
// its own price; see ownTier.
func TierOf(m deem.Model) string {
	if t, ok := As[tiered](m); ok {
		return ownTier(t.ServiceTier())
	}
	return ""
}

// ownTier returns tier, or "" if it costs the usual price.
func ownTier(tier string) string {
	switch tier {
	case "auto", "default", "standard":
		return ""
	}
	return tier
}

// OfTier returns the price of the named model in a service tier, as returned by [TierOf].
// For "" that is [Prices.Of]. For other tiers the built-in table is not used, and p is
// assumed to be about that tier.
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

// AtTier returns the name of a model with its service tier.
func AtTier(name, tier string) string {
	if tier == "" {
		return name
	}
	return fmt.Sprintf("%s with service-tier=%s", name, tier)
}
