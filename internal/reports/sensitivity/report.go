package sensitivity

import (
	"io"

	"deem/internal/doc"
	"deem/stat"
)

// Version is the version of the JSON form of a [Report].
const Version = "deem.sensitivity/1"

// The kinds of judges.
const (
	Published = "published" // verdicts in a file
	Reread    = "re-read"   // the replies in that file, parsed again
	Rejudged  = "re-judged" // a judge that was run now
)

// A Judge is one of the judges that are compared.
type Judge struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Model string `json:"model,omitempty"`

	// Reading is the reply parser of the judge, "" if it makes no difference here.
	Reading string `json:"reading,omitempty"`

	Hash string `json:"hash,omitempty"` // "" if it differs between systems
}

// A Claim is a published number with the value that the rows give.
type Claim struct {
	Name    string `json:"name"`
	Claimed string `json:"claimed"` // as written

	Value float64 `json:"value"` // the claimed value; a share is from 0 to 1
	Given float64 `json:"given"` // the value of the rows
	Share bool    `json:"share"`
	Right int     `json:"right,omitempty"`
	N     int     `json:"n,omitempty"`

	// Counted is false if the rows do not have this number.
	Counted bool `json:"counted"`
	Agrees  bool `json:"agrees"`

	How     string `json:"how,omitempty"`     // how to compute the number
	Because string `json:"because,omitempty"` // another way of counting that gives the claimed value
	Main    bool   `json:"main"`              // it covers all rows
}

// An Aspect is another number in the rows of a file, with its mean.
type Aspect struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean"`
	N    int     `json:"n"`
}

// A Source describes where the responses of a system come from.
type Source struct {
	Files   []string `json:"files"`
	Shape   string   `json:"shape"`
	Columns []string `json:"columns"`
	Rule    string   `json:"rule,omitempty"` // how labels are counted
	LeftOut []string `json:"left_out,omitempty"`
	Judge   string   `json:"judge,omitempty"`
	Hash    string   `json:"judge_hash,omitempty"`
	Model   string   `json:"judge_model,omitempty"`
	Replies int      `json:"replies"`
	Trials  int      `json:"trials"`
}

// A Score is the score of a system under one judge.
type Score struct {
	Judge int    `json:"judge"` // index in the list of judges
	Run   string `json:"run,omitempty"`

	// Estimate is the score over judged items, null if it is withheld or nothing was
	// judged. Lo and Hi are the scores with all unjudged and undecided items wrong and right.
	Estimate *stat.Estimate `json:"estimate"`
	Lo       float64        `json:"lo"`
	Hi       float64        `json:"hi"`

	Items    int  `json:"items"`
	Unjudged int  `json:"unjudged"`
	Withheld bool `json:"withheld"`

	// Undecided items count in Estimate with the probability that their response is right.
	// Decided is the score over the other judged items, null if there are no undecided ones.
	Undecided int            `json:"undecided,omitempty"`
	Decided   *stat.Estimate `json:"decided,omitempty"`

	// Change is the difference from the first judge, null for that judge itself.
	Change *Change `json:"change,omitempty"`

	// Passes reports whether the score is the share of items that pass rather than a mean.
	Passes bool `json:"-"`
}

// A Change lists the items on which a judge differs from the first.
type Change struct {
	Up       Items `json:"up"`       // from no to yes
	Down     Items `json:"down"`     // from yes to no
	Both     int   `json:"both"`     // items that both judged
	Unpaired int   `json:"unpaired"` // items that only one judged

	Difference stat.Estimate `json:"difference"` // of the shares of yes
	P          float64       `json:"p"`          // of McNemar's exact test
}

// Items are items of one kind: their number and the first of them.
type Items struct {
	N        int      `json:"n"`
	Examples []string `json:"examples"`
}

// A Band ranges from the lowest to the highest of several scores.
type Band struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// A Flip is an item on which judges differ.
type Flip struct {
	Item     string   `json:"item"`
	Category string   `json:"category,omitempty"`
	Says     []string `json:"says"` // a label for each judge, "" without a verdict
	Yes      []bool   `json:"yes"`
}

// A System is the result for one system.
type System struct {
	Name   string   `json:"name"`
	Source Source   `json:"source"`
	Items  int      `json:"items"`
	Claims []Claim  `json:"claims"`
	Scores []Score  `json:"scores"`
	Also   []Aspect `json:"also"` // additional numbers in the rows

	// Band is the range of the scores of all judges, null if fewer than two have one.
	Band *Band `json:"band"`

	// Flips counts the items on which judges differ; Examples are the first of them.
	Flips    int    `json:"flips"`
	Judged   int    `json:"judged"` // items judged by two or more judges
	Examples []Flip `json:"examples"`

	Notes []string `json:"notes"`
}

// A Pair is the agreement of two judges over all systems.
type Pair struct {
	First  int `json:"first"`
	Second int `json:"second"`

	BothYes    int `json:"both_yes"`
	FirstOnly  int `json:"first_only"`
	SecondOnly int `json:"second_only"`
	BothNo     int `json:"both_no"`

	Agreement stat.Estimate `json:"agreement"`
	Kappa     stat.Estimate `json:"kappa"`
}

// Ranks compares how two judges rank the systems.
type Ranks struct {
	First  int `json:"first"`
	Second int `json:"second"`

	// Tau is Kendall's tau-b, null if one of the judges gives all systems the same score.
	Tau *float64 `json:"tau"`
}

// A Report is the result of a sensitivity analysis.
type Report struct {
	Version string   `json:"version"`
	Judges  []Judge  `json:"judges"`
	Systems []System `json:"systems"`
	Pairs   []Pair   `json:"pairs"`

	// Ranks and Orders are set for several systems: how judges rank them, and how the order
	// of each pair changes with the judge.
	Ranks  []Ranks `json:"ranks"`
	Orders []Order `json:"orders"`

	Notes []string `json:"notes"`
}

// Disagreeing returns the claims that the rows do not support.
func (r Report) Disagreeing() []Claim {
	var list []Claim
	for _, s := range r.Systems {
		for _, c := range s.Claims {
			if !c.Agrees {
				list = append(list, c)
			}
		}
	}
	return list
}

// JSON writes the report as JSON.
func (r Report) JSON(w io.Writer) error { return doc.JSON(w, r) }
