package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"deem"
)

// The limits of an answer, in bytes.
const (
	maxBody = 64 << 20 // of lists, embeddings and lines of batches

	// A reply may be as long as the requested tokens, with everything that servers write
	// around them. Most tokens have four bytes, but one may have twenty, and JSON may need
	// six for each of them.
	maxReply   = 16 << 20 // if the request does not limit its tokens, and at most
	replyFloor = 1 << 20
	perToken   = 128
	perLogprob = 256 // per token, and for each of its alternatives
)

// errTooLong is returned if an answer exceeds the limit.
var errTooLong = errors.New("the answer is too long")

// An Answer is a server's answer, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Text   []byte
}

// OK reports whether the status means success.
func (a Answer) OK() bool { return a.Status >= 200 && a.Status <= 299 }

// Post sends body, encoded with [Encode] unless it is a []byte, and returns the answer,
// whatever its status. If there is none, the error is a [*deem.ModelError], or wraps that
// of ctx if ctx is done. A []byte must not be changed afterwards: a server may answer
// before it has read all of it.
func (c *Client) Post(ctx context.Context, to Target, body any) (Answer, error) {
	return c.post(ctx, to, body, maxBody)
}

// Complete posts the body of a request to a model and returns the answer as Post does. The
// length of the answer is limited by the request.
func (c *Client) Complete(ctx context.Context, to Target, req deem.Request, body any) (Answer, error) {
	limit := maxReply
	if req.MaxTokens > 0 {
		each := perToken
		if req.TopLogprobs > 0 {
			each += perLogprob * (1 + req.TopLogprobs)
		}
		limit = min(limit, replyFloor+each*min(req.MaxTokens, maxReply))
	}
	if c.maxReply > 0 {
		limit = c.maxReply
	}
	return c.post(ctx, to, body, limit)
}

func (c *Client) post(ctx context.Context, to Target, body any, limit int) (Answer, error) {
	text, ok := body.([]byte)
	if !ok {
		var err error
		if text, err = Encode(body); err != nil {
			return Answer{}, Unencodable(err)
		}
	}
	return c.call(ctx, http.MethodPost, to, text, limit)
}

// Get makes a GET request, for example for a list of models, and returns the answer as Post
// does.
func (c *Client) Get(ctx context.Context, to Target) (Answer, error) {
	return c.call(ctx, http.MethodGet, to, nil, maxBody)
}

// Read decodes the JSON of an answer into v. It returns err if it is not nil, or an error
// for an unsuccessful status.
func (c *Client) Read(a Answer, err error, v any) error {
	switch {
	case err != nil:
		return err
	case !a.OK():
		return c.StatusError(a)
	}
	if err := json.Unmarshal(a.Text, v); err != nil {
		return c.Garbled(a, err)
	}
	return nil
}

// ready returns why no call can be made, or nil.
func (c *Client) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.unkeyed
}

// call makes one call within the timeout.
func (c *Client) call(ctx context.Context, method string, to Target, body []byte, limit int) (Answer, error) {
	if err := c.ready(ctx); err != nil {
		return Answer{}, err
	}
	callCtx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r := c.request(callCtx, method, to, body)
	var secret string // of a cloud's credentials
	if c.authorize != nil {
		r.Header = r.Header.Clone() // the header shared by all calls must not change
		var err error
		secret, err = c.authorize(r, body)
		if _, ok := errors.AsType[*deem.ModelError](err); err != nil && !ok && callCtx.Err() == nil {
			err = &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: fmt.Errorf("authorize the call: %w", err)}
		}
		if err != nil {
			return Answer{}, err
		}
	}
	a, err := c.trip(r, limit)
	if err != nil {
		return Answer{}, c.transportError(ctx, callCtx, err)
	}
	if len(secret) >= minSecret {
		a.Text = bytes.ReplaceAll(a.Text, []byte(secret), []byte(redacted))
	}
	return a, nil
}

// request returns an HTTP request. It is assembled by hand, since all but the body is the
// same for all calls: parsing the URL and copying the headers would cost more than the
// rest.
func (c *Client) request(ctx context.Context, method string, to Target, body []byte) *http.Request {
	r := &http.Request{
		Method:     method,
		URL:        to.url,
		Host:       to.url.Host,
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
		Header:     c.header,
	}
	if body != nil {
		r.ContentLength = int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return r.WithContext(ctx)
}

// trip sends a request and reads the answer to the end, so that the connection can be
// reused.
func (c *Client) trip(r *http.Request, limit int) (Answer, error) {
	resp, err := c.send.do(r)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // The data read so far is checked.
	return c.read(resp, limit)
}

// read returns the answer in a response, without secrets that the server repeats.
func (c *Client) read(resp *http.Response, limit int) (Answer, error) {
	text, err := readAll(resp, limit)
	if err != nil {
		return Answer{}, err
	}
	for _, values := range resp.Header {
		for i, value := range values {
			values[i] = string(c.secrets.clean([]byte(value)))
		}
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Text: c.secrets.clean(text)}, nil
}

// readAll reads a body of at most limit bytes. If the server states the length, the buffer
// is allocated at once; the stated length is trusted up to 1 MB, and then up to eight times
// what has arrived.
func readAll(resp *http.Response, limit int) ([]byte, error) {
	room := int64(4 << 10)
	if resp.ContentLength >= 0 {
		room = min(resp.ContentLength, 1<<20) + 1 // one more byte, to see the end
	}
	text := make([]byte, 0, room)
	for {
		n, err := resp.Body.Read(text[len(text):min(cap(text), limit+1)])
		text = text[:len(text)+n]
		switch {
		case len(text) > limit:
			return nil, tooLong(limit)
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return nil, fmt.Errorf("read answer: %w", err)
		case len(text) == cap(text):
			more := len(text) + 1
			if left := int(min(resp.ContentLength, int64(limit))) - len(text); left > 0 {
				more = min(left, 7*len(text)) + 1
			}
			text = slices.Grow(text, more)
		}
	}
}

// tooLong returns the error of an answer longer than limit.
func tooLong(limit int) error {
	return deem.WithHint(fmt.Errorf("%w: more than %d bytes", errTooLong, limit),
		"if such answers are to be read, allow more bytes: --model-option max-reply=%d", 4*limit)
}

// Encode returns the JSON of v without HTML escaping.
func Encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}
