package probe

import (
	"deem"
	"deem/stat"
)

// cardVersion is the version of the JSON of a card.
const cardVersion = "deem.probe/1"

// A Head says whom a card is about and what its probes were made of.
type Head struct {
	Judge     string `json:"judge"`
	JudgeHash string `json:"judge_hash"`
	Model     string `json:"model,omitempty"` // "" for a rule

	Run     string   `json:"run,omitempty"` // where the records are kept
	Data    []string `json:"data,omitempty"`
	Dataset string   `json:"dataset_hash,omitempty"` // over the probes
	Sources int      `json:"source_items,omitempty"` // items that probes could be made from
	Seed    uint64   `json:"seed"`
	Deem    string   `json:"deem,omitempty"` // the version that made the card

	Trials int `json:"trials"` // of each probe

	// MaxUnjudged is the share of unjudged probes above which a number is withheld.
	MaxUnjudged float64 `json:"max_unjudged"`
}

// A Card says what a judge did with answers whose worth is known. It holds for the judge
// with this hash and for no other.
type Card struct {
	Version string `json:"version"`
	Head

	Probes   int        `json:"probes"`
	Judged   int        `json:"judged"`
	Unjudged int        `json:"unjudged"`
	Failures []Failures `json:"failures,omitempty"`

	// FalseAccepts is the share of wrong answers that the judge accepts, injections
	// aside, and FalseRejects the share of right answers that it rejects. Each kind
	// counts by how many probes it has, and the probes of one item are a cluster.
	FalseAccepts Rate `json:"false_accepts"`
	FalseRejects Rate `json:"false_rejects"`

	// Kinds are the numbers of each kind of probe.
	Kinds []KindRate `json:"kinds"`

	// Injected is what instructions in the response achieve; nil when none were
	// tried.
	Injected *InjectionRate `json:"injection,omitempty"`

	// Length says what a long text around an answer does; nil when there is no pair of
	// a plain and a long answer.
	Length *Length `json:"length,omitempty"`

	// Consistency is how far the judge agrees with itself; nil with a single trial.
	Consistency *Consistency `json:"consistency,omitempty"`

	// Order is what the order of two responses does; nil unless the judge compares
	// responses.
	Order *Order `json:"order,omitempty"`

	// Mistakes are examples of what the judge got wrong, some of each kind.
	Mistakes []Mistake `json:"mistakes,omitempty"`

	Notes []string `json:"notes,omitempty"`
}

// A Failures says how many probes have no verdict for one reason.
type Failures struct {
	Kind deem.Kind `json:"kind"`
	N    int       `json:"n"`
}

// A Rate is how often a judge erred. Unjudged probes are neither errors nor right: the
// rate is over those that were judged.
type Rate struct {
	Probes   int `json:"probes"`
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`
	Errors   int `json:"errors"`

	// Estimate is the share of errors among the judged; nil when none was judged. The
	// two rates over all kinds are nil too when too many probes are unjudged.
	Estimate *stat.Estimate `json:"estimate"`

	// Band is the share of errors if all unjudged probes were judged rightly, and if
	// all were judged wrongly.
	Band [2]float64 `json:"band"`
}

// A KindRate is the rate of one kind of probe.
type KindRate struct {
	Kind  Kind   `json:"kind"`
	About string `json:"about,omitempty"`
	Want  bool   `json:"want"` // answers of this kind are right
	Rate
}

// An InjectionRate is what instructions to the judge achieve. A wrong answer that is
// accepted with an instruction behind it may have been accepted anyway, so success is
// counted only where the same answer was rejected without it.
type InjectionRate struct {
	Accepted Rate `json:"accepted"` // of all wrong answers with an instruction

	// Turned is the share of wrong answers that were rejected without an instruction
	// and accepted with one.
	Turned Rate `json:"turned"`

	// Strings are those of the kit that turned an answer, or were accepted where the
	// answer alone was not tried.
	Strings []StringRate `json:"strings,omitempty"`
}

// A StringRate is how often one string of the kit was accepted.
type StringRate struct {
	Name     string `json:"name"`
	Judged   int    `json:"judged"`
	Accepted int    `json:"accepted"`
	Turned   int    `json:"turned"`
}

// Length sets answers beside the same answers in a long text.
type Length struct {
	// Wrong is by how much more often a wrong answer is accepted in a long text.
	Wrong *Shift `json:"wrong,omitempty"`

	// Right is by how much more often a right answer is accepted in a long text.
	Right *Shift `json:"right,omitempty"`
}

// A Shift is the difference of two shares over the same items.
type Shift struct {
	Plain float64 `json:"plain"` // share accepted as it is
	Long  float64 `json:"long"`  // share accepted in a long text

	// Estimate is long less plain, and Per100 the same for each hundred words more.
	Estimate stat.Estimate `json:"estimate"`
	Per100   float64       `json:"per_100_words"`
	Words    float64       `json:"words"` // how many more there are on average
}

// Consistency is how far a judge says the same to the same probe.
type Consistency struct {
	Probes int `json:"probes"` // with two verdicts at least

	// Steady is the share of probes on which all trials agree.
	Steady stat.Estimate `json:"steady"`

	// Flips is the chance that two trials of one probe differ.
	Flips float64 `json:"flips"`
}

// The aspects by which a judge that compares two responses says what their order did.
const (
	aspectFirst = "A shown first" // the score of A there
	aspectFlip  = "position flip" // 1 when the order decided
)

// Order is how often the order of two responses decides which is found better.
type Order struct {
	Pairs int           `json:"pairs"`
	Flips stat.Estimate `json:"flips"` // share of pairs on which it decides

	// First is the share of flips in which the response shown first won.
	First float64 `json:"first"`
}

// A Mistake is a probe that the judge got wrong.
type Mistake struct {
	ID        string `json:"id"`
	Kind      Kind   `json:"kind"`
	Want      bool   `json:"want"`
	Variant   string `json:"variant,omitempty"`
	Question  string `json:"question,omitempty"`
	Reference string `json:"reference,omitempty"`
	Response  string `json:"response"`
	Label     string `json:"label"`
	Reason    string `json:"reason,omitempty"`
}

// Rate returns the rate of a kind, and whether the card has one.
func (c Card) Rate(k Kind) (KindRate, bool) {
	for _, r := range c.Kinds {
		if r.Kind == k {
			return r, true
		}
	}
	return KindRate{}, false
}

// Withheld reports whether so many probes are unjudged that a rate over all kinds is
// withheld.
func (c Card) Withheld() bool {
	return c.Thin(c.FalseAccepts) || c.Thin(c.FalseRejects)
}

// Thin reports whether so many probes of a rate are unjudged that it says little.
func (c Card) Thin(r Rate) bool { return tooMany(r.Unjudged, r.Probes, c.MaxUnjudged) }

// tooMany reports whether more than the share most is unjudged.
func tooMany(unjudged, all int, most float64) bool {
	return float64(unjudged) > most*float64(all)+1e-9
}
