// Package infinitebench implements the InfiniteBench benchmark as published: twelve tasks
// over texts of 100,000 tokens and more, each with its own rule that needs no model.
//
// [Open] reads the prediction files of the published scripts into items; the task is in the
// file name. [Judge] returns the judge, a rule that covers every task, under one of two
// readings: [Upstream] keeps the bugs of the published program, [Fixed] fixes them.
// [Metrics] computes the published scores from the records of a run, with confidence
// intervals.
//
// The source is github.com/OpenBMB/InfiniteBench at commit 88b3daa, licence MIT, and the
// paper Zhang et al., "InfiniteBench: Extending Long Context Evaluation Beyond 100K Tokens"
// (ACL 2024). File names in comments refer to that repository.
package infinitebench

// Name is the name of the benchmark and of its judge.
const Name = "infinitebench"

// The description in the list of benchmarks.
const (
	About   = "12 tasks over texts of 100,000 tokens and more, each by its published rule"
	Where   = "huggingface.co/datasets/xinrongzhang2022/InfiniteBench; code at github.com/OpenBMB/InfiniteBench"
	Licence = "MIT"
)

// The fields of items that the judge uses.
const (
	// fieldLabel is the label in the file, as JSON. It is set unless the label is a
	// list of strings, which are then the references: upstream treats a string and a
	// list of one, or 88 and 88.0, differently.
	fieldLabel = "label"

	fieldTruth = "ground_truth" // the label as a published program writes it into a prompt
	fieldModel = "model"        // the system, for the one task that uses its name
)

// noLabel is upstream's label of a row without one.
const noLabel = `"XXXXXXXXXX"`
