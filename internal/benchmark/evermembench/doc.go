// Package evermembench implements the EverMemBench benchmark: questions about long group
// chats of many people, multiple-choice or open.
//
// [Open] joins upstream's questions with a system's answers. [Choice] is the judge of
// multiple-choice questions. [Protocol] judges those by the same rule and asks a model
// about the open ones, with the prompts of the user's clone. [NewMetrics] prints upstream's
// metrics, and [WriteResults] writes its result file.
//
// The source is github.com/EverMind-AI/EverMemBench at commit e10b3d5, without a licence
// file. File names in comments refer to its folder eval.
package evermembench

// Name is the name of the benchmark.
const Name = "evermembench"

// The description in the list of benchmarks.
const (
	About   = "questions about long group chats of many people: options by rule, open answers by a model"
	Where   = "github.com/EverMind-AI/EverMemBench"
	Licence = "none found"
)

// The names of the judges.
const (
	ChoiceName   = "evermembench/choice"
	UpstreamName = "evermembench/upstream"
)

// The readings.
const (
	Upstream = "upstream"
	Strict   = "strict"
)

// Readings returns the names of the readings, the default first.
func Readings() []string { return []string{Upstream, Strict} }

// The types of questions, which are the categories of items.
const (
	multipleChoice = "multiple_choice"
	openEnded      = "open_ended"
)
