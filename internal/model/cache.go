package model

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"deem"
)

// A ReplyCache finds replies of earlier calls. The store implements it: it stores each
// reply in one transaction with the record that paid for it. That is why a ReplyCache is
// only read here.
type ReplyCache interface {
	// Reply returns the reply stored under key, and whether there is one.
	Reply(ctx context.Context, key string) (deem.Reply, bool, error)
}

// CacheOptions configure the cache of [Assemble], or [Cache].
type CacheOptions struct {
	// Fresh means that no reply is looked up. Replies still carry their key, so that they
	// replace stored ones, and identical requests in flight still share one call.
	Fresh bool

	// Off means that there is no cache: every request is a call.
	Off bool

	Entries int // replies kept in memory; 0 means 4,096
	Bytes   int // total size of those replies; 0 means 32 MiB
}

// A cached model calls another model only for requests that it has not seen before. See
// [Cache].
type cached struct {
	decorator
	replies ReplyCache
	fresh   bool
	prefix  []byte // common prefix of all keys of this model, before hashing

	mu      sync.Mutex
	recent  *recent
	flights map[string]*flight
}

// A flight is a request in progress, on which identical requests wait.
type flight struct {
	done  chan struct{} // closed when reply and err are set
	reply deem.Reply
	err   error
	lost  bool // the caller that made it was interrupted; err says nothing about the request
}

// Cache returns a model that answers from replies, which may be nil, and from the recent
// replies of this process. The latter is needed because a reply is stored only with its
// record, and the same request may come earlier.
//
// The key is a SHA-256 over the name, endpoint and settings of m and the canonical request
// with its trial. A reply that this call did not pay for is marked Cached, with no attempts
// and no cost; that includes the reply to an identical request in flight. The Logprobs of
// such a reply are shared and must not be changed.
//
// Every successful reply is kept, whatever its stop reason: a refusal or a truncated reply
// is evidence, and the same request would get it again. Only a reply with neither text nor
// refusal is not kept and has no key: it comes from transient trouble on the vendor's side,
// and would otherwise stay forever.
func Cache(m deem.Model, replies ReplyCache, o CacheOptions) deem.Model {
	if o.Entries <= 0 {
		o.Entries = 4096
	}
	if o.Bytes <= 0 {
		o.Bytes = 32 << 20
	}
	return &cached{
		decorator: decorator{m},
		replies:   replies,
		fresh:     o.Fresh,
		prefix:    keyPrefix(m),
		recent:    &recent{maxEntries: o.Entries, maxBytes: o.Bytes, order: list.New(), places: make(map[string]*list.Element)},
		flights:   make(map[string]*flight),
	}
}

// keyVersion changes whenever the computation of keys changes.
const keyVersion = "deem reply 1"

// keyPrefix returns the fields that all keys of m share.
func keyPrefix(m deem.Model) []byte {
	var b []byte
	for _, field := range []string{keyVersion, m.Name(), Endpoint(m)} {
		b = appendField(b, field)
	}
	if settings := deem.SettingsOf(m); settings != "" {
		b = appendField(b, settings)
	}
	return b
}

// appendField appends a field preceded by its length. Without the lengths, different lists
// of fields could produce the same bytes.
func appendField(b []byte, field string) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(field)))
	return append(b, field...)
}

// Key returns the key under which the reply of m to req is cached. It is the same for a wire
// and for the model that [Assemble] makes of it.
func Key(m deem.Model, req deem.Request) string { return key(keyPrefix(m), req) }

// key returns the key for a model whose keys have the given prefix.
func key(prefix []byte, req deem.Request) string {
	// The usual prefix fits into a buffer on the stack.
	b := append(make([]byte, 0, 256), prefix...)
	sum := sha256.Sum256(appendField(b, req.Hash()))
	return hex.EncodeToString(sum[:])
}

