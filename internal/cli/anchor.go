package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"deem"
	"deem/bundle"
)

// An anchorLine identifies a run file, or a lock, by its hash in one short line. If the line is
// published with a timestamp, it later proves that the file is the one that existed then.
// [bundle.Verify] without a key finds only inconsistencies, and a file that was written again from
// changed records is consistent.
//
// The hash of a run file is its [bundle.Verification].Root, which is the same in a redacted copy.
type anchorLine struct {
	Of   string // the id of the run, or [anchorOfLock]
	Hash string // SHA-256 in hexadecimal
}

// anchorOfLock is the value of Of for a lock, which has no run yet.
const anchorOfLock = "lock"

const (
	anchorMark = "deem-anchor-1 " // with the version of the format
	anchorHash = " sha256:"
)

var anchorForm = regexp.MustCompile("(?s)^" + anchorMark + "(.+)" + anchorHash + "([0-9a-f]{64})$")

// String returns the anchor as one line, for example "deem-anchor-1 20261116-01de8a
// sha256:...".
func (a anchorLine) String() string { return anchorMark + a.Of + anchorHash + a.Hash }

// parseAnchor parses the line of an anchor.
func parseAnchor(text string) (anchorLine, error) {
	parts := anchorForm.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		err := fmt.Errorf("%q is not an anchor: want %sRUN%s and 64 hexadecimal digits", text, anchorMark, anchorHash)
		return anchorLine{}, deem.WithHint(err, "deem export --anchor and deem lock --anchor print one; quote the line")
	}
	return anchorLine{Of: parts[1], Hash: parts[2]}, nil
}

// check compares the anchor of a run with a verified file.
func (a anchorLine) check(v *bundle.Verification) error {
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
