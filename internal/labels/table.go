package labels

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"deem"
)

// TableColumns are the columns of every labelling table.
var TableColumns = []string{"id", "question", "references", "response", "label", "annotator", "note"}

// A TableRow is an item in a labelling table, with its label.
type TableRow struct {
	deem.Item
	Label, Annotator, Note string
	Drawn                  string // how a plan drew the item, see [Drawn.String]
	Score, Numbers         string // instead of the label: the score from 0 to 1, and the numbers
}

// WriteTable writes a table that [Read] can read. It has columns for how items were drawn,
// and for numbers, if any row has one.
func WriteTable(out io.Writer, rows []TableRow) error {
	columns := slices.Clone(TableColumns)
	drawn := slices.ContainsFunc(rows, func(r TableRow) bool { return r.Drawn != "" })
	scored := slices.ContainsFunc(rows, func(r TableRow) bool { return r.Score != "" })
	if drawn {
		columns = append(columns, "drawn")
	}
	if scored {
		columns = append(columns, "score", "numbers")
	}
	w := csv.NewWriter(out)
	if err := w.Write(columns); err != nil {
		return err
	}
	for _, r := range rows {
		row := []string{r.ID, Guard(r.Question), Guard(strings.Join(r.References, " | ")), Guard(r.Response), Guard(r.Label), Guard(r.Annotator), Guard(r.Note)}
		if drawn {
			row = append(row, r.Drawn)
		}
		if scored {
			row = append(row, r.Score, r.Numbers)
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
