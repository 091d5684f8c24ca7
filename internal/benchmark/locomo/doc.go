// Package locomo is the LoCoMo benchmark: 1,986 questions about ten very long
// conversations between two people, in five categories, with the published F1 and
// with two judges of our own that ask a model.
//
// Its pieces meet like this. [Open] joins the published conversations with what a
// system answered into items, in whichever of the many forms that people keep such
// answers. [NewF1] is the published rule as a judge; [Protocol] returns a judge that
// asks a model, strictly or leniently. [Metrics] turn the records of a run into
// numbers by category, with intervals, and into the lines that the published script
// prints. Some answers of the key are wrong; package errata of the reports says what
// that does to a score, and needs [CanonicalID] to know the questions again.
//
// Two things must be said beside every LoCoMo score, because published ones differ
// in them and rarely say so: what was done with category 5, which is a [Policy] here
// and part of a judge's identity, and which number each category has. Names do not
// tell: of the vendors that publish scores, most give the categories each other's
// names. So a category is its number here, and the name is only shown beside it.
//
// The source is github.com/snap-research/locomo at commit 3eb6f2c, whose data is
// under CC BY-NC 4.0, and the paper Maharana et al., "Evaluating Very Long-Term
// Conversational Memory of LLM Agents" (ACL 2024). We call it upstream. File names in
// comments are of that repository.
package locomo

// Name is the name of the benchmark.
const Name = "locomo"

// What the list of benchmarks says of this one.
const (
	About   = "1,986 questions about ten very long conversations, in five categories; stemmed F1, or two judges of our own"
	Where   = "github.com/snap-research/locomo, data/locomo10.json"
	Licence = "CC BY-NC 4.0 (data)"
)

// The categories of questions, by the numbers in the data.
const (
	MultiHop    = "1"
	Temporal    = "2"
	OpenDomain  = "3"
	SingleHop   = "4"
	Adversarial = "5"
)

// A Category is one of the five: its number in the data, and its name in upstream's
// paper. The number is the key. Vendors use the same names for other numbers.
type Category struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Categories returns the five categories by number.
func Categories() []Category {
	return []Category{
		{MultiHop, "multi-hop"},
		{Temporal, "temporal"},
		{OpenDomain, "open-domain"},
		{SingleHop, "single-hop"},
		{Adversarial, "adversarial"},
	}
}

// categoryOf returns the category with that number.
func categoryOf(id string) (Category, bool) {
	for _, c := range Categories() {
		if c.ID == id {
			return c, true
		}
	}
	return Category{}, false
}

// published are the conversations of locomo10.json in its order. Others number them
// from 0, as locomo_0 or locomo_exp_user_0.
var published = []string{
	"conv-26", "conv-30", "conv-41", "conv-42", "conv-43",
	"conv-44", "conv-47", "conv-48", "conv-49", "conv-50",
}
