package tokens

import (
	"compress/gzip"
	_ "embed" // for the vocabularies
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"strings"
)

// The vocabularies as gen.go writes them. Packed they are a sixth of what they are as
// tables of Go, and pages of the binary that no run needs to touch.
var (
	//go:embed vocabularies/o200k_base.gz
	o200kPacked string
	//go:embed vocabularies/cl100k_base.gz
	cl100kPacked string
)

// A table knows the tokens of a vocabulary and their ranks.
type table struct {
	text  string
	ends  []uint32 // where the token of each rank ends in text
	slots []uint32 // 1 + a rank, found by the hash of its token and then one by one
}

// noRank is the rank of what is no token. It comes after all others.
const noRank = math.MaxUint32

// unpack makes the table of a packed vocabulary. What is wrong with one is a fault of the
// build, so it panics.
func unpack(packed string) *table {
	t, err := readTable(strings.NewReader(packed))
	if err != nil {
		panic("tokens: vocabulary: " + err.Error())
	}
	t.index()
	return t
}

// readTable reads as much as the head says, so that nothing is made larger than it is.
func readTable(r io.Reader) (*table, error) {
	zr, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	var head struct{ Tokens, Text uint32 }
	if err := binary.Read(zr, binary.LittleEndian, &head); err != nil {
		return nil, err
	}
	lengths := make([]byte, head.Tokens)
	if _, err := io.ReadFull(zr, lengths); err != nil {
		return nil, err
	}
	var text strings.Builder
	text.Grow(int(head.Text))
	if _, err := io.Copy(&text, io.LimitReader(zr, int64(head.Text)+1)); err != nil {
		return nil, err
	}
	t := &table{text: text.String(), ends: make([]uint32, head.Tokens)}
	end := 0
	for rank, length := range lengths {
		end += int(length)
		t.ends[rank] = uint32(end) //nolint:gosec // A vocabulary has a megabyte or two.
	}
	if end != len(t.text) {
		return nil, fmt.Errorf("tokens of %d bytes, want %d", len(t.text), end)
	}
	return t, nil
}

// index fills the slots, of which at most half are taken, so that a search is short.
func (t *table) index() {
	size := 1
	for size < 2*len(t.ends) {
		size *= 2
	}
	t.slots = make([]uint32, size)
	for rank := range uint32(len(t.ends)) {
		i := t.slot(t.token(rank))
		for t.slots[i] != 0 {
			i = (i + 1) & (len(t.slots) - 1)
		}
		t.slots[i] = rank + 1
	}
}

func (t *table) slot(token string) int {
	return int(maphash.String(seed, token) & uint64(len(t.slots)-1))
}

func (t *table) token(rank uint32) string {
	if rank == 0 {
		return t.text[:t.ends[0]]
	}
	return t.text[t.ends[rank-1]:t.ends[rank]]
}

// rank returns the rank of a token, noRank of what is none.
func (t *table) rank(token string) uint32 {
	for i := t.slot(token); t.slots[i] != 0; i = (i + 1) & (len(t.slots) - 1) {
		if rank := t.slots[i] - 1; t.token(rank) == token {
			return rank
		}
	}
	return noRank
}
