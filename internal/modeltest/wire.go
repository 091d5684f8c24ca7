// Package modeltest checks that a model keeps the contract of [deem.Model], and
// has a server to check it against.
//
// A vendor's package runs [Test] with its [Wire], which says how that vendor's
// server speaks: [OpenAI], [Anthropic], or one that the package writes. All vendors then treat a reply, a refusal, a rate limit or a
// broken connection alike, and a judge need not know which one it asks.
//
// A [Server] is also of use alone: it is an OpenAI-compatible server on this
// machine that answers as it is told and counts what it is asked.
package modeltest

import (
	"maps"
	"net/http"

	"deem"
)

// A Wire is how a vendor's server speaks.
type Wire struct {
	// Read decodes a request that the vendor's client sent. It returns the name
	// of the model and what of the request the wire carries.
	Read func(r *http.Request, body []byte) (model string, req deem.Request, err error)

	// Reply encodes a reply as the vendor sends it.
	Reply func(reply deem.Reply) Raw

	// Errors are what the vendor answers in each trouble. A trouble that is not
	// there does not occur with this vendor. There may be several forms of one.
	Errors map[Trouble][]Raw

	// RateLimits are answers to too many requests, with how long each asks the
	// caller to wait. A wait may be a tenth shorter, as dates are whole seconds.
	RateLimits []RateLimit

	// Lacks names the fields of deem.Request, deem.Reply and deem.Usage that the
	// wire does not carry, as "Seed", "Logprobs" or "Reasoning", and "StopFilter"
	// where nothing is filtered.
	Lacks []string
}

// A Raw is an answer as it goes over the wire.
type Raw struct {
	Status int // 0 means 200
	Header map[string]string
	Body   string
}

// A RateLimit is an answer to too many requests and the wait it asks for.
type RateLimit struct {
	Raw  Raw
	Wait string // as time.ParseDuration reads it
}

// A Trouble is a situation in which a vendor gives no reply.
type Trouble string

// The troubles that models tell apart, each with what is expected of a model.
const (
	ServerError    Trouble = "server error"         // passing
	Overloaded     Trouble = "overloaded"           // passing
	RateLimited    Trouble = "rate limited"         // passing
	GatewayTimeout Trouble = "gateway timeout"      // passing, of kind timeout
	QuotaExhausted Trouble = "quota exhausted"      // fatal, with a hint
	BadKey         Trouble = "bad key"              // fatal, with a hint
	Forbidden      Trouble = "forbidden"            // fatal, with a hint
	NoSuchModel    Trouble = "no such model"        // fatal, with a hint
	WrongAddress   Trouble = "wrong address"        // fatal, with a hint
	BadSetting     Trouble = "unsupported setting"  // fatal, with a hint
	TooLong        Trouble = "prompt too long"      // the item's own
	Unprocessable  Trouble = "unprocessable"        // the item's own
	Filtered       Trouble = "prompt was filtered"  // the item's own, of kind refused
	Garbled        Trouble = "garbled success body" // passing
)

// together returns the troubles of all sets. A vendor has so many errors that they are
// written down by what follows from them.
func together(sets ...map[Trouble][]Raw) map[Trouble][]Raw {
	all := map[Trouble][]Raw{}
	for _, set := range sets {
		maps.Copy(all, set)
	}
	return all
}

// expectation is what a model must make of a trouble.
type expectation struct {
	kind           deem.Kind
	passing, fatal bool
	billed         bool // the vendor may charge for it
}

// expectations are the contract.
var expectations = map[Trouble]expectation{
	ServerError:    {kind: deem.Provider, passing: true},
	Overloaded:     {kind: deem.Provider, passing: true},
	RateLimited:    {kind: deem.Provider, passing: true},
	GatewayTimeout: {kind: deem.Timeout, passing: true},
	QuotaExhausted: {kind: deem.Provider, fatal: true},
	BadKey:         {kind: deem.Provider, fatal: true},
	Forbidden:      {kind: deem.Provider, fatal: true},
	NoSuchModel:    {kind: deem.Provider, fatal: true},
	WrongAddress:   {kind: deem.Provider, fatal: true},
	BadSetting:     {kind: deem.Provider, fatal: true},
	TooLong:        {kind: deem.Provider},
	Unprocessable:  {kind: deem.Provider},
	Filtered:       {kind: deem.Refused},
	Garbled:        {kind: deem.Provider, passing: true, billed: true},
}
