package postgres

import (
	"iter"

	"github.com/jackc/pgx/v5"

	"deem/internal/store/internal/body"
)

// The statements of an append. Each takes a list for every column, and so any number of
// rows. What is there already is left alone, but for records, which take the place of
// the old ones.
const (
	addTexts = `INSERT INTO texts (hash, body) SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT DO NOTHING`

	addItems = `INSERT INTO items (hash, body, texts) SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING`

	addReplies = `INSERT INTO replies (key, body, latency, attempts, cost_micros, unpriced)
		SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[]) ON CONFLICT DO NOTHING`

	takeLines = `WITH lines AS MATERIALIZED
		(SELECT key FROM batch_lines WHERE run = $1 AND key = ANY ($2::text[]) AND NOT taken ORDER BY key FOR UPDATE)
		UPDATE batch_lines SET taken = true WHERE run = $1 AND key IN (SELECT key FROM lines)`

	// A run that was done is not any more. Mostly it was not, and nothing is written.
	reopen = `UPDATE runs SET state = 'open' WHERE n = $1 AND state <> 'open'`

	// Records, their calls, and what both add to the counts of the run are one statement,
	// so that no record has to be looked for. The calls of a record go behind those that it
	// had. A call names its reply by its number in the cache or, where the cache has another
	// reply under that key, keeps it: a request that was made again in spite of the cache.
	addRecords = `WITH block AS MATERIALIZED (SELECT nextval('record_blocks') * 1048576 AS first),
	put AS (INSERT INTO records AS r (n, run, item_id, item_key, trial, item, position, category, cluster, weight, judge,
			label, score, pass, confidence, reason, aspects, kind, detail, calls)
		SELECT (SELECT first FROM block) + u.ord, $1, u.item_id, u.item_key, u.trial, u.item, u.position, u.category, u.cluster, u.weight, u.judge,
			u.label, u.score, u.pass, u.confidence, u.reason, u.aspects, u.kind, u.detail, u.calls
		FROM unnest($4::bigint[], $5::text[], $6::bytea[], $7::bigint[], $8::bytea[], $9::bigint[], $10::text[], $11::text[], $12::float8[], $13::text[],
			$14::text[], $15::float8[], $16::boolean[], $17::float8[], $18::text[], $19::text[], $20::text[], $21::text[], $22::bigint[])
			AS u (ord, item_id, item_key, trial, item, position, category, cluster, weight, judge,
			label, score, pass, confidence, reason, aspects, kind, detail, calls)
		ON CONFLICT (item_key, trial) DO UPDATE SET item = excluded.item, position = excluded.position, category = excluded.category,
			cluster = excluded.cluster, weight = excluded.weight, judge = excluded.judge, label = excluded.label, score = excluded.score,
			pass = excluded.pass, confidence = excluded.confidence, reason = excluded.reason, aspects = excluded.aspects,
			kind = excluded.kind, detail = excluded.detail, calls = r.calls + excluded.calls,
			version = r.version + 1, was_failed = r.kind IS NOT NULL
		RETURNING r.n, r.item_key, r.trial, r.calls, (r.version = 1)::int AS added, (r.kind IS NOT NULL)::int - (r.was_failed)::int AS failed),
	made AS (INSERT INTO calls (record, seq, model, request, started, error, tries, reply, reply_key, reply_inline,
			latency, attempts, cost_micros, unpriced, cached)
		SELECT put.n, put.calls - u.behind, u.model, u.request, u.started, u.error, u.tries,
			p.n, CASE WHEN p.n IS NULL THEN u.key END, CASE WHEN p.n IS NULL THEN u.body END,
			u.latency, u.attempts, u.cost_micros, u.unpriced, u.cached
		FROM unnest($23::bytea[], $24::bigint[], $25::bigint[], $26::text[], $27::text[], $28::bigint[], $29::text[], $30::bigint[],
			$31::text[], $32::text[], $33::bigint[], $34::bigint[], $35::bigint[], $36::boolean[], $37::boolean[])
			AS u (item_key, trial, behind, model, request, started, error, tries, key, body, latency, attempts, cost_micros, unpriced, cached)
		JOIN put ON put.item_key = u.item_key AND put.trial = u.trial
		LEFT JOIN replies p ON p.key = u.key AND p.body = u.body)
	INSERT INTO counts AS c (run, slot, records, unjudged, cost_micros, updated)
		SELECT $1, pg_backend_pid() % 32, sum(added), sum(failed), $2, $3 FROM put
		ON CONFLICT (run, slot) DO UPDATE SET records = c.records + excluded.records, unjudged = c.unjudged + excluded.unjudged,
			cost_micros = c.cost_micros + excluded.cost_micros, updated = greatest(c.updated, excluded.updated)`
)

// queue adds the statements of the append to a batch.
func (a *appender) queue(b *pgx.Batch) {
	a.queueTexts(b)
	a.queueItems(b)
	a.queueReplies(b)
	if len(a.lines) > 0 {
		b.Queue(takeLines, a.run, a.lines)
	}
	b.Queue(reopen, a.run)
	a.queueRecords(b)
}

// maxBytes is about how much goes with one statement. A message can have a gigabyte.
const maxBytes = 32 << 20

