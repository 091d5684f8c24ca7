package published

import (
	"fmt"
	"io"
	"text/tabwriter"

	"deem/internal/words"
)

// Text prints the report: a table of the numbers, and a line for each finding.
func (r *Report) Text(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "system\tcolumn\tprinted\tquestions\tright\t95% interval")
	for _, n := range r.Numbers {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%.1f%% to %.1f%%\n", words.Printable(n.System), words.Printable(n.Column), words.Printable(n.Printed),
			words.Comma(int(n.Size)), n.right(), 100*n.Interval.Lo, 100*n.Interval.Hi)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		fmt.Fprintln(w)
	}
	for _, f := range r.Findings {
		word := "note"
		if f.Impossible {
			word = "impossible"
		}
		fmt.Fprintf(w, "%s: %s\n", word, words.Printable(f.Text))
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.verdict())
	return err
}

// right formats the number of answers that can be right.
func (n Number) right() string {
	switch n.Runs {
	case 0:
		return "none"
	case 1:
		return spell(n.Lo, n.Hi)
	}
	return fmt.Sprintf("%s in %d runs", spell(n.Lo, n.Hi), n.Runs)
}

func (r *Report) verdict() string {
	if r.Impossible > 0 {
		return fmt.Sprintf("%s of something impossible in %s", words.Count(r.Impossible, "finding"), words.Count(len(r.Numbers), "number"))
	}
	return fmt.Sprintf("%s: arithmetic finds nothing impossible, which does not show that they are true", words.Count(len(r.Numbers), "number"))
}