// Complete returns the cached reply, or calls the model inside.
func (c *cached) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	key := key(c.prefix, req)
	for {
		if err := ctx.Err(); err != nil {
			return deem.Reply{}, err
		}
		c.mu.Lock()
		if !c.fresh {
			if reply, ok := c.recent.get(key); ok {
				c.mu.Unlock()
				return asCached(reply), nil
			}
		}
		f, ok := c.flights[key]
		if !ok {
			f = &flight{done: make(chan struct{})}
			c.flights[key] = f
			c.mu.Unlock()
			return c.lead(ctx, f, key, req)
		}
		c.mu.Unlock()

		select {
		case <-f.done:
			if !f.lost {
				return asCached(f.reply), f.err
			}
		case <-ctx.Done():
			return deem.Reply{}, ctx.Err()
		}
		if err := stopping(ctx); err != nil {
			return deem.Reply{}, err // A new call would have to begin now.
		}
	}
}

// lead makes the request for all callers that wait on f. It runs in the goroutine of the
// first caller, and ends with it: if that caller is interrupted, one of the others leads a
// new flight. Such a call may be paid for twice, which is rare, and cheaper than goroutines
// that outlive their callers.
func (c *cached) lead(ctx context.Context, f *flight, key string, req deem.Request) (deem.Reply, error) {
	// Until the call has returned it counts as lost, so that a panic in the wire leaves no
	// caller waiting.
	f.lost = true
	defer func() {
		c.mu.Lock()
		delete(c.flights, key)
		if f.err == nil && !f.lost && f.reply.Key != "" {
			c.recent.put(key, f.reply)
		}
		c.mu.Unlock()
		close(f.done)
	}()
	f.reply, f.err = c.ask(ctx, key, req)
	f.lost = f.err != nil && (ctx.Err() != nil || errors.Is(f.err, deem.ErrStopped))
	return f.reply, f.err
}

// ask looks key up in the store, and calls the model inside if it is not there.
func (c *cached) ask(ctx context.Context, key string, req deem.Request) (deem.Reply, error) {
	if c.replies != nil && !c.fresh {
		reply, ok, err := c.replies.Reply(ctx, key)
		if ctx.Err() != nil && err != nil {
			return deem.Reply{}, ctx.Err()
		}
		if err != nil {
			// It stops the run: continuing would pay again for stored replies.
			return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: fmt.Errorf("look up reply: %w", err)}
		}
		if ok {
			reply.Key = key
			return asCached(reply), nil
		}
	}
	reply, err := c.inner.Complete(ctx, req)
	if err != nil {
		return deem.Reply{}, err
	}
	if reply.Text != "" || reply.Refusal != "" {
		reply.Key = key
	}
	return reply, nil
}

// asCached returns reply marked as paid for earlier.
func asCached(reply deem.Reply) deem.Reply {
	reply.Cached = true
	reply.Attempts = 0
	reply.CostMicros = 0
	reply.Unpriced = false
	return reply
}

// recent is an LRU cache of replies. It is not safe for concurrent use.
type recent struct {
	maxEntries, maxBytes int

	bytes  int
	order  *list.List // of *kept, most recent first
	places map[string]*list.Element
}

// A kept is a reply with its key and its size.
type kept struct {
	key   string
	reply deem.Reply
	size  int
}

// get returns the reply under key and makes it the most recent.
func (r *recent) get(key string) (deem.Reply, bool) {
	e, ok := r.places[key]
	if !ok {
		return deem.Reply{}, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*kept).reply, true
}

// put stores reply under key, and drops the least recently used replies beyond the limits.
func (r *recent) put(key string, reply deem.Reply) {
	if e, ok := r.places[key]; ok {
		r.drop(e)
	}
	k := &kept{key: key, reply: reply, size: sizeOf(key, reply)}
	r.places[key] = r.order.PushFront(k)
	r.bytes += k.size
	for r.order.Len() > r.maxEntries || r.bytes > r.maxBytes {
		r.drop(r.order.Back())
	}
}

// drop removes one reply.
func (r *recent) drop(e *list.Element) {
	k := r.order.Remove(e).(*kept)
	delete(r.places, k.key)
	r.bytes -= k.size
}

// sizeOf returns the approximate number of bytes of a reply in memory. The constants are
// the sizes of the structs, rounded up.
func sizeOf(key string, reply deem.Reply) int {
	const perReply, perToken = 512, 64
	size := perReply + 2*len(key) + len(reply.Text) + len(reply.Refusal)
	for _, t := range reply.Logprobs {
		size += perToken + len(t.Token)
		for _, top := range t.Top {
			size += perToken + len(top.Token)
		}
	}
	return size
}
