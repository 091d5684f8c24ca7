package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"deem"
	"deem/internal/store"
)

const (
	// indexSlice is how long one call of Index adds words. Committing them takes about half
	// as long again.
	indexSlice = 130 * time.Millisecond

	// indexRows is how many records are processed together.
	indexRows = 256

	// between separates two texts of an item. It is a private-use character that counts as
	// a word and that users do not type.
	between = " \ue000 "
)

// Index implements [store.Browser]. A call takes about a fifth of a second.
//
// A pass goes through the run by position and indexes records that are missing or out of
// date. If the run has changed since the pass began, another one follows: records may have
// been replaced, and only reading them shows which.
func (s *Store) Index(ctx context.Context, runID string) (store.Searched, error) {
	run, err := s.number(ctx, runID)
	if err != nil {
		return store.Searched{}, s.explain("index", err)
	}
	s.search.turn.Lock()
	defer s.search.turn.Unlock()
	var done store.Searched
	err = s.withSearch(ctx, func(db *sql.DB) error {
		// The stamp changes whenever records are appended to the run.
		var now string
		var total int
		err := s.read.QueryRowContext(ctx, `SELECT id || ' ' || updated || ' ' || records || ' ' || unjudged || ' ' || cost_micros, records
			FROM runs WHERE n = ?`, run).Scan(&now, &total)
		if err != nil {
			return err
		}
		st, err := readIndexState(ctx, db, run)
		if done = st.searched(now, total); err != nil || st.checked == now {
			return err
		}
		// The lock is taken before anything is read, so that what this slice finds missing is
		// still missing when it is added. It is held for no longer than a slice.
		_, err = db.ExecContext(ctx, "PRAGMA busy_timeout = 300; BEGIN IMMEDIATE")
		if hasCode(err, sqlite3.SQLITE_BUSY) {
			return nil // Another process is indexing.
		}
		if err != nil {
			return err
		}
		x := indexer{s: s, db: db, texts: newTextReader(s)}
		err = x.slice(ctx, run, now)
		if err == nil {
			_, err = db.ExecContext(ctx, "COMMIT")
		}
		if err != nil {
			_, _ = db.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // Closing would do it too.
			return err
		}
		done = x.state.searched(now, total)
		return nil
	})
	return done, s.explain("index", err)
}

// An indexState is the progress of indexing a run.
type indexState struct {
	run           int64
	checked, pass string
	done, passed  int
	at            [3]int64 // the position, trial and number of the last record seen
	span
}

func readIndexState(ctx context.Context, db *sql.DB, run int64) (indexState, error) {
	st := indexState{run: run}
	err := db.QueryRowContext(ctx, `SELECT checked, pass, done, passed, position, trial, record,
		low_item, high_item, low_record, high_record FROM runs WHERE run = ?`, run).
		Scan(&st.checked, &st.pass, &st.done, &st.passed, &st.at[0], &st.at[1], &st.at[2],
			&st.items.low, &st.items.high, &st.records.low, &st.records.high)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return st, err
}

// searched returns the progress for a run with the current stamp.
func (st *indexState) searched(now string, total int) store.Searched {
	if st.checked == now {
		return store.Searched{Done: total, Total: total}
	}
	return store.Searched{Done: max(0, min(max(st.done, st.passed), total-1)), Total: total}
}

// widen extends the bounds to include n. Numbers begin at 1, so 0 means none yet.
func (b *bounds) widen(n int64) {
	if b.low == 0 || n < b.low {
		b.low = n
	}
	b.high = max(b.high, n)
}

// An indexer adds words in one transaction.
type indexer struct {
	s        *Store
	db       *sql.DB
	texts    *textReader
	deadline time.Time
	state    indexState
	insert   indexStatements
}

// indexStatements are executed for each record and item.
type indexStatements struct {
	dropItem, addItem, markItem       *sql.Stmt
	dropRecord, addRecord, markRecord *sql.Stmt
}