// parts cuts a list where its elements have maxBytes together.
func parts[T any](list []T, size func(T) int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			n, bytes := 0, 0
			for n < len(list) && (n == 0 || bytes < maxBytes) {
				bytes += size(list[n])
				n++
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

func (a *appender) queueTexts(b *pgx.Batch) {
	for part := range parts(a.known.missing(a.texts), func(t body.Text) int { return len(t.Body) }) {
		var hashes, bodies [][]byte
		for _, t := range part {
			hashes, bodies = append(hashes, t.Hash[:]), append(bodies, []byte(t.Body))
		}
		b.Queue(addTexts, hashes, bodies)
	}
}

func (a *appender) queueItems(b *pgx.Batch) {
	for part := range parts(a.items, func(e encodedItem) int { return len(e.JSON) }) {
		var hashes [][]byte
		var bodies []string
		var places []*string
		for _, e := range part {
			hashes, bodies, places = append(hashes, e.Hash[:]), append(bodies, e.JSON), append(places, e.places)
		}
		b.Queue(addItems, hashes, bodies, places)
	}
}

func (a *appender) queueReplies(b *pgx.Batch) {
	for part := range parts(a.replies, func(c call) int { return len(c.body) }) {
		var keys, bodies []string
		var latencies, attempts, costs []int64
		var unpriced []bool
		for _, c := range part {
			r := c.Reply
			keys, bodies = append(keys, pack(r.Key)), append(bodies, c.body)
			latencies, attempts = append(latencies, int64(r.Latency)), append(attempts, int64(r.Attempts))
			costs, unpriced = append(costs, r.CostMicros), append(unpriced, r.Unpriced)
		}
		b.Queue(addReplies, keys, bodies, latencies, attempts, costs, unpriced)
	}
}

// recordColumns are the lists of addRecords.
type recordColumns struct {
	ord, trial, position, calls              []int64
	items, keys                              [][]byte
	ids, categories, clusters, judges        []string
	labels, reasons, aspects, kinds, details []*string
	weights                                  []float64
	scores, confidences                      []*float64
	passes                                   []*bool
}

func (a *appender) queueRecords(b *pgx.Batch) {
	var c recordColumns
	for _, r := range a.rows {
		it := r.rec.Item
		c.ord, c.trial = append(c.ord, int64(r.ord)), append(c.trial, int64(r.rec.Trial))
		c.position, c.calls = append(c.position, int64(r.rec.Position)), append(c.calls, int64(len(r.calls)))
		c.items, c.ids, c.keys = append(c.items, r.item.Hash[:]), append(c.ids, pack(it.ID)), append(c.keys, r.key)
		c.categories, c.clusters = append(c.categories, pack(it.Category)), append(c.clusters, pack(it.Cluster))
		c.weights, c.judges = append(c.weights, it.Weight), append(c.judges, pack(r.rec.Judge))
		c.addOutcome(r)
	}
	k := a.callColumns()
	b.Queue(addRecords, a.run, a.cost, a.now, c.ord, c.ids, c.keys, c.trial, c.items, c.position, c.categories, c.clusters, c.weights, c.judges,
		c.labels, c.scores, c.passes, c.confidences, c.reasons, c.aspects, c.kinds, c.details, c.calls,
		k.keys, k.trials, k.behind, k.models, k.requests, k.started, k.errors, k.tries,
		k.replies, k.bodies, k.latencies, k.attempts, k.costs, k.unpriced, k.cached)
}

// addOutcome adds the verdict or the failure of a row.
func (c *recordColumns) addOutcome(r *row) {
	var label, reason, kind, detail *string
	var score, confidence *float64
	var pass *bool
	if v := r.rec.Verdict; v != nil {
		label, score, pass, confidence, reason = new(pack(v.Label)), &v.Score, v.Pass, v.Confidence, packNull(v.Reason)
	} else {
		kind, detail = new(pack(string(r.rec.Failure.Kind))), packNull(r.rec.Failure.Detail)
	}
	c.labels, c.scores, c.passes = append(c.labels, label), append(c.scores, score), append(c.passes, pass)
	c.confidences, c.reasons, c.aspects = append(c.confidences, confidence), append(c.reasons, reason), append(c.aspects, r.aspects)
	c.kinds, c.details = append(c.kinds, kind), append(c.details, detail)
}

// callColumns are the lists of calls in addRecords.
type callColumns struct {
	keys                                [][]byte
	models, requests, errors            []string
	trials, behind, tries               []int64
	replies, bodies                     []*string
	started, latencies, attempts, costs []*int64
	unpriced, cached                    []*bool
}

func (a *appender) callColumns() (c callColumns) {
	for _, r := range a.rows {
		for i := range r.calls {
			// How many calls of the record follow it, itself among them.
			c.keys, c.trials, c.behind = append(c.keys, r.key), append(c.trials, int64(r.rec.Trial)), append(c.behind, int64(len(r.calls)-i))
			c.add(&r.calls[i])
		}
	}
	return c
}

func (c *callColumns) add(p *call) {
	c.models, c.requests = append(c.models, pack(p.Model)), append(c.requests, pack(p.Request))
	c.started, c.errors, c.tries = append(c.started, nanos(p.Started)), append(c.errors, pack(p.Error)), append(c.tries, int64(p.Attempts))
	var key, body *string
	var latency, attempts, cost *int64
	var unpriced, cached *bool
	if r := p.Reply; r != nil {
		key, body = packNull(r.Key), &p.body
		latency, attempts, cost = new(int64(r.Latency)), new(int64(r.Attempts)), &r.CostMicros
		unpriced, cached = &r.Unpriced, &r.Cached
	}
	c.replies, c.bodies = append(c.replies, key), append(c.bodies, body)
	c.latencies, c.attempts, c.costs = append(c.latencies, latency), append(c.attempts, attempts), append(c.costs, cost)
	c.unpriced, c.cached = append(c.unpriced, unpriced), append(c.cached, cached)
}
