// Package halumem implements the HaluMem benchmark as published: how much a memory system
// keeps of what its user says, how much it invents, whether it follows updates, and how
// this affects its answers.
//
// [Open] reads the results file of a system, one user per line, and routes its parts to
// four stages of items: "integrity" (was this memory point extracted?), "accuracy" (is this
// extracted memory true?), "update" (was this memory point updated?) and "qa" (is this
// answer right?). [Protocol] returns the judge's protocol, one prompt per stage, under one
// of three readings. [Metrics] computes the published metrics with confidence intervals
// from the records of a run, determines at which stage wrong answers went wrong, and writes
// upstream's file of statistics. [ReadResults] makes records from a results file that
// another judge has filled in already.
//
// The source is github.com/MemTensor/HaluMem at commit 59402b9, licence CC BY-NC-ND 4.0.
// File names in comments refer to its folder eval. What upstream calls golden memories,
// system responses and questions are references, responses and items of the stage "qa"
// here; upstream's names are used only for the fields that fill the prompts and in the file
// of statistics.
package halumem

import "slices"

// Name is the name of the benchmark and of its judge.
const Name = "halumem"

// The description in the list of benchmarks.
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

// The labels of the stages "update" and "qa", spelled as in the prompts.
const (
	correct       = "Correct"
	hallucination = "Hallucination"
	omission      = "Omission"
	other         = "Other" // only for updates
)

var (
	updateLabels = []string{correct, hallucination, omission, other}
	qaLabels     = []string{correct, hallucination, omission}
)

// The fields of items. Slots of the prompts and the keys used by upstream's aggregation
// have upstream's names.
const (
	fieldDialogue   = "dialogue"          // of the session, formatted for the accuracy prompt
	fieldGolden     = "golden_memories"   // the memory points of the session that are not interference
	fieldOriginal   = "original_memories" // the memories that an update replaces
	fieldEvidence   = "evidence"          // the memory points that a question depends on, one per line
	fieldContext    = "context"           // what the system retrieved for a question
	fieldSession    = "session"           // number of the session, from 0
	fieldIndex      = "index"             // of a memory point, as numbered in the dataset
	fieldType       = "memory_type"
	fieldSource     = "memory_source"
	fieldImportance = "importance"
	fieldIsUpdate   = "is_update"
	fieldKind       = "question_type"
	fieldDifficulty = "difficulty"
	fieldMissing    = "missing"   // a key whose absence would stop upstream
	fieldRetrieved  = "retrieved" // how many lines of the evidence the context seems to contain, for example "1/2"

	// The first item of a user carries the durations of all sessions and searches of
	// the user, because some sessions have no item, and those of preceding users
	// without any item.
	fieldAddTimes    = "add_dialogue_durations_ms"
	fieldSearchTimes = "search_durations_ms"
)

// interference marks a memory point that the dialogue mentions but the user never
// confirmed: a system should not keep it.
const interference = "interference"

// memoryTypes are upstream's types of memory points, in the order of its report.
var memoryTypes = []string{"Event Memory", "Persona Memory", "Relationship Memory"}

// knownType reports whether upstream defines the type of a memory point.
func knownType(name string) bool { return slices.Contains(memoryTypes, name) }
