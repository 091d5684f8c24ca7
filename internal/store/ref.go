package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/words"
)

// ticks is the number of ticks of a day in an id: six hexadecimal digits, about 5 ms each.
const ticks = 1 << 24

// NewID returns the id of a run that begins at t: the date and the fraction of the day, for
// example "20261115-9f3a2c". Ids sort by time. If the store already has that id, it tries
// the following ticks, which are NewID with a higher attempt.
func NewID(t time.Time, attempt int) string {
	t = t.UTC()
	midnight := t.Truncate(24 * time.Hour)
	const day = int64(24 * time.Hour)
	// A day in nanoseconds times 2^24 overflows an int64, so the day is counted in
	// microseconds.
	tick := t.Sub(midnight).Microseconds()*ticks/(day/1000) + int64(attempt)
	if tick >= ticks {
		midnight = midnight.Add(24 * time.Hour)
		tick -= ticks
	}
	return fmt.Sprintf("%s-%06x", midnight.Format("20060102"), tick)
}

// near is how many runs a hint names.
const near = 5

// Resolve returns the id that ref means among ids: the full id, a prefix of it, or a prefix
// of the part after its dash. "last" means the first of counted, which are the ids of the
// runs for which [Run.Counts] is true, most recent first, and "last~N" the N-th after it.
func Resolve(ref string, ids, counted []string) (string, error) {
	back, last := parseLast(ref)
	switch {
	case last && len(counted) == 0 && len(ids) > 0:
		return "", deem.WithHint(fmt.Errorf("run %q: %w", ref, ErrNotFound),
			"every run so far is over probes or without a verdict; `deem runs --all` lists them")
	case len(ids) == 0:
		return "", deem.WithHint(fmt.Errorf("run %q: %w", ref, ErrNotFound),
			"there is no run yet; start one with `deem run --data FILE`, or try `deem demo`")
	case last && back >= len(counted):
		return "", deem.WithHint(fmt.Errorf("run %q: %w", ref, ErrNotFound),
			"there %s only %s; the oldest is %s", words.IsAre(len(counted)), words.Count(len(counted), "run"), counted[len(counted)-1])
	case last:
		return counted[back], nil
	}
	found := matches(ref, ids)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", deem.WithHint(fmt.Errorf("run %q: %w", ref, ErrNotFound),
			"the nearest are %s; `deem runs` shows all", join(nearest(ref, ids)))
	default:
		return "", deem.WithHint(fmt.Errorf("run %q: %w", ref, ErrAmbiguous),
			"type more of it: %s", join(found))
	}
}

// Find returns the run that ref means to [Store.Run], or else the run with that name, or
// else the newest run with that tag. Case does not matter.
func Find(ctx context.Context, st Store, ref string) (Run, error) {
	found, err := st.Run(ctx, ref)
	if ref == "" || !errors.Is(err, ErrNotFound) {
		return found, err
	}
	var ids []string
	var tagged Run
	isRef := func(tag string) bool { return strings.EqualFold(tag, ref) }
	for run, readErr := range st.Runs(ctx) {
		if readErr != nil {
			return Run{}, readErr
		}
		if strings.EqualFold(run.About.Name, ref) {
			found = run
			ids = append(ids, run.ID)
		}
		if run.Asked > tagged.Asked && slices.ContainsFunc(run.About.Tags, isRef) {
			tagged = run
		}
	}
	switch {
	case len(ids) == 1:
		return found, nil
	case len(ids) == 0 && tagged.ID != "":
		return tagged, nil
	case len(ids) == 0:
		return Run{}, err
	}
	return Run{}, deem.WithHint(fmt.Errorf("run %q: %w", ref, ErrAmbiguous), "several runs have this name: %s", join(ids))
}

// parseLast parses "last" as 0 and "last~N" as N.
func parseLast(ref string) (back int, ok bool) {
	rest, ok := strings.CutPrefix(ref, "last")
	if !ok || rest == "" {
		return 0, ok
	}
	digits, ok := strings.CutPrefix(rest, "~")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), err == nil
}

// matches returns the ids that ref may mean. A full id means only itself, and parts after
// the dash are searched only if no id has the prefix.
func matches(ref string, ids []string) []string {
	if ref == "" {
		return nil
	}
	var begins, behind []string
	for _, id := range ids {
		_, tail, _ := strings.Cut(id, "-")
		switch {
		case id == ref:
			return []string{id}
		case strings.HasPrefix(id, ref):
			begins = append(begins, id)
		case strings.HasPrefix(tail, ref):
			behind = append(behind, id)
		}
	}
	if len(begins) > 0 {
		return begins
	}
	return behind
}

// nearest returns the ids that share the longest prefix with ref, newest first.
func nearest(ref string, ids []string) []string {
	best := 0
	for _, id := range ids {
		best = max(best, common(ref, id))
	}
	var found []string
	for _, id := range ids {
		if common(ref, id) == best {
			found = append(found, id)
		}
	}
	return found
}

// common returns the length of the longest common prefix of a and b.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func join(ids []string) string {
	if more := len(ids) - near; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:near], ", "), more)
	}
	return strings.Join(ids, ", ")
}
