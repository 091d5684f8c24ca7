package agree

import (
	"deem/internal/agreement"
	"deem/stat"
)

// An Agreement compares a judge with people, or with another judge that is treated as
// correct. "People" below means that side.
type Agreement struct {
	Version string `json:"version"`
	Judge   Party  `json:"judge"`
	Truth   Party  `json:"truth"`
	People  bool   `json:"people"` // the truth comes from people

	Counts Counts `json:"counts"`

	Seed uint64 `json:"seed"` // of the bootstrap intervals

	All        Measures   `json:"all"`
	Categories []Measures `json:"categories"` // sorted by name; empty if no item has one

	// Labels compares the labels of a judge with more than two labels, and is nil for
	// others.
	Labels *LabelTable `json:"labels,omitempty"`

	// Scores compares grades, and is nil if judge and people both only decide yes or no.
	Scores *Scores `json:"scores,omitempty"`

	Confidence *Confidence `json:"confidence,omitempty"` // nil if the judge gives none
	Annotators *Annotators `json:"annotators,omitempty"` // nil for one annotator
	Corrected  *Corrected  `json:"corrected"`            // nil if no correction is possible

	// Withheld says why there are no scores of the run, or is nil. Agreement on the judged
	// items is given in any case.
	Withheld *Hold `json:"withheld"`

	Disagreements []Disagreement `json:"disagreements"` // worst first

	Votes *Votes `json:"votes,omitempty"` // of the members of a panel; nil for other judges

	Own      *Own           `json:"own,omitempty"`      // nil if the answering model is unknown
	Registry *RegistryCheck `json:"registry,omitempty"` // nil without a registry

	// Weighted reports whether items have different weights, so that shares are ones of
	// weight.
	Weighted bool `json:"weighted,omitempty"`

	Notes []string `json:"notes,omitempty"`
}

