// Package personamem implements the PersonaMem v2 benchmark: questions of a user whose
// preferences are in earlier conversations, answered by choosing an option or in the
// assistant's own words.
//
// [Open] reads upstream's result file, or joins benchmark.csv with responses. [Choice] is
// the judge of chosen options, and [Protocol] that of open answers, whose prompts are read
// from the user's clone. [NewMetrics] prints upstream's metrics.
//
// The source is github.com/bowen-upenn/PersonaMem-v2 at commit fc16030, without a licence
// for its code. File names in comments refer to that repository.
package personamem

// Name is the name of the benchmark.
const Name = "personamem"

// The description in the list of benchmarks.
const (
	About   = "PersonaMem v2: does an assistant follow what its user prefers? A choice of options by rule, or open answers by a model"
	Where   = "huggingface.co/datasets/bowen-upenn/PersonaMem-v2; code at github.com/bowen-upenn/PersonaMem-v2"
	Licence = "MIT (data, as stated by others); none found (code)"
)

// The names of the judges.
const (
	ChoiceName = "personamem/choice"
	OpenName   = "personamem/open"
)

// The readings.
const (
	Upstream    = "upstream"    // as inference.py and inference_utils.py read
	OmniMemEval = "omnimemeval" // as OmniMemEval finds the option
	Strict      = "strict"
)

// Readings returns the names of the readings, the default first.
func Readings() []string { return []string{Upstream, OmniMemEval, Strict} }

// The fields of items, named like upstream's columns.
const (
	fieldPreference = "preference"
	fieldScenario   = "conversation_scenario"
	fieldUpdated    = "updated"
	fieldWho        = "who"
	fieldType       = "pref_type"
)
