package postgres

import (
	"iter"

	"github.com/jackc/pgx/v5"

	"deem/internal/money"
	"deem/internal/store"
)

// Which existing records the new ones replace.
const (
	replaceAll        = "all"
	replaceFailures   = "failures"
	replaceUnfinished = "unfinished"
)

// The statements of an append. Each takes a list for every column, and so any number of
// rows. Existing rows are not changed, except records, which are replaced.
const (
	addTexts = `INSERT INTO texts (hash, body) SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT DO NOTHING`

	addItems = `INSERT INTO items (hash, body, texts) SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING`

	addReplies = `INSERT INTO replies (key, body, latency, attempts, cost_micros, unpriced, sum)
		SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[], $7::bytea[]) ON CONFLICT DO NOTHING`

	takeLines = `WITH lines AS MATERIALIZED
		(SELECT key FROM batch_lines WHERE run = $1 AND key = ANY ($2::text[]) AND NOT taken ORDER BY key FOR UPDATE)
		UPDATE batch_lines SET taken = true WHERE run = $1 AND key IN (SELECT key FROM lines)`

	// A run that was done is reopened. Usually it was not, and nothing is written.
	reopen = `UPDATE runs SET state = 'open' WHERE n = $1 AND state <> 'open'`

	// Records, their calls, and the additions to the counts of the run are one statement,
	// so that no record has to be looked up. New calls of a record go after its earlier
	// ones. A call refers to its reply by its number in the cache or, if the cache has
	// another reply under that key, keeps it: the request was repeated in spite of the
	// cache.
	addRecords = `WITH block AS MATERIALIZED (SELECT nextval('record_blocks') * 1048576 AS first),
	put AS (INSERT INTO records AS r (n, run, item_id, item_key, trial, item, position, category, cluster, weight, judge,
			label, score, pass, confidence, reason, parts, kind, detail, calls, sum)
		SELECT (SELECT first FROM block) + u.ord, $1, u.item_id, u.item_key, u.trial, u.item, u.position, u.category, u.cluster, u.weight, u.judge,
			u.label, u.score, u.pass, u.confidence, u.reason, u.parts, u.kind, u.detail, u.calls, u.sum
		FROM unnest($4::bigint[], $5::text[], $6::bytea[], $7::bigint[], $8::bytea[], $9::bigint[], $10::text[], $11::text[], $12::float8[], $13::text[],
			$14::text[], $15::float8[], $16::boolean[], $17::float8[], $18::text[], $19::text[], $20::text[], $21::text[], $22::bigint[], $23::bytea[])
			AS u (ord, item_id, item_key, trial, item, position, category, cluster, weight, judge,
			label, score, pass, confidence, reason, parts, kind, detail, calls, sum)
		ON CONFLICT (item_key, trial) DO UPDATE SET item = excluded.item, position = excluded.position, category = excluded.category,
			cluster = excluded.cluster, weight = excluded.weight, judge = excluded.judge, label = excluded.label, score = excluded.score,
			pass = excluded.pass, confidence = excluded.confidence, reason = excluded.reason, parts = excluded.parts,
			kind = excluded.kind, detail = excluded.detail, calls = r.calls + excluded.calls, sum = excluded.sum,
			version = r.version + 1, was_failed = r.kind IS NOT NULL
		WHERE $2::text = 'all' OR r.kind = 'unfinished' OR $2::text = 'failures' AND r.kind IS NOT NULL
		RETURNING r.n, r.item_key, r.trial, r.calls, (r.version = 1)::int AS added, (r.kind IS NOT NULL)::int - (r.was_failed)::int AS failed),
	made AS (INSERT INTO calls (record, seq, model, request, started, error, tries, reply, reply_key, reply_inline,
			latency, attempts, cost_micros, unpriced, cached, sum)
		SELECT put.n, put.calls - u.behind, u.model, u.request, u.started, u.error, u.tries,
			p.n, CASE WHEN p.n IS NULL THEN u.key END, CASE WHEN p.n IS NULL THEN u.body END,
			u.latency, u.attempts, u.cost_micros, u.unpriced, u.cached, u.sum
		FROM unnest($24::bytea[], $25::bigint[], $26::bigint[], $27::text[], $28::text[], $29::bigint[], $30::text[], $31::bigint[],
			$32::text[], $33::text[], $34::bigint[], $35::bigint[], $36::bigint[], $37::boolean[], $38::boolean[], $39::bytea[])
			AS u (item_key, trial, behind, model, request, started, error, tries, key, body, latency, attempts, cost_micros, unpriced, cached, sum)
		JOIN put ON put.item_key = u.item_key AND put.trial = u.trial
		LEFT JOIN replies p ON p.key = u.key AND p.body = u.body
		RETURNING CASE WHEN cached THEN 0 ELSE cost_micros END AS cost),
	unspent AS (UPDATE money SET spent = spent - (SELECT coalesce(sum(u.micros), 0) FROM unnest($6::bytea[], $7::bigint[], $40::bigint[])
			AS u (item_key, trial, micros) JOIN put ON put.item_key = u.item_key AND put.trial = u.trial)
		WHERE run = $1 AND holder = $41::text)
	INSERT INTO counts AS c (run, slot, records, unjudged, cost_micros, updated)
		SELECT $1, pg_backend_pid() % 32, sum(added), sum(failed), (SELECT coalesce(sum(cost), 0) FROM made), $3 FROM put HAVING count(*) > 0
		ON CONFLICT (run, slot) DO UPDATE SET records = c.records + excluded.records, unjudged = c.unjudged + excluded.unjudged,
			cost_micros = c.cost_micros + excluded.cost_micros, updated = greatest(c.updated, excluded.updated)`
)

