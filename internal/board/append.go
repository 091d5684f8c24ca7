package board

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Append adds to the log what changed since its last entry, and signs a new checkpoint:
// board.yaml, new run files, files in place of others, and the withdrawn files, which must be
// gone from the folder. The reason is that of corrections and withdrawals. Nothing is added if
// a new file or the log is not right. It returns the new entries as lines of text.
func (b *Board) Append(ctx context.Context, key ed25519.PrivateKey, withdraw []string, reason string) ([]string, error) {
	log, err := b.readLog()
	if err != nil {
		return nil, err
	}
	if err := b.signedSoFar(log); err != nil {
		return nil, err
	}
	added, err := b.changes(ctx, log, withdraw, reason)
	if err != nil || len(added) == 0 {
		return nil, err
	}
	var said []string
	for _, e := range added {
		said = append(said, fmt.Sprintf("entry %d: %s %s", len(log.entries), e.Action, e.File))
		if err := log.add(e); err != nil {
			return nil, err
		}
	}
	return said, log.write(b, key)
}

// signedSoFar checks that the checkpoint is of the whole log.
func (b *Board) signedSoFar(log *history) error {
	if len(log.entries) == 0 {
		return nil
	}
	text, err := os.ReadFile(b.path(checkpointFile))
	if err != nil {
		return err
	}
	point, err := b.openCheckpoint(text)
	if err == nil {
		err = log.holds(point)
	}
	if err == nil && point.size != int64(len(log.entries)) {
		err = fmt.Errorf("it counts %d of %d entries", point.size, len(log.entries))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", checkpointFile, err)
	}
	return nil
}

// changes returns the new entries.
func (b *Board) changes(ctx context.Context, log *history, withdraw []string, reason string) ([]entry, error) {
	live := log.live()
	var list []entry
	if at, ok := live[configFile]; !ok || log.entries[at].SHA256 != b.hash {
		list = append(list, entry{Action: actionRules, File: configFile, SHA256: b.hash})
	}
	for _, file := range withdraw {
		_, logged := live[file]
		switch {
		case !logged:
			return nil, fmt.Errorf("the log has no %s to withdraw", file)
		case slices.Contains(b.files, file):
			return nil, fmt.Errorf("%s is still there: remove the file, then withdraw it", file)
		case reason == "":
			return nil, errors.New("a withdrawal needs a reason")
		}
		list = append(list, entry{Action: actionWithdraw, File: file, Reason: reason})
		delete(live, file)
	}
	for _, file := range b.files {
		text, err := os.ReadFile(b.path(file))
		if err != nil {
			return nil, err
		}
		at, logged := live[file]
		delete(live, file)
		if logged && log.entries[at].SHA256 == hashOf(text) {
			continue
		}
		if logged && reason == "" {
			return nil, fmt.Errorf("%s was changed, and a correction needs a reason", file)
		}
		e, err := b.entryOf(ctx, file)
		if err != nil {
			return nil, err
		}
		if logged {
			e.Action, e.Reason = actionCorrect, reason
		}
		list = append(list, e)
	}
	for file := range live {
		if file != configFile {
			return nil, fmt.Errorf("%s is missing, and entry %d has it: put it back, or withdraw it with a reason", file, live[file])
		}
	}
	return list, nil
}

// entryOf verifies a run file and returns the entry that adds it.
func (b *Board) entryOf(ctx context.Context, file string) (entry, error) {
	c := &Checked{board: b}
	for _, l := range b.config.Lanes {
		c.lanes = append(c.lanes, &laneResult{lane: l})
	}
	r, err := c.file(ctx, file, Options{})
	if err != nil {
		return entry{}, err
	}
	if len(c.Findings) > 0 {
		return entry{}, fmt.Errorf("nothing is added to the log: %s", c.Findings[0])
	}
	return entry{Action: actionAdd, File: file, SHA256: r.sha, Root: r.root, System: r.System, Signer: r.signer}, nil
}
