package minilm_test

import (
	"strconv"
	"strings"
	"testing"
)

// BenchmarkEmbed embeds sentences of so many tokens, each of them new.
func BenchmarkEmbed(b *testing.B) {
	m := realModel(b)
	if m == nil {
		return
	}
	for _, tokens := range []int{8, 20, 64, 256} {
		b.Run(strconv.Itoa(tokens)+"tokens", func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++ // four words are one number
				embed(b, m, strconv.Itoa(1000+i%9000)+" "+strings.Repeat("word ", tokens-4))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}

// BenchmarkEmbedBatch embeds fifty sentences in a call, over all processors.
func BenchmarkEmbedBatch(b *testing.B) {
	m := realModel(b)
	if m == nil {
		return
	}
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
	if realModel(b) == nil {
		return
	}
	for b.Loop() {
		realModel(b)
	}
}
