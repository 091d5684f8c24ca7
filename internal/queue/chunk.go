package queue

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"deem"
	"deem/internal/dataset"
)

// A placed item is one with its place in the dataset.
type placed struct {
	Position int       `json:"p"`
	Item     deem.Item `json:"i"`
}

const (
	// maxItems and maxBytes bound a chunk. A worker holds a few of them in memory.
	maxItems = 500
	maxBytes = 2 << 20

	// chunkWork is how much work a chunk is at most, in milliseconds of one call after
	// the other: about half a minute of sixteen at once.
	chunkWork = 30 * 16 * 1000

	// spread is into how many chunks a run is cut at least, if it has as many items: a
	// small run is to be shared by workers, too.
	spread = 24

	// An item that a model judges takes about a second, and a token of its prompt about
	// a twentieth of a millisecond; four bytes are a token. A rule reads a kilobyte in a
	// millisecond. The numbers are rough, and say only where to cut.
	modelWork     = 1000
	bytesPerMilli = 80
	ruleBytes     = 1000
)

// A sizer cuts items into chunks.
type sizer struct {
	rule     bool
	asks     int // calls about one item
	maxItems int
}

// newSizer returns the sizer of a run. When requests a minute are bounded, a chunk is no
// more than half a minute of them: others want a share.
func newSizer(items, trials int, rule bool, calls, rpm int) sizer {
	s := sizer{rule: rule, asks: max(1, calls) * trials, maxItems: min(maxItems, max(1, items/spread))}
	if rpm > 0 && !rule {
		s.maxItems = max(1, min(s.maxItems, rpm/2/s.asks))
	}
	return s
}

// work returns about how many milliseconds an item takes.
func (s sizer) work(bytes int) int64 {
	if s.rule {
		return int64(max(1, bytes/ruleBytes)) * int64(s.asks)
	}
	return int64(modelWork+bytes/bytesPerMilli) * int64(s.asks)
}

// A chunk is some items on their way into the database.
type chunk struct {
	n     int64
	place int64 // work of this run before it
	work  int64
	items int
	body  []byte
}

// A packer makes chunks of a stream of items.
type packer struct {
	sizer sizer
	next  chunk
	bytes int
	buf   bytes.Buffer
	zip   *flate.Writer
	enc   *json.Encoder
}

func newPacker(s sizer) *packer {
	p := &packer{sizer: s}
	p.zip, _ = flate.NewWriter(&p.buf, flate.BestSpeed) // The level is a good one.
	p.enc = json.NewEncoder(p.zip)
	p.enc.SetEscapeHTML(false)
	return p
}

// add takes an item, and returns a chunk when one is full.
func (p *packer) add(it placed) (chunk, bool, error) {
	if err := p.enc.Encode(it); err != nil {
		return chunk{}, false, fmt.Errorf("pack item %q: %w", it.Item.ID, err)
	}
	size := dataset.TextSize(it.Item)
	p.next.items++
	p.bytes += size
	p.next.work += p.sizer.work(size)
	if p.next.items < p.sizer.maxItems && p.next.work < chunkWork && p.bytes < maxBytes {
		return chunk{}, false, nil
	}
	c, err := p.cut()
	return c, true, err
}

// last returns what is left.
func (p *packer) last() (chunk, bool, error) {
	if p.next.items == 0 {
		return chunk{}, false, nil
	}
	c, err := p.cut()
	return c, true, err
}

func (p *packer) cut() (chunk, error) {
	if err := p.zip.Close(); err != nil {
		return chunk{}, err
	}
	c := p.next
	c.body = bytes.Clone(p.buf.Bytes())
	p.next = chunk{n: c.n + 1, place: c.place + c.work}
	p.bytes = 0
	p.buf.Reset()
	p.zip.Reset(&p.buf)
	return c, nil
}

// unpack returns the items of a chunk.
func unpack(body []byte) ([]placed, error) {
	r := flate.NewReader(bytes.NewReader(body))
	dec := json.NewDecoder(bufio.NewReader(r))
	var list []placed
	for {
		var it placed
		err := dec.Decode(&it)
		if errors.Is(err, io.EOF) {
			return list, r.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("unpack a chunk: %w", err)
		}
		list = append(list, it)
	}
}
