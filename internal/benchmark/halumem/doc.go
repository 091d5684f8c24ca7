// Package halumem is the HaluMem benchmark as published: how much of what its user
// says a memory system keeps, how much it makes up, whether it follows updates, and
// what all this does to its answers.
//
// Its pieces meet like this. [Open] reads the results file of a system, one user on
// each line, and routes its parts to four stages of items: "integrity" (was this
// memory point extracted?), "accuracy" (is this extracted memory true?), "update"
// (was this memory point brought up to date?) and "qa" (is this answer right?).
// [Protocol] returns the judge's protocol, one prompt for each stage, under one of
// three readings. [Metrics] turn the records of a run into the published numbers
// with intervals, say at which stage wrong answers went wrong, and write the file
// of upstream's own numbers. [ReadResults] makes records of a results file that
// another judge has filled in already.
//
// The source is github.com/MemTensor/HaluMem at commit 59402b9, licence
// CC BY-NC-ND 4.0. File names in comments are of its folder eval. What upstream
// calls golden memories, system responses and questions are references, responses
// and items of the stage "qa" here; its names live on only in the fields that fill
// the prompts and in the file of its numbers.
package halumem

import "slices"

// Name is the name of the benchmark and of its judge.
const Name = "halumem"

// What the list of benchmarks says of this one.
const (
	About   = "a memory system's extraction, updates and answers, judged by four prompts stage by stage"
	Where   = "huggingface.co/datasets/IAAR-Shanghai/HaluMem; code at github.com/MemTensor/HaluMem"
	Licence = "CC BY-NC-ND 4.0"
)

// The stages, which are the categories of the items.
const (
	Integrity = "integrity"
	Accuracy  = "accuracy"
	Update    = "update"
	QA        = "qa"
)

// The labels of the stages "update" and "qa", spelt as the prompts offer them.
const (
	correct       = "Correct"
	hallucination = "Hallucination"
	omission      = "Omission"
	other         = "Other" // of updates only
)

var (
	updateLabels = []string{correct, hallucination, omission, other}
	qaLabels     = []string{correct, hallucination, omission}
)

// The fields of items. Slots of the prompts have upstream's names, and so have the
// keys that its aggregation looks at.
const (
	fieldDialogue   = "dialogue"          // of the session, as the accuracy prompt shows it
	fieldGolden     = "golden_memories"   // the memory points of the session that are not interference
	fieldOriginal   = "original_memories" // what an update replaces
	fieldEvidence   = "evidence"          // the memory points that a question rests on, a line each
	fieldContext    = "context"           // what the system retrieved for a question
	fieldSession    = "session"           // number of the session, from 0
	fieldIndex      = "index"             // of a memory point, as the dataset numbers it
	fieldType       = "memory_type"
	fieldSource     = "memory_source"
	fieldImportance = "importance"
	fieldIsUpdate   = "is_update"
	fieldKind       = "question_type"
	fieldDifficulty = "difficulty"
	fieldMissing    = "missing"   // a key that upstream would stop at
	fieldRetrieved  = "retrieved" // how many lines of the evidence the context seems to hold, as "1/2"

	// The first item of a user carries the durations of all of the user's
	// sessions and searches, because some sessions have no item, and those of
	// users before who have no item at all.
	fieldAddTimes    = "add_dialogue_durations_ms"
	fieldSearchTimes = "search_durations_ms"
)

// interference marks a memory point that the dialogue mentions but the user never
// confirmed: a system should not keep it.
const interference = "interference"

// memoryTypes are the types of memory points that upstream knows, in the order in
// which it reports them.
var memoryTypes = []string{"Event Memory", "Persona Memory", "Relationship Memory"}

// knownType reports whether upstream knows the type of a memory point.
func knownType(name string) bool { return slices.Contains(memoryTypes, name) }
