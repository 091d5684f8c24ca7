package judge

import (
	"fmt"
	"strconv"
	"strings"

	"deem"
)

// slotConversation is the source of a slot that shows a conversation. A suffix selects one
// turn: ".last", or a dot and the number of the turn from 1.
const slotConversation = "conversation"

// turnOf returns which turn of a conversation a source names: 0 for all turns, -1 for the
// last.
func turnOf(from string) (n int, ok bool) {
	turn, one := strings.CutPrefix(from, slotConversation+".")
	if !one {
		return 0, from == slotConversation
	}
	if turn == "last" {
		return -1, true
	}
	n, err := strconv.Atoi(turn)
	return n, err == nil && n > 0 && turn == strconv.Itoa(n)
}

// bytesPerToken is the assumed size of a token in a window. A real tokenizer is not used,
// because a judge must show the same turns to every model.
const bytesPerToken = 4

// conversation returns the conversation within the slot's window, or its n-th turn, and
// reports whether it exists.
func (s Slot) conversation(c deem.Conversation, n int) (text string, ok bool, err error) {
	switch {
	case len(c) == 0 || n > len(c):
		return "", false, nil
	case n < 0:
		return c.Text(len(c)-1, len(c)), true, nil
	case n > 0:
		return c.Text(n-1, n), true, nil
	}
	first := 0
	if s.Turns > 0 {
		first = max(0, len(c)-s.Turns)
	}
	if s.Tokens > 0 {
		room, from := bytesPerToken*s.Tokens, len(c)
		for from > first {
			size := len(c.Text(from-1, from)) + 1
			if size > room {
				break
			}
			room -= size
			from--
		}
		if from == len(c) {
			need := (len(c.Text(from-1, from)) + bytesPerToken) / bytesPerToken
			return "", false, deem.WithHint(deem.Failf(deem.Input, "the last turn of the conversation has about %d tokens, and the window of the judge %d", need, s.Tokens),
				"give the slot more in the judge's file, as tokens: %d", need)
		}
		first = from
	}
	text = c.Text(first, len(c))
	if first > 0 {
		text = fmt.Sprintf("[earlier turns left out: %d of %d]\n%s", first, len(c), text)
	}
	return text, true, nil
}
