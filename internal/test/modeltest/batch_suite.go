package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"deem"
	"deem/internal/wire"
)

// TestBatches checks that the model returned by open keeps the contract of [wire.Batcher]
// with a server of the given wire format.
func TestBatches(t *testing.T, open func(tb testing.TB, s Setup) deem.Model, wire BatchWire) {
	s := batchSuite{suite{open: open}, wire}
	t.Run("same as direct", s.testSameAsDirect)
	t.Run("same errors", s.testSameErrors)
	t.Run("unanswered", s.testUnanswered)
	t.Run("progress", s.testProgress)
	t.Run("find", s.testFind)
	t.Run("find after a loss", s.testFindLost)
	t.Run("submit errors", s.testSubmitErrors)
	t.Run("refused", s.testRefused)
	t.Run("unknown", s.testUnknownBatch)
	t.Run("large", s.testLargeBatch)
	t.Run("dead context", s.testDeadBatch)
}

// A batchSuite is a suite for a vendor with batches.
type batchSuite struct {
	suite
	batches BatchWire
}

// start starts a server with the given outcome, and a model that calls it.
func (s batchSuite) start(t *testing.T, answer func(Asked) Answer, outcome func(n int) BatchOutcome) (wire.Batcher, *BatchServer) {
	t.Helper()
	server := NewBatchServer(t, s.batches, answer, outcome)
	m, ok := s.model(t, server.URL, 10*time.Second).(wire.Batcher)
	if !ok {
		t.Fatal("the model takes no batches")
	}
	return m, server
}

// alwaysOutcome returns the same outcome for all batches.
func alwaysOutcome(f BatchOutcome) func(int) BatchOutcome { return func(int) BatchOutcome { return f } }

// batchKey is the key of the i-th batch of a test.
func batchKey(i int) string { return fmt.Sprintf("0123456789abcd%02d", i) }

// lineID is the id of the i-th line of a batch, with the maximum length.
func lineID(key string, i int) string {
	return key + "-" + fmt.Sprintf("%0*d", 64-len(key)-1, i)
}

func submit(ctx context.Context, m wire.Batcher, key string, reqs ...deem.Request) (string, error) {
	var lines bytes.Buffer
	for i, req := range reqs {
		line, err := m.BatchLine(lineID(key, i), req)
		if err != nil {
			return "", err
		}
		if bytes.ContainsRune(line, '\n') {
			return "", errors.New("a line holds a newline")
		}
		lines.Write(append(line, '\n'))
	}
	b := wire.Batch{Key: key, Lines: len(reqs), Planned: time.Now()}
	return m.SubmitBatch(ctx, b, io.NewSectionReader(bytes.NewReader(lines.Bytes()), 0, int64(lines.Len())))
}

// mustSubmit submits requests and returns their results, by the id of the line.
func mustSubmit(t *testing.T, m wire.Batcher, reqs ...deem.Request) (string, map[string]wire.BatchReply) {
	t.Helper()
	id, err := submit(t.Context(), m, batchKey(0), reqs...)
	if err != nil {
		t.Fatalf("SubmitBatch: %v", err)
	}
	waitEnded(t, m, id)
	replies := map[string]wire.BatchReply{}
	for r, err := range m.BatchReplies(t.Context(), id) {
		if err != nil {
			t.Fatalf("BatchReplies: %v", err)
		}
		if _, ok := replies[r.ID]; ok {
			t.Errorf("line %s came twice", r.ID)
		}
		replies[r.ID] = r
	}
	return id, replies
}

// waitEnded polls the status until the batch has ended.
func waitEnded(t *testing.T, m wire.Batcher, id string) {
	t.Helper()
	for range 20 {
		st, err := m.BatchStatus(t.Context(), id)
		if err != nil {
			t.Fatalf("BatchStatus: %v", err)
		}
		if st.State == wire.BatchEnded {
			return
		}
	}
	t.Fatal("the batch does not end")
}

