package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/model/internal/wire"
)

// The Message Batches API, as Anthropic describes it: a batch is a list of requests in
// one call, and when it has ended its results are lines of JSON.

var _ deem.Batcher = (*client)(nil)

// batchesPath is the path of the calls, below the base URL.
const batchesPath = "/messages/batches"

// BatchLimits returns what the API allows: 100,000 requests and 256 MB, of which some
// is left for what stands around the lines.
func (m *client) BatchLimits() deem.BatchLimits {
	return deem.BatchLimits{Lines: 100_000, Bytes: 255_000_000}
}

// BatchLine returns the part of a batch that makes a request: the body of the same call
// alone.
func (m *client) BatchLine(id string, req deem.Request) ([]byte, error) {
	line, err := wire.Encode(struct {
		CustomID string       `json:"custom_id"`
		Params   *wireRequest `json:"params"`
	}{id, m.encode(req)})
	if err != nil {
		return nil, wire.Unencodable(err)
	}
	return line, nil
}

// SubmitBatch hands the lines over in one call.
func (m *client) SubmitBatch(ctx context.Context, _ deem.Batch, lines *io.SectionReader) (string, error) {
	const head, tail = `{"requests":[`, `]}`
	inner := max(0, lines.Size()-1) // without the last newline
	body := io.MultiReader(strings.NewReader(head), commas{io.NewSectionReader(lines, 0, inner)}, strings.NewReader(tail))
	w, err := m.readBatch(m.Client.Send(ctx, m.Client.To(batchesPath), "application/json", body, int64(len(head)+len(tail))+inner))
	return w.ID, err
}

// commas makes a list of lines: JSON has no newlines of its own, so each of them parts
// two lines.
type commas struct{ lines io.Reader }

func (c commas) Read(p []byte) (int, error) {
	n, err := c.lines.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			p[i] = ','
		}
	}
	return n, err
}

// A wireBatch is a batch, as far as we read it.
type wireBatch struct {
	ID        string    `json:"id"`
	Status    string    `json:"processing_status"`
	CreatedAt time.Time `json:"created_at"`
	Results   string    `json:"results_url"`
	Counts    struct {
		Processing int `json:"processing"`
		Succeeded  int `json:"succeeded"`
		Errored    int `json:"errored"`
		Canceled   int `json:"canceled"`
		Expired    int `json:"expired"`
	} `json:"request_counts"`
}

// ended reports whether nothing more will come of the batch.
func (w wireBatch) ended() bool { return w.Status == "ended" }

// done returns how many requests are over. The API moves them all when the batch ends.
func (w wireBatch) done() int {
	return w.Counts.Succeeded + w.Counts.Errored + w.Counts.Canceled + w.Counts.Expired
}

// total returns how many requests there are.
func (w wireBatch) total() int { return w.Counts.Processing + w.done() }

// readBatch reads a batch.
func (m *client) readBatch(a wire.Answer, err error) (wireBatch, error) {
	var w wireBatch
	if err := m.Client.Read(a, err, &w); err != nil {
		return wireBatch{}, err
	}
	if w.ID == "" {
		return wireBatch{}, m.Client.Garbled(a, errors.New("the batch has no id"))
	}
	return w, nil
}

// skew is how far the vendor's clock may be from ours.
const skew = time.Hour

// FindBatch looks through the batches of the workspace. The API gives a batch no name, and
// shows what is in it only when it has ended. So one that has as many requests, that
// nobody else knows of and that is still running may be the one: then nobody can
// tell yet. One that has ended is told by the id of its first result.
func (m *client) FindBatch(ctx context.Context, b deem.Batch, known []string) (id string, sure bool, err error) {
	sure = true
	for w, err := range m.batches(ctx, b.Planned.Add(-skew)) {
		switch {
		case err != nil:
			return "", false, err
		case w.total() != b.Lines || slices.Contains(known, w.ID):
		case !w.ended():
			sure = false
		case w.Results != "":
			ours, err := m.holds(ctx, w.ID, b.Key)
			if err != nil {
				return "", false, err
			}
			if ours {
				return w.ID, true, nil
			}
		}
	}
	return "", sure, nil
}

