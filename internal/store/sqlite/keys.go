package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// A keyIndex finds the rows of a table by a key that is a hash. Every text, item and
// call is looked up before it is kept or paid for, and in a new run hardly any is
// there: to know that without asking the database spares a query for each.
//
// Three things together know every row:
//
//   - a table of keys in the database has all rows up to the number indexed. Rows go
//     there foldRows at a time and sorted, because in an index of random keys each row
//     that comes alone changes a page of its own, which costs more than all else that
//     is written of a record;
//   - recent has the rows behind that;
//   - a Bloom filter of fixed size denies most keys that are in neither. It never denies
//     one that is there, and the fuller it is the more often it sends one to the
//     database in vain.
//
// What this store appends is known here before the append returns. What other processes
// append is read in with each append, and else at most keysAge later: until then two
// processes that make the same request may both pay for it, as they do anyway while both
// wait for the reply. So whoever appends all the time need not look in between, when the
// next calls wait to be made.
type keyIndex struct {
	table keyTable
	many  int64 // from how many recent rows on they go into the table of keys
	seed  maphash.Seed

	looking sync.Mutex // held while somebody who only reads looks what is new

	mu      sync.RWMutex     // held for no longer than it takes to look up or enter rows
	bits    []uint64         // of the filter; nil before the first look, and when it is off
	off     bool             // there are too many rows to read them in
	recent  map[string]int64 // the numbers of rows behind indexed
	indexed int64            // the number up to which the table of keys has all rows
	last    int64            // the number up to which rows are known here
	at      time.Time        // of the last look
}

const (
	// filterBits is the size of a filter: 512 KiB, in which half a million keys deny 98
	// of 100 others.
	filterBits   = 1 << 22
	filterHashes = 4

	// filterKeys is how many keys are read in at most, at some microseconds each. Where
	// there are more, or other processes add them faster, the database is asked for
	// each key.
	filterKeys = 10_000

	// keysAge is how old the knowledge of what other processes append may be.
	keysAge = 200 * time.Millisecond

	// foldRows is from how many rows on recent ones go into the table of keys.
	foldRows = 4096
)

func newKeyIndex(t keyTable) keyIndex { return keyIndex{table: t, many: foldRows} }

// A keyTable is a table whose rows have keys.
type keyTable struct {
	name   string // and that of the column in indexed
	column string // the key
	keys   string // the table of keys
	short  int    // how many bytes or characters of a key are in there
	blob   bool
}

// The tables with keys. A short key is long enough that a row is hardly ever read for
// nothing.
var (
	textKeys  = keyTable{name: "texts", column: "hash", keys: "text_keys", short: 6, blob: true}
	itemKeys  = keyTable{name: "items", column: "hash", keys: "item_keys", short: 6, blob: true}
	replyKeys = keyTable{name: "replies", column: "key", keys: "reply_keys", short: 12}
)

// arg returns a key as the database has it.
func (t keyTable) arg(key string) any {
	if t.blob {
		return []byte(key)
	}
	return key
}

// keyStatements are the statements of one connection about one table.
type keyStatements struct {
	state, keys, find, mark *sql.Stmt

	add bulk // to the table of keys
}

// reads returns the statements that only read.
func (st *keyStatements) reads(t keyTable) []statement {
	return []statement{
		{&st.state, fmt.Sprintf(`SELECT coalesce((SELECT max(n) FROM %[1]s), 0), %[1]s FROM indexed`, t.name)},
		{&st.keys, fmt.Sprintf(`SELECT n, %s FROM %s WHERE n > ? ORDER BY n`, t.column, t.name)},
		{&st.find, fmt.Sprintf(`SELECT n FROM %s %s`, t.name, t.where())},
	}
}

// where returns the clause that finds a row in its table by the table of keys.
func (t keyTable) where() string {
	return fmt.Sprintf(`WHERE n IN (SELECT n FROM %s WHERE short = substr(?1, 1, %d)) AND %s = ?1`, t.keys, t.short, t.column)
}

