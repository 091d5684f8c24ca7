package run

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/model"
	"deem/internal/store"
	"deem/internal/wire"
)

// submitMissing splits the requests that are not in a batch into batches, and submits each
// as soon as it is complete.
func (r *runner) submitMissing(ctx context.Context) error {
	p, err := r.newBatchFile()
	if err != nil {
		return err
	}
	defer func() { p.close() }()
	for req, err := range r.missing(ctx) {
		if err != nil {
			return err
		}
		key := model.Key(r.Vendor, req)
		if p.has[key] {
			continue
		}
		line, err := p.line(key, req)
		if err != nil {
			return err
		}
		// A line that is too long for any batch gets its own batch, and the vendor reports
		// the error.
		if n := len(p.keys); n > 0 && (n >= r.size || p.bytes+int64(len(line)) > r.Vendor.BatchLimits().Bytes) {
			if err := r.submit(ctx, p); err != nil {
				return err
			}
			p.close()
			if p, err = r.newBatchFile(); err != nil {
				return err
			}
			if line, err = p.line(key, req); err != nil {
				return err
			}
		}
		if _, err := p.w.Write(line); err != nil {
			return fmt.Errorf("keep a batch of %d bytes: %w", p.bytes, err)
		}
		p.keys, p.has[key] = append(p.keys, key), true
		p.bytes += int64(len(line))
		if r.Budget != nil {
			p.most += r.Most(req)
		}
	}
	if len(p.keys) == 0 {
		return nil
	}
	return r.submit(ctx, p)
}

// keyDigits is the length of the key of a batch. With the 43 characters of the key of a
// request and a hyphen it makes 60 of the 64 characters that vendors allow in an id.
const keyDigits = 16

// A batchFile is a batch under construction. Its lines are in a file, because they may take
// hundreds of megabytes.
type batchFile struct {
	r    *runner
	file *os.File
	w    *bufio.Writer

	keys  []string
	has   map[string]bool
	bytes int64
	most  int64

	// name is part of the ids of the lines, and so is needed before all lines are
	// known. The key of a batch is therefore derived from its first request, the run
	// and the time: a request that is repeated later is in a different batch.
	name string
}

func (r *runner) newBatchFile() (*batchFile, error) {
	f, err := os.CreateTemp("", "deem-batch-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("make room for a batch: %w", err)
	}
	// On systems where an open file can be removed, a kill leaves nothing behind.
	_ = os.Remove(f.Name())
	return &batchFile{r: r, file: f, w: bufio.NewWriterSize(f, 1<<16), has: map[string]bool{}}, nil
}

// close removes the file.
func (p *batchFile) close() {
	_ = p.file.Close()
	_ = os.Remove(p.file.Name())
}

// line returns the line of a request. The vendor's limit of its id is 64 characters.
func (p *batchFile) line(key string, req deem.Request) ([]byte, error) {
	if p.name == "" {
		sum := sha256.Sum256([]byte(p.r.RunID + "\n" + key + "\n" + strconv.FormatInt(time.Now().UnixNano(), 10)))
		p.name = hex.EncodeToString(sum[:])[:keyDigits]
	}
	sum, err := hex.DecodeString(key)
	if err != nil || len(sum) != sha256.Size {
		return nil, fmt.Errorf("the key %q of a request is not a SHA-256", key)
	}
	line, err := p.r.Vendor.BatchLine(p.name+"-"+base64.RawURLEncoding.EncodeToString(sum), req)
	if err != nil {
		return nil, fmt.Errorf("write a line of a batch: %w", err)
	}
	return append(line, '\n'), nil
}

// keyOf returns the key of the request for the id of a line, and reports whether the line
// belongs to this batch.
func keyOf(batch, id string) (string, bool) {
	text, ok := strings.CutPrefix(id, batch+"-")
	sum, err := base64.RawURLEncoding.DecodeString(text)
	return hex.EncodeToString(sum), ok && err == nil && len(sum) == sha256.Size
}

// tries is the maximum number of attempts after transient errors before Run gives up. The
// next process continues.
const tries = 6

// submit submits a batch to the vendor, after storing that it is about to.
func (r *runner) submit(ctx context.Context, p *batchFile) error {
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("keep a batch of %d bytes: %w", p.bytes, err)
	}
	b := store.Batch{Key: p.name, State: store.BatchPlanned, Lines: len(p.keys), MostMicros: p.most}
	lines := make([]store.BatchLine, len(p.keys))
	for i, key := range p.keys {
		lines[i].Key = key
	}
	for try := 1; ; try++ {
		b.Planned = time.Now()
		if err := r.Store.PutBatch(ctx, r.RunID, b, lines); err != nil {
			return err
		}
		lines = nil // They are stored now.
		id, err := r.Vendor.SubmitBatch(ctx, asked(b), io.NewSectionReader(p.file, 0, p.bytes))
		if err == nil {
			r.reportf("batch %s is submitted: %d requests", id, b.Lines)
			return r.submitted(ctx, b, id)
		}
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok || ctx.Err() != nil {
			return err // The batch stays planned: it is unknown whether the vendor has it.
		}
		pause, refused := backOff(try), me.Status >= 400 && me.Status < 500 || me.Fatal
		switch {
		case refused && (!me.Passing || try >= tries):
			return errors.Join(err, r.Store.DropBatch(ctx, r.RunID, b.Key))
		case refused:
			r.reportf("the vendor did not take a batch: %v; trying again", me)
			pause = max(me.RetryAfter, pause)
		case try >= tries:
			return err
		default:
			r.reportf("no answer to a batch that was submitted: %v; asking whether it is there", me)
			if found, err := r.look(ctx, &b); err != nil || found {
				return err
			}
		}
		if err := r.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// asked returns a batch in the vendor's terms.
func asked(b store.Batch) wire.Batch {
	return wire.Batch{Key: b.Key, Lines: b.Lines, Planned: b.Planned}
}

// submitted stores that the vendor has a batch, even after cancellation.
func (r *runner) submitted(ctx context.Context, b store.Batch, id string) error {
	b.ID, b.State = id, store.BatchSubmitted
	if err := r.Store.PutBatch(context.WithoutCancel(ctx), r.RunID, b, nil); err != nil {
		return err
	}
	r.running = append(r.running, b)
	return nil
}

// look asks the vendor for a batch that may or may not exist, until the vendor is sure. A
// batch takes a moment to appear, so its absence counts only after the settle time.
func (r *runner) look(ctx context.Context, b *store.Batch) (found bool, err error) {
	var known []string
	list, err := r.Store.Batches(ctx, r.RunID)
	if err != nil {
		return false, err
	}
	for _, other := range list {
		if other.ID != "" {
			known = append(known, other.ID)
		}
	}
	said, troubles := false, 0
	for {
		id, sure, err := r.Vendor.FindBatch(ctx, asked(*b), known)
		left := time.Until(b.Planned.Add(settle))
		switch {
		case err != nil:
			if troubles++; !passing(err) || ctx.Err() != nil || troubles >= tries {
				return false, err
			}
			left = backOff(troubles)
		case id != "":
			b.ID = id // The caller reports it.
			return true, r.submitted(ctx, *b, id)
		case !sure:
			if !said {
				r.reportf("a batch of %d requests may be running at the vendor; it can be told from others only when it has ended", b.Lines)
				said = true
			}
			left = r.interval(false)
		case left <= 0:
			return false, nil
		}
		if err := r.wait(ctx, min(left, settle, longestPoll)); err != nil {
			return false, err
		}
	}
}
