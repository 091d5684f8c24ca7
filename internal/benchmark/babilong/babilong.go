// Package babilong implements the BABILong benchmark: the facts of a bAbI task are hidden in
// a long text, and the answer is one of a few labels.
//
// [Strict] and [Upstream] look for labels in the output; the source is
// github.com/booydar/babilong at commit 7a6efee, babilong/metrics.py.
package babilong

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
	"deem/internal/text"
)

// Name is the name of the benchmark and of its judge.
const Name = "babilong"

// The readings.
const (
	// Strict finds a label only as a whole word, in the first sentence that has one.
	Strict = "strict"

	// Upstream finds a label anywhere before the first full stop, also inside a word.
	Upstream = "upstream"
)

// A task has the labels that an answer may name.
type task struct {
	name   string
	labels []string
}

var (
	rooms = []string{"bathroom", "bedroom", "garden", "hallway", "kitchen", "office"}
	yesNo = []string{"no", "yes"}
)

var tasks = benchmark.ByTask[task]{
	Title: "BABILong", Name: func(t task) string { return t.name },
	Tasks: []task{
		{"qa1", rooms},
		{"qa2", rooms},
		{"qa3", rooms},
		{"qa4", rooms},
		{"qa5", []string{"bill", "fred", "jeff", "mary", "apple", "football", "milk"}},
		{"qa6", yesNo},
		{"qa7", []string{"none", "one", "two", "three"}},
		{"qa8", []string{"apple", "football", "milk", "nothing"}},
		{"qa9", yesNo},
		{"qa10", []string{"maybe", "no", "yes"}},
		{"qa11", rooms},
		{"qa12", rooms},
		{"qa13", rooms},
		{"qa14", []string{"bedroom", "cinema", "kitchen", "office", "park", "school"}},
		{"qa15", []string{"cat", "mouse", "sheep", "wolf"}},
		{"qa16", []string{"gray", "green", "white", "yellow"}},
		{"qa17", yesNo},
		{"qa18", yesNo},
		{"qa19", []string{"e,e", "e,n", "e,s", "n,e", "n,n", "n,w", "s,e", "s,s", "s,w", "w,n", "w,s", "w,w"}},
		{"qa20", []string{"bedroom", "bored", "garden", "hungry", "kitchen", "thirsty", "tired"}},
	},
}

// fileName matches the name of a file of outputs: its task and the length of its texts.
var fileName = regexp.MustCompile(`^(qa\d+)_(\d+[kKmM])`)

// outputs is the layout of a folder of outputs.
var outputs = benchmark.Folder{
	Is: fileName.MatchString, Rank: func(name string) int { return tasks.Rank(fileName.FindStringSubmatch(name)[1]) },
	Example: "of one model, with files such as qa1_4k.csv", Usage: "name files with --data",
}

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.OneRule{
		Benchmark: benchmark.Benchmark{
			Name: Name, About: "20 reasoning tasks about facts hidden in texts of up to 10M tokens", Kind: benchmark.KindLongContext,
			Where: "huggingface.co/datasets/RMT-team/babilong; code at github.com/booydar/babilong", Licence: "Apache-2.0 (code)", Readings: []string{Strict, Upstream},
		},
		Version: 1, Score: score, Files: outputs.Files,
		Join: benchmark.Join{
			ID: []string{"id"}, Response: rows.NamesAfter(rows.Response, "output"), Further: []string{"target", "question", "task", fieldLength},
			Key: key, Question: readQuestion,
		},
		Table: benchmark.Table{By: []string{"task", fieldLength, "task and length"}, Group: group},
	}.Entry()
}

// fieldLength is the column and the field with the length of the text, such as 4k.
const fieldLength = "length"

// place returns the task and the length of a row: those of its columns, or of its file.
func place(row *benchmark.Row) (task, length string) {
	if m := fileName.FindStringSubmatch(outputs.Task(row.File)); m != nil {
		task, length = m[1], m[2]
	}
	return cmp.Or(benchmark.Text(row, "task"), task), cmp.Or(benchmark.Text(row, fieldLength), length)
}

// key returns the id of a row, which has none: the task, the length and the line.
func key(row *benchmark.Row) (string, bool) {
	task, length := place(row)
	return fmt.Sprintf("%s/%s/%d", task, length, row.Line), true
}

func readQuestion(it *deem.Item, row *benchmark.Row) error {
	task, length := place(row)
	if _, ok := tasks.Of(task); !ok {
		return deem.WithHint(benchmark.At(row, "%s", tasks.Unknown(task)), "name the file after task and length, as in qa1_4k.csv, or add a column task")
	}
	target := row.Get("target")
	if target.Blank() {
		return benchmark.At(row, "question %q has no target", it.ID)
	}
	it.Category, it.Question, it.References = task, benchmark.Text(row, "question"), []string{target.Str()}
	if length != "" {
		benchmark.SetField(it, fieldLength, length)
	}
	return nil
}

func group(it deem.Item, by string) string {
	task, length := fmt.Sprintf("%-4s", it.Category), fmt.Sprintf("%4s", it.Fields[fieldLength])
	switch {
	case by == "task":
		return it.Category
	case strings.TrimSpace(length) == "":
		return ""
	case by == fieldLength:
		return length
	}
	return task + " " + length
}

// score compares the labels in a response with the target.
func score(it deem.Item, reading string) (deem.Verdict, error) {
	t, ok := tasks.Of(it.Category)
	if !ok || len(it.References) == 0 {
		return deem.Verdict{}, deem.Failf(deem.Input, "the item has no task of BABILong or no target")
	}
	target, question := text.Lower(it.References[0]), text.Lower(it.Question)
	want := []string{target}
	if strings.Contains(target, ",") && len(target) > 3 {
		want = strings.Split(target, ",")
	}
	var got map[string]bool
	if reading == Upstream {
		got = named(t.labels, first(text.Lower(it.Response), "."), question, strings.Contains)
	} else {
		for _, sentence := range sentenceEnd.Split(strings.ReplaceAll(text.Lower(it.Response), ", ", ","), -1) {
			if got = named(t.labels, first(sentence), question, hasLabel); len(got) > 0 {
				break
			}
		}
	}
	right := len(got) == len(want)
	for _, label := range want {
		right = right && got[text.Strip(label)]
	}
	reason := "the response names " + strings.Join(slices.Sorted(maps.Keys(got)), " and ")
	if len(got) == 0 {
		reason = "the response names no label"
	}
	if right {
		return benchmark.Given(1, "", reason), nil
	}
	return benchmark.Given(0, "", reason), nil
}

// sentenceEnd is a full stop at the end of a word, and not one inside a number.
var sentenceEnd = regexp.MustCompile(`\.(?:\s+|$)`)

// first returns the part of a response before a model's own examples, and before the other
// given marks.
func first(response string, marks ...string) string {
	for _, mark := range append(marks, "<context>", "<example>") {
		response, _, _ = strings.Cut(response, mark)
	}
	return response
}

// named returns the labels that a response has and the question has not.
func named(labels []string, response, question string, has func(s, label string) bool) map[string]bool {
	found := map[string]bool{}
	for _, label := range labels {
		if has(response, label) && !has(question, label) {
			found[label] = true
		}
	}
	return found
}

// path is a way of several steps.
var path = regexp.MustCompile(`\b[nsew](?:,[nsew])+\b`)

// hasLabel reports whether a text has a label as a whole word, or as a whole path.
func hasLabel(s, label string) bool {
	if strings.Contains(label, ",") {
		return slices.Contains(path.FindAllString(s, -1), label)
	}
	return benchmark.HasWords(s, label)
}