// writes returns the statements that only a writer needs.
func (st *keyStatements) writes(t keyTable) []statement {
	return []statement{{&st.mark, fmt.Sprintf(`UPDATE indexed SET %s = ?`, t.name)}}
}

// bulk returns what adds rows to the table of keys.
func (t keyTable) bulk() bulk { return bulk{into: t.keys + " (short, n)", columns: 2} }

// shorten returns what of a key is in the table of keys.
func (t keyTable) shorten(key string) string {
	if t.blob {
		return key[:min(t.short, len(key))]
	}
	for i := range key {
		if t.short == 0 {
			return key[:i]
		}
		t.short--
	}
	return key
}

// places calls do with the bits of a key, until it returns false.
func (x *keyIndex) places(key string, do func(word int, bit uint64) bool) {
	h := maphash.String(x.seed, key)
	step := h>>32 | 1
	for range filterHashes {
		at := h % filterBits
		if !do(int(at/64), 1<<(at%64)) { //nolint:gosec // it is less than filterBits
			return
		}
		h += step
	}
}

// put enters a row. The caller holds the lock.
func (x *keyIndex) put(key string, n int64) {
	if n > x.indexed {
		x.recent[key] = n
	}
	if x.bits != nil {
		x.places(key, func(word int, bit uint64) bool {
			x.bits[word] |= bit
			return true
		})
	}
}

// look returns the number of the row with the key if it is a recent one, and else
// whether the table of keys may have it. The caller holds the lock.
func (x *keyIndex) look(key string) (n int64, may bool) {
	if n, ok := x.recent[key]; ok {
		return n, true
	}
	may = x.indexed > 0
	if x.bits != nil {
		x.places(key, func(word int, bit uint64) bool {
			may = may && x.bits[word]&bit != 0
			return may
		})
	}
	return 0, may
}

