package bundle

import (
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"sync"

	"deem"
)

// Items and records are most of a bundle, and their lines can be checked independently,
// except for their links. So one goroutine reads lines, several check them, and one checks
// the links and counts in the order of the file.

// A job is a batch of lines to check.
type job struct {
	before *line // the last item before the lines, to which the first records may belong
	lines  []line
	out    []outcome
	done   chan struct{}
}

// The size of a batch in lines and bytes. It keeps the overhead small and memory bounded.
const (
	jobLines = 64
	jobBytes = 1 << 20
)

// An outcome is the result of checking one line independently.
type outcome struct {
	line     line // without its body
	findings []Finding
	item     *wireItem    // of a line of kind item that could be read
	record   *deem.Record // of a line of kind record that could be read
	of       string       // hash of the record's item

	prompts, wires, verdicts int
}

// body checks the items and records from l on, and returns the manifest's line.
func (c *checker) body(ctx context.Context, lines *scanner, l line) (line, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := c.opts.Concurrency
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	jobs, order := make(chan *job, workers), make(chan *job, 2*workers)
	var wg sync.WaitGroup
	var last line
	var err error
	wg.Go(func() {
		defer close(order)
		defer close(jobs)
		last, err = c.feed(inner, lines, l, func(j *job) bool {
			return send(inner, jobs, j) && send(inner, order, j)
		})
	})
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				c.work(inner, j)
				close(j.done)
			}
		})
	}
	for j := range order {
		<-j.done
		for _, out := range j.out {
			c.collect(out)
		}
	}
	wg.Wait()
	c.itemEnds(last.n)
	if ctx.Err() != nil {
		return last, ctx.Err()
	}
	return last, err
}

