package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"

	"deem"
	"deem/internal/store"
)

// A record is read with its item and its calls by one query, which returns a row for each
// call. The driver's columns go into a slice as they are: the seals are over them, and
// conversions cost more than the hash.

// The sealed columns of records and calls, in order. Positions in a row are named below.
const (
	recordColumns = `r.n, r.run, r.item_id, r.trial, r.item, r.position, r.category, r.cluster, r.weight, r.judge,
		r.label, r.score, r.pass, r.confidence, r.reason, r.parts, r.kind, r.detail, r.calls, r.sum`
	callColumns = `c.record, c.seq, c.model, c.request, c.started, c.error, c.tries, c.reply, c.reply_key, c.reply_inline,
		c.latency, c.attempts, c.cost_micros, c.unpriced, c.cached, p.key, p.body, c.sum`
)

// Columns of a record, and the item after them.
const (
	colN = iota
	_    // run
	colItemID
	colTrial
	_ // item
	colPosition
	colCategory
	colCluster
	colWeight
	colJudge
	colLabel
	colScore
	colPass
	colConfidence
	colReason
	colParts
	colKind
	colDetail
	colCalls
	colSum
	colBody
	colPlaces
	recordWidth // where the columns of a call begin
)

// Columns of a call, counted from the first.
const (
	_ = iota // record
	callSeq
	callModel
	callRequest
	callStarted
	callError
	callTries
	_ // the number of the reply in the cache
	callKey
	callInline
	callLatency
	callAttempts
	callCost
	callUnpriced
	callCached
	callCacheKey
	callBody
	callSum
	callWidth
)

// rowShape returns the columns that a query wants, the tables they come from besides records
// r, and how the rows of a record are ordered.
func rowShape(q store.Query) (columns, join, order string) {
	body, places := "NULL", "NULL"
	if !q.Brief {
		body, places, join = "i.body", placesColumn, "CROSS JOIN items i ON i.n = r.item"
		if q.WithCalls { // The item comes with the first call.
			body, places = "CASE WHEN coalesce(c.seq, 0) = 0 THEN i.body END", "CASE WHEN coalesce(c.seq, 0) = 0 THEN "+placesColumn+" END"
		}
	}
	columns = recordColumns + ", " + body + ", " + places
	if q.WithCalls {
		columns += ", " + callColumns
		join += " LEFT JOIN calls c ON c.record = r.n LEFT JOIN replies p ON p.n = c.reply"
		order = ", c.seq"
	}
	return columns, join, order
}

// found is a record that was read, and what is needed to read its long texts.
type found struct {
	rec    deem.Record
	item   string // a prefix of the hash of its item
	body   string // JSON of the item; "" if it is not wanted
	places string // JSON; "{}" if all texts are in the item
	calls  int    // number of calls
	n      int64
}

