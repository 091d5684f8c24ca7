package benchmark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"deem"
	"deem/internal/text"
)

// A OneRule is a benchmark with a single judge, which is a rule, and one table of scores.
// The rule has several readings, and every report shows the scores under all of them.
type OneRule struct {
	// Benchmark describes the benchmark. [OneRule.Entry] fills in its functions.
	Benchmark

	Version int // of the rule; see [NewRule]
	Score   Scorer

	// Join says how rows become items. Its options are filled in.
	Join Join

	// Files replaces the names of folders by those of their files. It may be nil.
	Files func(names []string) ([]string, error)

	// Table has the name of the metric and the groupings.
	Table Table
}

// Entry returns the entry for the list of benchmarks.
func (r OneRule) Entry() Benchmark {
	b := r.Benchmark
	b.Judges = []string{b.Name}
	b.Judge = func(_ string, o Options) (Judge, error) {
		return Ruled(NewRule(b.Name, b.Readings, o.Reading, r.Version, r.Score))
	}
	b.Open = func(ctx context.Context, o Options) (Set, error) {
		join := r.Join
		join.Options = o
		if r.Files != nil {
			var err error
			if join.Data, err = r.Files(o.Data); err != nil {
				return nil, err
			}
		}
		return join.Open(ctx)
	}
	b.Metrics = func(_ context.Context, o Options) (Metrics, error) {
		reading, err := CheckReading(b.Name, o.Reading, b.Readings)
		if err != nil {
			return nil, err
		}
		t := r.Table
		t.Benchmark, t.Readings, t.Reading, t.Score = b.Name, b.Readings, reading, r.Score
		return &t, nil
	}
	return b
}

// Given returns the verdict of a rule with a score from 0 to 1. The label is [Right],
// [Wrong], or the name of the metric for a score between.
func Given(score float64, metric, reason string) deem.Verdict {
	label := metric
	switch score {
	case 0:
		label = Wrong
	case 1:
		label = Right
	}
	return deem.Verdict{Label: label, Score: score, Reason: reason}
}

// Digest returns an id for a row without one: the beginning of the SHA-256 of its text.
func Digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// End returns the end of a long prompt, where the question is: its last lines, up to 400
// characters. The whole prompt may have a million tokens, and no rule needs it.
func End(prompt string) string {
	const most = 400
	runes := []rune(strings.TrimSpace(strings.ToValidUTF8(prompt[max(0, len(prompt)-4*most):], "")))
	end := string(runes[max(0, len(runes)-most):])
	if _, after, ok := strings.Cut(end, "\n"); ok && len(runes) > most {
		return after
	}
	return end
}

// HasWords reports whether a text contains words as whole words: no letter, digit or
// underscore follows or precedes them.
func HasWords(s, words string) bool {
	for from := 0; words != "" && from <= len(s); {
		i := strings.Index(s[from:], words)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, size := utf8.DecodeRuneInString(s[i+len(words):])
		if !text.IsWord(before) && !(size > 0 && text.IsWord(after)) {
			return true
		}
		_, size = utf8.DecodeRuneInString(s[i:])
		from = i + size
	}
	return false
}
