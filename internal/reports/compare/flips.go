package compare

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"strconv"
	"strings"
)

// A FlipText is an item on which runs differ, with its texts.
type FlipText struct {
	Flip
	Question   string
	References []string // of the first run that has the item
	Responses  []string // one for each run
	Reasons    []string // the judge's, one for each run
}

// Change describes how the outcomes differ: "won" and "lost" for two runs, from the view of
// the second, and otherwise the outcome of each run, for example "yes no -".
func (f Flip) Change() string {
	words := make([]string, len(f.Outcomes))
	for i, o := range f.Outcomes {
		switch {
		case o.Yes == nil:
			words[i] = "-"
		case *o.Yes:
			words[i] = "yes"
		default:
			words[i] = "no"
		}
	}
	if len(words) == 2 {
		return map[bool]string{true: "won", false: "lost"}[words[1] == "yes"]
	}
	return strings.Join(words, " ")
}

// WriteCSV writes items on which runs differ as CSV with a header: id, category, change,
// question, references as a JSON list, and for each run its response, label, score and
// failure, under the run's name. A text that a spreadsheet would treat as a formula gets a
// leading apostrophe, as spreadsheets do themselves.
func WriteCSV(w io.Writer, names []string, flips iter.Seq2[FlipText, error]) error {
	out := csv.NewWriter(w)
	head := []string{"id", "category", "change", "question", "references"}
	for _, name := range names {
		for _, column := range []string{"response", "label", "score", "failure"} {
			head = append(head, plain(name+"."+column))
		}
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for f, err := range flips {
		if err != nil {
			return err
		}
		references, err := json.Marshal(append([]string{}, f.References...))
		if err != nil {
			panic(err) // strings can always be marshaled
		}
		row := []string{plain(f.ID), plain(f.Category), plain(f.Change()), plain(f.Question), string(references)}
		for i, o := range f.Outcomes {
			score := ""
			if o.Yes != nil {
				score = strconv.FormatFloat(o.Score, 'g', -1, 64)
			}
			row = append(row, plain(f.Responses[i]), plain(o.Label), score, string(o.Failure))
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// plain returns a text that no spreadsheet treats as a formula.
func plain(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
