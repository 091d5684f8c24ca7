// Package longbench implements the LongBench benchmark as published: 21 tasks over long
// texts in English, Chinese and code, each with its own metric that needs no model;
// LongBench-E, which reports 13 of them by length; and LongBench v2, 503 questions with
// four options.
//
// [Open] reads the prediction files of the published scripts into items; the name of a file
// is the task. [Judge] returns the judge, a rule that implements every task's metric, under
// one of two readings: [Upstream] keeps the bugs of the published program, [Fixed] fixes
// them. [Metrics] computes the published scores from the records of a run, with confidence
// intervals, and the exact file that the published program writes.
//
// The source is github.com/THUDM/LongBench at commit 2e00731, licence MIT, and the papers
// Bai et al., "LongBench: A Bilingual, Multitask Benchmark for Long Context Understanding"
// (ACL 2024) and "LongBench v2" (2024). File names in comments refer to that repository.
package longbench

// Name is the name of the benchmark and of its judge.
const Name = "longbench"

// The description in the list of benchmarks.
const (
	About   = "21 tasks over long texts in English, Chinese and code, each by its published metric; also LongBench-E and v2"
	Where   = "huggingface.co/datasets/THUDM/LongBench; code at github.com/THUDM/LongBench"
	Licence = "MIT"
)

// The editions of the benchmark.
const (
	V1 = "v1" // the 21 tasks
	E  = "e"  // 13 of them, with balanced lengths, reported by length
	V2 = "v2" // 503 questions with four options
)

// Editions returns the names of the editions.
func Editions() []string { return []string{V1, E, V2} }

// The fields of items that the judge and the metrics use.
const (
	fieldEdition    = "edition"          // E or V2; absent for V1
	fieldLength     = "length"           // of the text in words, or short, medium and long in V2
	fieldClasses    = "all_classes"      // a JSON list
	fieldUpstream   = "upstream_classes" // a JSON list: the classes of the file's last line
	fieldTruth      = "ground_truth"     // the reference shown to a judge with a model
	fieldDifficulty = "difficulty"       // easy or hard, in V2
	fieldSubDomain  = "sub_domain"       // in V2
	fieldOption     = "option"           // in V2, the letter that was already extracted, if there is no response
)