// prompts returns requests that differ in their prompts.
func prompts(n int) []deem.Request {
	var reqs []deem.Request
	for i := range n {
		req := deem.Prompt(fmt.Sprintf("question %d, with \"quotes\"\nand a second line", i))
		req.MaxTokens = 10
		reqs = append(reqs, req)
	}
	return reqs
}

// A line gets the same reply as a single request, in every field.
func (s batchSuite) testSameAsDirect(t *testing.T) {
	answer := func(a Asked) Answer {
		reply := fullReply()
		reply.RequestID = "" // Each call has its own.
		reply.Text += a.Prompt()
		if strings.Contains(a.Prompt(), "question 1") {
			reply.Stop = deem.StopLength
		}
		if a.Request.Temperature != nil {
			reply.Text += fmt.Sprint(" at ", *a.Request.Temperature)
		}
		return Answer{Reply: reply}
	}
	m, server := s.start(t, answer, nil)
	reqs := prompts(4)
	zero := 0.0
	reqs[2].Temperature = &zero
	reqs[3].Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	id, replies := mustSubmit(t, m, reqs...)
	if len(replies) != len(reqs) || server.Batches() != 1 || server.Lines() != len(reqs) {
		t.Errorf("%d replies, %d batches of %d lines, want %d, 1 and %d", len(replies), server.Batches(), server.Lines(), len(reqs), len(reqs))
	}
	for i, req := range reqs {
		want, err := m.Complete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		want.Batch = id
		got := replies[lineID(batchKey(0), i)]
		if got.Err != nil {
			t.Errorf("line %d: %v", i, got.Err)
		}
		if diff := cmp.Diff(want, got.Reply, cmpopts.IgnoreFields(deem.Reply{}, "Latency", "RequestID", "Sent", "Dropped")); diff != "" {
			t.Errorf("line %d (-direct +batch):\n%s", i, diff)
		}
	}
}

// A line gets the same error as a single request.
func (s batchSuite) testSameErrors(t *testing.T) {
	for trouble, raws := range s.batches.calls().Errors {
		for _, raw := range raws {
			// Errors of proxies in front of a vendor do not occur in a batch.
			if raw.Status < 400 || !strings.Contains(raw.Body, `"message"`) || raw.Status == 405 ||
				s.batches == AnthropicBatches && !strings.Contains(raw.Body, `"type":"error"`) {
				continue
			}
			m, _ := s.start(t, func(Asked) Answer { return Answer{Raw: &raw} }, nil)
			_, replies := mustSubmit(t, m, prompts(1)...)
			_, err := m.Complete(t.Context(), prompts(1)[0])
			want, _ := errors.AsType[*deem.ModelError](err)
			got, ok := errors.AsType[*deem.ModelError](replies[lineID(batchKey(0), 0)].Err)
			if !ok || want == nil {
				t.Errorf("%s: %v and %v, want errors of a model", trouble, replies, err)
				continue
			}
			if got.Kind != want.Kind || got.Passing != want.Passing || got.Fatal != want.Fatal || got.Error() != want.Error() {
				t.Errorf("%s: in a batch %+v %v, alone %+v %v", trouble, got, got, want, want)
			}
		}
	}
}

// Lines that were not processed are errors, and may be repeated.
func (s batchSuite) testUnanswered(t *testing.T) {
	outcomes := map[string]string{"question 0": "expired", "question 1": "canceled", "question 2": "missing"}
	m, _ := s.start(t, nil, alwaysOutcome(BatchOutcome{Line: func(a Asked) string {
		for prompt, outcome := range outcomes {
			if strings.HasPrefix(a.Prompt(), prompt) {
				return outcome
			}
		}
		return ""
	}}))
	_, replies := mustSubmit(t, m, prompts(4)...)
	if len(replies) != 3 || replies[lineID(batchKey(0), 3)].Err != nil {
		t.Errorf("replies = %v, want those of lines 0, 1 and 3, the last with a text", replies)
	}
	for i, kind := range []deem.Kind{deem.Timeout, deem.Provider} {
		me, ok := errors.AsType[*deem.ModelError](replies[lineID(batchKey(0), i)].Err)
		if !ok || me.Kind != kind || !me.Passing || me.Fatal || me.Error() == "" {
			t.Errorf("line %d: %+v, want a passing error of kind %s", i, me, kind)
		}
	}
}

