// Package locomo implements the LoCoMo benchmark: 1,986 questions about ten very long
// conversations between two people, in five categories, with the published F1 and two LLM
// judges written for deem.
//
// [Open] joins the published conversations with a system's answers into items, in any of
// the many formats in use for such answers. [NewF1] is the published rule as a judge;
// [Protocol] returns a judge that asks a model, strictly or leniently. [Metrics] computes
// scores by category with confidence intervals from the records of a run, and the lines
// that the published script prints. Some reference answers are wrong; package errata of the
// reports shows the effect on a score, and uses [CanonicalID] to identify questions.
//
// A LoCoMo score needs two further facts, because published scores differ in them and
// rarely state them: how category 5 was treated, which is a [Policy] here and part of a
// judge's identity, and which number each category has. Names are not reliable: most
// vendors that publish scores mix up the names of categories. So a category is identified
// by its number here, and the name is only shown with it.
//
// The source is github.com/snap-research/locomo at commit 3eb6f2c, whose data is under CC
// BY-NC 4.0, and the paper Maharana et al., "Evaluating Very Long-Term Conversational
// Memory of LLM Agents" (ACL 2024). Comments call it upstream. File names in comments refer
// to that repository.
package locomo

import "deem/internal/benchmark"

// Name is the name of the benchmark.
const Name = "locomo"

// The description in the list of benchmarks.
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

// Categories returns the five categories of locomo10.json by number. The number is the key.
// Vendors use the same names for other numbers: the published tables of several call category
// 1 single-hop, 2 multi-hop and 4 temporal. The faulty items are those that
// github.com/dial481/locomo-audit lists as affecting a score.
func Categories() []benchmark.Category {
	return []benchmark.Category{
		{ID: MultiHop, Name: "multi-hop", Others: []string{"single-hop"}, Items: 282, Faulty: 28},
		{ID: Temporal, Name: "temporal", Others: []string{"multi-hop"}, Items: 321, Faulty: 26},
		{ID: OpenDomain, Name: "open-domain", Items: 96, Faulty: 9},
		{ID: SingleHop, Name: "single-hop", Others: []string{"temporal"}, Items: 841, Faulty: 36},
		{ID: Adversarial, Name: "adversarial", Items: 446, Optional: true},
	}
}

// Conversations returns the number of questions about each conversation of locomo10.json,
// without the adversarial ones.
func Conversations() []int { return []int{152, 81, 152, 199, 178, 123, 150, 191, 156, 158} }

// categoryName returns the name of the category with that number, or "".
func categoryName(id string) string {
	for _, c := range Categories() {
		if c.ID == id {
			return c.Name
		}
	}
	return ""
}

// published are the conversations of locomo10.json in order. Others number them from 0, for
// example locomo_0 or locomo_exp_user_0.
var published = []string{
	"conv-26", "conv-30", "conv-41", "conv-42", "conv-43",
	"conv-44", "conv-47", "conv-48", "conv-49", "conv-50",
}
