package metric

import (
	"math"
	"strings"

	"deem/internal/text"
)

// bleuOrders is the length of the longest n-gram in BLEU.
const bleuOrders = 4

// BLEU returns the sentence BLEU of sacreBLEU 2.6 with its defaults, from 0 to 100: tokenizer
// 13a, exponential smoothing, and without the orders for which the response is too short.
// Without a reference it is 0.
func BLEU(response string, references []string) float64 {
	split := func(s string) []string { return text.BLEU13aWords(strings.TrimRightFunc(s, text.IsSpace)) }
	grams, got := text.NewGrams(bleuOrders), split(response)
	closest, length := math.MaxInt, 0 // the reference whose length is closest, of several the shortest
	for _, ref := range references {
		words := split(ref)
		d := abs(len(got) - len(words))
		if d < closest || d == closest && len(words) < length {
			closest, length = d, len(words)
		}
		grams.Add(words)
	}
	logs, orders, halving, matched := 0.0, 0, 1.0, false
	for i, same := range grams.Shared(got) {
		total := gramsOf(len(got), i+1)
		if total == 0 {
			break
		}
		matched = matched || same > 0
		precision := 100 * float64(same) / float64(total)
		if same == 0 {
			halving *= 2
			precision = 100 / (halving * float64(total))
		}
		orders++
		logs += math.Log(precision)
	}
	if !matched {
		return 0
	}
	brevity := 1.0
	if len(got) < length {
		brevity = math.Exp(1 - float64(length)/float64(len(got)))
	}
	return brevity * math.Exp(logs/float64(orders))
}

func abs(n int) int { return max(n, -n) }

// matchedGrams returns, for each order, how many n-grams two texts have in common, each as
// many times as both have it.
func matchedGrams(response, reference []string, orders int) []int {
	g := text.NewGrams(orders)
	g.Add(reference)
	return g.Shared(response)
}
