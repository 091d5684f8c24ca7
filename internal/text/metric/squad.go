package metric

import (
	"errors"
	"fmt"

	"deem/internal/text"
)

// A SQuADQuestion is a question with the answers that are right.
type SQuADQuestion struct {
	ID         string
	References []string
}

// SQuAD returns what the program of SQuAD v1.1 prints for a whole dataset: the share
// of exact matches and the mean F1, both from 0 to 100, each with the best reference.
// A question without a response counts 0 in both.
func SQuAD(questions []SQuADQuestion, responses map[string]string) (exact, f1 float64, err error) {
	if len(questions) == 0 {
		return 0, 0, errors.New("no question to score")
	}
	for _, q := range questions {
		response, ok := responses[q.ID]
		if !ok {
			continue
		}
		if len(q.References) == 0 {
			return 0, 0, fmt.Errorf("question %s has no reference", q.ID)
		}
		e, f := squadBest(response, q.References)
		exact += e
		f1 += f
	}
	n := float64(len(questions))
	return 100 * exact / n, 100 * f1 / n, nil
}

// squadBest returns the scores of one response with the best reference for each.
func squadBest(response string, references []string) (exact, f1 float64) {
	normal := text.SQuAD(response)
	for _, ref := range references {
		if text.SQuAD(ref) == normal {
			exact = 1
		}
		f1 = max(f1, F1(response, ref).F1)
	}
	return exact, f1
}
