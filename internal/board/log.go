package board

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"deem"
)

// What an entry of the log does.
const (
	actionAdd      = "add"      // a run file
	actionCorrect  = "correct"  // a run file in place of one with the same name
	actionWithdraw = "withdraw" // a run file, which may then be missing
	actionRules    = "rules"    // board.yaml
)

// An entry is a line of the log, in canonical JSON. Nothing is ever taken out of the log.
type entry struct {
	Action string `json:"action"`
	File   string `json:"file"`
	SHA256 string `json:"sha256,omitempty"` // of the file; none for withdraw
	Root   string `json:"root,omitempty"`   // of the run file
	System string `json:"system,omitempty"`
	Signer string `json:"signer,omitempty"` // fingerprint of the key in the run file
	Reason string `json:"reason,omitempty"` // of correct and withdraw
}

// A history is the log of a board with its Merkle tree.
type history struct {
	entries []entry
	lines   [][]byte
	hashes  hashes // of the tree, as package tlog stores them
}

type hashes []tlog.Hash

// ReadHashes returns stored hashes.
func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if at < 0 || at >= int64(len(h)) {
			return nil, fmt.Errorf("the tree has no hash %d", at)
		}
		out[i] = h[at]
	}
	return out, nil
}

// readLog reads the log, which may be missing.
func (b *Board) readLog() (*history, error) {
	h := &history{}
	text, err := os.ReadFile(b.path(entriesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var e entry
		err := json.Unmarshal(line, &e)
		again, _ := deem.Canonical(e) //nolint:errcheck // It has texts only.
		if err != nil || !bytes.Equal(again, line) {
			return nil, fmt.Errorf("%s:%d: this is not an entry as deem writes it", entriesFile, i+1)
		}
		if err := h.add(e); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// add appends an entry.
func (h *history) add(e entry) error {
	line, err := deem.Canonical(e)
	if err != nil {
		return err
	}
	more, err := tlog.StoredHashes(int64(len(h.lines)), line, h.hashes)
	if err != nil {
		return err
	}
	h.entries, h.lines, h.hashes = append(h.entries, e), append(h.lines, line), append(h.hashes, more...)
	return nil
}

// live returns the index of the entry that holds for each file.
func (h *history) live() map[string]int {
	last := map[string]int{}
	for i, e := range h.entries {
		last[e.File] = i
		if e.Action == actionWithdraw {
			delete(last, e.File)
		}
	}
	return last
}

// A checkpoint is the signed size and hash of the log.
type checkpoint struct {
	size int64
	hash tlog.Hash
	text []byte // signed
}

// openCheckpoint checks the signature of a checkpoint.
func (b *Board) openCheckpoint(text []byte) (checkpoint, error) {
	c := checkpoint{text: text}
	key, err := note.NewVerifier(b.config.Key)
	if err != nil {
		return c, fmt.Errorf("the key in %s: %w", configFile, err)
	}
	n, err := note.Open(text, note.VerifierList(key))
	if err != nil {
		return c, fmt.Errorf("the checkpoint is not signed with the key in %s: %w", configFile, err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 || lines[0] != b.config.Origin {
		return c, fmt.Errorf("the checkpoint is not one of %s", b.config.Origin)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	sum, err2 := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || err2 != nil || size < 0 || len(sum) != len(c.hash) {
		return c, errors.New("the checkpoint has no size and hash")
	}
	c.size, c.hash = size, tlog.Hash(sum)
	return c, nil
}

// holds proves that a checkpoint is one of this log: that the log begins with its entries.
func (h *history) holds(c checkpoint) error {
	n := int64(len(h.lines))
	if c.size > n {
		return fmt.Errorf("it counts %d entries, and the log has %d: entries were removed", c.size, n)
	}
	if c.size == 0 {
		return nil
	}
	now, err := tlog.TreeHash(n, h.hashes)
	if err != nil {
		return err
	}
	proof, err := tlog.ProveTree(n, c.size, h.hashes)
	if err != nil {
		return err
	}
	if err := tlog.CheckTree(proof, n, now, c.size, c.hash); err != nil {
		return fmt.Errorf("the log does not begin with its %d entries: some were changed, removed or reordered", c.size)
	}
	return nil
}

// included proves that an entry is in the tree of a checkpoint.
func (h *history) included(c checkpoint, at int) error {
	proof, err := tlog.ProveRecord(c.size, int64(at), h.hashes)
	if err != nil {
		return err
	}
	return tlog.CheckRecord(proof, c.size, c.hash, int64(at), tlog.RecordHash(h.lines[at]))
}

// keyHash is the hash of a key's name and bytes that package note asks for.
func keyHash(name string, key []byte) uint32 {
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	return binary.BigEndian.Uint32(sum[:])
}

// ed25519Mark is the algorithm in the keys of package note.
const ed25519Mark = 1

// VerifierKey returns a public key as board.yaml has it.
func VerifierKey(origin string, key ed25519.PublicKey) (string, error) {
	return note.NewEd25519VerifierKey(origin, key)
}

// sign returns the checkpoint of a log.
func (h *history) sign(origin string, key ed25519.PrivateKey) ([]byte, error) {
	public := append([]byte{ed25519Mark}, key.Public().(ed25519.PublicKey)...)
	signer, err := note.NewSigner(fmt.Sprintf("PRIVATE+KEY+%s+%08x+%s", origin, keyHash(origin, public),
		base64.StdEncoding.EncodeToString(append([]byte{ed25519Mark}, key.Seed()...))))
	if err != nil {
		return nil, err
	}
	tree, err := tlog.TreeHash(int64(len(h.lines)), h.hashes)
	if err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", origin, len(h.lines), tree)}, signer)
}

// write writes log and checkpoint.
func (h *history) write(b *Board, key ed25519.PrivateKey) error {
	signed, err := h.sign(b.config.Origin, key)
	if err != nil {
		return err
	}
	if _, err := b.openCheckpoint(signed); err != nil {
		return deem.WithHint(errors.New("the key is not the one that board.yaml names"), "key in board.yaml: the line that deem board key prints")
	}
	if err := os.MkdirAll(filepath.Dir(b.path(entriesFile)), 0o755); err != nil { //nolint:gosec // A board is public.
		return err
	}
	text := append(bytes.Join(h.lines, []byte("\n")), '\n')
	if err := os.WriteFile(b.path(entriesFile), text, 0o644); err != nil { //nolint:gosec // A board is public.
		return err
	}
	return os.WriteFile(b.path(checkpointFile), signed, 0o644) //nolint:gosec // A board is public.
}
