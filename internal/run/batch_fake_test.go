package run_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"testing"
	"time"

	"deem"
	"deem/internal/model"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/wire"
)

// errKilled represents the death of the process.
var errKilled = errors.New("killed")

// A reaper kills the process at the n-th step that changes something, before or after it
// took effect. The zero value never kills.
type reaper struct {
	at    int // from 1; 0 means never
	after bool
	steps int
}

// step runs a step, unless the process dies before.
func (r *reaper) step(do func() error) error {
	r.steps++
	due := r.steps == r.at
	if due && !r.after {
		return errKilled
	}
	if err := do(); err != nil {
		return err
	}
	if due {
		return errKilled
	}
	return nil
}

// A memory is a store of one run that is written in steps.
type memory struct {
	reaper  *reaper
	batches []store.Batch
	lines   map[string]store.BatchLine
}

func newMemory() *memory { return &memory{reaper: &reaper{}, lines: map[string]store.BatchLine{}} }

func (m *memory) PutBatch(ctx context.Context, _ string, b store.Batch, lines []store.BatchLine) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.reaper.step(func() error {
		for _, l := range lines {
			if old, ok := m.lines[l.Key]; ok && old.Batch != b.Key {
				return store.ErrLineTaken
			}
		}
		i := slices.IndexFunc(m.batches, func(old store.Batch) bool { return old.Key == b.Key })
		if i < 0 {
			m.batches = append(m.batches, b)
		} else {
			m.batches[i] = b
		}
		for _, l := range lines {
			l.Batch = b.Key
			m.lines[l.Key] = l
		}
		return nil
	})
}

func (m *memory) Batches(context.Context, string) ([]store.Batch, error) {
	list := slices.Clone(m.batches)
	for i := range list {
		for _, l := range m.lines {
			if l.Batch == list[i].Key && l.Reply != nil {
				list[i].Replies++
				list[i].OwedMicros += l.Reply.CostMicros
			}
		}
	}
	return list, nil
}

func (m *memory) BatchLine(_ context.Context, _, key string) (store.BatchLine, bool, error) {
	l, ok := m.lines[key]
	for _, b := range m.batches {
		if b.Key == l.Batch {
			l.State = b.State
		}
	}
	return l, ok, nil
}

func (m *memory) DropBatch(_ context.Context, _, key string) error {
	return m.reaper.step(func() error {
		m.batches = slices.DeleteFunc(m.batches, func(b store.Batch) bool { return b.Key == key })
		for k, l := range m.lines {
			if l.Batch == key {
				delete(m.lines, k)
			}
		}
		return nil
	})
}

// A vendor accepts batches in memory.
type vendor struct {
	t      *testing.T
	reaper *reaper
	limits wire.BatchLimits

	// submit may fail the n-th submission, from 0, after the batch was accepted or not.
	submit func(n int) (taken bool, err error)

	// capacity, unless it is 0, is the maximum number of running lines.
	capacity int

	ripens time.Duration // time until a batch can be found
	takes  time.Duration // time until a batch ends
	blind  bool          // batches can be identified only after they have ended
	status func() error  // the error of a status request

	batches     []*held
	submissions int
}

// A held batch is one that the vendor accepted.
type held struct {
	id, key string
	ids     []string
	prompts map[string]string
	taken   time.Time
	refused bool
}

func (v *vendor) Name() string { return "fake:batches" }

func (v *vendor) Complete(context.Context, deem.Request) (deem.Reply, error) {
	v.t.Error("a batch makes calls of its own")
	return deem.Reply{}, errKilled
}

func (v *vendor) BatchLimits() wire.BatchLimits { return v.limits }

// validID matches the ids that vendors allow.
var validID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (v *vendor) BatchLine(id string, req deem.Request) ([]byte, error) {
	if !validID.MatchString(id) {
		v.t.Errorf("the id %q is not valid", id)
	}
	return json.Marshal([]string{id, req.Messages[0].Content})
}

func (v *vendor) SubmitBatch(ctx context.Context, b wire.Batch, lines *io.SectionReader) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	n := v.submissions
	v.submissions++
	taken, fail := true, error(nil)
	if v.submit != nil {
		taken, fail = v.submit(n)
	}
	if !taken {
		return "", fail
	}
	id := fmt.Sprint("batch_", len(v.batches))
	err := v.reaper.step(func() error {
		h := &held{id: id, key: b.Key, prompts: map[string]string{}, taken: time.Now()}
		if lines.Size() > v.limits.Bytes && b.Lines > 1 || b.Lines > v.limits.Lines {
			v.t.Errorf("a batch has %d lines and %d bytes", b.Lines, lines.Size())
		}
		scanner := bufio.NewScanner(lines)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			var l []string
			if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
				v.t.Errorf("line %q: %v", scanner.Text(), err)
				continue
			}
			h.ids = append(h.ids, l[0])
			h.prompts[l[0]] = l[1]
		}
		if len(h.ids) != b.Lines {
			v.t.Errorf("a batch of %d lines says that it has %d", len(h.ids), b.Lines)
		}
		h.refused = v.capacity > 0 && v.inProgress()+len(h.ids) > v.capacity
		v.batches = append(v.batches, h)
		return nil
	})
	if err == nil {
		err = fail
	}
	return id, err
}

