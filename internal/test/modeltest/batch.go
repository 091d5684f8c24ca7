package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A BatchWire is the format of a vendor's batch endpoints.
type BatchWire string

// The vendors with batches.
const (
	OpenAIBatches    BatchWire = "openai"
	AnthropicBatches BatchWire = "anthropic"
)

// calls returns the format of the vendor's calls for a single request.
func (w BatchWire) calls() Wire {
	if w == AnthropicBatches {
		return Anthropic()
	}
	return OpenAI()
}

// A BatchOutcome is the outcome of a batch. The zero value answers all of its lines at once.
type BatchOutcome struct {
	// Refuse is the code of an error with which the batch is accepted and then rejected,
	// for example "token_limit_exceeded". Only OpenAI does that.
	Refuse string

	// Status and Body, unless Status is 0, are the answer to the call that submits the
	// batch, which is then not accepted.
	Status int
	Body   string

	// Delay is how long the answer to the call that submits the batch takes, after the
	// batch was accepted; Lose breaks the connection instead of answering.
	Delay time.Duration
	Lose  bool

	// Hold keeps the batch running until Release; Polls keeps it running until its status
	// was requested that many times.
	Hold  bool
	Polls int

	// Line returns the outcome of a line that gets no answer: "expired", "canceled", or
	// "missing" for a line without a result. "" answers it.
	Line func(a Asked) string
}

// A BatchServer is a [Server] that also accepts batches. Their lines are answered by the
// function that answers calls. Its methods are safe for concurrent use.
type BatchServer struct {
	*Server

	wire    BatchWire
	outcome func(n int) BatchOutcome

	batchMu  sync.Mutex
	files    map[string][]byte // uploaded files by id
	batches  []*servedBatch    // oldest first
	polls    int
	released bool
}

// A servedBatch is a batch that was accepted.
type servedBatch struct {
	id       string
	created  time.Time
	metadata map[string]string
	header   http.Header
	lines    []servedLine
	outcome  BatchOutcome
	polls    int
	refused  []batchError // why it was rejected
}

// A servedLine is a request of a batch.
type servedLine struct {
	id   string
	body json.RawMessage
}

// A batchError is an error of a batch in OpenAI's format.
type batchError struct {
	Code    string `json:"code"`
	Line    *int   `json:"line"`
	Message string `json:"message"`
	Param   any    `json:"param"`
}

// NewBatchServer starts a server for the duration of the test. The function outcome, which may
// be nil, returns the outcome of the n-th batch, from 0.
func NewBatchServer(tb testing.TB, wire BatchWire, answer func(Asked) Answer, outcome func(n int) BatchOutcome) *BatchServer {
	tb.Helper()
	if outcome == nil {
		outcome = func(int) BatchOutcome { return BatchOutcome{} }
	}
	s := &BatchServer{Server: &Server{wire: wire.calls(), answer: answer}, wire: wire, outcome: outcome, files: make(map[string][]byte)}
	s.listen(s.route)
	tb.Cleanup(s.Close)
	return s
}

// Batches returns how many batches were accepted and begun.
func (s *BatchServer) Batches() int {
	s.batchMu.Lock()
	defer s.batchMu.Unlock()
	n := 0
	for _, b := range s.batches {
		if len(b.refused) == 0 {
			n++
		}
	}
	return n
}

// Lines returns the number of lines of the batches that were begun.
func (s *BatchServer) Lines() int {
	s.batchMu.Lock()
	defer s.batchMu.Unlock()
	n := 0
	for _, b := range s.batches {
		if len(b.refused) == 0 {
			n += len(b.lines)
		}
	}
	return n
}

// Polls returns how many times the status of a batch was requested.
func (s *BatchServer) Polls() int {
	s.batchMu.Lock()
	defer s.batchMu.Unlock()
	return s.polls
}

// Release ends the batches that are held, and later ones.
func (s *BatchServer) Release() {
	s.batchMu.Lock()
	defer s.batchMu.Unlock()
	s.released = true
}

