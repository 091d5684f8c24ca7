package judge

import (
	"iter"
	"slices"
	"strings"
)

// A span is a half-open range of bytes.
type span struct{ start, end int }

// thinkTag matches a tag around reasoning, in the forms that models are known to leak, at
// the beginning of a text. The matching group is a slash or "end" for a closing tag.
var thinkTag = lazy(`^(?i)(?:` +
	`<(/?)(?:seed:|antml:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)\s*>` +
	`|\[(/?)(?:think|thinking)\]` +
	`|◁(/?)think▷` +
	`|<\|(begin|end)_of_thought\|>` +
	`|<\|(start|end)_thinking\|>)`)

// channelTag matches the control tokens of the channel format, in which a reply is a
// sequence of messages and only those of the channel "final" are for the reader.
var channelTag = lazy(`<\|(channel|message|start|end|return|call|constrain)\|>`)

// Body returns the part of a reply that may state a verdict: the reply without the model's
// reasoning and without surrounding space, in which quotations from the response under test
// are replaced by spaces, byte for byte, so that a response which says "Verdict: CORRECT"
// cannot vote through the judge. If response is "", nothing is replaced.
func Body(reply, response string) string { return masked(withoutThinking(reply), response) }

// withoutThinking returns the reply without the model's reasoning and without surrounding
// space. A block that is never closed extends to the end, because the model has not answered yet. A
// closing tag without an opening tag drops everything before it: some templates put the
// opening tag in the prompt. Tags that are quoted, or part of a JSON string, are text and
// stay.
func withoutThinking(reply string) string {
	drop, _ := thinking(reply)
	if len(drop) == 0 {
		return strings.TrimSpace(reply)
	}
	var b strings.Builder
	pos := 0
	for _, d := range drop {
		b.WriteString(reply[pos:d.start])
		pos = d.end
	}
	b.WriteString(reply[pos:])
	return strings.TrimSpace(b.String())
}

// blank replaces the spans by spaces.
func blank(s string, spans []span) string {
	b := blanker{text: s}
	for _, d := range spans {
		b.blank(d)
	}
	return b.String()
}

// A blanker replaces parts of a text by spaces, byte for byte. Line breaks stay.
type blanker struct {
	text string
	out  []byte // nil until something is blanked
}

func (b *blanker) blank(s span) {
	if b.out == nil {
		b.out = []byte(b.text)
	}
	for i := s.start; i < s.end; i++ {
		if b.out[i] != '\n' {
			b.out[i] = ' '
		}
	}
}

// String returns the text with its blanks.
func (b *blanker) String() string {
	if b.out == nil {
		return b.text
	}
	return string(b.out)
}

// thinking returns the spans of reply that are reasoning, in order and without overlap, and
// reports whether the last one was never closed.
func thinking(reply string) (drop []span, open bool) {
	if strings.Contains(reply, "<|channel|>") {
		return channels(reply)
	}
	// A server may have removed the control tokens and left their names:
	// "analysisThe user ... assistantfinalYes".
	if strings.HasPrefix(strings.TrimLeft(reply, " \t\r\n"), "analysis") {
		if i := strings.LastIndex(reply, "assistantfinal"); i >= 0 {
			return []span{{0, i + len("assistantfinal")}}, false
		}
	}
	const longest = 40 // maximum length of a tag
	opened, pos := -1, 0
	var nextObject func() (*object, place, bool)
	var json span // the last valid object that was examined
	for {
		i := strings.IndexAny(reply[pos:], "<[◁")
		if i < 0 {
			break
		}
		start := pos + i
		tag := thinkTag().FindStringSubmatch(reply[start:min(len(reply), start+longest)])
		if tag == nil {
			pos = start + 1
			continue
		}
		pos = start + len(tag[0])
		if nextObject == nil {
			var stop func()
			nextObject, stop = iter.Pull2(scanObjects(reply, beginning(reply)))
			defer stop() //nolint:revive,gocritic // It is called only once.
		}
		// A tag inside a valid object is part of a string, because anywhere else it would
		// make the object invalid.
		for json.end <= start {
			o, _, ok := nextObject()
			if !ok {
				json = span{len(reply), len(reply) + 1}
			} else if !o.repaired && !o.truncated && len(o.fields) > 0 {
				json = span{o.start, o.end}
			}
		}
		// A judge may write that the response leaked a `<think>` tag, in quotes.
		before, after := lastRune(reply[:start]), firstRune(reply[pos:])
		quoted := before != 0 && after != 0 && strings.ContainsRune("`\"'“‘「", before) && strings.ContainsRune("`\"'”’」", after)
		if quoted || json.start <= start {
			continue
		}
		closing := slices.ContainsFunc(tag[1:], func(s string) bool { return s == "/" || strings.EqualFold(s, "end") })
		switch {
		case closing && opened >= 0:
			drop = append(drop, span{opened, pos})
			opened = -1
		case closing:
			drop = []span{{0, pos}}
		case opened < 0:
			opened = start
		}
	}
	if opened >= 0 {
		return append(drop, span{opened, len(reply)}), true
	}
	return drop, false
}

// channels returns the spans outside the final channel.
func channels(reply string) (drop []span, open bool) {
	var (
		pos   int // start of the unprocessed text
		keep  = true
		name  bool // between <|channel|> and <|message|>, or after <|start|>
		final bool // the last named channel is the final one
	)
	for m := range matches(channelTag(), reply) {
		text := reply[pos:m[0]]
		if name {
			final = strings.HasPrefix(strings.TrimSpace(text), "final")
		}
		from := m[0]
		if !keep || name {
			from = pos
		}
		if n := len(drop); n > 0 && drop[n-1].end == from {
			drop[n-1].end = m[1]
		} else {
			drop = append(drop, span{from, m[1]})
		}
		pos = m[1]
		switch reply[m[2]:m[3]] {
		case "channel":
			name = true
		case "message":
			keep, name = final, false
		default:
			keep, name = false, false
		}
	}
	if !keep || name {
		drop = append(drop, span{pos, len(reply)})
		open = !final
	}
	return drop, open
}
