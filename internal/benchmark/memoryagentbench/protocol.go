package memoryagentbench

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"unicode"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/words"
	"deem/judge"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

// parts are the questions about a summary, each with its own prompt.
var parts = []string{"fluency", "recall", "precision"}

// params are those of summarization_evaluate.py.
func params() judge.Params {
	return judge.Params{Temperature: new(0.1), TopP: new(0.9), MaxTokens: 4096, Seed: new(int64(42))}
}

// A P is the protocol under one reading: rules decide most items, a summary takes three
// calls, and an item of LongMemEval uses that benchmark's protocol.
type P struct {
	reading string
	rules   deem.Judge
	chats   judge.Readable
	prompts map[string]string
}

var (
	_ judge.Readable = (*P)(nil)
	_ judge.Dialogue = (*P)(nil)
	_ judge.Decider  = (*P)(nil)
)

// Protocol returns the protocol under a reading; "" means upstream. chats is LongMemEval's
// protocol, whose prompts upstream copied.
func Protocol(reading string, chats judge.Readable) (*P, error) {
	rules, err := Rules(reading)
	if err != nil {
		return nil, err
	}
	prompts := benchmark.Embedded(promptFiles)
	maps.Copy(prompts, chats.Spec().Prompts)
	return &P{rules.(*benchmark.Rule).Reading(), rules, chats, prompts}, nil
}

// Name returns "memoryagentbench/upstream".
func (p *P) Name() string { return UpstreamName }

// Reading returns the name of the current reading.
func (p *P) Reading() string { return p.reading }

// Spec returns the bytes of the prompts, the reading and the parameters.
func (p *P) Spec() judge.Spec {
	params := params()
	return judge.Spec{Kind: judge.KindModel, Name: UpstreamName, Version: version, Reading: p.reading, Prompts: p.prompts, Params: &params}
}

// Reread returns the protocol under the other reading.
func (p *P) Reread() judge.Readable {
	other := *p
	rules, ok := p.rules.(*benchmark.Rule).Reread().(*benchmark.Rule)
	if !ok {
		return nil
	}
	other.rules, other.reading = rules, rules.Reading()
	return &other
}

// FailuresWrong returns false: upstream leaves out what it cannot read.
func (p *P) FailuresWrong() bool { return false }

// Decide decides the items that a rule scores.
func (p *P) Decide(it deem.Item) (deem.Verdict, bool) {
	v, err := p.rules.Judge(context.Background(), it)
	return v, err == nil
}

// Requests returns the requests about an item.
func (p *P) Requests(it deem.Item) ([]deem.Request, error) {
	switch {
	case isChat(it.Category) && it.Fields[fieldType] == "":
		return nil, deem.Failf(deem.Input, "the item has no question_type: it is in the published data: add it with another --data")
	case isChat(it.Category):
		req, err := p.chats.Request(chat(it))
		return []deem.Request{req}, err
	case !isSummary(it.Category):
		_, err := p.rules.Judge(context.Background(), it) // It was not decided, so it failed.
		return nil, err
	}
	keypoints, err := judge.ParseCriteria(it.Fields[fieldKeypoints])
	if err != nil || len(keypoints) == 0 || len(it.References) == 0 {
		return nil, deem.Failf(deem.Input, "the item has no key points or no answer: they are in the published data: add it with another --data")
	}
	for i := range keypoints {
		keypoints[i] = fmt.Sprintf("%d. %s", i+1, keypoints[i])
	}
	// Like Python's strip.
	summary := strings.TrimFunc(it.Response, func(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f })
	var reqs []deem.Request
	for _, name := range parts {
		params := params()
		req := deem.Prompt(benchmark.Format(p.prompts[name], "text", summary, "summary", summary,
			"keypoints", strings.Join(keypoints, "\n"), "expert_summary", it.References[0]))
		req.Temperature, req.TopP, req.MaxTokens, req.Seed = params.Temperature, params.TopP, params.MaxTokens, params.Seed
		reqs = append(reqs, req)
	}
	return reqs, nil
}

// chat converts an item to one of LongMemEval. Upstream fills the prompts with the whole
// list of answers in Python's format.
func chat(it deem.Item) deem.Item {
	it.ID, it.Category, it.References = it.Fields[fieldQuestionID], it.Fields[fieldType], []string{it.Fields[fieldAnswers]}
	return it
}

// Request returns the first of the requests.
func (p *P) Request(it deem.Item) (deem.Request, error) {
	reqs, err := p.Requests(it)
	if err != nil {
		return deem.Request{}, err
	}
	return reqs[0], nil
}

// Read reads the reply to that request.
func (p *P) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	if isChat(it.Category) {
		chats := p.chats
		if p.reading == benchmark.Fixed {
			chats = chats.Reread()
		}
		return chats.Read(chat(it), reply)
	}
	return p.readPart(it, parts[0], reply.Text)
}

// A reader is the protocol for one of the parts.
type reader struct {
	*P
	part string
}

