package postgres

import (
	"sync"
)

// texts remembers long texts that are in the database, so that the dialogue which item
// after item carries along is sent once. Texts are never removed. The zero value is
// ready for use, and a nil one remembers nothing.
type texts struct {
	mu         sync.Mutex
	young, old map[sum]bool
}

// rememberTexts is how many texts are remembered at least, once there are that many.
const rememberTexts = 4096

// missing returns those of list that are not known to be there.
func (k *texts) missing(list []taken) []taken {
	if k == nil || len(list) == 0 {
		return list
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var missing []taken
	for _, t := range list {
		if !k.young[t.hash] && !k.old[t.hash] {
			missing = append(missing, t)
		}
	}
	return missing
}

// add remembers texts that were committed. What was not used for long is forgotten.
func (k *texts) add(list []taken) {
	if len(list) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range list {
		if k.young == nil || len(k.young) >= rememberTexts {
			k.young, k.old = map[sum]bool{}, k.young
		}
		k.young[t.hash] = true
	}
}
