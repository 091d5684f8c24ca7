package deem

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
)

// DatasetHash returns the hash of a dataset, which identifies runs over the same items. It
// depends on the items and their order, but not on the files they come from. It is a hash
// chain: each link is the SHA-256 of the link before (at first 32 zero bytes) and the hash of
// the next item.
//
// It reads all items, one at a time. The error is that of the stream.
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