func (st *indexStatements) list() []statement {
	return []statement{
		{&st.dropItem, `DELETE FROM item_words WHERE rowid = ?`},
		{&st.addItem, `INSERT INTO item_words (rowid, words) VALUES (?, ?)`},
		{&st.markItem, `INSERT OR REPLACE INTO items (n, print) VALUES (?, ?)`},
		{&st.dropRecord, `DELETE FROM record_words WHERE rowid = ?`},
		{&st.addRecord, `INSERT INTO record_words (rowid, words) VALUES (?, ?)`},
		{&st.markRecord, `INSERT OR REPLACE INTO records (n, print) VALUES (?, ?)`},
	}
}

// slice indexes until the deadline or the end of the pass.
func (x *indexer) slice(given context.Context, run int64, now string) (err error) {
	// A context that can be cancelled costs a goroutine per statement.
	ctx := context.WithoutCancel(given)
	// Read it again: before we got the lock, another process may have made progress.
	if x.state, err = readIndexState(ctx, x.db, run); err != nil {
		return err
	}
	if x.state.checked == now {
		return nil
	}
	if x.state.pass == "" { // A pass begins.
		x.state.pass, x.state.passed, x.state.at = now, 0, [3]int64{-1, 0, 0}
	}
	if err := prepareAll(ctx, x.db, x.insert.list()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll(x.insert.list())) }()
	// However slow the machine is, every slice makes progress.
	x.deadline = time.Now().Add(cmp.Or(x.s.search.slice, indexSlice))
	for more := true; more; more = more && time.Now().Before(x.deadline) {
		if err := given.Err(); err != nil {
			return err
		}
		if more, err = x.step(ctx); err != nil {
			return err
		}
	}
	st := &x.state
	_, err = x.db.ExecContext(ctx, `INSERT OR REPLACE INTO runs (run, checked, pass, done, passed, position, trial, record,
		low_item, high_item, low_record, high_record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		st.run, st.checked, st.pass, st.done, st.passed, st.at[0], st.at[1], st.at[2],
		st.items.low, st.items.high, st.records.low, st.records.high)
	return err
}

// step indexes the next few records, one after the other until the deadline. It returns
// false at the end of the pass.
func (x *indexer) step(ctx context.Context) (more bool, err error) {
	st := &x.state
	rows, err := collect(ctx, x.s, scanIndexed, `SELECT r.n, r.item, r.position, r.trial, i.hash,
		coalesce(r.reason, ''), coalesce(r.kind, ''), coalesce(r.detail, '')
		FROM records r INDEXED BY records_position CROSS JOIN items i ON i.n = r.item
		WHERE r.run = ? AND (r.position, r.trial, r.n) > (?, ?, ?)
		ORDER BY r.position, r.trial, r.n LIMIT ?`, st.run, st.at[0], st.at[1], st.at[2], indexRows)
	if err != nil {
		return false, err
	}
	if len(rows) == 0 {
		st.checked, st.done, st.pass, st.passed = st.pass, st.passed, "", 0
		return false, nil
	}
	records, err := x.prints(ctx, `SELECT t.n, t.print FROM json_each(?) j CROSS JOIN records t ON t.n = j.value`, rows, func(r *indexedRow) int64 { return r.n })
	if err != nil {
		return false, err
	}
	items, err := x.prints(ctx, `SELECT t.n, t.print FROM json_each(?) j CROSS JOIN items t ON t.n = j.value`, rows, func(r *indexedRow) int64 { return r.item })
	if err != nil {
		return false, err
	}
	for i := range rows {
		r := &rows[i]
		if old, there := records[r.n]; !there || old != r.print {
			err := replaceWords(ctx, x.insert.dropRecord, x.insert.addRecord, x.insert.markRecord, there, r.n, r.print, r.words)
			if err != nil {
				return false, err
			}
		}
		// If the number of an item belonged to another one, because the database was restored
		// to an earlier state, that one is replaced.
		if old, there := items[r.item]; !there || old != r.itemPrint {
			words, err := x.itemWords(ctx, r.item)
			if err == nil {
				err = replaceWords(ctx, x.insert.dropItem, x.insert.addItem, x.insert.markItem, there, r.item, r.itemPrint, words)
			}
			if err != nil {
				return false, err
			}
			items[r.item] = r.itemPrint // Further trials have the same item.
		}
		st.passed++
		st.at = [3]int64{r.position, r.trial, r.n}
		st.items.widen(r.item)
		st.records.widen(r.n)
		if i%8 == 7 && !time.Now().Before(x.deadline) {
			break
		}
	}
	return true, nil
}

// An indexedRow is what the index needs of a record.
type indexedRow struct {
	n, item, position, trial int64
	words                    string
	print, itemPrint         int64
}

func scanIndexed(row scanner) (r indexedRow, err error) {
	var hash sql.RawBytes
	var reason, kind, detail string
	if err = row.Scan(&r.n, &r.item, &r.position, &r.trial, &hash, &reason, &kind, &detail); err != nil {
		return r, err
	}
	r.words = store.CutText(reason, store.SearchTextBytes)
	if kind != "" || detail != "" {
		r.words = kind + between + store.CutText(detail, store.SearchTextBytes)
	}
	r.print, r.itemPrint = printOf([]byte(r.words)), printOf(hash)
	return r, nil
}

// printOf returns a fingerprint of b.
func printOf(b []byte) int64 {
	sum := sha256.Sum256(b)
	return int64(binary.LittleEndian.Uint64(sum[:])) //nolint:gosec // Any number will do.
}

// prints returns the fingerprints that a query finds under the numbers of some records.
func (x *indexer) prints(ctx context.Context, query string, rows []indexedRow, number func(*indexedRow) int64) (map[int64]int64, error) {
	numbers := make([]int64, len(rows))
	for i := range rows {
		numbers[i] = number(&rows[i])
	}
	list, err := store.EncodeJSON(numbers)
	if err != nil {
		return nil, err
	}
	found, err := x.db.QueryContext(ctx, query, list)
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // found.Err has it.
	prints := make(map[int64]int64, len(rows))
	for found.Next() {
		var n, print int64
		if err := found.Scan(&n, &print); err != nil {
			return nil, err
		}
		prints[n] = print
	}
	return prints, found.Err()
}

// replaceWords stores words under a number, replacing existing ones.
func replaceWords(ctx context.Context, drop, add, mark *sql.Stmt, there bool, n, print int64, words string) error {
	if there {
		if _, err := drop.ExecContext(ctx, n); err != nil {
			return err
		}
	}
	if _, err := add.ExecContext(ctx, n, spaced(words)); err != nil {
		return err
	}
	_, err := mark.ExecContext(ctx, n, print)
	return err
}

// itemWords returns the searchable texts of an item, with separators. Fields are excluded:
// they are the system's input, often as long as a book.
func (x *indexer) itemWords(ctx context.Context, n int64) (string, error) {
	var said, places string
	err := x.s.read.QueryRowContext(ctx, `SELECT body, `+placesColumn+` FROM items i WHERE n = ?`, n).Scan(&said, &places)
	if err != nil {
		return "", err
	}
	var it deem.Item
	if err := store.DecodeJSON(said, &it); err != nil {
		return "", fmt.Errorf("decode item %d: %w", n, err)
	}
	it.Fields = nil
	var numbers map[string]int64
	if err := store.DecodeJSON(places, &numbers); err != nil {
		return "", fmt.Errorf("decode texts of item %q: %w", it.ID, err)
	}
	for place, n := range numbers {
		if store.IsField(place) {
			continue
		}
		text, err := x.texts.text(ctx, n)
		if err == nil {
			err = store.PutBackText(&it, place, text.Body)
		}
		if err != nil {
			return "", fmt.Errorf("read texts of item %q: %w", it.ID, err)
		}
	}
	words := it.ID + between + store.CutText(it.Question, store.SearchTextBytes) + between + store.CutText(it.Response, store.SearchTextBytes)
	for _, ref := range it.References {
		if len(words) > store.SearchItemBytes {
			break
		}
		words += between + store.CutText(ref, store.SearchTextBytes)
	}
	return store.CutText(words, store.SearchItemBytes), nil
}