// Counts are the numbers of items of each kind.
type Counts struct {
	Items    int `json:"items"`
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`
	Labelled int `json:"labelled"` // by people, whether or not the judge judged

	// Undecided items have a probability instead of a verdict. They count with it in the
	// score of the run, and not in the agreement.
	Undecided int `json:"undecided,omitempty"`

	Ties int `json:"ties"` // labelled, but evenly split
	Both int `json:"both"` // with a verdict and a label
}

// A Hold says why scores are withheld.
type Hold struct {
	Unjudged    int     `json:"unjudged"`
	Items       int     `json:"items"`
	MaxUnjudged float64 `json:"max_unjudged"`
}

// Measures are the agreement of judge and people on some items.
type Measures struct {
	Category string `json:"category,omitempty"` // "" for all items, "(none)" for those without one

	// Confusion counts right answers accepted (tp), wrong ones accepted (fp), right
	// ones rejected (fn) and wrong ones rejected (tn).
	Confusion agreement.Confusion `json:"confusion"`

	Agreement stat.Estimate `json:"agreement"` // the share of items on which they agree
	Kappa     stat.Estimate `json:"kappa"`     // Cohen's
	AC1       stat.Estimate `json:"ac1"`       // Gwet's
	Alpha     stat.Estimate `json:"alpha"`     // Krippendorff's

	FalseAccept stat.Estimate `json:"false_accept"` // the share of wrong answers that the judge accepts
	FalseReject stat.Estimate `json:"false_reject"` // the share of right answers that it rejects
	PeopleRate  stat.Estimate `json:"people_rate"`  // the share of yes from people
	JudgeRate   stat.Estimate `json:"judge_rate"`   // the share of yes from the judge
	MCC         float64       `json:"mcc"`          // Matthews' correlation
}

// Scores correlates the judge's grades with people's.
type Scores struct {
	N int `json:"n"`

	Pearson  *agreement.Correlation `json:"pearson,omitempty"` // nil if one side has no spread
	Spearman *agreement.Correlation `json:"spearman,omitempty"`
	Kendall  *agreement.Correlation `json:"kendall,omitempty"`

	Raw       *stat.Estimate        `json:"raw,omitempty"` // the judge's mean over all judged items; nil if withheld
	People    stat.Estimate         `json:"people"`        // people's mean over labelled items
	Corrected *agreement.Prediction `json:"ppi,omitempty"` // nil if withheld or if every item is labelled
}

// Confidence says how well calibrated the judge's confidence is.
type Confidence struct {
	N     int                        `json:"n"` // items with a confidence
	Bins  []agreement.Bin            `json:"bins"`
	ECE   agreement.CalibrationError `json:"ece"`
	Brier float64                    `json:"brier"`

	// AUROC is the probability that the judge is more confident in a right verdict than in
	// a wrong one; nil if all are right or all are wrong.
	AUROC *stat.Estimate `json:"auroc,omitempty"`
}

// Annotators is the agreement of people with one another. The judge is compared with their
// majority.
type Annotators struct {
	Names []string `json:"names"`
	Items int      `json:"items"` // labelled by two or more
	Ties  int      `json:"ties"`

	Kappa  *stat.Estimate `json:"kappa,omitempty"`  // Cohen's, for two annotators
	Fleiss *stat.Estimate `json:"fleiss,omitempty"` // for three or more
	Alpha  stat.Estimate  `json:"alpha"`            // Krippendorff's
}

// Corrected is the run's score corrected to match people.
type Corrected struct {
	Raw    stat.Estimate `json:"raw"`    // from the judge's verdicts, and the probabilities of undecided items
	People stat.Estimate `json:"people"` // from people, over the labelled items alone

	PPI         agreement.Prediction `json:"ppi"`
	RoganGladen stat.Estimate        `json:"rogan_gladen"` // of the items that people did not label; null for labels of a plan
	Stratified  stat.Estimate        `json:"stratified"`   // by verdict and category

	// Unlabelled is the number of judged items without a label. If it is 0, no correction
	// is needed.
	Unlabelled int `json:"unlabelled"`

	// Mix compares the labelled items with the others.
	Mix Mix `json:"mix"`

	// Quote names the number to quote: "people", "ppi" or "stratified", and "" if the labels
	// say nothing about a part of the run.
	Quote string `json:"quote"`

	More *More `json:"more,omitempty"` // nil if no width was requested

	// Metric is what the score is, as in a report. Confusion counts the labels.
	Metric    string              `json:"metric"`
	Confusion agreement.Confusion `json:"-"`

	units stat.Influence // of the number to quote
}

// Quoted returns the number to quote. It has no value if there is none.
func (c Corrected) Quoted() stat.Estimate {
	switch c.Quote {
	case quotePeople:
		return c.People
	case quoteStratified:
		return c.Stratified
	case quotePPI:
		return c.PPI.Estimate
	}
	return stat.NoInterval(0.5, 0, stat.DefaultLevel, stat.Unit, WarnPart)
}

// Influence returns how much clusters, and items without one, move the number to quote.
func (c Corrected) Influence() stat.Influence { return c.units }

// A Mix compares the labelled items with the others. Corrections assume that labels were
// drawn at random.
type Mix struct {
	Labelled   stat.Estimate `json:"labelled"`   // the judge's rate of yes on labelled items
	Unlabelled stat.Estimate `json:"unlabelled"` // and on the others
	Differs    bool          `json:"differs"`    // in some respect, beyond chance

	// Drawn is how labels were drawn: "at random" as far as can be seen, by a "plan" for
	// this judge, with the "probability" of a plan for another judge, or with more of some
	// "verdict" or category than of others. Tests lists the tests that were made.
	Drawn string          `json:"drawn,omitempty"`
	Tests []SelectionTest `json:"tests,omitempty"`

	// Categories are those of which people labelled more, or fewer, than chance explains.
	Categories []string `json:"categories,omitempty"`
}

// Planned reports whether one plan drew all labels, with probabilities that are known.
func (m Mix) Planned() bool { return m.Drawn == string(byPlan) || m.Drawn == string(byProbability) }

// More is the number of additional labels for the requested width of the corrected
// interval.
type More struct {
	Width   float64 `json:"width"`  // requested, from end to end
	Now     float64 `json:"now"`    // current
	Labels  int     `json:"labels"` // additional labels needed
	Enough  bool    `json:"enough"` // false if even labelling everything would not be enough
	Present int     `json:"present"`
}

// A Disagreement is an item on which judge and people differ.
type Disagreement struct {
	Item     string `json:"item"`
	Category string `json:"category,omitempty"`
	Position int    `json:"position"`
	Judge    bool   `json:"judge"`
	People   bool   `json:"people"`

	Label      string   `json:"label"` // as the judge spells it
	Confidence *float64 `json:"confidence,omitempty"`
	Score      float64  `json:"score"`

	// For and Of are how many of the annotators made the decision; 0 of 0 if another judge
	// made it.
	For int `json:"for,omitempty"`
	Of  int `json:"of,omitempty"`

	Reason string `json:"reason,omitempty"` // the judge's
	Why    string `json:"why,omitempty"`    // people's
}