func (s *BatchServer) route(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	if s.wire == AnthropicBatches {
		if rest, ok := strings.CutPrefix(path, "/messages/batches"); ok {
			s.anthropicBatches(w, r, strings.Trim(rest, "/"))
			return
		}
	} else {
		if rest, ok := strings.CutPrefix(path, "/files"); ok {
			s.openAIFiles(w, r, strings.Trim(rest, "/"))
			return
		}
		if rest, ok := strings.CutPrefix(path, "/batches"); ok {
			s.openAIBatches(w, r, strings.Trim(rest, "/"))
			return
		}
	}
	s.serve(w, r)
}

// take stores a batch and answers the call that submits it according to its outcome. As at a
// vendor, the batch is in the list before it is answered.
func (s *BatchServer) take(w http.ResponseWriter, r *http.Request, b *servedBatch, show func(*servedBatch) any) {
	s.batchMu.Lock()
	n := len(s.batches)
	b.outcome = s.outcome(n)
	if b.outcome.Status != 0 {
		// It counts as a batch for outcome, and is rejected for good.
		b.refused = []batchError{{Code: "not taken"}}
		s.batches = append(s.batches, b)
		s.batchMu.Unlock()
		s.send(w, Fail(b.outcome.Status, b.outcome.Body))
		return
	}
	b.id, b.created, b.header = fmt.Sprintf("batch_%d", n), time.Now(), r.Header.Clone()
	if b.outcome.Refuse != "" {
		b.refused = []batchError{{Code: b.outcome.Refuse, Message: "Enqueued token limit reached for test-model. Please try again once some in_progress batches have been completed."}}
	}
	s.batches = append(s.batches, b)
	answer := show(b)
	s.batchMu.Unlock()
	if b.outcome.Lose {
		panic(http.ErrAbortHandler)
	}
	if s.hold(r.Context(), Answer{Delay: b.outcome.Delay}) {
		sendJSON(w, answer)
	}
}

// find returns the batch with that id, or nil. The caller holds the lock.
func (s *BatchServer) find(id string) *servedBatch {
	for _, b := range s.batches {
		if b.id == id && id != "" {
			return b
		}
	}
	return nil
}

// ended reports whether a batch has ended. The caller holds the lock.
func (s *BatchServer) ended(b *servedBatch) bool {
	return len(b.refused) == 0 && (!b.outcome.Hold || s.released) && b.polls >= b.outcome.Polls
}

// newest returns the accepted batches, newest first, after the one with the given id. The
// caller holds the lock.
func (s *BatchServer) newest(after string) []*servedBatch {
	var list []*servedBatch
	for _, b := range slices.Backward(s.batches) {
		if b.id != "" {
			list = append(list, b)
		}
	}
	if i := slices.IndexFunc(list, func(b *servedBatch) bool { return b.id == after }); i >= 0 && after != "" {
		list = list[i+1:]
	}
	return list
}

// askLine gets the answer to a line. The outcome is "" if it was answered.
func (s *BatchServer) askLine(b *servedBatch, l servedLine) (outcome string, a Answer) {
	path := "/v1/chat/completions"
	if s.wire == AnthropicBatches {
		path = "/v1/messages"
	}
	header := b.header.Clone()
	header.Set("Content-Type", "application/json")
	r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: path}, Header: header}
	model, req, err := s.Server.wire.Read(r, l.body)
	if err != nil {
		return "", Fail(http.StatusBadRequest, err.Error())
	}
	asked := Asked{Request: req, Model: model, Header: header, Path: path, Body: l.body, Nth: 1}
	if b.outcome.Line != nil {
		if outcome = b.outcome.Line(asked); outcome != "" {
			return outcome, Answer{}
		}
	}
	return "", s.answer(asked)
}

func sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may leave early
}

// writeLines writes values as lines of JSON.
func writeLines(w io.Writer, lines []any) {
	enc := json.NewEncoder(w)
	for _, l := range lines {
		_ = enc.Encode(l) // the client may leave early
	}
}
