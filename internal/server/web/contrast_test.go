package web

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"deem/internal/doc"
)

var (
	colourBlock = regexp.MustCompile(`\{[^{}]*--ink:[^{}]*\}`)
	colourName  = regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6})`)
)

// Text and the borders of controls have enough contrast with their background, in the light
// and the dark theme (WCAG 2.2 AA: 4.5:1 for text and 3:1 for borders).
func TestContrast(t *testing.T) {
	blocks := colourBlock.FindAllString(doc.CSS, -1)
	if len(blocks) != 3 {
		t.Fatalf("there are %d sets of colours, want light, dark by the system and dark by choice", len(blocks))
	}
	for i, block := range blocks {
		colours := map[string]float64{}
		for _, m := range colourName.FindAllStringSubmatch(block, -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		for _, pair := range []struct {
			ink, ground string
			least       float64
		}{
			{"ink", "paper", 7},
			{"ink", "card", 7},
			{"dim", "paper", 4.5},
			{"dim", "card", 4.5},
			{"dim", "line", 4.5},
			{"dim", "mark-soft", 4.5},
			{"mark", "paper", 4.5},
			{"mark", "card", 4.5},
			{"mark", "mark-soft", 4.5},
			{"on-mark", "mark", 4.5},
			{"good", "good-soft", 4.5},
			{"bad", "bad-soft", 4.5},
			{"warn", "warn-soft", 4.5},
			{"warn", "card", 4.5},
			{"edge", "paper", 3},
			{"edge", "card", 3},
			{"focus", "paper", 3},
			{"violet", "paper", 3},
			{"teal", "paper", 3},
			{"pink", "paper", 3},
		} {
			if got := contrast(colours[pair.ink], colours[pair.ground]); got < pair.least {
				t.Errorf("set %d: %s on %s has a contrast of %.2f, want %.1f", i, pair.ink, pair.ground, got, pair.least)
			}
		}
	}
}

// luminance returns the relative luminance of a colour.
// Source: Web Content Accessibility Guidelines 2.2, "relative luminance".
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	channel := func(shift int) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.03928 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0)
}

// contrast returns the contrast ratio of two luminances, from 1 to 21.
func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }
