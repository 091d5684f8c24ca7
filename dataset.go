package deem

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
)

// DatasetHash returns the hash of a dataset, by which runs over the same items know each
// other and which a run file is checked against: the SHA-256 of a chain, in which each
// link is hashed from the link before, at first 32 zero bytes, and the hash of the next
// item. Only items count, and their order. The files that they come from do not.
//
// It reads the items to their end, one at a time. Its error is that of the stream.
func DatasetHash(items iter.Seq2[Item, error]) (string, error) {
	var link [sha256.Size]byte
	for it, err := range items {
		if err != nil {
			return "", err
		}
		link = sha256.Sum256(append(link[:], it.Hash()...))
	}
	return hex.EncodeToString(link[:]), nil
}
