package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"deem/internal/store/internal/body"
)

// bulkRows is how many rows go in with one statement. With more of them, a statement
// costs hardly less per row, and is longer to prepare.
const bulkRows = 32

// A bulk adds rows to a table: bulkRows at a time with one statement, and what is left
// over one by one. A statement costs as much as a row or two, and a record is a row in
// each of three tables.
//
// It talks to the driver itself. Package sql would look at the type of each of the 30
// columns of a record and make a list of them anew, which costs more than some of the
// rows. It is for one goroutine at a time, the one that holds the writer.
//
// Its statements are prepared when they are first needed: most commands add nothing, and
// a run has better things to do before its first calls are on their way.
type bulk struct {
	into, conflict string // the table with its columns, and what to do with rows that are there
	columns        int

	conn      *sql.Conn
	one, many driver.Stmt
	args      []driver.NamedValue
}

// A cells is the list of columns of the rows of one statement, one row after the other.
// The values have the types that drivers know: int64, float64, bool, string, []byte and
// nil.
type cells struct {
	list []driver.NamedValue
}

// add adds columns.
func (c *cells) add(values ...driver.Value) {
	for _, v := range values {
		c.list = append(c.list, driver.NamedValue{Ordinal: len(c.list) + 1, Value: v})
	}
}

// seal adds the seal of the columns from begin on, followed by the beginning of the hash,
// if there is one, of what else belongs to the row.
func (c *cells) seal(begin int, hash []byte) {
	sealed := make([]driver.Value, 0, len(c.list)-begin+1)
	for _, v := range c.list[begin:] {
		sealed = append(sealed, v.Value)
	}
	if hash != nil {
		hash = hash[:body.SealBytes]
		sealed = append(sealed, hash)
	}
	c.add(append(body.Seal(sealed), hash...))
}

// values returns the columns for package sql.
func (c *cells) values() []any {
	values := make([]any, len(c.list))
	for i, v := range c.list {
		values[i] = v.Value
	}
	return values
}

// statement returns the statement that adds n rows, one or bulkRows.
//
// A row that breaks a rule of its table undoes the whole transaction, as the store would
// do anyway. SQLite then need not keep what each page was before the statement.
func (b *bulk) statement(ctx context.Context, conn any, n int) (driver.Stmt, error) {
	into := &b.one
	if n > 1 {
		into = &b.many
	}
	if *into != nil {
		return *into, nil
	}
	p, ok := conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, fmt.Errorf("the driver's connection is %T, which prepares nothing", conn)
	}
	row := "(?" + strings.Repeat(", ?", b.columns-1) + ")"
	text := "INSERT OR ROLLBACK INTO " + b.into + " VALUES " + row + strings.Repeat(", "+row, n-1) + " " + b.conflict
	st, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err // What the driver returns beside it is a nil pointer, and not nil.
	}
	*into = st
	return st, nil
}

// close closes the statements, as many as there are.
func (b *bulk) close() error {
	if b.conn == nil {
		return nil
	}
	return b.conn.Raw(func(any) error {
		var errs []error
		for _, st := range []driver.Stmt{b.one, b.many} {
			if st != nil {
				errs = append(errs, st.Close())
			}
		}
		return errors.Join(errs...)
	})
}

// each hands rows to do in parts that are inserted at once, with an empty list for
// their columns, and inserts what do puts there. Then it tells after about the part,
// and whether all of its rows were new; nil for nobody to tell.
func each[T any](ctx context.Context, b *bulk, rows []T, do func(part []T, row *cells), after func(part []T, all bool) error) error {
	for len(rows) > 0 {
		n := 1
		if len(rows) >= bulkRows {
			n = bulkRows
		}
		c := cells{b.args[:0]}
		do(rows[:n], &c)
		all, err := b.insert(ctx, n, c.list)
		clear(c.list) // Lets go of the texts.
		b.args = c.list
		if err == nil && after != nil {
			err = after(rows[:n], all)
		}
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// insert adds a part of n rows, and reports whether all of them were new.
func (b *bulk) insert(ctx context.Context, n int, args []driver.NamedValue) (all bool, err error) {
	err = b.conn.Raw(func(conn any) error {
		st, err := b.statement(ctx, conn, n)
		if err != nil {
			return err
		}
		ex, ok := st.(driver.StmtExecContext)
		if !ok {
			return fmt.Errorf("the driver's statement is %T, which takes no context", st)
		}
		res, err := ex.ExecContext(ctx, args)
		if err != nil {
			return err
		}
		count, err := res.RowsAffected()
		all = count == int64(n)
		return err
	})
	return all, err
}
