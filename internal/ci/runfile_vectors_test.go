package ci_test

// The vectors of docs/spec/run-file.md are made here:
//
//	go test ./internal/ci -run TestRunFileVectors -update-vectors

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"deem"
	"deem/bundle"
	"deem/internal/reports"
	"deem/judge"
	matching "deem/judge/match"
	"deem/model/fake"
	"deem/report"
)

var vectorTime = time.Date(2026, 11, 15, 16, 30, 0, 123456789, time.UTC)

// A made run can be changed before it is written.
type made struct {
	bundle.Source
	records []deem.Record
	said    func(numbers []byte) []byte // changes the report; nil leaves it
}

// madeRun judges the items of the vectors.
func madeRun(t *testing.T, j deem.Judge, trials int) *made {
	t.Helper()
	var items []deem.Item
	for i := range 5 {
		items = append(items, deem.Item{
			ID: fmt.Sprintf("q%d", i), Category: []string{"single", "multi"}[i%2], Cluster: fmt.Sprintf("c%d", i/2),
			Question:   fmt.Sprintf("How many <years> did Mara work, number %d?\n\u2028\"é\"", i),
			References: []string{fmt.Sprintf("%d years", i+2)}, Response: fmt.Sprintf("It is %d years & more.", i+2+i%2),
			Fields: map[string]string{"note": "\x01 über"},
		})
	}
	if trials == 1 {
		items[1].Weight = 1e-7
		items[2].Messages = deem.Conversation{{Role: "user", Content: "Hi"}, {Role: "assistant", ToolCalls: []deem.ToolCall{{ID: "t", Function: deem.Function{Name: "f", Arguments: "{}"}}}}}
	}
	m := &made{}
	for rec, err := range deem.Run(t.Context(), each(items), j, deem.Options{Trials: trials}) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range rec.Calls {
			rec.Calls[i].Started = vectorTime
		}
		m.records = append(m.records, rec)
	}
	slices.SortFunc(m.records, func(a, b deem.Record) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Trial, b.Trial))
	})
	dataset, err := deem.DatasetHash(each(items))
	if err != nil {
		t.Fatal(err)
	}
	hash, err := deem.JudgeHash(j)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := deem.Canonical(j.(deem.Identified).Identity())
	if err != nil {
		t.Fatal(err)
	}
	m.Run = bundle.Run{
		ID: "20261115-9f3a2c", State: "done", Created: vectorTime, Updated: vectorTime.Add(time.Minute), Trials: trials,
		Dataset: bundle.Dataset{Names: []string{"answers.jsonl"}, Hash: dataset, Items: len(items)}, Settings: json.RawMessage(`{"concurrency":8,"system":"made-up"}`),
	}
	m.Judge = bundle.Judge{Name: j.Name(), Hash: hash, Identity: identity, Rule: judge.SpecOf(j).Kind != judge.KindModel}
	if !m.Judge.Rule {
		m.Run.Model, m.Prices = "fake:labels", json.RawMessage(`{"date":"2026-11-15","prices":[]}`)
	}
	m.Software = "deem test"
	m.count()
	return m
}

// count sets the counts of the run.
func (m *made) count() {
	m.Run.Records, m.Run.Unjudged, m.Run.CostMicros = len(m.records), 0, 0
	for _, rec := range m.records {
		for _, c := range rec.Calls {
			if c.Reply != nil {
				m.Run.CostMicros += c.Reply.CostMicros
			}
		}
		if rec.Verdict == nil {
			m.Run.Unjudged++
		}
	}
}

// A lyingCounter says other numbers than it counted.
type lyingCounter struct {
	bundle.Counter
	lie func([]byte) []byte
}

func (c lyingCounter) Numbers() (json.RawMessage, []string, error) {
	text, left, err := c.Counter.Numbers()
	return c.lie(text), left, err
}

