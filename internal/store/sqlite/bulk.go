package sqlite

import (
	"context"
	"database/sql"
	"strings"
)

// bulkRows is how many rows go in with one statement. With more of them, a statement
// costs hardly less per row, and is longer to prepare when the store is opened.
const bulkRows = 32

// A bulk adds rows to a table: bulkRows at a time with one statement, and what is left
// over one by one. A statement costs as much as a row or two, and a record is a row in
// each of four tables.
type bulk struct {
	one, many *sql.Stmt
	columns   int
}

// list returns the statements, which insert into the table and columns named, and do
// what is said about rows that are there already.
func (b *bulk) list(into string, columns int, conflict string) []statement {
	b.columns = columns
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	text := "INSERT INTO " + into + " VALUES " + row
	return []statement{
		{&b.one, text + " " + conflict},
		{&b.many, text + strings.Repeat(", "+row, bulkRows-1) + " " + conflict},
	}
}

// each hands rows to do in parts that are inserted at once, with an empty list for
// their columns.
func each[T any](b *bulk, rows []T, do func(part []T, args []any) error) error {
	args := make([]any, 0, b.columns*min(len(rows), bulkRows))
	for len(rows) > 0 {
		n := 1
		if len(rows) >= bulkRows {
			n = bulkRows
		}
		if err := do(rows[:n], args); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// insert adds a part of n rows, and reports whether all of them were new.
func (b *bulk) insert(ctx context.Context, n int, args []any) (all bool, err error) {
	st := b.one
	if n > 1 {
		st = b.many
	}
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return false, err
	}
	count, err := res.RowsAffected()
	return count == int64(n), err
}
