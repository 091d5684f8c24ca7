package model

import (
	"container/list"

	"deem"
)

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

func newRecent(entries, bytes int) *recent {
	return &recent{
		maxEntries: entries,
		maxBytes:   bytes,
		order:      list.New(),
		places:     make(map[string]*list.Element),
	}
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