// send sends a job. It returns false if ctx is done.
func send(ctx context.Context, to chan<- *job, j *job) bool {
	select {
	case to <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// feed puts the lines into jobs until the manifest.
func (c *checker) feed(ctx context.Context, lines *scanner, l line, put func(*job) bool) (line, error) {
	var before *line
	j, size := &job{done: make(chan struct{})}, 0
	flush := func() bool {
		full := j
		j, size = &job{before: before, done: make(chan struct{})}, 0
		return len(full.lines) == 0 || put(full)
	}
	for {
		switch l.kind {
		case kindItem, kindRecord:
		case kindManifest:
			flush()
			return l, nil
		default:
			flush()
			return l, &lineError{Finding{Check: checkOrder, Line: l.n, Message: fmt.Sprintf("a line of kind %q stands among the records", l.kind)}}
		}
		j.lines = append(j.lines, l)
		if l.kind == kindItem {
			kept := l
			before = &kept
		}
		size += len(l.body)
		if (len(j.lines) >= jobLines || size >= jobBytes) && !flush() {
			return l, ctx.Err()
		}
		var err error
		if l, err = lines.more(); err != nil {
			flush()
			return l, err
		}
	}
}

// work checks the lines of a job.
func (c *checker) work(ctx context.Context, j *job) {
	var item *wireItem
	if j.before != nil {
		if it, err := decodeItem(j.before.body); err == nil {
			item = &it // if it cannot be read, another job has reported it
		}
	}
	for _, l := range j.lines {
		out := outcome{line: l}
		out.line.body = nil
		if l.kind == kindItem {
			item = c.checkItem(l, &out)
		} else {
			c.checkRecord(ctx, l, item, &out)
		}
		j.out = append(j.out, out)
	}
	j.lines = nil
}

// checkItem checks an item independently. It returns nil for one that cannot be read.
func (c *checker) checkItem(l line, out *outcome) *wireItem {
	it, err := decodeItem(l.body)
	if err != nil {
		out.find(checkForm, "", err.Error())
		return nil
	}
	sealed := l.body
	if c.out.Header.Redacted {
		if !it.isSealed() {
			out.find(checkForm, it.item.ID, "the item of a redacted bundle holds text")
		}
	} else {
		sealed = it.sealed().encode()
		if hash := it.item.Hash(); hash != it.hash {
			out.find(checkItem, it.item.ID, fmt.Sprintf("the item has hash %s, and the file says %s", deem.ShortHash(hash), deem.ShortHash(it.hash)))
		}
	}
	if chainHash(l.prev, l.kind, sealed) != l.hash {
		out.find(checkChain, it.item.ID, "the item was changed: its line does not match its hash")
	}
	out.item = &wireItem{hash: it.hash, position: it.position, item: deem.Item{ID: it.item.ID}}
	return &it
}

// checkRecord checks a record independently and against its item, which is nil if it could
// not be read.
func (c *checker) checkRecord(ctx context.Context, l line, item *wireItem, out *outcome) {
	w, err := decode[wireRecord](l.body)
	if err != nil {
		out.find(checkForm, "", err.Error())
		return
	}
	known := item != nil && item.hash == w.Item
	if !known {
		item = &wireItem{} // the collector reports that the record belongs to another item
	}
	rec := w.record(item.item)
	out.record, out.of = &rec, w.Item
	sealed := l.body
	if !c.out.Header.Redacted {
		sealed, err = deem.Canonical(w.sealed())
	} else if !w.isSealed() {
		out.findIn(checkForm, rec, "the record of a redacted bundle holds text")
	}
	if err != nil {
		out.findIn(checkForm, rec, err.Error())
	} else if chainHash(l.prev, l.kind, sealed) != l.hash {
		out.findIn(checkChain, rec, "the record was changed: its line does not match its hash")
	}
	if problem := c.within(rec); problem != "" {
		out.findIn(checkRecord, rec, problem)
	}
	if known {
		c.recheck(ctx, rec, out)
	}
}

func (out *outcome) find(check, item, message string) {
	out.findings = append(out.findings, Finding{Check: check, Line: out.line.n, Item: item, Message: message})
}

func (out *outcome) findIn(check string, rec deem.Record, message string) {
	out.findings = append(out.findings, Finding{Check: check, Line: out.line.n, Item: rec.Item.ID, Trial: rec.Trial, Message: message})
}

// within describes an inconsistency in a record.
func (c *checker) within(rec deem.Record) string {
	switch {
	case rec.Verdict == nil && rec.Failure == nil:
		return "it has neither a verdict nor a failure"
	case rec.Verdict != nil && rec.Failure != nil:
		return "it has both a verdict and a failure"
	case rec.Verdict != nil && (rec.Verdict.Score < 0 || rec.Verdict.Score > 1):
		return fmt.Sprintf("its score %v lies outside 0 to 1", rec.Verdict.Score)
	case rec.Verdict != nil && rec.Verdict.Label == "":
		return "its verdict has no label"
	case rec.Judge != c.judge.Name:
		return fmt.Sprintf("it is by judge %q, and the run by %q", rec.Judge, c.judge.Name)
	case rec.Trial < 0 || rec.Trial >= max(1, c.out.Run.Trials):
		return fmt.Sprintf("it is of trial %d, and there are %d", rec.Trial, c.out.Run.Trials)
	}
	for _, call := range rec.Calls {
		if (call.Reply == nil) == (call.Error == "") {
			return "one of its calls has not either a reply or an error"
		}
	}
	return ""
}

// A sequence is the state that links the lines of a bundle.
type sequence struct {
	head    string // hash of the last line
	counted Manifest
	gaps    bool // an item of the dataset is missing

	// dataset is the hash of the dataset: each link is the SHA-256 of the previous link and
	// the hash of the next item, in hexadecimal.
	dataset [sha256.Size]byte

	item    *wireItem // the last one, without its texts
	records int       // of that item
	trial   int       // of its last record
}

// collect checks a line against those before it, and counts it.
func (c *checker) collect(out outcome) {
	c.link(out.line)
	for _, f := range out.findings {
		c.find(f)
	}
	c.out.Prompts += out.prompts
	c.out.Wires += out.wires
	c.out.Verdicts += out.verdicts
	s := &c.seq
	if out.line.kind == kindItem {
		c.itemEnds(out.line.n)
		c.out.Items++
		expected := s.counted.Items
		s.counted.Items++
		if out.item == nil {
			s.item, s.gaps = nil, true
			return
		}
		if s.item != nil && out.item.position <= s.item.position || out.item.position < 0 {
			c.find(Finding{Check: checkOrder, Line: out.line.n, Item: out.item.item.ID, Message: fmt.Sprintf("the item stands at position %d, and not behind the one before it", out.item.position)})
		}
		s.gaps = s.gaps || out.item.position != expected
		s.dataset = sha256.Sum256(append(s.dataset[:], out.item.hash...))
		s.item, s.records = out.item, 0
		return
	}
	if out.record == nil {
		return
	}
	rec := *out.record
	wrong := func(format string, args ...any) {
		c.find(Finding{Check: checkOrder, Line: out.line.n, Item: rec.Item.ID, Trial: rec.Trial, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case s.item == nil || s.item.hash != out.of:
		wrong("the record is of item %s, and not of the item before it", deem.ShortHash(out.of))
	case s.item.position != rec.Position:
		wrong("the record is at position %d, and its item at %d", rec.Position, s.item.position)
	case s.records > 0 && rec.Trial <= s.trial:
		wrong("the record is of trial %d, and behind that of trial %d", rec.Trial, s.trial)
	}
	s.records++
	s.trial = rec.Trial
	s.counted.add(rec)
	c.out.Records++
	c.tally(rec, out.line.n)
}

// itemEnds checks that the current item has a record.
func (c *checker) itemEnds(n int) {
	if s := &c.seq; s.item != nil && s.records == 0 {
		c.find(Finding{Check: checkOrder, Line: n, Item: s.item.item.ID, Message: "the item has no record behind it"})
		s.records = 1 // report once
	}
}

// tally counts a record. The counter was created from the file and may panic on forged
// input.
func (c *checker) tally(rec deem.Record, n int) {
	if c.count == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			c.count = nil
			c.find(Finding{Check: CheckNumbers, Line: n, Item: rec.Item.ID, Trial: rec.Trial, Message: fmt.Sprintf("the record cannot be counted: %v", p)})
		}
	}()
	c.count.Add(rec)
}
