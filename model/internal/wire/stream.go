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

	"deem"
)

// To returns where calls to a path below the client's base URL go.
func (c *Client) To(path string) Target { return c.base.To(path) }

// With returns the target with more in its query.
func (t Target) With(query url.Values) Target {
	u := *t.url
	all := u.Query()
	maps.Copy(all, query)
	u.RawQuery = all.Encode()
	return Target{url: &u}
}

// Send posts a body of any length, which is read while it is sent, and returns the
// answer as Post does. The timeout bounds a standstill and not the whole call: a
// large body takes its time.
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

// Lines asks for a text of any length, of which each line is JSON, and yields its
// lines while it is read; empty ones are left out. The timeout bounds a standstill.
// An answer whose status is an error is the error of StatusError.
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
		defer resp.Body.Close() //nolint:errcheck // What was read is checked.
		if resp.StatusCode < 200 || resp.StatusCode > 299 {
			yield(nil, c.refused(ctx, callCtx, resp))
			return
		}
		done, err := eachLine(watched{resp.Body, alarm}, alarm, func(line []byte) bool { return yield(c.secrets.clean(line), nil) })
		if !done && err != nil {
			yield(nil, c.transportError(ctx, callCtx, err))
		}
	}
}

// Replies yields what read makes of the lines of a batch, up to the first error.
func Replies(batch string, lines iter.Seq2[[]byte, error], read func(line []byte) (deem.BatchReply, error)) iter.Seq2[deem.BatchReply, error] {
	return func(yield func(deem.BatchReply, error) bool) {
		for line, err := range lines {
			var r deem.BatchReply
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

// refused reads the answer of a server that has no lines.
func (c *Client) refused(ctx, callCtx context.Context, resp *http.Response) error {
	a, err := c.read(resp, maxBody)
	if err != nil {
		return c.transportError(ctx, callCtx, err)
	}
	return c.StatusError(a)
}

// eachLine hands the lines to do. It reports whether do had enough.
func eachLine(r io.Reader, a *alarm, do func([]byte) bool) (done bool, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(lines)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			// However long the caller takes, it is not the server that stands still.
			a.pause()
			if !do(line) {
				return true, nil
			}
			a.reset()
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("read answer: %w", err)
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

// An alarm cancels a call that stands still.
type alarm struct {
	timer  *time.Timer
	after  time.Duration
	cancel context.CancelFunc
}

// newAlarm returns a context that is cancelled when nothing has moved for so long.
func newAlarm(ctx context.Context, after time.Duration) (context.Context, *alarm) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &alarm{timer: time.AfterFunc(after, cancel), after: after, cancel: cancel}
}

func (a *alarm) reset() { a.timer.Reset(a.after) }
func (a *alarm) pause() { a.timer.Stop() }

func (a *alarm) stop() {
	a.timer.Stop()
	a.cancel()
}

// watched is a reader that says when it moves.
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
