package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"deem/internal/store"
)

const putLabels = `INSERT INTO labels (item, item_id, dataset, annotator, yes, label, score, note, drawn, labelled, sum)
	SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::float8[], $8::text[], $9::text[], $10::bigint[], $11::bytea[])
	ON CONFLICT (item, annotator) DO UPDATE SET item_id = excluded.item_id, dataset = excluded.dataset,
	yes = excluded.yes, label = excluded.label, score = excluded.score, note = excluded.note, drawn = excluded.drawn, labelled = excluded.labelled, sum = excluded.sum`

// PutLabels implements [store.Labels].
func (s *Store) PutLabels(ctx context.Context, list []store.Label) error {
	for _, l := range list {
		if err := store.CheckLabel(l); err != nil {
			return s.explain("write labels to", err)
		}
	}
	// Only the last label of each person about each item is written, since a statement cannot
	// write a row twice.
	list = slices.Clone(list)
	slices.Reverse(list)
	list = unique(list, func(x, y store.Label) int {
		return cmp.Or(strings.Compare(pack(x.Item), pack(y.Item)), strings.Compare(pack(x.Annotator), pack(y.Annotator)))
	})
	var items, ids, datasets, annotators, labels, notes, drawn []string
	var yes []bool
	var scores []float64
	var labelled []*int64
	var sums [][]byte
	for _, l := range list {
		items, ids, datasets = append(items, pack(l.Item)), append(ids, pack(l.ID)), append(datasets, pack(l.Dataset))
		annotators, labels, notes = append(annotators, pack(l.Annotator)), append(labels, pack(l.Label)), append(notes, pack(l.Note))
		drawn = append(drawn, pack(l.Drawn))
		yes, scores, labelled = append(yes, l.Yes), append(scores, l.Score), append(labelled, store.Nanos(l.Labelled))
		sums = append(sums, sealLabel(l))
	}
	return s.once(ctx, "write labels to", func(b *pgx.Batch) {
		b.Queue(putLabels, items, ids, datasets, annotators, yes, labels, scores, notes, drawn, labelled, sums)
	})
}

// DropLabel implements [store.Labels].
func (s *Store) DropLabel(ctx context.Context, item, annotator string) error {
	return s.once(ctx, "write labels to", func(b *pgx.Batch) {
		b.Queue(`DELETE FROM labels WHERE item = $1 AND annotator = $2`, pack(item), pack(annotator))
	})
}

// pageLabels is how many labels are read at once. They are sorted for every page.
const pageLabels = 2048

// Labels implements [store.Labels].
func (s *Store) Labels(ctx context.Context, q store.LabelQuery) iter.Seq2[store.Label, error] {
	return store.Pages(pageLabels, func(last store.Label) ([]store.Label, error) {
		var where conditions
		// Every label has an item hash, so the zero label is before all.
		where.and("(item_id, item, annotator) > ($%d, $%d, $%d)", pack(last.ID), pack(last.Item), pack(last.Annotator))
		if q.Dataset != "" {
			where.and("dataset = $%d", pack(q.Dataset))
		}
		if len(q.Annotators) > 0 {
			where.and("annotator = ANY ($%d::text[])", packAll(q.Annotators))
		}
		if len(q.IDs) > 0 {
			where.and("item_id = ANY ($%d::text[])", packAll(q.IDs))
		}
		page, err := collect(ctx, s, scanLabel, fmt.Sprintf(`SELECT item, item_id, dataset, annotator, yes, label, score, note, drawn, labelled, sum
			FROM labels WHERE %s ORDER BY item_id, item, annotator LIMIT %d`, where.String(), pageLabels), where.args...)
		return page, s.explain("read labels of", err)
	})
}

func scanLabel(row pgx.Row) (store.Label, error) {
	var l store.Label
	var labelled *int64
	var sum []byte
	err := row.Scan(&l.Item, &l.ID, &l.Dataset, &l.Annotator, &l.Yes, &l.Label, &l.Score, &l.Note, &l.Drawn, &labelled, &sum)
	if err != nil {
		return l, err
	}
	for _, text := range []*string{&l.Item, &l.ID, &l.Dataset, &l.Annotator, &l.Label, &l.Note, &l.Drawn} {
		*text = unpack(*text)
	}
	l.Labelled = store.TimeOf(labelled)
	if !bytes.Equal(sum, sealLabel(l)) {
		return l, altered("the label of %q for item %q", l.Annotator, l.ID)
	}
	return l, nil
}

// sealLabel returns the seal of a label.
func sealLabel(l store.Label) []byte {
	return store.Seal([]any{
		pack(l.Item), pack(l.ID), pack(l.Dataset), pack(l.Annotator), l.Yes, pack(l.Label), l.Score, pack(l.Note), pack(l.Drawn), store.Null(store.Nanos(l.Labelled)),
	})
}
