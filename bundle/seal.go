package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"deem"
)

// The sealed form of a body has the SHA-256 of each text in place of the text. Chain hashes
// are computed from it, so a bundle and its redacted copy have the same chain. It is also
// the content of a redacted bundle. Texts, which may be confidential, are: question,
// references, response and fields of an item; the reply of the model and everything that
// may quote it. These are kept: ids, categories, clusters, weights, labels, scores,
// aspects, kinds of failure, usage, cost and times.

// sealMark is the prefix of every sealed text.
const sealMark = "sha256:"

// seal returns a sealed text. An empty text stays empty: an item without a reference
// differs from one with a hidden reference.
func seal(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	sealed := make([]byte, 0, len(sealMark)+hexLen)
	return string(hex.AppendEncode(append(sealed, sealMark...), sum[:]))
}

// isSealed reports whether text is a result of seal.
func isSealed(text string) bool {
	hash, ok := strings.CutPrefix(text, sealMark)
	return text == "" || ok && isHash(hash)
}

// overItem returns the item with do applied to every text.
func overItem(it deem.Item, do func(string) string) deem.Item {
	it.Question, it.Response = do(it.Question), do(it.Response)
	if it.References != nil {
		refs := make([]string, len(it.References))
		for i, r := range it.References {
			refs[i] = do(r)
		}
		it.References = refs
	}
	if it.Messages != nil {
		turns := slices.Clone(it.Messages)
		for i, t := range turns {
			t.Name, t.Content = do(t.Name), do(t.Content)
			t.ToolCalls = slices.Clone(t.ToolCalls)
			for k, c := range t.ToolCalls {
				t.ToolCalls[k].Function = deem.Function{Name: do(c.Function.Name), Arguments: do(c.Function.Arguments)}
			}
			turns[i] = t
		}
		it.Messages = turns
	}
	if it.Fields != nil {
		fields := make(map[string]string, len(it.Fields))
		for k, v := range it.Fields {
			fields[k] = do(v)
		}
		it.Fields = fields
	}
	return it
}

// over returns the record with do applied to every text, and logprobs to its
// log-probabilities, which reveal the reply.
func (w wireRecord) over(do func(string) string, logprobs func([]deem.TokenLogprob) []deem.TokenLogprob) wireRecord {
	failure := func(f *deem.Failure) *deem.Failure {
		if f == nil {
			return nil
		}
		done := *f
		done.Detail = do(f.Detail)
		return &done
	}
	if w.Verdict != nil {
		v := *w.Verdict
		v.Reason, v.Parts = do(v.Reason), slices.Clone(v.Parts)
		for i, p := range v.Parts {
			v.Parts[i].Name, v.Parts[i].Reason, v.Parts[i].Failure = do(p.Name), do(p.Reason), failure(p.Failure)
		}
		w.Verdict = &v
	}
	w.Failure = failure(w.Failure)
	if w.Answer != nil {
		w.Answer = new(do(*w.Answer))
	}
	calls := make([]deem.Call, len(w.Calls))
	for i, c := range w.Calls {
		c.Error = do(c.Error)
		if c.Reply != nil {
			r := *c.Reply
			r.Text, r.Refusal, r.Logprobs = do(r.Text), do(r.Refusal), logprobs(r.Logprobs)
			c.Reply = &r
		}
		calls[i] = c
	}
	w.Calls = calls
	return w
}

// sealLogprobs returns one token in place of all, with the hash of their JSON.
func sealLogprobs(list []deem.TokenLogprob) []deem.TokenLogprob {
	if len(list) == 0 {
		return nil
	}
	text, err := deem.Canonical(list)
	if err != nil {
		panic("bundle: log-probabilities that were read have no JSON: " + err.Error())
	}
	return []deem.TokenLogprob{{Token: seal(string(text))}}
}

func (w wireItem) sealed() wireItem {
	w.item = overItem(w.item, seal)
	return w
}

func (w wireRecord) sealed() wireRecord { return w.over(seal, sealLogprobs) }

// isSealed reports whether the item contains no text.
func (w wireItem) isSealed() bool {
	all := true
	overItem(w.item, func(s string) string {
		all = all && isSealed(s)
		return s
	})
	return all
}

// isSealed reports whether the record contains no text.
func (w wireRecord) isSealed() bool {
	all := true
	w.over(func(s string) string {
		all = all && isSealed(s)
		return s
	}, func(list []deem.TokenLogprob) []deem.TokenLogprob {
		all = all && (len(list) == 0 || len(list) == 1 && list[0].Token != "" && isSealed(list[0].Token) &&
			list[0].Logprob == 0 && list[0].Top == nil)
		return list
	})
	return all
}
