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

// A chunk is some items of a run. It is a job of River.
type chunk struct {
	Run   string `json:"run"`
	Items []byte `json:"items"` // lines of JSON, compressed; as JSON they could not hold the character NUL

	count int
}

// Kind implements [river.JobArgs].
func (chunk) Kind() string { return "deem_chunk" }

// A placed item is one with its place in the dataset.
type placed struct {
	Position int       `json:"p"`
	Item     deem.Item `json:"i"`
}

const (
	// maxItems and maxBytes bound a chunk. A worker holds two of each run in memory.
	maxItems = 250
	maxBytes = 2 << 20

	// spread is into how many chunks a run is cut at least, if it has as many items: a
	// small run is to be shared by workers, too.
	spread = 24
)

// cut makes chunks of the items of a run.
func cut(run string, items iter.Seq2[placed, error], most int) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		next, size := chunk{Run: run}, 0
		var buf bytes.Buffer
		zip, _ := flate.NewWriter(&buf, flate.BestSpeed) // The level is a good one.
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

// unpack returns the items of a chunk.
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
