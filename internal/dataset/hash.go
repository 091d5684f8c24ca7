package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"

	"deem"
)

// A chain hashes items in order: each link is the hash of the one before and of
// the item. Only items count, not the files they come from, so that the same items
// in another format are the same dataset. [deem.DatasetHash] gives the same for items
// that are there already.
//
// Where there are many, a goroutine hashes them while the next are read: that is a third
// of all that is done to them. It is gone once end has been called.
type chain struct {
	link  [sha256.Size]byte // of what was hashed
	batch []deem.Item       // what is not handed over yet
	size  int               // of the texts in it
	queue chan []deem.Item  // nil before the first batch
	done  chan struct{}     // closed when all of the queue is hashed
}

// How much is handed over at once: few enough that it takes no memory to speak of, unless
// a single item does.
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

// hashAll hashes what comes through the queue.
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

// end hashes what is left. Nothing can be added after it.
func (c *chain) end() {
	if c.queue != nil {
		close(c.queue)
		<-c.done
	}
	c.hash(c.batch)
	c.batch, c.queue = nil, nil
}

// String returns the hash of all items in hexadecimal. It is to be called after end.
func (c *chain) String() string { return hex.EncodeToString(c.link[:]) }

// TextSize returns about how many bytes an item has: those of its texts.
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

// HashItems returns the hash that a [Dataset] of these items has. Readers of
// benchmarks make their items themselves, and the hash of a dataset must not depend
// on who read it.
func HashItems(items iter.Seq2[deem.Item, error]) (string, error) { return deem.DatasetHash(items) }

// appendString appends s as encoding/json writes a string when it does not escape
// for web pages.
func appendString(b []byte, s string) []byte {
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // Every string has a JSON.
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