// find returns the number of the row with the key, 0 if there is none. It is for the
// one who holds the lock for writing and has caught up.
func (x *keyIndex) find(ctx context.Context, st *keyStatements, key string) (int64, error) {
	x.mu.RLock()
	n, may := x.look(key)
	x.mu.RUnlock()
	if n > 0 || !may {
		return n, nil
	}
	err := st.find.QueryRowContext(ctx, x.table.arg(key)).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

// fresh looks up a key. It is for those who only read: it catches up if the last look
// was too long ago.
func (x *keyIndex) fresh(ctx context.Context, st *keyStatements, key string) (n int64, may bool, err error) {
	x.mu.RLock()
	young := time.Since(x.at) < keysAge
	n, may = x.look(key)
	x.mu.RUnlock()
	if young {
		return n, may, nil
	}
	// A context that can be cancelled costs a goroutine per query.
	if err := x.refresh(context.WithoutCancel(ctx), st); err != nil {
		return 0, false, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	n, may = x.look(key)
	return n, may, nil
}

// refresh reads in what is new, unless somebody else was faster. It may have to wait until
// a connection is free to read, and meanwhile keeps nobody out but others who refresh.
func (x *keyIndex) refresh(ctx context.Context, st *keyStatements) error {
	x.looking.Lock()
	defer x.looking.Unlock()
	x.mu.RLock()
	young := time.Since(x.at) < keysAge
	x.mu.RUnlock()
	if young {
		return nil
	}
	now := time.Now()
	var newest, indexed int64
	if err := st.state.QueryRowContext(ctx).Scan(&newest, &indexed); err != nil {
		return err
	}
	return x.advance(ctx, st, now, newest, indexed)
}

// catchUp reads in what is new in a table whose newest row and whose last row in the
// table of keys are given.
func (x *keyIndex) catchUp(ctx context.Context, st *keyStatements, newest, indexed int64) error {
	return x.advance(ctx, st, time.Now(), newest, indexed)
}

// advance is catchUp for a caller who learnt at the given time what is new. Two may do it
// at once, since a row that is entered twice is there once.
func (x *keyIndex) advance(ctx context.Context, st *keyStatements, at time.Time, newest, indexed int64) error {
	last := x.expect(newest, indexed)
	var rows []keyRow
	if newest > last {
		var err error
		if rows, err = readKeys(ctx, st, last); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range rows {
		x.put(r.key, r.n)
		x.last = max(x.last, r.n)
	}
	if at.After(x.at) {
		x.at = at
	}
	return nil
}

// expect makes ready for what is new, and returns the number behind which rows are to be
// read.
func (x *keyIndex) expect(newest, indexed int64) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.recent == nil {
		x.recent, x.seed = map[string]int64{}, maphash.MakeSeed()
	}
	x.forget(indexed)
	if newest > x.last {
		x.prepare(newest - x.last)
	}
	return x.last
}

// prepare makes ready to read a number of rows: the filter takes them if they are not
// too many. The caller holds the lock.
func (x *keyIndex) prepare(rows int64) {
	if !x.off && rows > filterKeys {
		x.off, x.bits = true, nil
	}
	if !x.off && x.bits == nil {
		x.bits = make([]uint64, filterBits/64)
	}
	if x.off {
		x.last = max(x.last, x.indexed)
	}
}

// forget lets go of recent rows that are in the table of keys. The caller holds the
// lock.
func (x *keyIndex) forget(indexed int64) {
	if indexed <= x.indexed {
		return
	}
	x.indexed = indexed
	maps.DeleteFunc(x.recent, func(_ string, n int64) bool { return n <= indexed })
}

// A keyRow is a row that has a key.
type keyRow struct {
	key string
	n   int64
}

// readKeys reads the rows behind a number.
func readKeys(ctx context.Context, st *keyStatements, last int64) ([]keyRow, error) {
	rows, err := st.keys.QueryContext(ctx, last)
	if err != nil {
		return nil, err
	}
	var list []keyRow
	for rows.Next() {
		var r keyRow
		if err := rows.Scan(&r.n, &r.key); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		list = append(list, r)
	}
	return list, errors.Join(rows.Err(), rows.Close())
}

// appended enters rows that were committed, the last of them with the given number. If
// indexed is not 0, all rows up to there were moved into the table of keys.
func (x *keyIndex) appended(keys map[string]int64, last, indexed int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget(indexed)
	if len(keys) > 0 && x.bits == nil && !x.off {
		x.bits = make([]uint64, filterBits/64)
	}
	for key, n := range keys {
		x.put(key, n)
	}
	x.last = max(x.last, last)
}

// fold moves all rows up to the last into the table of keys when there are many: those
// that are recent, and those among added, which an append is about to commit. It returns
// last if it did, and else 0.
func (x *keyIndex) fold(ctx context.Context, st *keyStatements, added map[string]int64, last int64) (int64, error) {
	x.mu.RLock()
	indexed := x.indexed
	x.mu.RUnlock()
	if last-indexed < x.many {
		return 0, nil
	}
	err := each(ctx, &st.add, x.unfolded(added), func(part []shortKey, c *cells) {
		for _, k := range part {
			c.add(x.table.arg(k.short), k.n)
		}
	}, nil)
	if err != nil {
		return 0, err
	}
	_, err = st.mark.ExecContext(ctx, last)
	return last, err
}

// A shortKey is a row of a table of keys.
type shortKey struct {
	short string
	n     int64
}

// unfolded returns the rows that are not in the table of keys yet, in its order: recent
// ones and those among added.
func (x *keyIndex) unfolded(added map[string]int64) []shortKey {
	x.mu.RLock()
	defer x.mu.RUnlock()
	list := make([]shortKey, 0, len(x.recent)+len(added))
	for key, n := range x.recent {
		list = append(list, shortKey{x.table.shorten(key), n})
	}
	for key, n := range added {
		if _, ok := x.recent[key]; n > x.indexed && !ok {
			list = append(list, shortKey{x.table.shorten(key), n})
		}
	}
	slices.SortFunc(list, func(a, b shortKey) int {
		return cmp.Or(strings.Compare(a.short, b.short), cmp.Compare(a.n, b.n))
	})
	return list
}
