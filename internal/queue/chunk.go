package queue

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"deem"
	"deem/internal/dataset"
)

// A chunk is a group of items of a run. It is the arguments of a River job.
type chunk struct {
	Run   string `json:"run"`
	Items []byte `json:"items"` // JSON lines, compressed; Postgres cannot store NUL characters in JSON

	count int
}

// Kind implements [river.JobArgs].
func (chunk) Kind() string { return "deem_chunk" }

// A placed item is an item with its position in the dataset.
type placed struct {
	Position int       `json:"p"`
	Item     deem.Item `json:"i"`
}

const (
	// maxItems and maxBytes limit the size of a chunk. A worker holds two chunks of each
	// run in memory.
	maxItems = 250
	maxBytes = 2 << 20

	// spread is the minimum number of chunks of a run with enough items, so that workers
	// can share small runs too.
	spread = 24
)

// cut splits the items of a run into chunks of at most most items.
func cut(run string, items iter.Seq2[placed, error], most int) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		next, size := chunk{Run: run}, 0
		var buf bytes.Buffer
		zip, _ := flate.NewWriter(&buf, flate.BestSpeed) // The error is for invalid levels only.
		enc := json.NewEncoder(zip)
		enc.SetEscapeHTML(false)
		flush := func() bool {
			if err := zip.Close(); err != nil {
				return yield(chunk{}, err)
			}
			next.Items = bytes.Clone(buf.Bytes())
			full := next
			next, size = chunk{Run: run}, 0
			buf.Reset()
			zip.Reset(&buf)
			return yield(full, nil)
		}
		for it, err := range items {
			if err == nil {
				err = enc.Encode(it)
			}
			if err != nil {
				yield(chunk{}, err)
				return
			}
			next.count++
			size += dataset.TextSize(it.Item)
			if (next.count == most || size >= maxBytes) && !flush() {
				return
			}
		}
		if next.count > 0 {
			flush()
		}
	}
}

func (c chunk) unpack() ([]placed, error) {
	dec := json.NewDecoder(flate.NewReader(bytes.NewReader(c.Items)))
	var list []placed
	for {
		var it placed
		err := dec.Decode(&it)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("unpack a chunk: %w", err)
		}
		list = append(list, it)
	}
}
