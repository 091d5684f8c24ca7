package model

import (
	"container/list"

	"deem"
)

// recent keeps the replies that were used last, within bounds. It is not safe
// for concurrent use.
type recent struct {
	maxEntries, maxBytes int

	bytes  int
	order  *list.List // of *kept, the latest in front
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

// get returns the reply under key and makes it the latest.
func (r *recent) get(key string) (deem.Reply, bool) {
	e, ok := r.places[key]
	if !ok {
		return deem.Reply{}, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*kept).reply, true
}

// put keeps reply under key, and forgets the oldest as long as there is too much.
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

// drop forgets one reply.
func (r *recent) drop(e *list.Element) {
	k := r.order.Remove(e).(*kept)
	delete(r.places, k.key)
	r.bytes -= k.size
}

// sizeOf returns about how many bytes a reply takes in memory. The constants are
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
