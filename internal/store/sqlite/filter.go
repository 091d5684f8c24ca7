package sqlite

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// A replyFilter rules out most keys that the reply cache does not have. Every call is
// looked up before it is paid for, and in a new run hardly any is there; asking the
// database each time takes a sixth of the CPU time of a run against a server that answers
// at once.
//
// It is a Bloom filter: it never rules out a key that is there. The replies of this store
// are added before an append returns, without a query, which would delay calls that are
// about to be made. Those of other processes are read at most filterAge later: until then
// two processes that make the same request may both pay for it, as they do anyway while
// both wait for the reply.
type replyFilter struct {
	mu   sync.Mutex
	seed maphash.Seed
	bits []uint64  // nil before the first lookup
	last int64     // the last reply that is included
	at   time.Time // of the last refresh
	off  bool      // there are too many replies to read
}

const (
	filterBits   = 1 << 22 // 512 KiB; with half a million keys it rules out 98 of 100 others
	filterHashes = 4
	filterKeys   = 10_000 // the maximum read at once, at some microseconds each
	filterAge    = 200 * time.Millisecond
)

// add adds the key of a reply. The first lookup reads those that were stored before it.
func (f *replyFilter) add(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bits != nil {
		f.set(key)
	}
}

// mayHave reports whether the reply cache may have the key.
func (f *replyFilter) mayHave(ctx context.Context, s *Store, key string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.off && time.Since(f.at) > filterAge { // Read new replies.
		if f.bits == nil {
			f.bits, f.seed = make([]uint64, filterBits/64), maphash.MakeSeed()
		}
		f.at = time.Now()
		rows, err := s.query.keys.QueryContext(ctx, f.last, filterKeys)
		if err != nil {
			return false, err
		}
		defer rows.Close() //nolint:errcheck // rows.Err has it.
		n := 0
		for ; rows.Next(); n++ {
			var key string
			if err := rows.Scan(&f.last, &key); err != nil {
				return false, err
			}
			f.set(key)
		}
		if f.off = n == filterKeys; f.off {
			f.bits = nil
		}
		if err := rows.Err(); err != nil {
			return false, err
		}
	}
	if f.off {
		return true, nil
	}
	for _, at := range f.places(key) {
		if f.bits[at/64]&(1<<(at%64)) == 0 {
			return false, nil
		}
	}
	return true, nil
}

// set sets the bits of a key.
func (f *replyFilter) set(key string) {
	for _, at := range f.places(key) {
		f.bits[at/64] |= 1 << (at % 64)
	}
}

// places returns the bits of a key.
func (f *replyFilter) places(key string) (bits [filterHashes]uint64) {
	h := maphash.String(f.seed, key)
	for i := range bits {
		bits[i] = h % filterBits
		h += h>>32 | 1
	}
	return bits
}