func (r reader) Read(it deem.Item, reply deem.Reply) (deem.Verdict, error) {
	return r.readPart(it, r.part, reply.Text)
}

// Talk asks about an item and reads the replies.
func (p *P) Talk(it deem.Item, ask func(deem.Request) (deem.Reply, error)) (deem.Verdict, error) {
	reqs, err := p.Requests(it)
	if err != nil {
		return deem.Verdict{}, err
	}
	if isChat(it.Category) {
		reply, err := ask(reqs[0])
		if err != nil {
			return deem.Verdict{}, err
		}
		return judge.Read(p, it, reply)
	}
	v, err := judge.Criteria{}.Judge(parts, func(i int) (deem.Verdict, error) {
		reply, err := ask(reqs[i])
		if err != nil {
			return deem.Verdict{}, err
		}
		return judge.Read(reader{p, parts[i]}, it, reply)
	})
	if err != nil {
		return deem.Verdict{}, err
	}
	v.Aspects = map[string]float64{}
	for _, part := range v.Parts {
		v.Aspects[part.Name] = *part.Score
	}
	v.Label, v.Score = "gpt-4-f1", 0
	if rec, prec := v.Aspects["recall"], v.Aspects["precision"]; rec+prec > 0 {
		v.Score = v.Aspects["fluency"] * 2 * (rec * prec) / (rec + prec)
	}
	return v, nil
}

// readPart reads the reply about one part of a summary. Its label contains the counts.
func (p *P) readPart(it deem.Item, part, reply string) (deem.Verdict, error) {
	keys := []string{part}
	if part == "precision" {
		keys = append(keys, "sentence_count")
	}
	var said []float64
	var err error
	if p.reading == benchmark.Fixed {
		said, err = readCounts(it, reply, keys)
	} else {
		said, err = parseCounts(reply, keys)
	}
	if err != nil {
		return deem.Verdict{}, err
	}
	n, total := said[0], 1.0
	switch part {
	case "recall":
		keypoints, err := judge.ParseCriteria(it.Fields[fieldKeypoints])
		if err != nil {
			return deem.Verdict{}, deem.Failf(deem.Input, "key points: %v", err)
		}
		total = float64(len(keypoints))
	case "precision":
		total = said[1]
	}
	if p.reading == benchmark.Fixed && (n < 0 || n > total || n != float64(int(n)) || total < 1) {
		return deem.Verdict{}, deem.Failf(deem.OutOfRange, "%s is %v of %v", part, n, total)
	}
	v := deem.Verdict{Label: fmt.Sprintf("%v/%v", n, total), Reason: reply}
	if total > 0 {
		v.Score = n / total
	}
	return v, nil
}

var (
	innermost = regexp.MustCompile(`(?s)\{.*?\}`)
	fenced    = regexp.MustCompile("(?s)```json(.+)```")
)

// readCounts returns the numbers under the keys. The prompts let the model reason first, so
// the object may stand amid prose; there must be one with all keys, and not in the item.
func readCounts(it deem.Item, reply string, keys []string) ([]float64, error) {
	var said []float64
	for _, raw := range innermost.FindAllString(judge.Answer(reply), -1) {
		list, ok := countsIn(raw, keys)
		switch {
		case !ok:
		case said != nil:
			return nil, deem.Failf(deem.Contradictory, "the reply has more than one object with %s", strings.Join(keys, " and "))
		case judge.Quotes(it, raw):
			return nil, deem.Failf(deem.Contradictory, "the object with %s also stands in the item", strings.Join(keys, " and "))
		default:
			said = list
		}
	}
	if said == nil {
		return nil, missing(reply, keys)
	}
	return said, nil
}

// parseCounts corresponds to parse_json: the last object of the reply, or the one in a
// fence, with a number under each key.
func parseCounts(reply string, keys []string) ([]float64, error) {
	texts := innermost.FindAllString(reply, -1)
	if len(texts) == 0 {
		return nil, missing(reply, keys)
	}
	last := texts[len(texts)-1]
	if m := fenced.FindStringSubmatch(reply); m != nil && !json.Valid([]byte(last)) && json.Valid([]byte(m[1])) {
		last = m[1]
	}
	said, ok := countsIn(last, keys)
	if !ok {
		return nil, missing(reply, keys)
	}
	return said, nil
}

func missing(reply string, keys []string) error {
	return deem.Failf(deem.Unparseable, "the reply has no object with %s: %s", strings.Join(keys, " and "), words.Clip(strings.Join(strings.Fields(reply), " "), 80))
}

// countsIn returns the numbers under the keys of a JSON object, and reports whether it has
// them all.
func countsIn(raw string, keys []string) ([]float64, bool) {
	var object map[string]any
	if json.Unmarshal([]byte(raw), &object) != nil {
		return nil, false
	}
	var said []float64
	for _, key := range keys {
		switch n := object[key].(type) {
		case float64:
			said = append(said, n)
		case bool: // A number in Python.
			said = append(said, map[bool]float64{true: 1}[n])
		}
	}
	return said, len(said) == len(keys)
}