// readPage reads records, up to a number of them and about pageBytes, and closes rows.
func readPage(rows *sql.Rows, q store.Query, most int) ([]found, error) {
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	width := recordWidth
	if q.WithCalls {
		width += callWidth
	}
	row, into := make([]any, width), make([]any, width)
	for i := range row {
		into[i] = &row[i]
	}
	var page []found
	for size := 0; rows.Next(); {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		if len(page) == 0 || row[colN] != any(page[len(page)-1].n) {
			if len(page) == most || size >= pageBytes {
				break
			}
			f, err := readRecord(row, q.Brief)
			if err != nil {
				return nil, err
			}
			page = append(page, f)
			size += len(f.body) + len(f.rec.Item.ID) + 512
		}
		if !q.WithCalls || row[recordWidth] == nil {
			continue
		}
		f := &page[len(page)-1]
		if err := f.readCall(row[recordWidth:], q.Brief); err != nil {
			return nil, err
		}
		size += 2 * (len(str(row[recordWidth+callBody])) + len(str(row[recordWidth+callInline])))
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range page {
		if f := &page[i]; q.WithCalls && len(f.rec.Calls) != f.calls {
			return nil, altered("the list of calls about item %q", f.rec.Item.ID)
		}
	}
	return page, nil
}

// readRecord returns the record of a row without its calls.
func readRecord(row []any, brief bool) (found, error) {
	f := found{n: num(row[colN]), body: str(row[colBody]), places: str(row[colPlaces]), calls: int(num(row[colCalls]))}
	f.rec = deem.Record{
		Item:     deem.Item{ID: str(row[colItemID]), Category: str(row[colCategory]), Cluster: str(row[colCluster])},
		Position: int(num(row[colPosition])), Trial: int(num(row[colTrial])), Judge: str(row[colJudge]),
	}
	rec, it := &f.rec, &f.rec.Item
	it.Weight, _ = row[colWeight].(float64)
	sum, _ := row[colSum].([]byte)
	seal, hash := sum[:min(len(sum), store.SealBytes)], sum[min(len(sum), store.SealBytes):]
	row[colSum] = hash
	if !bytes.Equal(seal, store.Seal(row[:colSum+1])) {
		return found{}, altered("record %d, of item %q,", f.n, it.ID)
	}
	f.item = string(hash)
	if !brief {
		if err := store.DecodeJSON(f.body, it); err != nil {
			return found{}, fmt.Errorf("decode item %q: %w", it.ID, err)
		}
	}
	if kind, failed := row[colKind].(string); failed {
		rec.Failure = &deem.Failure{Kind: deem.Kind(kind), Detail: str(row[colDetail])}
	} else {
		rec.Verdict = &deem.Verdict{Label: str(row[colLabel]), Reason: str(row[colReason])}
		rec.Verdict.Score, _ = row[colScore].(float64)
		if pass, ok := row[colPass].(int64); ok {
			rec.Verdict.Pass = new(pass != 0)
		}
		if confidence, ok := row[colConfidence].(float64); ok {
			rec.Verdict.Confidence = &confidence
		}
	}
	if parts, ok := row[colParts].(string); ok {
		if err := store.DecodeParts(parts, rec); err != nil {
			return found{}, fmt.Errorf("decode verdict on item %q: %w", it.ID, err)
		}
		if rec.Answer != nil && !brief {
			it.Response = *rec.Answer
		}
	}
	return f, nil
}

// readCall adds the call of a row to its record. The seal of a call covers its reply,
// wherever that is stored.
func (f *found) readCall(row []any, brief bool) error {
	if sum, _ := row[callSum].([]byte); !bytes.Equal(sum, store.Seal(row[:callSum])) || num(row[callSeq]) != int64(len(f.rec.Calls)) {
		return altered("a call about item %q", f.rec.Item.ID)
	}
	c := deem.Call{Model: str(row[callModel]), Request: str(row[callRequest]), Error: str(row[callError]), Attempts: int(num(row[callTries]))}
	if started, ok := row[callStarted].(int64); ok {
		c.Started = store.TimeOf(&started)
	}
	key, body := str(row[callKey]), str(row[callInline])
	if row[callInline] == nil {
		key, body = str(row[callCacheKey]), str(row[callBody])
	}
	if row[callCached] != nil {
		latency, attempts, cost, unpriced := num(row[callLatency]), num(row[callAttempts]), num(row[callCost]), num(row[callUnpriced]) != 0
		columns := store.ReplyColumns{Body: &body, Latency: &latency, Attempts: &attempts, Cost: &cost, Unpriced: &unpriced}
		var err error
		if c.Reply, err = columns.Reply(key, brief); err != nil {
			return err
		}
		c.Reply.Cached = num(row[callCached]) != 0
	}
	f.rec.Calls = append(f.rec.Calls, c)
	return nil
}

// str returns a text, and "" for NULL.
func str(column any) string {
	s, _ := column.(string)
	return s
}

// num returns an integer, and 0 for NULL.
func num(column any) int64 {
	n, _ := column.(int64)
	return n
}
