package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/wire"
)

// OpenAI's Batch API: a file of lines is uploaded, a batch is created from it, and when the
// batch has ended there are two files, one with the answered lines and one with the failed
// ones.

var _ wire.Batcher = (*client)(nil)

// The paths of the calls, below the base URL.
const (
	filesPath   = "/files"
	batchesPath = "/batches"
)

// batchURL is the URL that each line names, whatever the base URL is.
const batchURL = "/v1/chat/completions"

// keyName is the name of our key in the metadata of a batch.
const keyName = "deem"

// BatchLimits returns the limits of the API: 50,000 lines and 200 MB.
func (m *client) BatchLimits() wire.BatchLimits {
	return wire.BatchLimits{Lines: 50_000, Bytes: 200_000_000}
}

// BatchLine returns the line for a request: the body of the equivalent single call, without
// the service tier, since batches have their own.
func (m *client) BatchLine(id string, req deem.Request) ([]byte, error) {
	body := m.encode(req)
	body.ServiceTier = ""
	line, err := wire.Encode(struct {
		CustomID string `json:"custom_id"`
		Method   string `json:"method"`
		URL      string `json:"url"`
		Body     any    `json:"body"`
	}{id, http.MethodPost, batchURL, body.body()})
	if err != nil {
		return nil, wire.Unencodable(err)
	}
	return line, nil
}

// SubmitBatch uploads the lines and creates a batch from them. If the second step fails,
// the uploaded file costs nothing.
func (m *client) SubmitBatch(ctx context.Context, b wire.Batch, lines *io.SectionReader) (string, error) {
	// The form is built around the file, so that the file itself need not be in memory.
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", multipart.FileContentDisposition("file", b.Key+".jsonl"))
	h.Set("Content-Type", "application/jsonl")
	err := parts.WriteField("purpose", "batch")
	if err == nil {
		_, err = parts.CreatePart(h)
	}
	at := form.Len()
	if err = cmp.Or(err, parts.Close()); err != nil {
		return "", wire.Unencodable(err)
	}
	head, tail := form.Bytes()[:at], form.Bytes()[at:]
	body := io.MultiReader(bytes.NewReader(head), io.NewSectionReader(lines, 0, lines.Size()), bytes.NewReader(tail))
	size := int64(len(head)) + lines.Size() + int64(len(tail))
	var file struct {
		ID string `json:"id"`
	}
	a, err := m.Client.Send(ctx, m.Client.To(filesPath), parts.FormDataContentType(), body, size)
	if err := m.Client.Read(a, err, &file); err != nil {
		return "", err
	}
	if file.ID == "" {
		return "", m.Client.Garbled(a, errors.New("the file has no id"))
	}
	w, err := m.readBatch(m.Client.Post(ctx, m.Client.To(batchesPath), map[string]any{
		"input_file_id":     file.ID,
		"endpoint":          batchURL,
		"completion_window": "24h",
		"metadata":          map[string]string{keyName: b.Key},
	}))
	return w.ID, err
}

// A wireBatch is a batch, with the fields we use.
type wireBatch struct {
	ID           string         `json:"id"`
	Status       string         `json:"status"`
	CreatedAt    int64          `json:"created_at"`
	OutputFileID string         `json:"output_file_id"`
	ErrorFileID  string         `json:"error_file_id"`
	Metadata     map[string]any `json:"metadata"`
	Counts       struct {
		Total     int `json:"total"`
		Completed int `json:"completed"`
		Failed    int `json:"failed"`
	} `json:"request_counts"`
	Errors struct {
		Data []batchTrouble `json:"data"`
	} `json:"errors"`
}

// A batchTrouble is an error of a batch or one of its lines.
type batchTrouble struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    int    `json:"line"`
}

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

// FindBatch looks for the key of the batch in the metadata of the account's batches, newest
// first, back to the time it was planned.
func (m *client) FindBatch(ctx context.Context, b wire.Batch, known []string) (id string, sure bool, err error) {
	since := b.Planned.Add(-skew).Unix()
	query := url.Values{"limit": {"100"}}
	for {
		var page struct {
			Data    []wireBatch `json:"data"`
			HasMore bool        `json:"has_more"`
		}
		a, err := m.Client.Get(ctx, m.Client.To(batchesPath).With(query))
		if err := m.Client.Read(a, err, &page); err != nil {
			return "", false, err
		}
		for _, w := range page.Data {
			if w.Metadata[keyName] == b.Key && w.Status != "failed" && !slices.Contains(known, w.ID) {
				return w.ID, true, nil
			}
		}
		n := len(page.Data)
		if !page.HasMore || n == 0 || page.Data[n-1].CreatedAt < since {
			return "", true, nil
		}
		last := page.Data[n-1].ID
		if last == "" || last == query.Get("after") {
			// Otherwise the same page would be requested forever.
			return "", false, m.Client.Garbled(a, errors.New("the list of batches breaks off"))
		}
		query.Set("after", last)
	}
}

