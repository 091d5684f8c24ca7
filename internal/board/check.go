package board

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"deem/bundle"
	"deem/internal/catalog"
	"deem/internal/reports"
)

// The kinds of findings.
const (
	KindFile       = "file"       // a run file is not what it says
	KindLane       = "lane"       // a run belongs to no lane
	KindLog        = "log"        // the log is not what the checkpoint signed, or files are not what the log names
	KindCheckpoint = "checkpoint" // the checkpoint is not signed, or is not one of this log
	KindRules      = "rules"      // board.yaml is not the one in the log
	KindDuplicate  = "duplicate"  // a run was submitted twice
	KindSigner     = "signer"     // a run file is signed by another key than before, or not at all
	KindPage       = "page"       // a page is not the one that the files give
)

// A Finding is something on the board that is not so.
type Finding struct {
	Kind    string `json:"kind"`
	File    string `json:"file"`
	Message string `json:"message"`
}

func (f Finding) String() string { return fmt.Sprintf("%s: %s: %s", f.File, f.Kind, f.Message) }

// Options configure a check.
type Options struct {
	// Since is an earlier checkpoint, which somebody kept. The log must begin with its
	// entries. nil compares only with the checkpoint in the folder.
	Since []byte

	Software string // of this program; see [bundle.VerifyOptions]
}

// A Checked is a board whose files were verified and whose numbers were computed.
type Checked struct {
	Findings []Finding `json:"findings"`

	// Pending are run files that the log does not have yet. They are verified, and not
	// shown.
	Pending []string `json:"pending"`
	Files   int      `json:"files"`
	Records int      `json:"records"`
	Entries int      `json:"entries"`

	board *Board
	log   *history
	point checkpoint
	lanes []*laneResult
}

// OK reports whether everything is so.
func (c *Checked) OK() bool { return len(c.Findings) == 0 }

func (c *Checked) find(kind, file, format string, args ...any) {
	c.Findings = append(c.Findings, Finding{kind, file, fmt.Sprintf(format, args...)})
}

// Check verifies every run file, computes every number again, and checks the log. Whatever is
// not so is a finding; the error is that of reading.
func (b *Board) Check(ctx context.Context, o Options) (*Checked, error) {
	c := &Checked{Findings: []Finding{}, Pending: []string{}, board: b}
	log, err := b.readLog()
	if err != nil {
		c.find(KindLog, entriesFile, "%v", err)
		log = &history{}
	}
	c.log, c.Entries = log, len(log.entries)
	if err := c.checkpoint(o.Since); err != nil {
		return nil, err
	}
	for _, l := range b.config.Lanes {
		c.lanes = append(c.lanes, &laneResult{lane: l})
	}
	live := log.live()
	if at, ok := live[configFile]; !ok || log.entries[at].SHA256 != b.hash {
		c.find(KindRules, configFile, "it is not the one in the log: lanes, floors or rules were changed; deem board log records a change")
	}
	roots := map[string]string{}
	for _, file := range b.files {
		r, err := c.file(ctx, file, o)
		if err != nil {
			return nil, err
		}
		at, logged := live[file]
		delete(live, file)
		if r == nil {
			continue
		}
		if first, twice := roots[r.root]; twice {
			c.find(KindDuplicate, file, "it has the same records as %s", first)
		}
		roots[r.root] = file
		if !logged {
			c.Pending = append(c.Pending, file)
			continue
		}
		c.logged(r, at)
	}
	for file, at := range live {
		if file != configFile {
			c.find(KindLog, file, "entry %d names it, and it is missing", at)
		}
	}
	c.signers()
	for _, l := range c.lanes {
		if err := l.compare(b.config.maxUnjudged()); err != nil {
			return nil, err
		}
		l.sameAnswers(c)
	}
	slices.SortStableFunc(c.Findings, func(x, y Finding) int { return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Kind, y.Kind)) })
	return c, nil
}

