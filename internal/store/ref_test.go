package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/store"
)

func TestNewID(t *testing.T) {
	day := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		at      time.Time
		attempt int
		want    string
	}{
		{day, 0, "20261115-000000"},
		{day.Add(12 * time.Hour), 0, "20261115-800000"},
		{day.Add(12 * time.Hour), 15, "20261115-80000f"},
		{day.Add(24*time.Hour - 1), 0, "20261115-ffffff"},
		{day.Add(24*time.Hour - 1), 1, "20261116-000000"},
		{day.In(time.FixedZone("east", 3600)), 0, "20261115-000000"},
	} {
		if got := store.NewID(tt.at, tt.attempt); got != tt.want {
			t.Errorf("NewID(%v, %d) = %s, want %s", tt.at, tt.attempt, got, tt.want)
		}
	}
}

func TestNewIDSorts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		at := time.Unix(0, rapid.Int64Range(0, 1<<62).Draw(rt, "at"))
		later := at.Add(time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(rt, "later")))
		a, b := store.NewID(at, 0), store.NewID(later, 0)
		if a > b {
			rt.Errorf("NewID(%v) = %s, but NewID(%v) = %s", at, a, later, b)
		}
		if a == b && later.Sub(at) > 6*time.Millisecond {
			rt.Errorf("NewID = %s for both %v and %v", a, at, later)
		}
		if next := store.NewID(at, 1); next <= a {
			rt.Errorf("the id after %s is %s", a, next)
		}
	})
}

func TestResolve(t *testing.T) {
	ids := []string{"20261115-9f3a2c", "20261115-9f3a2b", "20261115-200000", "20261114-9fffff", "20251231-000000", "20251231-00"}
	for _, tt := range []struct {
		ref, want string
		err       error
		hint      string
	}{
		{"last", ids[0], nil, ""},
		{"last~0", ids[0], nil, ""},
		{"last~5", ids[5], nil, ""},
		{"last~6", "", store.ErrNotFound, "only 6 runs; the oldest is 20251231-00"},
		{"last~99999999999999999999", "", store.ErrNotFound, "the nearest"},
		{"last1", "", store.ErrNotFound, "the nearest"},
		{"LAST", "", store.ErrNotFound, "the nearest"},
		{ids[1], ids[1], nil, ""},
		{"20251231-00", "20251231-00", nil, ""}, // A full id that is a prefix of another.
		{"20251231-000", "20251231-000000", nil, ""},
		{"20261115-2", ids[2], nil, ""},
		{"20261114", ids[3], nil, ""},
		{"9f3a2b", ids[1], nil, ""}, // After the dash.
		{"9ff", ids[3], nil, ""},
		{"20", "", store.ErrAmbiguous, "20261115-9f3a2c, 20261115-9f3a2b, 20261115-200000, 20261114-9fffff, 20251231-000000 and 1 more"},
		{"9f", "", store.ErrAmbiguous, "20261115-9f3a2c, 20261115-9f3a2b, 20261114-9fffff"},
		{"20261115-9f4", "", store.ErrNotFound, "the nearest are 20261115-9f3a2c, 20261115-9f3a2b;"},
		{"", "", store.ErrNotFound, "the nearest"},
	} {
		got, err := store.Resolve(tt.ref, ids, ids)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("Resolve(%q) = %q, %v, want %q, %v", tt.ref, got, err, tt.want, tt.err)
		}
		if hint := deem.HintOf(err); !strings.Contains(hint, tt.hint) {
			t.Errorf("Resolve(%q): hint = %q, want it to say %q", tt.ref, hint, tt.hint)
		}
	}
	if _, err := store.Resolve("last", nil, nil); !errors.Is(err, store.ErrNotFound) || !strings.Contains(deem.HintOf(err), "deem run") {
		t.Errorf("Resolve without runs: %v, hint %q, want ErrNotFound and `deem run`", err, deem.HintOf(err))
	}
}

func TestStatusString(t *testing.T) {
	for status, want := range map[store.Status]string{store.Missing: "missing", store.Judged: "judged", store.Unjudged: "unjudged"} {
		if got := status.String(); got != want {
			t.Errorf("Status(%d) = %q, want %q", int(status), got, want)
		}
	}
}
