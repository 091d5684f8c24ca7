// Package longbench is the LongBench benchmark as published: 21 tasks over long
// texts in English, Chinese and code, each with a metric of its own that asks no
// model; LongBench-E, which reports 13 of them by length; and LongBench v2, 503
// questions with four options.
//
// Its pieces meet like this. [Open] reads the files of predictions that the
// published scripts write into items; the task is the name of the file. [Judge]
// returns the judge, a rule that knows every task's metric, under one of two
// readings: [Upstream] keeps what is broken in the published program, [Fixed] mends
// it. [Metrics] turn the records of a run into the published numbers, with
// intervals, and into the very file that the published program writes.
//
// The source is github.com/THUDM/LongBench at commit 2e00731, licence MIT, and the
// papers Bai et al., "LongBench: A Bilingual, Multitask Benchmark for Long Context
// Understanding" (ACL 2024) and "LongBench v2" (2024). File names in comments are of
// that repository.
package longbench

// Name is the name of the benchmark and of its judge.
const Name = "longbench"

// What the list of benchmarks says of this one.
const (
	About   = "21 tasks over long texts in English, Chinese and code, each by its published metric; also LongBench-E and v2"
	Where   = "huggingface.co/datasets/THUDM/LongBench; code at github.com/THUDM/LongBench"
	Licence = "MIT"
)

// The editions of the benchmark.
const (
	V1 = "v1" // the 21 tasks
	E  = "e"  // 13 of them, chosen so that lengths are even, and reported by length
	V2 = "v2" // 503 questions with four options
)

// Editions returns the names of the editions.
func Editions() []string { return []string{V1, E, V2} }

// The fields of items that judge and metrics look at.
const (
	fieldEdition    = "edition"          // E or V2; absent for V1
	fieldLength     = "length"           // of the text in words, or short, medium and long in V2
	fieldClasses    = "all_classes"      // a JSON list
	fieldUpstream   = "upstream_classes" // a JSON list: the classes of the file's last line
	fieldTruth      = "ground_truth"     // what a judge with a model is shown as the reference
	fieldDifficulty = "difficulty"       // easy or hard, in V2
	fieldSubDomain  = "sub_domain"       // in V2
	fieldOption     = "option"           // in V2, the letter that was found already when there is no response
)
