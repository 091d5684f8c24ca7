package minilm_test

import (
	"strconv"
	"strings"
	"testing"
)

// BenchmarkEmbed embeds sentences of several lengths in tokens, each of them new.
func BenchmarkEmbed(b *testing.B) {
	m := realModel(b)
	n := 0
	for _, tokens := range []int{8, 20, 64, 256} {
		b.Run(strconv.Itoa(tokens)+"tokens", func(b *testing.B) {
			for b.Loop() {
				var text strings.Builder
				for i := range tokens - 2 {
					text.WriteByte(' ')
					text.WriteByte(byte('a' + n>>i%8))
				}
				n++
				embed(b, m, text.String())
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}

// BenchmarkEmbedBatch embeds fifty sentences per call, on all processors.
func BenchmarkEmbedBatch(b *testing.B) {
	m := realModel(b)
	n := 0
	for b.Loop() {
		var texts []string
		for range 50 {
			n++
			texts = append(texts, "The user moved to house number "+strconv.Itoa(n)+" in the old town of Berlin with two cats.")
		}
		embed(b, m, texts...)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "texts/s")
}

// BenchmarkOpen reads the files.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		realModel(b)
	}
}
