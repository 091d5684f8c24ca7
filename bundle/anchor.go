package bundle

import (
	"errors"
	"fmt"
	"strings"

	"deem"
)

// An Anchor names a run file, or a lock, by its hash in one short line. Posted where time can
// be seen, the line proves later that the file is the one that existed then: [Verify] without
// a key finds only what does not fit together, and a file that was made again from changed
// records fits together.
//
// The hash of a run file is its [Verification.Root], which is the same in a redacted copy.
type Anchor struct {
	Of   string // the id of the run, or [AnchorOfLock]
	Hash string // SHA-256 in hexadecimal
}

// AnchorOfLock is what the anchor of a lock is of: there is no run yet.
const AnchorOfLock = "lock"

const (
	anchorMark = "deem-anchor-1 " // with the version of the form
	anchorHash = " sha256:"
)

// String returns the anchor as one line, as "deem-anchor-1 20261116-01de8a sha256:...".
func (a Anchor) String() string { return anchorMark + a.Of + anchorHash + a.Hash }

// ParseAnchor reads the line of an anchor.
func ParseAnchor(text string) (Anchor, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), anchorMark)
	at := strings.LastIndex(rest, anchorHash)
	if !ok || at < 1 || !isHash([]byte(rest[at+len(anchorHash):])) {
		err := fmt.Errorf("%q is not an anchor: want %sRUN%s and 64 hexadecimal digits", text, anchorMark, anchorHash)
		return Anchor{}, deem.WithHint(err, "deem export --anchor and deem lock --anchor print one; quote the line")
	}
	return Anchor{Of: rest[:at], Hash: rest[at+len(anchorHash):]}, nil
}

// Check compares the anchor of a run with a file that was verified.
func (a Anchor) Check(v *Verification) error {
	switch {
	case v.Root == "":
		return errors.New("it has no root hash, because its manifest cannot be read")
	case v.Root != a.Hash:
		return fmt.Errorf("its root hash is sha256:%s, and the anchor says sha256:%s", v.Root, a.Hash)
	case v.Run.ID != a.Of:
		return fmt.Errorf("it is of run %q, and the anchor says %q", v.Run.ID, a.Of)
	}
	return nil
}