func (m *client) batch(ctx context.Context, id string) (wireBatch, error) {
	return m.readBatch(m.Client.Get(ctx, m.Client.To(batchesPath+"/"+id)))
}

// BatchStatus returns the progress of a batch.
func (m *client) BatchStatus(ctx context.Context, id string) (wire.BatchStatus, error) {
	w, err := m.batch(ctx, id)
	if err != nil {
		return wire.BatchStatus{}, err
	}
	s := wire.BatchStatus{State: wire.BatchRunning, Total: w.Counts.Total, Done: w.Counts.Completed + w.Counts.Failed}
	switch w.Status {
	case "completed", "expired", "cancelled":
		s.State = wire.BatchEnded
	case "failed":
		me := &deem.ModelError{Kind: deem.Provider}
		var says []string
		for _, t := range w.Errors.Data {
			text := t.Message
			if t.Line > 0 {
				text = fmt.Sprintf("line %d: %s", t.Line, text)
			}
			me.Code = cmp.Or(me.Code, t.Code)
			says = append(says, text)
		}
		if len(says) == 0 {
			says = []string{"no reason given"}
		}
		me.Err = fmt.Errorf("batch %s was refused: %s", w.ID, m.Client.Redact(wire.OneLine([]byte(strings.Join(says, "; ")))))
		// A batch that exceeds the account's limit of queued tokens may be accepted when
		// others have ended.
		me.Passing = me.Code == "token_limit_exceeded"
		if !me.Passing {
			me.Fatal = true
			me.Err = deem.WithHint(me.Err, "nothing was asked; if %s is not offered in batches, leave --batch out", m.Name())
		}
		s.State, s.Err = wire.BatchRefused, me
	}
	return s, nil
}

// BatchReplies yields the results of a batch: first the answered lines, then the others.
func (m *client) BatchReplies(ctx context.Context, id string) iter.Seq2[wire.BatchReply, error] {
	return func(yield func(wire.BatchReply, error) bool) {
		w, err := m.batch(ctx, id)
		if err != nil {
			yield(wire.BatchReply{}, err)
			return
		}
		for _, file := range []string{w.OutputFileID, w.ErrorFileID} {
			if file == "" {
				continue
			}
			for r, err := range wire.Replies(id, m.Client.Lines(ctx, m.Client.To(filesPath+"/"+file+"/content")), m.readLine) {
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// readLine parses the result of a line. The error is for a malformed line.
func (m *client) readLine(line []byte) (wire.BatchReply, error) {
	var w struct {
		CustomID string `json:"custom_id"`
		Response *struct {
			Status    int             `json:"status_code"`
			RequestID string          `json:"request_id"`
			Body      json.RawMessage `json:"body"`
		} `json:"response"`
		Error *batchTrouble `json:"error"`
	}
	if err := json.Unmarshal(line, &w); err != nil {
		return wire.BatchReply{}, m.Client.Garbled(wire.Answer{Text: line}, err)
	}
	r := wire.BatchReply{ID: w.CustomID}
	if w.Response != nil && w.Response.Status != 0 {
		r.Reply, r.Err = m.decode(wire.Answer{Status: w.Response.Status, Text: w.Response.Body}, nil)
		r.Reply.RequestID, r.Reply.Attempts = w.Response.RequestID, 1
		return r, nil
	}
	// The line was not processed. It may be submitted again.
	t := batchTrouble{Message: "the batch has no answer to it"}
	if w.Error != nil {
		t = *w.Error
	}
	me := &deem.ModelError{Kind: deem.Provider, Code: t.Code, Passing: true, Err: errors.New(m.Client.Redact(wire.OneLine([]byte(t.Message))))}
	if t.Code == "batch_expired" {
		me.Kind = deem.Timeout
	}
	r.Err = me
	return r, nil
}
