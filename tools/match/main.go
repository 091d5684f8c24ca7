// Command match fits the model of the judge match to labelled items, and measures the judge.
//
//	match -fit FILE [-out judge/match/model.json] [-agreement 0.95]
//	match -data FOLDER [-out RESULTS.md]
//
// A labelled item is a question, its references, a response, and whether somebody
// called the response right. From each the judge's own evidence is taken; shallow
// trees are fitted to it one after another (gradient boosting of the logistic
// loss); a rising line from their sum to a probability is fitted to items that the
// trees have not seen; and the probabilities from which the judge decides are set
// so that it is right as often as asked.
//
// Nothing is random: the same file gives the same model. Items are kept together by
// question wherever something is held out, for five systems asked the same question
// are not five questions.
//
// The second form measures how often match agrees with people on questions that its model
// was not fitted to, how much it decides at a given agreement, how far its probabilities
// can be believed, and what it does with the answers of memory systems. The labelled items
// are not part of the repository.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	fit := flag.String("fit", "", "fit a model to the labelled items of this `file`, a .jsonl or .jsonl.gz")
	agreement := flag.Float64("agreement", .95, "how often match has to be right where it decides")
	data := flag.String("data", "", "measure match against the labelled items in this `folder`")
	out := flag.String("out", "", "the file to write: the model, or the page besides standard output")
	flag.Parse()
	var err error
	switch {
	case *fit != "" && *out != "":
		err = fitFile(*fit, *out, *agreement)
	case *data != "":
		err = measureFolder(os.Stdout, *data, *out)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "match: error:", err)
		os.Exit(1)
	}
}

func measureFolder(stdout io.Writer, data, out string) error {
	r, err := Measure(data)
	if err != nil {
		return err
	}
	page := r.Page()
	if _, err := io.WriteString(stdout, page); err != nil {
		return err
	}
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(page), 0o644)
}
