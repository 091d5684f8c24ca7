package judge

import (
	"math"
	"slices"
	"strings"

	"deem"
)

// confidence returns the probability of the token that begins the label, among the tokens
// at that position that begin any of the labels. It is nil if the reply has no
// log-probabilities or they do not settle it.
func (p *declaredProtocol) confidence(f found, s said, tokens []deem.TokenLogprob) *float64 {
	if len(tokens) == 0 || f.start < 0 || s.offset < 0 {
		return nil
	}
	end := 0
	i := slices.IndexFunc(tokens, func(t deem.TokenLogprob) bool {
		end += len(t.Token)
		return s.offset+f.start < end
	})
	if i < 0 {
		return nil
	}
	token := tokens[i]
	probs := map[string]float64{token.Token: math.Exp(token.Logprob)}
	for _, t := range token.Top {
		probs[t.Token] = math.Exp(t.Logprob)
	}
	mine, all := 0.0, 0.0
	for _, t := range sortedKeys(probs) {
		if label, ok := p.begins(t); ok {
			all += probs[t]
			if label == f.label {
				mine += probs[t]
			}
		}
	}
	c := min(mine/all, 1)
	if math.IsNaN(c) {
		return nil
	}
	return &c
}

// begins returns the label that token begins, if it is the only one.
func (p *declaredProtocol) begins(token string) (string, bool) {
	token = strings.ToLower(strings.TrimLeft(token, " \t\r\n\"'*"))
	label, n := "", 0
	for _, l := range p.decl.Labels {
		if token != "" && strings.HasPrefix(strings.ToLower(l.Label), token) {
			label = l.Label
			n++
		}
	}
	return label, n == 1
}
