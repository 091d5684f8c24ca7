package dataset

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
)

const (
	idsInMemory = 64 << 10
	partitions  = 256
	entrySize   = 24
	entryBlock  = 256 // entries of one partition that are written together
)

// An entry is an id and the number of its row. Only a 128-bit hash of the id is stored;
// collisions do not occur in practice.
type entry struct {
	hash [16]byte
	row  uint64
}

// A duplicate is a row with the id of an earlier row, both by number.
type duplicate struct{ again, first uint64 }

// A registry finds duplicate ids. It keeps the first 65,536 in memory. If there are more,
// it distributes all of them to partitions of a temporary file, by hash, so that equal ids
// are in the same partition, and each partition can be checked separately.
type registry struct {
	limit int // the maximum number kept in memory
	ids   map[[16]byte]uint64
	early []duplicate // the first ones found in memory
	found int         // the number found in memory

	spill   *os.File
	size    int64
	pending [partitions][]entry
	blocks  [partitions][]int64 // offsets of full blocks in the file
}

func newRegistry(limit int) *registry {
	return &registry{limit: limit, ids: map[[16]byte]uint64{}}
}

// add adds the id of a row.
func (r *registry) add(id string, row uint64) error {
	sum := sha256.Sum256([]byte(id))
	e := entry{[16]byte(sum[:16]), row}
	if r.spill != nil {
		return r.deal(e)
	}
	if first, ok := r.ids[e.hash]; ok {
		r.found++
		if len(r.early) < mostPlaces {
			r.early = append(r.early, duplicate{row, first})
		}
		return nil
	}
	r.ids[e.hash] = row
	if len(r.ids) > r.limit {
		var err error
		if r.spill, err = tempFile(); err != nil {
			return fmt.Errorf("compare ids: %w", err)
		}
		for hash, row := range r.ids {
			if err := r.deal(entry{hash, row}); err != nil {
				return err
			}
		}
		r.ids = nil
	}
	return nil
}

// deal adds an entry to its partition.
func (r *registry) deal(e entry) error {
	p := e.hash[0]
	r.pending[p] = append(r.pending[p], e)
	if len(r.pending[p]) < entryBlock {
		return nil
	}
	block := make([]byte, 0, entryBlock*entrySize)
	for _, e := range r.pending[p] {
		block = binary.BigEndian.AppendUint64(append(block, e.hash[:]...), e.row)
	}
	if _, err := r.spill.WriteAt(block, r.size); err != nil {
		return fmt.Errorf("compare ids: %w", err)
	}
	r.blocks[p] = append(r.blocks[p], r.size)
	r.size += int64(len(block))
	r.pending[p] = r.pending[p][:0]
	return nil
}

// duplicates returns the number of rows with an id of an earlier row, and the first of them
// in the order of the rows.
func (r *registry) duplicates() (list []duplicate, total int, err error) {
	if r.spill == nil {
		return r.early, r.found, nil
	}
	list, total = r.early, r.found
	for p := range partitions {
		entries := make([]entry, 0, len(r.blocks[p])*entryBlock+len(r.pending[p]))
		block := make([]byte, entryBlock*entrySize)
		for _, offset := range r.blocks[p] {
			if _, err := r.spill.ReadAt(block, offset); err != nil && err != io.EOF {
				return nil, 0, fmt.Errorf("compare ids: %w", err)
			}
			for b := block; len(b) > 0; b = b[entrySize:] {
				entries = append(entries, entry{[16]byte(b[:16]), binary.BigEndian.Uint64(b[16:entrySize])})
			}
		}
		entries = append(entries, r.pending[p]...)
		slices.SortFunc(entries, func(a, b entry) int {
			return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.row, b.row))
		})
		var found []duplicate
		first := 0
		for i := 1; i < len(entries); i++ {
			if entries[i].hash != entries[first].hash {
				first = i
				continue
			}
			found = append(found, duplicate{entries[i].row, entries[first].row})
		}
		total += len(found)
		list = append(list, found...)
		slices.SortFunc(list, func(a, b duplicate) int { return cmp.Compare(a.again, b.again) })
		list = list[:min(len(list), mostPlaces)]
	}
	return list, total, nil
}