// inProgress returns the number of running lines.
func (v *vendor) inProgress() int {
	n := 0
	for _, h := range v.batches {
		if !h.refused && !v.ended(h) {
			n += len(h.ids)
		}
	}
	return n
}

func (v *vendor) ended(h *held) bool { return time.Since(h.taken) >= v.takes }

func (v *vendor) FindBatch(ctx context.Context, b wire.Batch, known []string) (string, bool, error) {
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	sure := true
	for _, h := range v.batches {
		switch {
		case h.refused || slices.Contains(known, h.id) || time.Since(h.taken) < v.ripens:
		case v.blind && !v.ended(h) && len(h.ids) == b.Lines:
			sure = false
		case h.key == b.Key:
			return h.id, true, nil
		}
	}
	return "", sure, nil
}

func (v *vendor) find(id string) *held {
	for _, h := range v.batches {
		if h.id == id {
			return h
		}
	}
	v.t.Fatalf("the vendor is asked for the batch %q, which it does not have", id)
	return nil
}

func (v *vendor) BatchStatus(ctx context.Context, id string) (wire.BatchStatus, error) {
	if v.status != nil {
		if err := v.status(); err != nil {
			return wire.BatchStatus{}, err
		}
	}
	h := v.find(id)
	switch {
	case h.refused:
		why := &deem.ModelError{Kind: deem.Provider, Passing: true, Code: "token_limit_exceeded", Err: errors.New("too much")}
		return wire.BatchStatus{State: wire.BatchRefused, Err: why}, ctx.Err()
	case v.ended(h):
		return wire.BatchStatus{State: wire.BatchEnded, Total: len(h.ids), Done: len(h.ids)}, ctx.Err()
	}
	return wire.BatchStatus{State: wire.BatchRunning, Total: len(h.ids)}, ctx.Err()
}

func (v *vendor) BatchReplies(_ context.Context, id string) iter.Seq2[wire.BatchReply, error] {
	h := v.find(id)
	return func(yield func(wire.BatchReply, error) bool) {
		if !yield(wire.BatchReply{ID: "somebody else's"}, nil) {
			return
		}
		for _, line := range slices.Backward(h.ids) {
			r := wire.BatchReply{ID: line, Reply: deem.Reply{Text: "re: " + h.prompts[line], Stop: deem.StopEnd, Usage: deem.Usage{Input: 7}}}
			if h.prompts[line] == "expires" {
				r = wire.BatchReply{ID: line, Err: &deem.ModelError{Kind: deem.Timeout, Passing: true, Err: errors.New("it expired")}}
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// keyOf returns the key of a request.
func keyOf(req deem.Request) string {
	return model.Key((*vendor)(nil), req)
}

// requests yields prompts.
func requests(prompts ...string) iter.Seq2[deem.Request, error] {
	return func(yield func(deem.Request, error) bool) {
		for _, p := range prompts {
			if !yield(deem.Prompt(p), nil) {
				return
			}
		}
	}
}

// numbered returns n different prompts.
func numbered(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint("prompt ", i))
	}
	return list
}

// options returns options that send the prompts through v.
func options(t *testing.T, m *memory, v *vendor, prompts ...string) run.BatchOptions {
	t.Helper()
	if v.reaper == nil {
		v.reaper = &reaper{}
	}
	v.t = t
	return run.BatchOptions{
		Store: m, RunID: "run", Vendor: v, Requests: requests(prompts...),
		Cost: func(r deem.Reply) (int64, bool) { return int64(r.Usage.Input), true },
	}
}

// settled checks that each prompt was in one batch that the vendor began, and that its
// reply is stored.
func settled(t *testing.T, m *memory, v *vendor, prompts ...string) {
	t.Helper()
	times := map[string]int{}
	for _, h := range v.batches {
		if !h.refused {
			for _, p := range h.prompts {
				times[p]++
			}
		}
	}
	for _, p := range prompts {
		if times[p] != 1 {
			t.Fatalf("%q was in %d batches, want 1", p, times[p])
		}
		l := m.lines[keyOf(deem.Prompt(p))]
		if l.Reply == nil || l.Reply.Text != "re: "+p || l.Reply.CostMicros != 7 || l.Reply.Batch == "" || l.Reply.Attempts != 1 {
			t.Fatalf("the line of %q is %+v", p, l.Reply)
		}
	}
	for _, b := range m.batches {
		if b.State != store.BatchCollected {
			t.Fatalf("batch %s is %s in the end", b.ID, b.State)
		}
	}
}
