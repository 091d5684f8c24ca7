package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"

	_ "deem/internal/store/sqlite" // the driver
)

// What is read of a run, in the order of its items.
const (
	fromRecords = `SELECT r.n, r.item_id, r.trial, r.position, r.category, r.cluster, r.weight, r.judge, r.label, r.score, r.pass,
		r.confidence, r.reason, r.parts, r.kind, r.detail, r.calls`
	andCalls = `, c.seq, c.model, c.request, c.started, c.error, c.tries, c.latency, c.attempts, c.cost_micros, c.unpriced, c.cached, p.key, p.body`
	inOrder  = ` FROM records r INDEXED BY records_position CROSS JOIN items i ON i.n = r.item %s
		WHERE r.run = (SELECT n FROM runs WHERE id = ?) ORDER BY r.position, r.trial, r.n %s`
)

// selectLoop is the role of the bare loop over a store, the least that reads the same columns
// of a run: it scans each row and counts them. It decodes and checks nothing.
func selectLoop(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("select", flag.ContinueOnError)
	path := flags.String("db", "", "the store")
	calls := flags.Bool("calls", false, "with the calls and their replies")
	if err := flags.Parse(args); err != nil {
		return err
	}
	query := fromRecords + ", i.body" + fmt.Sprintf(inOrder, "", "")
	if *calls {
		query = fromRecords + andCalls + ", i.body" +
			fmt.Sprintf(inOrder, "LEFT JOIN calls c ON c.record = r.n LEFT JOIN replies p ON p.n = c.reply", ", c.seq")
	}
	db, err := sql.Open("sqlite", *path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	n := 0
	for _, run := range flags.Args() {
		read, err := countRows(ctx, db, query, run)
		if err != nil {
			return err
		}
		n += read
	}
	fmt.Println(n)
	return nil
}

// countRows scans all rows of a query.
func countRows(ctx context.Context, db *sql.DB, query string, args ...any) (n int, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	names, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	row, into := make([]any, len(names)), make([]any, len(names))
	for i := range row {
		into[i] = &row[i]
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}
