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
	"deem/internal/wire"
)

// Anthropic's Message Batches API: a batch is a list of requests in one call, and when it
// has ended its results are lines of JSON.

var _ wire.Batcher = (*client)(nil)

// batchesPath is the path of the calls, below the base URL.
const batchesPath = "/messages/batches"

// BatchLimits returns the limits of the API: 100,000 requests and 256 MB, less some bytes
// for the JSON around the lines.
func (m *client) BatchLimits() wire.BatchLimits {
	return wire.BatchLimits{Lines: 100_000, Bytes: 255_000_000}
}

// BatchLine returns the entry of a batch for a request: the body of the equivalent single
// call.
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

// SubmitBatch submits the lines in one call.
func (m *client) SubmitBatch(ctx context.Context, _ wire.Batch, lines *io.SectionReader) (string, error) {
	const head, tail = `{"requests":[`, `]}`
	inner := max(0, lines.Size()-1) // without the last newline
	body := io.MultiReader(strings.NewReader(head), commas{io.NewSectionReader(lines, 0, inner)}, strings.NewReader(tail))
	w, err := m.readBatch(m.Client.Send(ctx, m.Client.To(batchesPath), "application/json", body, int64(len(head)+len(tail))+inner))
	return w.ID, err
}

// commas turns lines into a JSON list: the JSON of a line contains no newline, so each
// newline separates two lines.
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

// A wireBatch is a batch, with the fields we use.
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

func (w wireBatch) ended() bool { return w.Status == "ended" }

// done returns the number of finished requests. The API counts them all when the batch
// ends.
func (w wireBatch) done() int {
	return w.Counts.Succeeded + w.Counts.Errored + w.Counts.Canceled + w.Counts.Expired
}

// total returns the number of requests.
func (w wireBatch) total() int { return w.Counts.Processing + w.done() }

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

// skew is the maximum difference between the vendor's clock and ours.
const skew = time.Hour

// FindBatch looks through the batches of the workspace. The API gives a batch no name, and
// shows its contents only when it has ended. So a running batch with the same number of
// requests and an unknown id may be ours: then it is too early to tell. A batch that has
// ended is recognized by the id of its first result.
func (m *client) FindBatch(ctx context.Context, b wire.Batch, known []string) (id string, sure bool, err error) {
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

// batches yields the batches of the workspace, newest first, back to since.
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
				// Otherwise the same page would be requested forever.
				yield(wireBatch{}, m.Client.Garbled(a, errors.New("the list of batches breaks off")))
				return
			}
			query.Set("after_id", page.LastID)
		}
	}
}

// holds reports whether the first result of a batch is for one of our lines.
func (m *client) holds(ctx context.Context, id, key string) (bool, error) {
	for r, err := range m.BatchReplies(ctx, id) {
		return strings.HasPrefix(r.ID, key), err
	}
	return false, nil
}

// BatchStatus returns the progress of a batch.
func (m *client) BatchStatus(ctx context.Context, id string) (wire.BatchStatus, error) {
	w, err := m.readBatch(m.Client.Get(ctx, m.Client.To(batchesPath+"/"+id)))
	if err != nil {
		return wire.BatchStatus{}, err
	}
	s := wire.BatchStatus{State: wire.BatchRunning, Total: w.total(), Done: w.done()}
	if w.ended() {
		s.State = wire.BatchEnded
	}
	return s, nil
}

// BatchReplies yields the results of a batch. They are fetched from below the base URL and
// not from the address in the batch, so that the key is not sent anywhere else.
func (m *client) BatchReplies(ctx context.Context, id string) iter.Seq2[wire.BatchReply, error] {
	return wire.Replies(id, m.Client.Lines(ctx, m.Client.To(batchesPath+"/"+id+"/results")), m.readLine)
}

// readLine parses the result of a request. The error is for a malformed line.
func (m *client) readLine(line []byte) (wire.BatchReply, error) {
	var w struct {
		CustomID string `json:"custom_id"`
		Result   struct {
			Type    string          `json:"type"`
			Message json.RawMessage `json:"message"`
			Error   json.RawMessage `json:"error"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &w); err != nil {
		return wire.BatchReply{}, m.Client.Garbled(wire.Answer{Text: line}, err)
	}
	r := wire.BatchReply{ID: w.CustomID}
	switch w.Result.Type {
	case "succeeded":
		r.Reply, r.Err = m.decode(wire.Answer{Status: http.StatusOK, Text: w.Result.Message}, nil)
		r.Reply.Attempts = 1
	case "errored":
		a := wire.Answer{Status: http.StatusInternalServerError, Text: w.Result.Error}
		if status, ok := statuses[m.Client.Trouble(a).Type]; ok {
			a.Status = status
		}
		r.Err = m.Client.StatusError(a)
	case "expired":
		r.Err = &deem.ModelError{Kind: deem.Timeout, Code: "expired", Passing: true, Err: errors.New("the batch expired before the request was made")}
	default:
		r.Err = &deem.ModelError{Kind: deem.Provider, Code: w.Result.Type, Passing: true, Err: errors.New("the request was not made")}
	}
	return r, nil
}

// statuses maps error types to the HTTP status of a single call. A result in a batch has no
// status.
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