// queue adds the statements of the append to a batch.
func (a *appender) queue(b *pgx.Batch) {
	for part := range parts(a.known.missing(a.texts), func(t store.LongText) int { return len(t.Body) }) {
		var hashes, bodies [][]byte
		for _, t := range part {
			hashes, bodies = append(hashes, t.Hash[:]), append(bodies, []byte(t.Body))
		}
		b.Queue(addTexts, hashes, bodies)
	}
	for part := range parts(a.items, func(r *row) int { return len(r.Stored.JSON) }) {
		var hashes [][]byte
		var bodies []string
		var places []*string
		for _, r := range part {
			hashes, bodies, places = append(hashes, r.Stored.Hash[:]), append(bodies, r.Stored.JSON), append(places, r.places)
		}
		b.Queue(addItems, hashes, bodies, places)
	}
	a.queueReplies(b)
	if len(a.lines) > 0 {
		b.Queue(takeLines, a.run, a.lines)
	}
	if a.replace == replaceAll {
		b.Queue(reopen, a.run)
	}
	a.queueRecords(b)
}

// maxBytes is the approximate maximum size of one statement. A message is limited to a
// gigabyte.
const maxBytes = 32 << 20

// parts splits a list into parts of about maxBytes.
func parts[T any](list []T, size func(T) int) iter.Seq[[]T] {
	return split(list, len(list), maxBytes, size)
}

