// Package beam implements the BEAM benchmark: 2,000 questions about conversations of 100
// thousand to 10 million tokens, in ten abilities, each with a rubric of 1 to 20 items that
// a model judges one by one.
//
// [Open] joins the published questions with a system's answers. [Protocol] returns one of
// three judges: upstream's own, whose prompts are read from the user's clone of its
// repository because it has no licence file, and those of two vendors, which are embedded.
// [Metrics] computes the published metrics from the records of a run, and [WriteResults]
// writes the file of upstream's script.
//
// The source is github.com/mohammadtavakoli78/BEAM at commit b2a3ee8, and the paper
// Tavakoli et al., "Beyond a Million Tokens" (ICLR 2026, arXiv 2510.27246).
package beam

import "deem/internal/benchmark"

// Name is the name of the benchmark.
const Name = "beam"

// The description in the list of benchmarks.
const (
	About   = "2,000 questions in ten abilities about conversations of 100K to 10M tokens, judged by the rubric of each"
	Where   = "huggingface.co/datasets/Mohammadta/BEAM; code at github.com/mohammadtavakoli78/BEAM"
	Licence = "no licence file for the code; CC BY-SA 4.0 for the data, as others state"
)

// The names of the judges.
const (
	Mem0Name     = "beam/mem0"
	OmniName     = "beam/omnimemeval"
	UpstreamName = "beam/upstream"
)

// Judges returns the names of the judges, the default first.
func Judges() []string { return []string{Mem0Name, OmniName, UpstreamName} }

// OriginOf returns who published a judge.
func OriginOf(name string) benchmark.Origin {
	switch name {
	case Mem0Name:
		return benchmark.Origin{About: "each item of the rubric, with the question", Vendor: "Mem0", Date: "2026-04-09", Source: "github.com/mem0ai/memory-benchmarks, commit edcd6f1", Licence: "Apache-2.0"}
	case OmniName:
		return benchmark.Origin{About: "each item of the rubric, and event ordering by the places of all events", Vendor: "OmniMemEval", Date: "2026-07-01", Source: "github.com/MemTensor/OmniMemEval, commit 7df23bc", Licence: "Apache-2.0"}
	}
	return benchmark.Origin{About: "each item of the rubric, and event ordering by tau", Vendor: "the authors of BEAM", Date: "2025-11-11", Source: "github.com/mohammadtavakoli78/BEAM, commit b2a3ee8", Licence: "none found; --with repo=PATH names a clone"}
}

// EventOrdering is the ability that upstream scores by the order of events.
const EventOrdering = "event_ordering"

// Abilities returns the published abilities, in the order of the files.
func Abilities() []string {
	return []string{
		"abstention", "contradiction_resolution", EventOrdering, "information_extraction", "instruction_following",
		"knowledge_update", "multi_session_reasoning", "preference_following", "summarization", "temporal_reasoning",
	}
}

// Sizes returns the lengths of the conversations, in tokens.
func Sizes() []string { return []string{"100K", "500K", "1M", "10M"} }

// The readings: parsers that turn replies into verdicts.
const (
	// Upstream reads like the program of the judge. BEAM's own program truncates half
	// points for nine abilities.
	Upstream = "upstream"

	// Float keeps the score of each rubric item as the model stated it.
	Float = "float"

	// Fixed accepts only the scores that were offered. With upstream's prompts it also
	// fills in the question, and scores event ordering by tau times F1.
	Fixed = "fixed"
)

// Readings returns the names of the readings, the default first.
func Readings() []string { return []string{Upstream, Float, Fixed} }

// The fields of an item.
const (
	fieldRubric = "rubric" // a JSON list of texts
	fieldSize   = "size"
)
