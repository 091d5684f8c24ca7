package metric

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"deem/internal/text"
)

// Classification returns the classification score of LongBench: one divided by the number
// of classes that the response names, if it names the right one. Classes that are part of
// the reference's name are removed first, but not all of them: upstream changes the list
// while iterating over it, and so skips the next element.
func Classification(response, reference string, classes []string) float64 {
	var named []string
	for _, c := range classes {
		if strings.Contains(response, c) {
			named = append(named, c)
		}
	}
	for i := 0; i < len(named); i++ {
		c := named[i]
		if strings.Contains(reference, c) && c != reference {
			first := slices.Index(named, c) // not always i: a class may occur twice
			named = slices.Delete(named, first, first+1)
		}
	}
	if !slices.Contains(named, reference) {
		return 0
	}
	return 1 / float64(len(named))
}

// Retrieval returns the retrieval score of LongBench: the share of all numbers in the
// response that equal the number after "Paragraph" in the reference. It returns an error if
// the reference has none.
func Retrieval(response, reference string) (float64, error) {
	return retrieval(response, reference, "Paragraph ")
}

// RetrievalZh is [Retrieval] for Chinese references, which say "段落".
func RetrievalZh(response, reference string) (float64, error) {
	return retrieval(response, reference, "段落")
}

func retrieval(response, reference, mark string) (float64, error) {
	for rest := reference; ; {
		_, after, ok := strings.Cut(rest, mark)
		if !ok {
			return 0, fmt.Errorf("reference %q has no %q with a number", reference, mark)
		}
		if numbers := text.Digits(after); len(numbers) > 0 && strings.HasPrefix(after, numbers[0]) {
			return Count(response, numbers[0]), nil
		}
		rest = after
	}
}

// Count returns the counting score of LongBench: the share of all numbers in the response
// that are spelt like the reference.
func Count(response, reference string) float64 {
	numbers := text.Digits(response)
	if len(numbers) == 0 {
		return 0
	}
	right := 0
	for _, n := range numbers {
		if n == reference {
			right++
		}
	}
	return float64(right) / float64(len(numbers))
}

// CodeSimDifflib returns the code similarity of LongBench as computed without
// python-Levenshtein, which its requirements do not install: fuzzywuzzy's ratio by difflib,
// for the first line of the response without a backquote or a comment.
func CodeSimDifflib(response, reference string) float64 {
	return codeSim(response, reference, text.DifflibRatio)
}

// CodeSimLevenshtein returns the code similarity of LongBench as computed with
// python-Levenshtein installed. It differs from [CodeSimDifflib] by one or two points on
// the mean of a task.
func CodeSimLevenshtein(response, reference string) float64 {
	return codeSim(response, reference, text.InDelRatio)
}

func codeSim(response, reference string, similarity func(a, b string) float64) float64 {
	line := ""
	for l := range strings.SplitSeq(strings.TrimLeft(response, "\n"), "\n") {
		if !strings.ContainsAny(l, "`#") && !strings.Contains(l, "//") {
			line = l
			break
		}
	}
	return fuzzyRatio(line, reference, similarity) / 100
}

// fuzzyRatio returns the ratio of fuzzywuzzy 0.18, a whole number from 0 to 100. Equal
// texts have 100, even if they are empty.
func fuzzyRatio(a, b string, similarity func(a, b string) float64) float64 {
	switch {
	case a == b:
		return 100
	case a == "" || b == "":
		return 0
	}
	return math.RoundToEven(100 * similarity(a, b))
}

// Python limits the call depth to a thousand, part of which is used before the first call
// of the traceback.
const (
	maxDepth   = 991
	maxDepthZh = 990
)

// LongBenchROUGE returns the ROUGE-L of LongBench, that of [PyRouge]. A text without a
// sentence scores 0. With upstream, so does a pair for which the original exceeds Python's
// recursion limit, which takes sentences of several hundred words.
func LongBenchROUGE(response, reference string, upstream bool) float64 {
	return longBenchROUGE(response, reference, upstream, maxDepth)
}

// LongBenchROUGEZh is [LongBenchROUGE] for Chinese, over the words of jieba.
func LongBenchROUGEZh(response, reference string, upstream bool) float64 {
	join := func(s string) string { return strings.Join(JiebaCut(s), " ") }
	return longBenchROUGE(join(response), join(reference), upstream, maxDepthZh)
}

func longBenchROUGE(response, reference string, upstream bool, limit int) float64 {
	r, err := NewPyRouge(response, reference)
	if err != nil || upstream && r.Depth > limit {
		return 0
	}
	return r.L.F1
}
