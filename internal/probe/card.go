package probe

import (
	"slices"

	"deem"
	"deem/stat"
)

// cardVersion is the version of the JSON of a card.
const cardVersion = "deem.probe/1"

// A Head identifies the judge of a card and the source of its probes.
type Head struct {
	Judge     string `json:"judge"`
	JudgeHash string `json:"judge_hash"`
	Model     string `json:"model,omitempty"` // "" for a rule

	Run     string   `json:"run,omitempty"` // where the records are stored
	Data    []string `json:"data,omitempty"`
	Dataset string   `json:"dataset_hash,omitempty"` // of the probes
	Seed    uint64   `json:"seed"`
	Deem    string   `json:"deem,omitempty"` // the version that made the card

	Trials int `json:"trials"` // of each probe

	// MaxUnjudged is the share of unjudged probes above which a rate is withheld.
	MaxUnjudged float64 `json:"max_unjudged"`
}

// A Card shows how a judge treats answers that are known to be right or wrong. It is valid
// only for the judge with this hash.
type Card struct {
	Version string `json:"version"`
	Head

	Sources  int `json:"source_items,omitempty"` // items that the probes were made from
	Probes   int `json:"probes"`
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`

	// Failures are the reasons for which probes have no verdict, and their numbers.
	Failures map[deem.Kind]int `json:"failures,omitempty"`

	// FalseAccepts is the share of wrong answers that the judge accepts, without
	// injections, and FalseRejects the share of right answers that it rejects. Each
	// kind is weighted by its number of probes, and the probes of one item form a
	// cluster.
	FalseAccepts Rate `json:"false_accepts"`
	FalseRejects Rate `json:"false_rejects"`

	// Kinds are the rates of each kind of probe.
	Kinds []Rate `json:"kinds"`

	// Injected is the effect of instructions in the response; nil if none were tried.
	Injected *InjectionRate `json:"injection,omitempty"`

	// Length is the effect of a long text around wrong answers and around right ones, for
	// which there are pairs of a plain and a long answer.
	Length []Shift `json:"length,omitempty"`

	// Consistency is how far the judge agrees with itself; nil with a single trial.
	Consistency *consistencyRate `json:"consistency,omitempty"`

	// Order is the effect of the order of two responses; nil unless the judge compares
	// responses.
	Order *orderRate `json:"order,omitempty"`

	// Mistakes are examples of errors of the judge, some of each kind.
	Mistakes []Mistake `json:"mistakes,omitempty"`

	Notes []string `json:"notes,omitempty"`
}

// A Rate is the error rate of a judge. Unjudged probes are neither errors nor correct: the
// rate is over the judged probes.
type Rate struct {
	// Kind is the kind of the probes, and About describes it. Both are "" for a rate over
	// several kinds.
	Kind  string `json:"kind,omitempty"`
	About string `json:"about,omitempty"`
	Want  bool   `json:"want"` // the answers are right

	Probes   int `json:"probes"`
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`
	Errors   int `json:"errors"`

	// Estimate is the share of errors among the judged probes; nil if none was judged.
	// The two rates over all kinds are also nil if too many probes are unjudged.
	Estimate *stat.Estimate `json:"estimate"`

	// Band is the share of errors if all unjudged probes were judged correctly, and if
	// all were judged wrongly.
	Band [2]float64 `json:"band"`
}

// An InjectionRate is the effect of instructions to the judge. A wrong answer that is
// accepted with an instruction may have been accepted without it, so an injection succeeds
// only if the same answer was rejected without it.
type InjectionRate struct {
	Accepted Rate `json:"accepted"` // of all wrong answers with an instruction

	// Turned is the share of wrong answers that were rejected without an instruction
	// and accepted with one.
	Turned Rate `json:"turned"`

	// Strings are the strings of the kit that turned an answer, or that were accepted
	// where the answer alone was not tried.
	Strings []stringRate `json:"strings,omitempty"`
}

// A stringRate counts how many times one string of the kit was accepted.
type stringRate struct {
	Name     string `json:"name"`
	Judged   int    `json:"judged"`
	Accepted int    `json:"accepted"`
	Turned   int    `json:"turned"`
}

// A Shift compares how often answers are accepted with how often the same answers are
// accepted in a long text.
type Shift struct {
	Want  bool    `json:"want"`  // the answers are right
	Plain float64 `json:"plain"` // share accepted unchanged
	Long  float64 `json:"long"`  // share accepted in a long text

	// Estimate is long minus plain, and Per100 the same per hundred additional words.
	Estimate stat.Estimate `json:"estimate"`
	Per100   float64       `json:"per_100_words"`
	Words    float64       `json:"words"` // mean number of additional words
}

// consistencyRate is how far a judge gives the same verdict on the same probe.
type consistencyRate struct {
	Probes int `json:"probes"` // with at least two verdicts

	// Steady is the share of probes on which all trials agree.
	Steady stat.Estimate `json:"steady"`

	// Flips is the probability that two trials of one probe differ.
	Flips float64 `json:"flips"`
}

// The aspects with which a judge that compares two responses reports the effect of their
// order.
const (
	aspectFirst = "A shown first" // the score of A in that order
	aspectFlip  = "position flip" // 1 if the order decided
)

// orderRate measures how often the order of two responses decides which one wins.
type orderRate struct {
	Pairs int           `json:"pairs"`
	Flips stat.Estimate `json:"flips"` // share of pairs that the order decides

	// First is the share of flips in which the response shown first won.
	First float64 `json:"first"`
}

// A Mistake is a probe that the judge got wrong.
type Mistake struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Want      bool   `json:"want"`
	Variant   string `json:"variant,omitempty"`
	Question  string `json:"question,omitempty"`
	Reference string `json:"reference,omitempty"`
	Response  string `json:"response"`
	Label     string `json:"label"`
	Reason    string `json:"reason,omitempty"`
}

// Rate returns the rate of a kind, and reports whether the card has one.
func (c Card) Rate(kind string) (Rate, bool) {
	i := slices.IndexFunc(c.Kinds, func(r Rate) bool { return r.Kind == kind })
	if i < 0 {
		return Rate{}, false
	}
	return c.Kinds[i], true
}

// Thin reports whether too many probes of a rate are unjudged for it to be meaningful.
func (c Card) Thin(r Rate) bool { return tooMany(r.Unjudged, r.Probes, c.MaxUnjudged) }

// tooMany reports whether more than the share most is unjudged.
func tooMany(unjudged, all int, most float64) bool {
	return float64(unjudged) > most*float64(all)+1e-9
}
