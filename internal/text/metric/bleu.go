package metric

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"deem/internal/text"
)

// errNoResponse is returned for a corpus without responses, which has no score.
var errNoResponse = errors.New("no response to score")

// bleuOrders is the length of the longest n-gram in BLEU.
const bleuOrders = 4

// BLEU computes BLEU like sacreBLEU 2.6. The zero value has its defaults for a corpus; set
// EffectiveOrder for single sentences, as sacreBLEU does in its sentence_bleu.
type BLEU struct {
	// Tokenize is the tokenizer: "13a", "zh", "char", "intl" or "none". Empty means "13a".
	Tokenize string

	// Lowercase makes the comparison case-insensitive.
	Lowercase bool

	// Smooth is the smoothing of an order without a match: "exp", "floor", "add-k" or
	// "none". Empty means "exp".
	Smooth string

	// SmoothValue is the parameter of "floor" and "add-k"; nil means 0.1 and 1.
	SmoothValue *float64

	// EffectiveOrder omits the orders for which the response is too short.
	EffectiveOrder bool
}

// A BLEUScore is a BLEU score with its components. With "add-k" smoothing the counts
// include the constant, as upstream reports them.
type BLEUScore struct {
	Score           float64 // 0 to 100
	Counts, Totals  []float64
	Precisions      []float64
	BrevityPenalty  float64
	ResponseLength  int
	ReferenceLength int
}

// Sentence returns the score of one response.
func (b BLEU) Sentence(response string, references []string) (BLEUScore, error) {
	return b.Corpus([]string{response}, [][]string{references})
}

// Corpus returns the score of many responses together, which is not the mean of their
// scores. The i-th list of references belongs to the i-th response; each must have at least
// one.
func (b BLEU) Corpus(responses []string, references [][]string) (BLEUScore, error) {
	split, err := b.tokenizer()
	if err != nil {
		return BLEUScore{}, err
	}
	if len(responses) == 0 {
		return BLEUScore{}, errNoResponse
	}
	if len(responses) != len(references) {
		return BLEUScore{}, fmt.Errorf("%d responses and %d lists of references", len(responses), len(references))
	}
	sum := bleuStats{}
	for i, response := range responses {
		if len(references[i]) == 0 {
			return BLEUScore{}, fmt.Errorf("response %d has no reference", i+1)
		}
		g := text.NewGrams(bleuOrders)
		got := split(response)
		closest, length := -1, 0
		for _, ref := range references[i] {
			words := split(ref)
			if d := abs(len(got) - len(words)); closest < 0 || d < closest || d == closest && len(words) < length {
				closest, length = d, len(words)
			}
			g.Add(words)
		}
		for n, same := range g.Shared(got) {
			sum.counts[n] += same
			sum.totals[n] += gramsOf(len(got), n+1)
		}
		sum.response += len(got)
		sum.reference += length
	}
	return b.score(sum)
}

func (b BLEU) tokenizer() (func(string) []string, error) {
	var split func(string) []string
	switch b.Tokenize {
	case "", "13a":
		split = text.BLEU13aWords
	case "zh":
		split = text.BLEUZhWords
	case "char":
		split = func(s string) []string { return text.Split(text.BLEUChar(s)) }
	case "intl":
		split = func(s string) []string { return text.Split(text.BLEUIntl(s)) }
	case "none":
		split = text.Split
	default:
		return nil, fmt.Errorf("unknown tokenizer %q of BLEU", b.Tokenize)
	}
	return func(s string) []string {
		if b.Lowercase {
			s = text.Lower(s)
		}
		return split(strings.TrimRightFunc(s, text.IsSpace))
	}, nil
}

// bleuStats are the sums from which BLEU is computed.
type bleuStats struct {
	response, reference int
	counts, totals      [bleuOrders]int
}

func abs(n int) int { return max(n, -n) }

func (b BLEU) score(s bleuStats) (BLEUScore, error) {
	value, err := b.smoothValue()
	if err != nil {
		return BLEUScore{}, err
	}
	out := BLEUScore{
		BrevityPenalty: 1, ResponseLength: s.response, ReferenceLength: s.reference,
		Precisions: make([]float64, bleuOrders), Counts: make([]float64, bleuOrders), Totals: make([]float64, bleuOrders),
	}
	switch {
	case s.response >= s.reference:
	case s.response == 0:
		out.BrevityPenalty = 0
	default:
		out.BrevityPenalty = math.Exp(1 - float64(s.reference)/float64(s.response))
	}
	matched := false
	for n := range bleuOrders {
		out.Counts[n] = float64(s.counts[n])
		out.Totals[n] = float64(s.totals[n])
		matched = matched || s.counts[n] > 0
	}
	if !matched {
		return out, nil
	}
	orders, halving := bleuOrders, 1.0
	for n := range bleuOrders {
		if b.Smooth == "add-k" && n > 0 {
			out.Counts[n] += value
			out.Totals[n] += value
		}
		if out.Totals[n] == 0 {
			break
		}
		if b.EffectiveOrder {
			orders = n + 1
		}
		switch {
		case out.Counts[n] != 0:
			out.Precisions[n] = 100 * out.Counts[n] / out.Totals[n]
		case b.Smooth == "exp" || b.Smooth == "":
			halving *= 2
			out.Precisions[n] = 100 / (halving * out.Totals[n])
		case b.Smooth == "floor":
			out.Precisions[n] = 100 * value / out.Totals[n]
		}
	}
	sum := 0.0
	for _, p := range out.Precisions[:orders] {
		if p == 0 {
			sum -= 9999999999 // sacreBLEU's substitute for an infinity
		} else {
			sum += math.Log(p)
		}
	}
	out.Score = out.BrevityPenalty * math.Exp(sum/float64(orders))
	return out, nil
}

func (b BLEU) smoothValue() (float64, error) {
	value := 0.0
	switch b.Smooth {
	case "", "exp", "none":
	case "floor":
		value = 0.1
	case "add-k":
		value = 1
	default:
		return 0, fmt.Errorf("unknown smoothing %q of BLEU", b.Smooth)
	}
	if b.SmoothValue != nil {
		value = *b.SmoothValue
	}
	return value, nil
}
