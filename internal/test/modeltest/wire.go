// Package modeltest checks that a model keeps the contract of [deem.Model], and provides a
// server to check it against.
//
// A vendor's package runs [Test] with its [Wire], which describes the format of that
// vendor's server: [OpenAI], [Anthropic], or one that the package defines. All vendors then
// handle a reply, a refusal, a rate limit or a broken connection in the same way, and a
// judge need not know which vendor it uses.
//
// A [Server] is also useful alone: it is a local OpenAI-compatible server that answers as
// configured and counts its requests.
package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"deem"
)

// A Wire is the format of a vendor's server.
type Wire struct {
	// Read decodes a request of the vendor's client. It returns the name of the model and
	// the fields that the wire format has.
	Read func(r *http.Request, body []byte) (model string, req deem.Request, err error)

	// Reply encodes a reply in the vendor's format.
	Reply func(reply deem.Reply) Raw

	// Errors are the vendor's answers in each trouble. A missing trouble does not occur
	// with this vendor. A trouble may have several answers.
	Errors map[Trouble][]Raw

	// RateLimits are answers to too many requests, with the requested wait. A wait may be a
	// tenth shorter, as dates are whole seconds.
	RateLimits []RateLimit

	// Lacks lists the fields of deem.Request, deem.Reply and deem.Usage that the wire
	// format does not have, for example "Seed", "Logprobs" or "Reasoning", and "StopFilter"
	// if there are no filters.
	Lacks []string
}

// A Raw is an answer on the wire.
type Raw struct {
	Status int // 0 means 200
	Header map[string]string
	Body   string
}

// A RateLimit is an answer to too many requests and the requested wait.
type RateLimit struct {
	Raw  Raw
	Wait string // in the format of time.ParseDuration
}

// A Trouble is a situation in which a vendor gives no reply.
type Trouble string

// The troubles that models distinguish, each with the expected error.
const (
	ServerError    Trouble = "server error"         // transient
	Overloaded     Trouble = "overloaded"           // transient
	RateLimited    Trouble = "rate limited"         // transient
	GatewayTimeout Trouble = "gateway timeout"      // transient, of kind timeout
	QuotaExhausted Trouble = "quota exhausted"      // fatal, with a hint
	BadKey         Trouble = "bad key"              // fatal, with a hint
	Forbidden      Trouble = "forbidden"            // fatal, with a hint
	NoSuchModel    Trouble = "no such model"        // fatal, with a hint
	WrongAddress   Trouble = "wrong address"        // fatal, with a hint
	BadSetting     Trouble = "unsupported setting"  // fatal, with a hint
	TooLong        Trouble = "prompt too long"      // concerns the item
	Unprocessable  Trouble = "unprocessable"        // concerns the item
	Filtered       Trouble = "prompt was filtered"  // concerns the item, of kind refused
	Garbled        Trouble = "garbled success body" // transient
)

// encode returns the JSON of v. Log-probabilities that are not numbers have none.
func encode(v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("modeltest: encode answer: %v", err))
	}
	return string(body)
}

// expectation is the required error of a model for a trouble.
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
