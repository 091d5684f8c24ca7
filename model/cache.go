package model

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"deem"
)

// A ReplyCache finds replies of earlier calls. The store is one: it keeps each
// reply together with the record that the reply was paid for, so that both are
// there or neither is. That is why a ReplyCache is only read here.
type ReplyCache interface {
	// Reply returns the reply kept under key, and whether there is one.
	Reply(ctx context.Context, key string) (deem.Reply, bool, error)
}

// CacheOptions say what [Cache] remembers.
type CacheOptions struct {
	// Fresh means that no reply is looked up. Replies still carry their key, so
	// that they replace what is stored, and identical requests in flight are
	// still one call.
	Fresh bool

	Entries int // replies kept in memory; 0 means 4,096
	Bytes   int // their size together; 0 means 32 MiB
}

// A Cached model asks another only what it has not been asked before. See
// [Cache].
type Cached struct {
	inner   deem.Model
	replies ReplyCache
	fresh   bool
	prefix  []byte // what all keys of this model begin with, before hashing

	mu      sync.Mutex
	recent  *recent
	flights map[string]*flight
}

var (
	_ deem.Model = (*Cached)(nil)
	_ Wrapper    = (*Cached)(nil)
)

// A flight is a request being made, for which others with the same request wait.
type flight struct {
	done  chan struct{} // closed when reply and err are set
	reply deem.Reply
	err   error
	lost  bool // the one who made it was interrupted; err says nothing about the request
}

// Cache returns a model that answers from replies, which may be nil, and from
// what this process was told lately; the latter because a reply reaches the
// store only with its record, and the same request may come before that.
//
// The key is a SHA-256 over the name, the endpoint and the settings of m and over the
// canonical request with its trial. A reply that was not paid for now is marked Cached,
// with no attempts and no cost; that includes the reply to an identical request
// in flight. The Logprobs of such a reply are shared and must not be changed.
//
// Every successful reply is kept, whatever made it stop: a refusal or a reply cut
// off at its limit is evidence, and the same request would be answered so again.
// Only a reply with neither text nor refusal is not, and has no key: those come
// of hiccups on the vendor's side, and would stay for good.
func Cache(m deem.Model, replies ReplyCache, o CacheOptions) *Cached {
	if o.Entries <= 0 {
		o.Entries = 4096
	}
	if o.Bytes <= 0 {
		o.Bytes = 32 << 20
	}
	return &Cached{
		inner:   m,
		replies: replies,
		fresh:   o.Fresh,
		prefix:  keyPrefix(m),
		recent:  newRecent(o.Entries, o.Bytes),
		flights: make(map[string]*flight),
	}
}

// Name returns the name of the model inside.
func (c *Cached) Name() string { return c.inner.Name() }

// Unwrap returns the model inside.
func (c *Cached) Unwrap() deem.Model { return c.inner }

// keyVersion changes whenever keys are made in another way.
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

// appendField appends a field with its length before it. Without the lengths,
// two different lists of fields could run together into the same bytes.
func appendField(b []byte, field string) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(field)))
	return append(b, field...)
}

// Key returns the content address of the reply to req.
func (c *Cached) Key(req deem.Request) string { return c.key(req.Hash()) }

// key returns the content address of the reply to the request with the given hash.
func (c *Cached) key(request string) string {
	// The room for the usual prefix is on the stack.
	b := append(make([]byte, 0, 256), c.prefix...)
	sum := sha256.Sum256(appendField(b, request))
	return hex.EncodeToString(sum[:])
}

// Complete returns the reply that is known, or asks the model inside.
func (c *Cached) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	key := c.key(req.Hash())
	for {
		if err := ctx.Err(); err != nil {
			return deem.Reply{}, err
		}
		c.mu.Lock()
		if reply, ok := c.recall(key); ok {
			c.mu.Unlock()
			return reply, nil
		}
		f, ok := c.flights[key]
		if !ok {
			f = &flight{done: make(chan struct{})}
			c.flights[key] = f
			c.mu.Unlock()
			return c.lead(ctx, f, key, req)
		}
		c.mu.Unlock()

		if reply, settled, err := follow(ctx, f); settled {
			return reply, err
		}
		if err := stopping(ctx); err != nil {
			return deem.Reply{}, err // It would be a call that begins now.
		}
	}
}

// recall looks key up in memory. The caller holds the lock.
func (c *Cached) recall(key string) (deem.Reply, bool) {
	if c.fresh {
		return deem.Reply{}, false
	}
	reply, ok := c.recent.get(key)
	return asCached(reply), ok
}

// lead makes the request for all who wait on f. It runs in the goroutine of the
// first caller, and ends with it: if that caller is interrupted, one of the
// others leads a new flight. Such a call may be paid for twice, which is rare,
// and cheaper than goroutines that outlive their callers.
func (c *Cached) lead(ctx context.Context, f *flight, key string, req deem.Request) (deem.Reply, error) {
	// Until the call has returned it counts as lost, so that a panic in the wire
	// leaves nobody waiting.
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

// ask looks key up in the store, and asks the model inside when it is not there.
func (c *Cached) ask(ctx context.Context, key string, req deem.Request) (deem.Reply, error) {
	if c.replies != nil && !c.fresh {
		reply, ok, err := c.replies.Reply(ctx, key)
		if err != nil {
			return deem.Reply{}, readError(ctx, err)
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

// readError is what a store that cannot be read comes to. It stops the run:
// going on would pay for replies again that are there already.
func readError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &deem.ModelError{Kind: deem.Provider, Fatal: true, Err: fmt.Errorf("look up reply: %w", err)}
}

// follow waits for a flight that another leads. It is settled unless that other
// was interrupted.
func follow(ctx context.Context, f *flight) (reply deem.Reply, settled bool, err error) {
	select {
	case <-f.done:
		return asCached(f.reply), !f.lost, f.err
	case <-ctx.Done():
		return deem.Reply{}, true, ctx.Err()
	}
}

// asCached returns reply as one that was paid for earlier.
func asCached(reply deem.Reply) deem.Reply {
	reply.Cached = true
	reply.Attempts = 0
	reply.CostMicros = 0
	reply.Unpriced = false
	return reply
}