func (s batchSuite) testProgress(t *testing.T) {
	m, _ := s.start(t, nil, alwaysOutcome(BatchOutcome{Polls: 3}))
	id, err := submit(t.Context(), m, batchKey(0), prompts(5)...)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 3; i++ {
		st, err := m.BatchStatus(t.Context(), id)
		want := wire.BatchStatus{State: wire.BatchRunning, Total: 5}
		if i == 3 {
			want.State, want.Done = wire.BatchEnded, 5
		}
		if err != nil || st != want {
			t.Errorf("status %d = %+v, %v, want %+v", i, st, err, want)
		}
	}
}

// A batch is found by its key among others, and a missing one is not found.
func (s batchSuite) testFind(t *testing.T) {
	m, _ := s.start(t, nil, nil)
	var ids []string
	for i := range 5 { // more than a page
		id, err := submit(t.Context(), m, batchKey(i), prompts(2)...)
		if err != nil {
			t.Fatal(err)
		}
		waitEnded(t, m, id)
		ids = append(ids, id)
	}
	for i, want := range ids {
		checkFind(t, m, i, 2, nil, want)
		checkFind(t, m, i, 2, ids, "")
	}
	checkFind(t, m, 99, 2, nil, "")
}

// checkFind checks that the i-th batch is surely found as want, where "" means not found.
func checkFind(t *testing.T, m wire.Batcher, i, lines int, known []string, want string) {
	t.Helper()
	b := wire.Batch{Key: batchKey(i), Lines: lines, Planned: time.Now()}
	if id, sure, err := m.FindBatch(t.Context(), b, known); id != want || !sure || err != nil {
		t.Errorf("FindBatch(%s) with %v known = %q, %v, %v, want %q", b.Key, known, id, sure, err, want)
	}
}

// A batch whose acceptance was not acknowledged is found, at the latest when it has ended.
// Until then the answer is never that it does not exist.
func (s batchSuite) testFindLost(t *testing.T) {
	m, server := s.start(t, nil, alwaysOutcome(BatchOutcome{Lose: true, Hold: true}))
	_, err := submit(t.Context(), m, batchKey(0), prompts(2)...)
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Passing || me.Status != 0 {
		t.Fatalf("SubmitBatch whose answer is lost: %v, want a passing error without a status", err)
	}
	b := wire.Batch{Key: batchKey(0), Lines: 2, Planned: time.Now()}
	id, sure, err := m.FindBatch(t.Context(), b, nil)
	if err != nil || id == "" && sure {
		t.Errorf("FindBatch while it runs = %q, %v, %v, want its id, or not to be sure", id, sure, err)
	}
	server.Release()
	_, _ = m.BatchStatus(t.Context(), "batch_0")
	checkFind(t, m, 0, 2, nil, "batch_0")
}

// Errors of the submitting call are classified like those of any call.
func (s batchSuite) testSubmitErrors(t *testing.T) {
	for _, tt := range []struct {
		status         int
		passing, fatal bool
	}{{429, true, false}, {500, true, false}, {401, false, true}, {413, false, false}} {
		m, _ := s.start(t, nil, alwaysOutcome(BatchOutcome{Status: tt.status, Body: `{"error":{"message":"no","type":"some_error"}}`}))
		_, err := submit(t.Context(), m, batchKey(0), prompts(1)...)
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok || me.Status != tt.status || me.Passing != tt.passing || me.Fatal != tt.fatal {
			t.Errorf("SubmitBatch answered with %d: %+v, want passing %v and fatal %v", tt.status, me, tt.passing, tt.fatal)
		}
	}
}

