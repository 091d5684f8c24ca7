package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"
)

// logEvent logs an event with its place in the run. It calls attrs only if the level is
// enabled.
func (t *Telemetry) logEvent(ctx context.Context, level slog.Level, event string, attrs func() []slog.Attr) {
	if !t.log.Enabled(ctx, level) {
		return
	}
	var all []slog.Attr
	if p, ok := ctx.Value(placeKey{}).(*place); ok {
		all = append(all, slog.String("run", p.run))
		if p.item != nil {
			all = append(all, slog.String("item", *p.item), slog.Int("trial", p.try))
		}
	}
	t.log.LogAttrs(ctx, level, event, append(all, attrs()...)...)
}

// Program logs a line that a user's program wrote to its standard error.
func (t *Telemetry) Program(name, line string) {
	if t != nil {
		t.log.Info("program", "program", name, "line", line)
	}
}

// A place is a position in a run: the run, item and trial. It is passed in the context.
type place struct {
	run  string
	item *string // nil outside of items
	try  int     // the trial
}

type placeKey struct{}

func millis(key string, d time.Duration) slog.Attr {
	return slog.Float64(key, float64(d.Microseconds())/1000)
}

// minSecret is the minimum length of a secret to redact. Shorter ones are placeholders, and
// redacting them would hide ordinary words.
const minSecret = 6

// newRedactor returns what removes secrets from text. The clients of vendors redact their
// errors; this is a second safeguard, which also covers replies.
func newRedactor(secrets []string) *strings.Replacer {
	secrets = slices.Clone(secrets)
	// If one secret is a prefix of another, the longer one must be replaced first.
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		inJSON, err := json.Marshal(s)
		if err != nil {
			panic(err) // Cannot happen: strings can always be encoded.
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), string(inJSON[1 : len(inJSON)-1])} {
			pairs = append(pairs, form, "[redacted]")
		}
	}
	return strings.NewReplacer(pairs...)
}
