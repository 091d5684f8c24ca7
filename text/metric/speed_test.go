package metric_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"deem/text/metric"
)

// paragraph returns a text of so many words that come as often as words do, with
// capitals, numbers and punctuation.
func paragraph(r *rand.Rand, words int) string {
	const syllables = "ta re lon min der ing ed tion al ness con pre ver si on es ly er ment ous"
	list := strings.Fields(syllables)
	zipf := rand.NewZipf(r, 1.2, 3, 8000)
	var b strings.Builder
	for i := range words {
		n := int(zipf.Uint64())
		word := []string{"the", "a", "of", "and", "to", "in", "is", "was", "it", "for"}[n%10]
		if n >= 10 {
			word = list[n%20] + list[n/20%20] + strings.Repeat(list[n/400%20], min(n/400, 1))
		}
		switch {
		case i%12 == 0:
			word = strings.ToUpper(word[:1]) + word[1:]
		case i%12 == 11:
			word += "."
		case i%9 == 8:
			word += ","
		case i%17 == 16:
			word = "1,250"
		}
		b.WriteString(word + " ")
	}
	return b.String()
}

// BenchmarkParagraphs compares texts of 50 words, each pair once, as a run over a large
// dataset of short texts does. One pair again and again would hide what a new text costs.
func BenchmarkParagraphs(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var texts [1024]string
	for i := range texts {
		texts[i] = paragraph(r, 50)
	}
	for name, f := range map[string]func(response, reference string) float64{
		"F1":     scores["F1"],
		"ROUGEL": func(a, b string) float64 { return metric.ROUGEL(a, b, true).F1 },
		"ROUGE2": scores["ROUGE2"],
		"BLEU":   scores["BLEU"],
		"ChrF":   scores["ChrF"],
		"LoCoMo": scores["LoCoMoF1"],
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f(texts[i%1024], texts[(i*7+1)%1024])
			}
		})
	}
}