// checkpoint checks the checkpoint in the folder and the one that somebody kept.
func (c *Checked) checkpoint(since []byte) error {
	text, err := os.ReadFile(c.board.path(checkpointFile))
	if errors.Is(err, fs.ErrNotExist) {
		c.find(KindCheckpoint, checkpointFile, "it is missing: deem board log writes it")
		return nil
	}
	if err != nil {
		return err
	}
	point, err := c.board.openCheckpoint(text)
	if err == nil {
		err = c.log.holds(point)
	}
	switch {
	case err != nil:
		c.find(KindCheckpoint, checkpointFile, "%v", err)
	case point.size != int64(len(c.log.lines)):
		c.find(KindCheckpoint, checkpointFile, "it counts %d entries, and the log has %d: the others are not signed", point.size, len(c.log.lines))
	}
	c.point = point
	if since == nil {
		return nil
	}
	old, err := c.board.openCheckpoint(since)
	if err == nil {
		err = c.log.holds(old)
	}
	if err != nil {
		c.find(KindLog, entriesFile, "the earlier checkpoint: %v", err)
	}
	return nil
}

// logged compares a file with its entry, and adds it to its lane.
func (c *Checked) logged(r *row, at int) {
	e := c.log.entries[at]
	if e.SHA256 != r.sha || e.Root != r.root {
		c.find(KindLog, r.file, "it is not the file of entry %d: it was changed since", at)
		return
	}
	if e.System != r.System || e.Signer != r.signer {
		c.find(KindLog, r.file, "entry %d is of system %q signed by %q, and the file of %q signed by %q", at, e.System, e.Signer, r.System, r.signer)
	}
	if c.point.size > int64(at) {
		if err := c.log.included(c.point, at); err != nil {
			c.find(KindLog, r.file, "entry %d is not in the tree that the checkpoint signed: %v", at, err)
		}
	}
	r.Entry = at
	r.corrections(c.log)
	r.in.rows = append(r.in.rows, r)
}

// signers checks that the files of a system are always signed by the same key.
func (c *Checked) signers() {
	first := map[string]entry{}
	for i, e := range c.log.entries {
		if e.System == "" {
			continue
		}
		was, known := first[e.System]
		switch {
		case !known:
			first[e.System] = e
		case was.Signer != "" && e.Signer != was.Signer:
			c.find(KindSigner, e.File, "entry %d of system %s is signed by %q, and earlier ones by %q", i, e.System, e.Signer, was.Signer)
		}
	}
}

// file verifies one run file. It returns nil if there is nothing to show.
func (c *Checked) file(ctx context.Context, file string, o Options) (*row, error) {
	text, err := os.ReadFile(c.board.path(file))
	if err != nil {
		return nil, err
	}
	c.Files++
	v, err := Verify(ctx, text, o.Software)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c.Records += v.Records
	if !v.OK() || v.Found == nil {
		c.find(KindFile, file, "%s", wrong(v))
		return nil, nil
	}
	r := &row{file: file, sha: hashOf(text), root: v.Root, size: len(text), checks: v.Checks, notes: v.Notes, report: v.Found.Report, run: v.Found.Run, redacted: v.Header.Redacted}
	if v.SignedBy != nil {
		r.signer = bundle.Fingerprint(v.SignedBy)
	} else if c.board.config.Rules.Signed {
		c.find(KindSigner, file, "it is not signed, and the rules ask for a signature")
	}
	if err := r.read(ctx, bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if problem := r.place(c.lanes); problem != "" {
		c.find(KindLane, file, "%s", problem)
		return nil, nil
	}
	return r, nil
}

// wrong says what is wrong with a file.
func wrong(v *reports.Verified) string {
	if len(v.Findings) > 0 {
		return v.Findings[0].String()
	}
	return "its report cannot be computed"
}

// Verify checks the bytes of a run file: every check of "deem verify". The browser runs it.
func Verify(ctx context.Context, file []byte, software string) (*reports.Verified, error) {
	return reports.Verify(ctx, bytes.NewReader(file), reports.VerifyOptions{Restore: catalog.Restore, Software: software})
}
