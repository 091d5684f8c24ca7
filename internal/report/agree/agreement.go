package agree

import (
	"deem/stat"
)

// An Agreement says how a judge does beside people, or beside another judge who is
// taken to be right. "People" below means that side.
type Agreement struct {
	Version string `json:"version"`
	Judge   Party  `json:"judge"`
	Truth   Party  `json:"truth"`
	People  bool   `json:"people"` // the truth is people's

	Counts Counts `json:"counts"`

	Seed uint64 `json:"seed"` // of the intervals that are drawn

	All        Measures   `json:"all"`
	Categories []Measures `json:"categories"` // sorted by name; empty when no item has one

	// Labels compare the labels of a judge that has more than two, and are nil for others.
	Labels *LabelTable `json:"labels,omitempty"`

	// Scores compare grades, and are nil when judge and people both decide only yes
	// or no.
	Scores *Scores `json:"scores,omitempty"`

	Confidence *Confidence `json:"confidence,omitempty"` // nil when the judge gives none
	Annotators *Annotators `json:"annotators,omitempty"` // nil for one annotator
	Corrected  *Corrected  `json:"corrected"`            // nil when there is nothing to correct with

	// Withheld says why there are no scores of the run, or is nil. Agreement on the
	// items that were judged is given all the same.
	Withheld *Hold `json:"withheld"`

	Disagreements []Disagreement `json:"disagreements"` // the worst first

	Own      *Own           `json:"own,omitempty"`      // nil when nobody said who answered
	Registry *RegistryCheck `json:"registry,omitempty"` // nil without a registry

	Notes []string `json:"notes,omitempty"`
}

// Counts are how many items there are of which kind.
type Counts struct {
	Items    int `json:"items"`
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`
	Labelled int `json:"labelled"` // by people, whether or not the judge judged

	// Undecided items have a probability in place of a verdict. They count with it in the
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

// Measures are how far judge and people agree on some items.
type Measures struct {
	Category string `json:"category,omitempty"` // "" for all items, "(none)" for those without one

	// Confusion counts right answers accepted (tp), wrong ones accepted (fp), right
	// ones rejected (fn) and wrong ones rejected (tn).
	Confusion stat.Confusion `json:"confusion"`

	Agreement stat.Estimate `json:"agreement"` // the share of items on which they agree
	Kappa     stat.Estimate `json:"kappa"`     // Cohen's
	AC1       stat.Estimate `json:"ac1"`       // Gwet's
	Alpha     stat.Estimate `json:"alpha"`     // Krippendorff's

	FalseAccept stat.Estimate `json:"false_accept"` // the share of wrong answers that the judge accepts
	FalseReject stat.Estimate `json:"false_reject"` // the share of right answers that it rejects
	PeopleRate  stat.Estimate `json:"people_rate"`  // the share to which people say yes
	JudgeRate   stat.Estimate `json:"judge_rate"`   // the share to which the judge says yes
	MCC         float64       `json:"mcc"`          // Matthews' correlation
}

// Scores say how far the judge's grades rise with people's.
type Scores struct {
	N int `json:"n"`

	Pearson  *stat.Correlation `json:"pearson,omitempty"` // nil where one side has no spread
	Spearman *stat.Correlation `json:"spearman,omitempty"`
	Kendall  *stat.Correlation `json:"kendall,omitempty"`

	Raw       *stat.Estimate `json:"raw,omitempty"` // the judge's mean over all judged items; nil when withheld
	People    stat.Estimate  `json:"people"`        // people's mean over labelled items
	Corrected *stat.PPI      `json:"ppi,omitempty"` // nil when withheld, or when every item is labelled
}

// Confidence says how much the judge's confidence is worth: whether it is right as
// often as it says.
type Confidence struct {
	N     int                   `json:"n"` // items with a confidence
	Bins  []stat.Bin            `json:"bins"`
	ECE   stat.CalibrationError `json:"ece"`
	Brier float64               `json:"brier"`

	// AUROC is the chance that the judge is surer of a right verdict than of a wrong
	// one; nil when all are right, or all wrong.
	AUROC *stat.Estimate `json:"auroc,omitempty"`
}

// Annotators say how far people agree with one another. The judge is compared with their
// majority.
type Annotators struct {
	Names []string `json:"names"`
	Items int      `json:"items"` // labelled by two or more
	Ties  int      `json:"ties"`

	Kappa  *stat.Estimate `json:"kappa,omitempty"`  // Cohen's, for two annotators
	Fleiss *stat.Estimate `json:"fleiss,omitempty"` // for three and more
	Alpha  stat.Estimate  `json:"alpha"`            // Krippendorff's
}

// Corrected is the run's score as people would have it.
type Corrected struct {
	Raw    stat.Estimate `json:"raw"`    // the judge's verdicts as they are, and the probabilities of undecided items
	People stat.Estimate `json:"people"` // people's own, over the labelled items alone

	PPI         stat.PPI      `json:"ppi"`
	RoganGladen stat.Estimate `json:"rogan_gladen"` // of the items that people did not label
	Stratified  stat.Estimate `json:"stratified"`   // by verdict and category

	// Unlabelled is how many judged items have no label. Without any, nothing needs to
	// be corrected.
	Unlabelled int `json:"unlabelled"`

	// Mix says whether the labelled items look like the others.
	Mix Mix `json:"mix"`

	// Quote names the number to quote: "people", "ppi", "stratified".
	Quote string `json:"quote"`

	More *More `json:"more,omitempty"` // nil when nobody asked for a width
}

// Quoted returns the number to quote.
func (c Corrected) Quoted() stat.Estimate {
	switch c.Quote {
	case quotePeople:
		return c.People
	case quoteStratified:
		return c.Stratified
	default:
		return c.PPI.Estimate
	}
}

// A Mix compares the labelled items with the others. Corrections want labels that were
// drawn at random.
type Mix struct {
	Labelled   stat.Estimate `json:"labelled"`   // the judge's rate of yes on labelled items
	Unlabelled stat.Estimate `json:"unlabelled"` // and on the others
	Differs    bool          `json:"differs"`    // in some respect, more than chance explains

	// Drawn says how labels were drawn: "at random" as far as can be seen, by a "plan" for
	// this judge, with the "probability" of a plan for another judge, or more of some
	// "verdict" or category than of others. Tests are what was looked at.
	Drawn string          `json:"drawn,omitempty"`
	Tests []SelectionTest `json:"tests,omitempty"`

	// Categories are those of which people labelled more, or fewer, than chance
	// explains.
	Categories []string `json:"categories,omitempty"`
}

// Planned reports whether one plan drew all labels, with probabilities that are known.
func (m Mix) Planned() bool { return m.Drawn == string(byPlan) || m.Drawn == string(byProbability) }

// More is how many more labels make the corrected interval as narrow as was wished.
type More struct {
	Width   float64 `json:"width"`  // wished, from end to end
	Now     float64 `json:"now"`    // as it is
	Labels  int     `json:"labels"` // that are missing
	Enough  bool    `json:"enough"` // false when even labelling everything would not do
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

	// For and Of are how many of the annotators made the decision; 0 of 0 when
	// another judge did.
	For int `json:"for,omitempty"`
	Of  int `json:"of,omitempty"`

	Reason string `json:"reason,omitempty"` // the judge's
	Why    string `json:"why,omitempty"`    // people's
}
