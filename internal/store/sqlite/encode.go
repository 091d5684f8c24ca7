package sqlite

import (
	"database/sql"
	"encoding/json"
	"time"

	"deem/internal/store"
)

// text returns s in the stored form.
func text(s string) string { return store.ValidText(s) }

// nullText is text, but NULL for "".
func nullText(s string) any {
	if s == "" {
		return nil
	}
	return text(s)
}

// nullable returns the value of p, or NULL.
func nullable[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func nullJSON(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return string(raw)
}

func rawJSON(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

// nanos returns t in the stored form. The zero time does not fit into nanoseconds since
// 1970, and becomes NULL.
func nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

// timeOf returns the stored time.
func timeOf(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(0, n.Int64).UTC()
}
