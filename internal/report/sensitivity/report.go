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
	Published = "published" // verdicts that stand in a file
	Reread    = "re-read"   // the replies in that file, read again
	Rejudged  = "re-judged" // a judge that was asked now
)

// A Judge is one of those that are compared.
type Judge struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Model string `json:"model,omitempty"`

	// Reading is how the judge's replies are read, "" when that makes no difference here.
	Reading string `json:"reading,omitempty"`

	Hash string `json:"hash,omitempty"` // "" when it differs from system to system
}

// A Claim is a number that somebody published, beside what the rows give.
type Claim struct {
	Name    string `json:"name"`
	Claimed string `json:"claimed"` // as it is written

	Value float64 `json:"value"` // what is claimed, a share from 0 to 1 where it is one
	Given float64 `json:"given"` // what the rows give
	Share bool    `json:"share"`
	Right int     `json:"right,omitempty"`
	N     int     `json:"n,omitempty"`

	// Counted is false when the rows do not have this number.
	Counted bool `json:"counted"`
	Agrees  bool `json:"agrees"`

	How     string `json:"how,omitempty"`     // what it takes to come to the number
	Because string `json:"because,omitempty"` // which other way of counting gives what is claimed
	Main    bool   `json:"main"`              // it is about all rows, and no part of them
}

// An Aspect is another number that the rows of a file carry, with its mean.
type Aspect struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean"`
	N    int     `json:"n"`
}

// A Source says where the responses of a system come from.
type Source struct {
	Files   []string `json:"files"`
	Shape   string   `json:"shape"`
	Columns []string `json:"columns"`
	Rule    string   `json:"rule,omitempty"` // by which labels count
	LeftOut []string `json:"left_out,omitempty"`
	Judge   string   `json:"judge,omitempty"`
	Hash    string   `json:"judge_hash,omitempty"`
	Model   string   `json:"judge_model,omitempty"`
	Replies int      `json:"replies"`
	Trials  int      `json:"trials"`
}

// A Score is what a judge gives a system.
type Score struct {
	Judge int    `json:"judge"` // its place in the list of judges
	Run   string `json:"run,omitempty"`

	// Estimate is the score over judged items, null when it is withheld or nothing was
	// judged. Lo and Hi are what it would be with all unjudged items wrong and right.
	Estimate *stat.Estimate `json:"estimate"`
	Lo       float64        `json:"lo"`
	Hi       float64        `json:"hi"`

	Items    int  `json:"items"`
	Unjudged int  `json:"unjudged"`
	Withheld bool `json:"withheld"`

	// Change is what differs from the first judge, null for that judge itself.
	Change *Change `json:"change,omitempty"`

	// Passes says that the score is the share of items that pass, and not a mean of scores.
	Passes bool `json:"-"`
}

// A Change says on which items a judge differs from the first one.
type Change struct {
	Up       Items `json:"up"`       // from no to yes
	Down     Items `json:"down"`     // from yes to no
	Both     int   `json:"both"`     // items that both judged
	Unpaired int   `json:"unpaired"` // items that only one judged

	Difference stat.Estimate `json:"difference"` // of the shares of yes
	P          float64       `json:"p"`          // of McNemar's exact test
}

// Items are items of one kind: how many, and the first of them.
type Items struct {
	N        int      `json:"n"`
	Examples []string `json:"examples"`
}

// A Band reaches from the lowest to the highest of several scores.
type Band struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// A Flip is an item on which judges differ.
type Flip struct {
	Item     string   `json:"item"`
	Category string   `json:"category,omitempty"`
	Says     []string `json:"says"` // a label for each judge, "" where there is no verdict
	Yes      []bool   `json:"yes"`
}

// A System is what was found about one system.
type System struct {
	Name   string   `json:"name"`
	Source Source   `json:"source"`
	Items  int      `json:"items"`
	Claims []Claim  `json:"claims"`
	Scores []Score  `json:"scores"`
	Also   []Aspect `json:"also"` // further numbers of the rows

	// Band holds the scores of all judges, null when fewer than two have one.
	Band *Band `json:"band"`

	// Flips counts the items on which judges differ, and Examples are the first.
	Flips    int    `json:"flips"`
	Judged   int    `json:"judged"` // items that two judges or more judged
	Examples []Flip `json:"examples"`

	Notes []string `json:"notes"`
}

// A Pair says how far two judges agree, over all systems.
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

// Ranks says how two judges order the systems.
type Ranks struct {
	First  int `json:"first"`
	Second int `json:"second"`

	// Tau is Kendall's tau-b, null when one of the judges gives all systems the same.
	Tau *float64 `json:"tau"`
}

// A Report is what was found.
type Report struct {
	Version string   `json:"version"`
	Judges  []Judge  `json:"judges"`
	Systems []System `json:"systems"`
	Pairs   []Pair   `json:"pairs"`

	// Ranks and Orders are there for several systems: how judges order them, and what
	// becomes of each pair of systems when the judge changes.
	Ranks  []Ranks `json:"ranks"`
	Orders []Order `json:"orders"`

	Notes []string `json:"notes"`
}

// Disagreeing returns the claims that the rows do not give.
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
