// Package infinitebench is the InfiniteBench benchmark as published: twelve tasks over
// texts of 100,000 tokens and more, each with a rule of its own that asks no model.
//
// Its pieces meet like this. [Open] reads the files of predictions that the published
// scripts write into items; the task is in the name of the file. [Judge] returns the
// judge, a rule that knows every task, under one of two readings: [Upstream] keeps
// what is broken in the published program, [Fixed] mends it. [Metrics] turn the
// records of a run into the published numbers, with intervals.
//
// The source is github.com/OpenBMB/InfiniteBench at commit 88b3daa, licence MIT, and
// the paper Zhang et al., "InfiniteBench: Extending Long Context Evaluation Beyond
// 100K Tokens" (ACL 2024). File names in comments are of that repository.
package infinitebench

// Name is the name of the benchmark and of its judge.
const Name = "infinitebench"

// What the list of benchmarks says of this one.
const (
	About   = "12 tasks over texts of 100,000 tokens and more, each by its published rule"
	Where   = "huggingface.co/datasets/xinrongzhang2022/InfiniteBench; code at github.com/OpenBMB/InfiniteBench"
	Licence = "MIT"
)

// The fields of items that the judge looks at.
const (
	// fieldLabel is the label as the file has it, in JSON. It is there unless the
	// label is a list of texts, which are the references then: upstream treats a
	// text and a list of one, or 88 and 88.0, differently.
	fieldLabel = "label"

	fieldTruth = "ground_truth" // how a published program writes the label into a prompt
	fieldModel = "model"        // the system, in the one task that looks at its name
)

// noLabel is what upstream takes for the label of a row that has none.
const noLabel = `"XXXXXXXXXX"`
