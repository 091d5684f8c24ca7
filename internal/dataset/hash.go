package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"

	"deem"
)

// A chain hashes items in order: each link is the hash of the previous link and of the
// item. Only items count, not the files they come from, so the same items in another format
// are the same dataset. [deem.DatasetHash] returns the same hash for items in memory.
//
// For many items, a goroutine hashes them while the next are read, because hashing takes a
// third of the time. It ends when end is called.
type chain struct {
	link  [sha256.Size]byte // of what was hashed
	batch []deem.Item       // not handed over yet
	size  int               // of the texts in batch
	queue chan []deem.Item  // nil before the first batch
	done  chan struct{}     // closed when all of the queue is hashed
}

// The size of a batch: small enough that its memory does not matter, unless a single item
// is large.
const (
	batchItems = 64
	batchBytes = 64 << 10
)

// add appends an item.
func (c *chain) add(it deem.Item) {
	c.batch, c.size = append(c.batch, it), c.size+TextSize(it)
	if len(c.batch) < batchItems && c.size < batchBytes {
		return
	}
	if c.queue == nil {
		c.queue, c.done = make(chan []deem.Item), make(chan struct{})
		go c.hashAll()
	}
	c.queue <- c.batch
	c.batch, c.size = make([]deem.Item, 0, batchItems), 0
}

// hashAll hashes the items from the queue.
func (c *chain) hashAll() {
	defer close(c.done)
	for batch := range c.queue {
		c.hash(batch)
	}
}

func (c *chain) hash(batch []deem.Item) {
	for _, it := range batch {
		c.link = sha256.Sum256(append(c.link[:], it.Hash()...))
	}
}

// end hashes the remaining items. Nothing can be added afterwards.
func (c *chain) end() {
	if c.queue != nil {
		close(c.queue)
		<-c.done
	}
	c.hash(c.batch)
	c.batch, c.queue = nil, nil
}

// String returns the hash of all items in hexadecimal. It must be called after end.
func (c *chain) String() string { return hex.EncodeToString(c.link[:]) }

// TextSize returns the approximate size of an item in bytes: that of its texts.
func TextSize(it deem.Item) int {
	n := len(it.Question) + len(it.Response) + it.Messages.Size()
	for _, ref := range it.References {
		n += len(ref)
	}
	for _, text := range it.Fields {
		n += len(text)
	}
	return n
}

// HashItems returns the hash that a [Dataset] of these items has. Readers of benchmarks
// create their items themselves, and the hash of a dataset must not depend on its reader.
func HashItems(items iter.Seq2[deem.Item, error]) (string, error) { return deem.DatasetHash(items) }

// appendString appends s as encoding/json does without HTML escaping.
func appendString(b []byte, s string) []byte {
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // every string can be marshaled
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
