package sqlite

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"time"
)

// A keyFilter knows of keys that they are not in the reply cache. Every call of a run
// is looked up before it is paid for, and in a new run hardly any is there: to know
// that without asking the database spares a query for each item.
//
// It is a Bloom filter of fixed size. It never denies a key that it was given, and the
// fuller it is the more often it sends one that is not there to the database. Keys that
// this store appends are in it before the append returns. Those of other processes are
// read in at most filterAge later: until then two processes that make the same request
// may both pay for it, as they do anyway while both wait for the reply.
type keyFilter struct {
	seed maphash.Seed

	mu   sync.RWMutex
	bits []uint64  // nil before the first look at the cache
	off  bool      // the cache is too large to be read in
	last int64     // the number up to which replies are in
	at   time.Time // of the last look at the cache
}

const (
	// filterBits is the size: 1 MiB, in which a million keys deny 97 of 100 others.
	filterBits   = 1 << 23
	filterHashes = 4

	// filterKeys is how many keys are read in at most, at some microseconds each. A
	// cache that is larger, or grows faster in other processes' hands, is asked for
	// each key.
	filterKeys = 10_000

	// filterAge is how old the knowledge of other processes' replies may be.
	filterAge = 50 * time.Millisecond
)

// places calls do with the bits of a key, until it returns false.
func (f *keyFilter) places(key string, do func(word int, bit uint64) bool) {
	h := maphash.String(f.seed, key)
	step := h>>32 | 1
	for range filterHashes {
		at := h % filterBits
		if !do(int(at/64), 1<<(at%64)) { //nolint:gosec // it is less than filterBits
			return
		}
		h += step
	}
}

// put enters a key. The caller holds the lock.
func (f *keyFilter) put(key string) {
	f.places(key, func(word int, bit uint64) bool {
		f.bits[word] |= bit
		return true
	})
}

// has reports whether the key may be there. The caller holds the lock.
func (f *keyFilter) has(key string) bool {
	may := true
	f.places(key, func(word int, bit uint64) bool {
		may = f.bits[word]&bit != 0
		return may
	})
	return may
}

// appended enters the keys of replies that were appended behind the number before. If
// that is where the filter was, it has seen all up to the number after.
func (f *keyFilter) appended(keys map[string]keptReply, before, after int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bits == nil {
		return
	}
	for key := range keys {
		f.put(key)
	}
	if f.last == before {
		f.last = after
	}
}

// mayHold reports whether the reply cache may hold the key. When it says no, there was
// none a moment ago.
func (s *Store) mayHold(ctx context.Context, key string) (bool, error) {
	f := &s.filter
	f.mu.RLock()
	fresh := f.off || f.bits != nil && time.Since(f.at) < filterAge
	may := f.off || fresh && f.has(key)
	f.mu.RUnlock()
	if fresh {
		return may, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := s.refresh(ctx); err != nil {
		return false, err
	}
	return f.off || f.has(key), nil
}

// refresh reads the keys that are new since the last look. The caller holds the lock.
func (s *Store) refresh(ctx context.Context) error {
	f := &s.filter
	if f.off || f.bits != nil && time.Since(f.at) < filterAge {
		return nil // Somebody else was faster.
	}
	now := time.Now()
	if f.bits == nil {
		f.bits, f.seed = make([]uint64, filterBits/64), maphash.MakeSeed()
	}
	var newest int64
	if err := s.query.newest.QueryRowContext(ctx).Scan(&newest); err != nil {
		return err
	}
	if newest-f.last > filterKeys {
		f.off, f.bits = true, nil
		return nil
	}
	if newest > f.last {
		if err := s.readKeys(ctx); err != nil {
			return err
		}
	}
	f.at = now
	return nil
}

// readKeys reads the keys behind the last one that is in.
func (s *Store) readKeys(ctx context.Context) error {
	f := &s.filter
	rows, err := s.query.keys.QueryContext(ctx, f.last)
	if err != nil {
		return err
	}
	for rows.Next() {
		var key string
		if err := rows.Scan(&f.last, &key); err != nil {
			return errors.Join(err, rows.Close())
		}
		f.put(key)
	}
	return errors.Join(rows.Err(), rows.Close())
}