// A rejected batch says why, and whether it may be accepted later.
func (s batchSuite) testRefused(t *testing.T) {
	if s.batches == AnthropicBatches {
		m, _ := s.start(t, nil, nil)
		req := prompts(1)[0]
		line, err := m.BatchLine("not an id", req)
		if err != nil {
			t.Fatal(err)
		}
		text := string(line) + "\n"
		_, err = m.SubmitBatch(t.Context(), wire.Batch{Lines: 1}, io.NewSectionReader(strings.NewReader(text), 0, int64(len(text))))
		if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Status != 400 || me.Passing {
			t.Errorf("SubmitBatch with a wrong id: %v, want HTTP 400", err)
		}
		return
	}
	for code, passing := range map[string]bool{"token_limit_exceeded": true, "model_not_found": false} {
		m, server := s.start(t, nil, alwaysOutcome(BatchOutcome{Refuse: code}))
		id, err := submit(t.Context(), m, batchKey(0), prompts(1)...)
		if err != nil {
			t.Fatal(err)
		}
		st, err := m.BatchStatus(t.Context(), id)
		me, ok := errors.AsType[*deem.ModelError](st.Err)
		if err != nil || st.State != wire.BatchRefused || !ok || me.Code != code || me.Passing != passing || me.Fatal == passing {
			t.Errorf("%s: status %+v, %v", code, st, err)
		}
		if hint := deem.HintOf(st.Err); (hint == "") != passing {
			t.Errorf("%s: hint %q", code, hint)
		}
		checkFind(t, m, 0, 1, nil, "")
		if server.Batches() != 0 {
			t.Errorf("%s: %d batches were begun", code, server.Batches())
		}
	}
}

// An unknown batch is an error with its status.
func (s batchSuite) testUnknownBatch(t *testing.T) {
	m, _ := s.start(t, nil, nil)
	_, err := m.BatchStatus(t.Context(), "batch_77")
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Status != 404 || me.Passing {
		t.Errorf("BatchStatus of an unknown batch: %v, want HTTP 404", err)
	}
	for _, err := range m.BatchReplies(t.Context(), "batch_77") {
		if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Status != 404 {
			t.Errorf("BatchReplies of an unknown batch: %v, want HTTP 404", err)
		}
	}
}

// Lines and replies may be long, and a caller may stop early.
func (s batchSuite) testLargeBatch(t *testing.T) {
	long := strings.Repeat("a long story, ", 20_000)
	m, _ := s.start(t, always(Say(long)), nil)
	reqs := prompts(3)
	reqs[1].Messages[0].Content += long
	id, replies := mustSubmit(t, m, reqs...)
	for i := range reqs {
		if got := replies[lineID(batchKey(0), i)].Reply.Text; got != long {
			t.Errorf("line %d has a reply of %d bytes, want %d", i, len(got), len(long))
		}
	}
	for range m.BatchReplies(t.Context(), id) {
		break
	}
}

func (s batchSuite) testDeadBatch(t *testing.T) {
	m, server := s.start(t, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, submitErr := submit(ctx, m, batchKey(0), prompts(1)...)
	_, statusErr := m.BatchStatus(ctx, "batch_0")
	_, _, findErr := m.FindBatch(ctx, wire.Batch{}, nil)
	for what, err := range map[string]error{"SubmitBatch": submitErr, "BatchStatus": statusErr, "FindBatch": findErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a dead context: %v", what, err)
		}
	}
	for _, err := range m.BatchReplies(ctx, "batch_0") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("BatchReplies with a dead context: %v", err)
		}
	}
	if server.Batches() != 0 {
		t.Errorf("%d batches with a dead context", server.Batches())
	}
}