// split splits a list into parts of at most rows elements and about limit bytes.
func split[T any](list []T, rows, limit int, size func(T) int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			n, bytes := 0, 0
			for n < min(len(list), rows) && (n == 0 || bytes < limit) {
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

func (a *appender) queueReplies(b *pgx.Batch) {
	for part := range parts(a.replies, func(r keyedReply) int { return len(r.body) }) {
		var keys, bodies []string
		var latencies, attempts, costs []int64
		var unpriced []bool
		var sums [][]byte
		for _, r := range part {
			keys, bodies = append(keys, pack(r.Key)), append(bodies, r.body)
			latencies, attempts = append(latencies, int64(r.Latency)), append(attempts, int64(r.Attempts))
			costs, unpriced = append(costs, r.CostMicros), append(unpriced, r.Unpriced)
			sums = append(sums, sealReply(pack(r.Key), replyColumns(r.Reply, r.body)))
		}
		b.Queue(addReplies, keys, bodies, latencies, attempts, costs, unpriced, sums)
	}
}

func (a *appender) queueRecords(b *pgx.Batch) {
	var ord, trials, positions, made []int64
	var items, keys, sums [][]byte
	var ids, categories, clusters, judges []string
	var labels, reasons, parts, kinds, details []*string
	var weights []float64
	var scores, confidences []*float64
	var passes []*bool
	for _, r := range a.rows {
		c := recordRow{
			run: a.run, trial: int64(r.Trial), position: int64(r.Position), item: r.Stored.Hash[:], key: r.key,
			id: pack(r.Item.ID), category: pack(r.Item.Category), cluster: pack(r.Item.Cluster), judge: pack(r.Judge), weight: r.Item.Weight, parts: r.Parts,
		}
		if v := r.Verdict; v != nil {
			c.label, c.score, c.pass, c.confidence, c.reason = new(pack(v.Label)), &v.Score, v.Pass, v.Confidence, packNull(v.Reason)
		} else {
			c.kind, c.detail = new(pack(string(r.Failure.Kind))), packNull(r.Failure.Detail)
		}
		ord, made = append(ord, int64(r.ord)), append(made, int64(len(r.Calls)))
		trials, positions = append(trials, c.trial), append(positions, c.position)
		items, keys, sums = append(items, c.item), append(keys, c.key), append(sums, c.seal())
		ids, categories, clusters = append(ids, c.id), append(categories, c.category), append(clusters, c.cluster)
		weights, judges = append(weights, c.weight), append(judges, c.judge)
		labels, scores, passes = append(labels, c.label), append(scores, c.score), append(passes, c.pass)
		confidences, reasons, parts = append(confidences, c.confidence), append(reasons, c.reason), append(parts, c.parts)
		kinds, details = append(kinds, c.kind), append(details, c.detail)
	}
	var callKeys, callSums [][]byte
	var models, requests, errs []string
	var callTrials, behind, tries []int64
	var replies, bodies []*string
	var started, latencies, attempts, costs []*int64
	var unpriced, cached []*bool
	reserved := make([]int64, len(a.rows)) // the cost of calls that came from a budget
	for n, r := range a.rows {
		for i, call := range r.Calls {
			if p := call.Reply; p != nil && !p.Cached && p.Batch == "" {
				reserved[n] = money.Add(reserved[n], p.CostMicros)
			}
			c := callRow{
				model: pack(call.Model), request: pack(call.Request), err: pack(call.Error),
				started: store.Nanos(call.Started), tries: int64(call.Attempts),
			}
			if p := call.Reply; p != nil {
				c.key, c.ReplyColumns, c.cached = packNull(p.Key), replyColumns(p, r.Replies[i]), &p.Cached
			}
			callKeys, callTrials, callSums = append(callKeys, r.key), append(callTrials, int64(r.Trial)), append(callSums, c.seal(r.key, int64(r.Trial)))
			behind = append(behind, int64(len(r.Calls)-i)) // The number of calls of the record from this one on.
			models, requests, errs = append(models, c.model), append(requests, c.request), append(errs, c.err)
			started, tries, replies = append(started, c.started), append(tries, c.tries), append(replies, c.key)
			bodies, latencies, attempts = append(bodies, c.Body), append(latencies, c.Latency), append(attempts, c.Attempts)
			costs, unpriced, cached = append(costs, c.Cost), append(unpriced, c.Unpriced), append(cached, c.cached)
		}
	}
	b.Queue(addRecords, a.run, a.replace, a.now, ord, ids, keys, trials, items, positions, categories, clusters, weights, judges,
		labels, scores, passes, confidences, reasons, parts, kinds, details, made, sums,
		callKeys, callTrials, behind, models, requests, started, errs, tries,
		replies, bodies, latencies, attempts, costs, unpriced, cached, callSums, reserved, a.holder)
}