// batches yields the batches of the workspace, newest first, back to a time.
func (m *client) batches(ctx context.Context, since time.Time) iter.Seq2[wireBatch, error] {
	return func(yield func(wireBatch, error) bool) {
		query := url.Values{"limit": {"100"}}
		for {
			var page struct {
				Data    []wireBatch `json:"data"`
				HasMore bool        `json:"has_more"`
				LastID  string      `json:"last_id"`
			}
			a, err := m.Client.Get(ctx, m.Client.To(batchesPath).With(query))
			if err := m.Client.Read(a, err, &page); err != nil {
				yield(wireBatch{}, err)
				return
			}
			for _, w := range page.Data {
				if w.CreatedAt.Before(since) || !yield(w, nil) {
					return
				}
			}
			if !page.HasMore || page.LastID == "" {
				return
			}
			if page.LastID == query.Get("after_id") {
				// It would be asked for the same page for ever.
				yield(wireBatch{}, m.Client.Garbled(a, errors.New("the list of batches breaks off")))
				return
			}
			query.Set("after_id", page.LastID)
		}
	}
}

// holds reports whether the first result of a batch is of a line of ours.
func (m *client) holds(ctx context.Context, id, key string) (bool, error) {
	for r, err := range m.BatchReplies(ctx, id) {
		return strings.HasPrefix(r.ID, key), err
	}
	return false, nil
}

// BatchStatus says how far a batch is.
func (m *client) BatchStatus(ctx context.Context, id string) (deem.BatchStatus, error) {
	w, err := m.readBatch(m.Client.Get(ctx, m.Client.To(batchesPath+"/"+id)))
	if err != nil {
		return deem.BatchStatus{}, err
	}
	s := deem.BatchStatus{State: deem.BatchRunning, Total: w.total(), Done: w.done()}
	if w.ended() {
		s.State = deem.BatchEnded
	}
	return s, nil
}

// BatchReplies yields the results of a batch. They are fetched from below the base URL and
// not from the address that the batch names, so that the key goes nowhere else.
func (m *client) BatchReplies(ctx context.Context, id string) iter.Seq2[deem.BatchReply, error] {
	return wire.Replies(id, m.Client.Lines(ctx, m.Client.To(batchesPath+"/"+id+"/results")), m.readLine)
}

// readLine reads what came of a request. The error is that of a line that makes no
// sense.
func (m *client) readLine(line []byte) (deem.BatchReply, error) {
	var w struct {
		CustomID string `json:"custom_id"`
		Result   struct {
			Type    string          `json:"type"`
			Message json.RawMessage `json:"message"`
			Error   json.RawMessage `json:"error"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &w); err != nil {
		return deem.BatchReply{}, m.Client.Garbled(wire.Answer{Text: line}, err)
	}
	r := deem.BatchReply{ID: w.CustomID}
	switch w.Result.Type {
	case "succeeded":
		r.Reply, r.Err = m.decode(wire.Answer{Status: http.StatusOK, Text: w.Result.Message})
		r.Reply.Attempts = 1
	case "errored":
		r.Err = m.errored(w.Result.Error)
	case "expired":
		r.Err = &deem.ModelError{Kind: deem.Timeout, Code: "expired", Passing: true, Err: errors.New("the batch expired before the request was made")}
	default:
		r.Err = &deem.ModelError{Kind: deem.Provider, Code: w.Result.Type, Passing: true, Err: errors.New("the request was not made")}
	}
	return r, nil
}

// statuses are those that the types of errors come with when a request is made alone. A
// result has none.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"billing_error":         http.StatusPaymentRequired,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"timeout_error":         http.StatusGatewayTimeout,
	"overloaded_error":      529,
}

// errored makes the error of a request of what a result says.
func (m *client) errored(text json.RawMessage) error {
	a := wire.Answer{Status: http.StatusInternalServerError, Text: text}
	if status, ok := statuses[m.Client.Trouble(a).Type]; ok {
		a.Status = status
	}
	return m.Client.StatusError(a)
}