// write returns the run file.
func (m *made) write(t *testing.T) []byte {
	t.Helper()
	src := m.Source
	src.Records = each(m.records)
	rep, err := reports.NewReporter(t.Context(), reports.RunOfFile(m.Run, m.Judge), reports.Options{MaxUnjudged: report.DefaultMaxUnjudged})
	if err != nil {
		t.Fatal(err)
	}
	src.Numbers = rep
	if m.said != nil {
		src.Numbers = lyingCounter{rep, m.said}
	}
	var out bytes.Buffer
	if _, err := bundle.Write(&out, src); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func each[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// ruleRun is a run of a rule, and askedRun one of a model that answers, stammers and fails.
func ruleRun(t *testing.T) *made { t.Helper(); return madeRun(t, matching.New(), 1) }

func askedRun(t *testing.T) *made {
	t.Helper()
	d, ok := judge.Builtin("universal")
	if !ok {
		t.Fatal("there is no judge universal")
	}
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	return madeRun(t, judge.New(p, fake.Func("fake:labels", func(_ context.Context, req deem.Request) (deem.Reply, error) {
		reply := deem.Reply{Stop: deem.StopEnd, Text: "CORRECT", Usage: deem.Usage{Input: 100, Output: 2}, Attempts: 1, Latency: time.Millisecond, CostMicros: 12, Key: req.Hash(), Sent: sentOf(req)}
		switch req.Hash()[1] % 4 {
		case 0:
			return deem.Reply{}, &deem.ModelError{Kind: deem.Timeout, Err: context.DeadlineExceeded}
		case 1:
			reply.Text = "Hard to tell."
		case 2:
			reply.Text = "INCORRECT"
			reply.Logprobs = []deem.TokenLogprob{{Token: "INCORRECT", Logprob: -0.25, Top: []deem.TokenLogprob{{Token: "CORRECT", Logprob: -1.5e-9}}}}
		}
		return reply, nil
	})), 2)
}

// sentOf returns what a vendor would have been sent.
func sentOf(req deem.Request) string {
	sent := url.Values{}
	if req.Temperature != nil {
		sent.Set("temperature", fmt.Sprint(*req.Temperature))
	}
	if req.MaxTokens > 0 {
		sent.Set("max_tokens", fmt.Sprint(req.MaxTokens))
	}
	return sent.Encode()
}

// first returns the first record with a verdict.
func (m *made) first() *deem.Record {
	return &m.records[slices.IndexFunc(m.records, func(r deem.Record) bool { return r.Verdict != nil })]
}

// The key of the vectors is public.
var vectorKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

// redactedOf returns the redacted copy.
func redactedOf(t *testing.T, file []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := bundle.Redact(&out, bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const vectorFormat = "deem.bundle/1\n"

func linesOf(t *testing.T, file []byte) []string {
	t.Helper()
	dec, err := zstd.NewReader(bytes.NewReader(file[len(vectorFormat) : len(file)-72]))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	text, err := io.ReadAll(dec)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
}

func frameOf(t *testing.T, lines []string) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return enc.EncodeAll([]byte(strings.TrimSuffix(strings.Join(lines, ""), "\n")+"\n"), nil)
}

// sealFile adds the first line and the last.
func sealFile(frame []byte) []byte {
	file := append([]byte(vectorFormat), frame...)
	sum := sha256.Sum256(file)
	return fmt.Appendf(file, "sha256 %s\n", hex.EncodeToString(sum[:]))
}

var lineForm = regexp.MustCompile(`(?s)^\{"body":(.*),"hash":"[0-9a-f]{64}","kind":"([a-z]*)","prev":"[0-9a-f]{64}"\}\n?$`)

// chained returns the lines of a redacted file with new hashes, as a forger would make them.
func chained(t *testing.T, lines []string) []string {
	t.Helper()
	prev := strings.Repeat("0", 64)
	head := regexp.MustCompile(`"head":"[0-9a-f]{64}"`)
	var out []string
	for _, l := range lines {
		m := lineForm.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("no line: %s", l)
		}
		body := m[1]
		if m[2] == "manifest" {
			body = head.ReplaceAllLiteralString(body, `"head":"`+prev+`"`)
		}
		sealed := sha256.Sum256([]byte(strings.Replace(body, `"redacted":true,`, "", 1)))
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%x\n", prev, m[2], sealed))
		hash := hex.EncodeToString(sum[:])
		out = append(out, fmt.Sprintf("{\"body\":%s,\"hash\":%q,\"kind\":%q,\"prev\":%q}\n", body, hash, m[2], prev))
		prev = hash
	}
	return out
}

// at returns the index of the n-th line of a kind.
func at(t *testing.T, lines []string, kind string, n int) int {
	t.Helper()
	for i, l := range lines {
		if strings.Contains(l, `"kind":"`+kind+`","prev"`) {
			if n--; n < 0 {
				return i
			}
		}
	}
	t.Fatalf("no line of kind %s", kind)
	return 0
}

// writeVectors writes every vector.
func writeVectors(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(vectorsDir, 0o755); err != nil {
		t.Fatal(err)
	}
	list := slices.Concat(validVectors(t), fileVectors(t), lineVectors(t), forgedVectors(t))
	var index []vector
	for _, v := range list {
		index = append(index, v.vector)
		if err := os.WriteFile(filepath.Join(vectorsDir, v.File), v.bytes, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(vectorsDir, "vectors.json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

type madeVector struct {
	vector
	bytes []byte
}

// vectorOf makes a vector; the check is that of the damage.
func vectorOf(file, check, about string, text []byte) madeVector {
	return madeVector{vector{File: file + ".deem", About: about, Check: check, NeedsJudge: slices.Contains([]string{"prompt", "wire", "verdict"}, check)}, text}
}

func validVectors(t *testing.T) []madeVector {
	t.Helper()
	signed, open := askedRun(t), askedRun(t)
	signed.Key = vectorKey
	open.Run.State = "open"
	open.records = open.records[:4]
	open.count()
	file := signed.write(t)
	return []madeVector{
		vectorOf("valid-rule", "", "a rule; clusters, a weight, a conversation, escapes", ruleRun(t).write(t)),
		vectorOf("valid-signed", "", "a judge with a model, two trials, failures, log-probabilities, a signature", file),
		vectorOf("valid-redacted", "", "the redacted copy of valid-signed, with the same chain and signature", redactedOf(t, file)),
		vectorOf("valid-open", "", "a run in which items are missing", open.write(t)),
	}
}

// fileVectors damage the container.
func fileVectors(t *testing.T) []madeVector {
	t.Helper()
	whole := ruleRun(t).write(t)
	lines := linesOf(t, whole)
	frame := whole[len(vectorFormat) : len(whole)-72]
	byteChanged := slices.Clone(whole)
	byteChanged[len(whole)/2] ^= 4
	otherSum := slices.Clone(whole)
	otherSum[len(whole)-10] ^= 1
	return []madeVector{
		vectorOf("file-byte", "file", "a byte is changed", byteChanged),
		vectorOf("file-cut", "file", "the file is cut", whole[:len(whole)*2/3]),
		vectorOf("file-more", "file", "a byte follows the last line", append(slices.Clone(whole), '\n')),
		vectorOf("file-sum", "file", "the hash in the last line is another", otherSum),
		vectorOf("file-skippable", "file", "a skippable frame stands before the frame", sealFile(slices.Concat([]byte{0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 'h', 'i'}, frame))),
		vectorOf("file-frames", "file", "there are two frames", sealFile(slices.Concat(frameOf(t, lines[:3]), frameOf(t, lines[3:])))),
		vectorOf("file-format", "file", "the first line names another format", append([]byte("deem.bundle/9\n"), whole[len(vectorFormat):]...)),
		vectorOf("file-line", "file", "a line has another form", sealFile(frameOf(t, slices.Insert(slices.Clone(lines), 5, "hello\n")))),
		vectorOf("file-manifest", "file", "the manifest is missing", sealFile(frameOf(t, lines[:len(lines)-1]))),
	}
}

// lineVectors change lines. The hashes are those from before.
func lineVectors(t *testing.T) []madeVector {
	t.Helper()
	signed := askedRun(t)
	signed.Key = vectorKey
	whole := linesOf(t, signed.write(t))
	replaced := func(kind string, n int, old, now string) []byte {
		lines := slices.Clone(whole)
		i := at(t, lines, kind, n)
		if !strings.Contains(lines[i], old) {
			t.Fatalf("%q is not in %s", old, lines[i])
		}
		lines[i] = strings.Replace(lines[i], old, now, 1)
		return sealFile(frameOf(t, lines))
	}
	record := at(t, whole, "record", 3)
	swapped := slices.Clone(whole)
	swapped[record], swapped[record-1] = swapped[record-1], swapped[record]
	redacted := linesOf(t, redactedOf(t, signed.write(t)))
	i := at(t, redacted, "item", 1)
	from := strings.Index(redacted[i], `"question":"sha256:`) + len(`"question":"`)
	inClear := slices.Clone(redacted)
	inClear[i] = inClear[i][:from] + "in clear" + inClear[i][from+71:]
	unrecorded := slices.Delete(slices.Clone(redacted[:len(redacted)-1]), at(t, redacted, "item", 1)+1, at(t, redacted, "item", 1)+3)
	twice := redacted[:len(redacted)-1]
	two := at(t, twice, "item", 2)
	twice = slices.Insert(slices.Clone(twice), two, twice[two:two+3]...)
	return []madeVector{
		vectorOf("form-space", "form", "a space stands between a key and its value", replaced("record", 2, `"trial":0`, `"trial": 0`)),
		vectorOf("form-key", "form", "there is a key that is not specified", replaced("record", 2, `"trial":0`, `"trial":0,"tried":1`)),
		vectorOf("form-twice", "form", "a key stands there twice", replaced("record", 2, `"trial":0`, `"trial":1,"trial":0`)),
		vectorOf("form-number", "form", "a number is written in another way", replaced("record", 2, `"trial":0`, `"trial":0.0`)),
		vectorOf("form-empty", "form", "an optional key is empty", replaced("item", 1, `"id":"q1",`, `"id":"q1","messages":[],`)),
		vectorOf("form-escape", "form", "a character is escaped that need not be", replaced("item", 1, `<years>`, `\u003cyears>`)),
		vectorOf("form-clear", "form", "a redacted file has a text", sealFile(frameOf(t, inClear))),
		vectorOf("chain-reply", "chain", "a reply was changed", replaced("record", 2, `"text":"`, `"text":"IN`)),
		vectorOf("chain-item", "chain", "a response was changed", replaced("item", 3, "years & more", "years & less")),
		vectorOf("chain-judge", "chain", "the prompt of the judge was changed", replaced("judge", 0, "Evaluate if", "Evaluate not if")),
		vectorOf("chain-manifest", "chain", "a count was changed", replaced("manifest", 0, `"judged":`, `"judged":1`)),
		vectorOf("chain-removed", "chain", "a record was removed", sealFile(frameOf(t, slices.Delete(slices.Clone(whole), record, record+1)))),
		vectorOf("chain-swapped", "order", "two records were swapped", sealFile(frameOf(t, swapped))),
		vectorOf("order-record", "order", "an item has no record; the chain was made again", sealFile(frameOf(t, chained(t, unrecorded)))),
		vectorOf("order-twice", "order", "an item stands there twice; the chain was made again", sealFile(frameOf(t, chained(t, twice)))),
		vectorOf("signature-changed", "signature", "the signature is that of another text", signatureChanged(t, whole)),
	}
}

// signatureChanged returns a file whose signature line has its right hash, but signs something
// else.
func signatureChanged(t *testing.T, lines []string) []byte {
	t.Helper()
	last := len(lines) - 1
	prev := regexp.MustCompile(`"prev":"([0-9a-f]{64})"`).FindStringSubmatch(lines[last])[1]
	body, err := deem.Canonical(map[string]any{
		"algorithm": "ed25519", "key": vectorKey.Public(), "signature": ed25519.Sign(vectorKey, []byte("something else")),
	})
	if err != nil {
		t.Fatal(err)
	}
	sealed := sha256.Sum256(body)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\nsignature\n%x\n", prev, sealed))
	lines = slices.Clone(lines)
	lines[last] = fmt.Sprintf("{\"body\":%s,\"hash\":\"%x\",\"kind\":\"signature\",\"prev\":%q}\n", body, sum, prev)
	return sealFile(frameOf(t, lines))
}

// forgedVectors are made with a right chain from wrong content.
func forgedVectors(t *testing.T) []madeVector {
	t.Helper()
	var list []madeVector
	forge := func(file, check, about string, of func(*testing.T) *made, change func(*made)) {
		m := of(t)
		change(m)
		list = append(list, vectorOf(file, check, about, m.write(t)))
	}
	zeros := strings.Repeat("0", 64)
	forge("order-trials", "order", "the trials of an item stand in another order", askedRun, func(m *made) {
		m.records[0], m.records[1] = m.records[1], m.records[0]
	})
	forge("item-dataset", "item", "the items do not give the dataset's hash", ruleRun, func(m *made) { m.Run.Dataset.Hash = zeros })
	forge("judge-hash", "judge", "the judge has another hash", ruleRun, func(m *made) { m.Judge.Hash = zeros })
	forge("record-both", "record", "a record has a verdict and a failure", askedRun, func(m *made) {
		m.first().Failure = deem.Failf(deem.Unparseable, "what?")
	})
	forge("record-neither", "record", "a record has neither a verdict nor a failure", askedRun, func(m *made) {
		m.first().Verdict = nil
		m.count()
	})
	forge("record-score", "record", "a score is larger than 1", askedRun, func(m *made) { m.first().Verdict.Score = 2 })
	forge("record-judge", "record", "a record is by another judge", askedRun, func(m *made) { m.first().Judge = "somebody" })
	forge("record-trial", "record", "a record is of a trial that there is not", askedRun, func(m *made) { m.records[1].Trial = 2 })
	forge("prompt-hash", "prompt", "a call was made with another prompt", askedRun, func(m *made) { m.first().Calls[0].Request = zeros })
	forge("wire-seed", "wire", "a call was made with a seed that the judge does not set", askedRun, func(m *made) { m.first().Calls[0].Reply.Sent += "&seed=4" })
	forge("verdict-reply", "verdict", "a verdict does not follow from its reply", askedRun, func(m *made) { m.first().Calls[0].Reply.Text = "Who knows?" })
	forge("verdict-rule", "verdict", "a verdict is not that of the rule", ruleRun, func(m *made) {
		v := m.first().Verdict
		v.Score = 1 - v.Score
	})
	forge("numbers-cost", "numbers", "the cost of the run is another", askedRun, func(m *made) { m.Run.CostMicros = 7 })
	forge("numbers-mean", "numbers", "the mean score in the report is another", ruleRun, func(m *made) {
		m.said = func(text []byte) []byte {
			return regexp.MustCompile(`("strict": ?\{[^{}]*"value": ?)[0-9.]+`).ReplaceAll(text, []byte("${1}0.123"))
		}
	})
	return list
}
