package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"time"
)

// To returns the target for a path below the client's base URL.
func (c *Client) To(path string) Target { return c.base.To(path) }

// With returns the target with additional query parameters.
func (t Target) With(query url.Values) Target {
	u := *t.url
	all := u.Query()
	maps.Copy(all, query)
	u.RawQuery = all.Encode()
	return Target{url: &u}
}

// Send posts a body of any length, streaming it, and returns the answer as Post does. The
// timeout limits a stall and not the whole call, since a large body takes time.
func (c *Client) Send(ctx context.Context, to Target, contentType string, body io.Reader, size int64) (Answer, error) {
	if err := c.ready(ctx); err != nil {
		return Answer{}, err
	}
	callCtx, alarm := newAlarm(ctx, c.timeout)
	defer alarm.stop()
	r := c.request(callCtx, http.MethodPost, to, nil)
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", contentType)
	r.Body, r.ContentLength = io.NopCloser(watched{body, alarm}), size
	a, err := c.trip(r, maxBody)
	if err != nil {
		return Answer{}, c.transportError(ctx, callCtx, err)
	}
	return a, nil
}

// Lines requests a text of any length with JSON on each line, and yields its lines while
// reading; empty ones are skipped. The timeout limits a stall. If the status is an error,
// the error is that of StatusError.
func (c *Client) Lines(ctx context.Context, to Target) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := c.ready(ctx); err != nil {
			yield(nil, err)
			return
		}
		callCtx, alarm := newAlarm(ctx, c.timeout)
		defer alarm.stop()
		resp, err := c.send.do(c.request(callCtx, http.MethodGet, to, nil))
		if err != nil {
			yield(nil, c.transportError(ctx, callCtx, err))
			return
		}
		defer resp.Body.Close() //nolint:errcheck // The data read so far is checked.
		if resp.StatusCode < 200 || resp.StatusCode > 299 {
			a, err := c.read(resp, maxBody)
			if err != nil {
				err = c.transportError(ctx, callCtx, err)
			} else {
				err = c.StatusError(a)
			}
			yield(nil, err)
			return
		}
		lines := bufio.NewReaderSize(watched{resp.Body, alarm}, 64<<10)
		for err == nil {
			var line []byte
			line, err = readLine(lines)
			if line = bytes.TrimSpace(line); len(line) > 0 {
				// Time that the caller takes does not count as a stall of the server.
				alarm.timer.Stop()
				if !yield(c.secrets.clean(line), nil) {
					return
				}
				alarm.reset()
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, c.transportError(ctx, callCtx, fmt.Errorf("read answer: %w", err)))
		}
	}
}

// Replies yields the results of read for the lines of a batch, up to the first error.
func Replies(batch string, lines iter.Seq2[[]byte, error], read func(line []byte) (BatchReply, error)) iter.Seq2[BatchReply, error] {
	return func(yield func(BatchReply, error) bool) {
		for line, err := range lines {
			var r BatchReply
			if err == nil {
				r, err = read(line)
				r.Reply.Batch = batch
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// readLine reads a line of at most maxBody bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxBody {
			return nil, tooLong(maxBody)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// An alarm cancels a stalled call.
type alarm struct {
	timer  *time.Timer
	after  time.Duration
	cancel context.CancelFunc
}

// newAlarm returns a context that is cancelled if nothing has moved for the given time.
func newAlarm(ctx context.Context, after time.Duration) (context.Context, *alarm) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &alarm{timer: time.AfterFunc(after, cancel), after: after, cancel: cancel}
}

func (a *alarm) reset() { a.timer.Reset(a.after) }

func (a *alarm) stop() {
	a.timer.Stop()
	a.cancel()
}

// watched is a reader that reports progress to an alarm.
type watched struct {
	io.Reader
	alarm *alarm
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.alarm.reset()
	}
	return n, err
}
