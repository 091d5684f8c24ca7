package postgres

import (
	"sync"

	"deem/internal/store"
)

// texts remembers long texts that are in the database, so that a conversation shared by
// many items is sent once. Texts are never removed. The zero value is ready for use, and a
// nil one remembers nothing.
type texts struct {
	mu         sync.Mutex
	young, old map[store.TextSum]bool
}

// rememberTexts is the minimum number of texts that are remembered, once there are that
// many.
const rememberTexts = 4096

// missing returns the elements of list that are not known to be in the database.
func (k *texts) missing(list []store.LongText) []store.LongText {
	if k == nil || len(list) == 0 {
		return list
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var missing []store.LongText
	for _, t := range list {
		if !k.young[t.Hash] && !k.old[t.Hash] {
			missing = append(missing, t)
		}
	}
	return missing
}

// add remembers committed texts. Texts that were not used for long are forgotten.
func (k *texts) add(list []store.LongText) {
	if len(list) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range list {
		if k.young == nil || len(k.young) >= rememberTexts {
			k.young, k.old = map[store.TextSum]bool{}, k.young
		}
		k.young[t.Hash] = true
	}
}
