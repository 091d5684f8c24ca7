package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"deem/internal/store"
)

const (
	// indexSlice is the approximate duration of one call of Index.
	indexSlice = 200 * time.Millisecond

	// indexRows is how many records one statement indexes.
	indexRows = 64
)

// Index implements [store.Browser]. It adds the words of records whose current version is
// not in the index. Appends do not wait for it: it only reads the records. Two processes
// that index concurrently do the same work twice, which does no harm.
func (s *Store) Index(ctx context.Context, runID string) (done store.Searched, err error) {
	defer func() { err = s.explain("index", err) }()
	run, err := s.number(ctx, runID)
	if err != nil {
		return done, err
	}
	var total int
	err = s.retry(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT count(*) FROM records WHERE run = $1`, run).Scan(&total)
	})
	if err != nil {
		return done, err
	}
	missing, err := collect(ctx, s, func(row pgx.Row) (v versioned, err error) {
		err = row.Scan(&v.n, &v.version)
		return v, err
	}, `SELECT r.n, r.version FROM records r LEFT JOIN words w ON w.record = r.n AND w.version = r.version
		WHERE r.run = $1 AND w.record IS NULL ORDER BY r.n`, run)
	if err != nil {
		return done, err
	}
	// Records that arrived between the two queries are counted by the next call.
	total = max(total, len(missing))
	done = store.Searched{Done: total - len(missing), Total: total}
	if s.readOnly {
		return done, nil // A writer creates it.
	}
	cache := &textCache{}
	deadline := time.Now().Add(indexSlice)
	for group := range slices.Chunk(missing, indexRows) {
		if err := s.indexGroup(ctx, group, cache); err != nil {
			return done, err
		}
		if done.Done += len(group); time.Now().After(deadline) {
			break
		}
	}
	return done, nil
}

// A versioned record is the number of a record and its version.
type versioned struct{ n, version int64 }

const putWords = `INSERT INTO words (record, version, said, found)
	SELECT u.record, u.version, u.said, CASE WHEN u.words IS NOT NULL THEN array_to_tsvector(string_to_array(u.words, ' ')) END
	FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS u (record, version, said, words)
	ON CONFLICT (record) DO UPDATE SET version = excluded.version, said = excluded.said, found = excluded.found`

// indexGroup indexes some records. Their versions were read before their texts: if one is
// replaced in between, its index entry counts as out of date.
func (s *Store) indexGroup(ctx context.Context, group []versioned, cache *textCache) error {
	versions := map[int64]int64{}
	for _, v := range group {
		versions[v.n] = v.version
	}
	page, err := s.readPage(ctx, selectRecords("", "r.n = ANY ($1::bigint[])", "r.n", 2, false),
		[]any{slices.Collect(maps.Keys(versions)), len(group)}, false)
	if err != nil {
		return err
	}
	var numbers, current []int64
	var texts []string
	var words []*string
	for part := range fitting(page) {
		for i := range part { // Fields are not searched, so their texts are not read.
			part[i].rec.Item.Fields = nil
			maps.DeleteFunc(part[i].places, func(place string, _ textRef) bool { return store.IsField(place) })
		}
		if err := s.fillTexts(ctx, part, cache); err != nil {
			return err
		}
		for _, f := range part {
			inOrder, each := said(f.rec)
			numbers, current, texts = append(numbers, f.n), append(current, versions[f.n]), append(texts, inOrder)
			words = append(words, vector(each))
		}
	}
	return s.retry(ctx, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, putWords, numbers, current, texts, words)
		return err
	})
}
