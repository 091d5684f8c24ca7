package judge

import (
	"testing"
)

// A report reads every reply of a run again, so reading must be cheap compared to the rest.
func BenchmarkLabel(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"json", "```json\n{\"reason\": \"The response names the town of the reference and adds the year, which is right.\", \"label\": \"CORRECT\"}\n```"},
		{"word", "CORRECT"},
		{"prose", "The reference names Lisbon. The response names Lisbon too and adds the year 1887, which the reference does not contradict. Both agree on the harbour.\n\n**Final verdict:** CORRECT\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				if _, err := FindLabel(c.text, "", menus[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMask(b *testing.B) {
	const reply = "The response says \"the harbour of Lisbon was opened in 1887\", which is what the reference says.\n\nVerdict: CORRECT"
	const response = "As far as I know the harbour of Lisbon was opened in 1887, and it was widened later."
	for b.Loop() {
		masked(reply, response)
	}
}
