package locomo

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"deem/internal/benchmark"
	"deem/internal/reader"
)

// historyOf returns the turns of a conversation, the oldest first: upstream leaves out the
// newest turns of a conversation that is too long. It returns nil if there are no sessions.
func historyOf(conversation benchmark.Value) *benchmark.History {
	o, ok := valueObject(conversation)
	if !ok {
		return nil
	}
	h := &benchmark.History{}
	if a, b := o.scalar("speaker_a"), o.scalar("speaker_b"); a != "" && b != "" {
		h.Speakers = []string{a, b}
	}
	var numbers []int
	for _, name := range o.names {
		if m := session.FindStringSubmatch(name); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				numbers = append(numbers, n)
			}
		}
	}
	slices.SortFunc(numbers, cmp.Compare)
	for _, n := range numbers {
		name := "session_" + strconv.Itoa(n)
		at := timeOf(o.scalar(name + "_date_time"))
		turns, _ := o.values[name].List()
		for _, v := range turns {
			t, ok := valueObject(v)
			if !ok {
				continue
			}
			said := ""
			if v, ok := t.first("text"); ok {
				said = v.Str()
			}
			if caption := t.scalar("blip_caption"); caption != "" {
				said += " (shows a picture: " + caption + ")"
			}
			who := t.scalar("speaker")
			h.Passages = append(h.Passages, reader.Context{
				ID: t.scalar("dia_id"), Time: at, Speaker: who, Turns: []reader.Turn{{Role: who, Text: said}},
			})
		}
	}
	if len(h.Passages) == 0 {
		return nil
	}
	return h
}

// timeOf writes a time such as "1:56 pm on 8 May, 2023" so that texts sort by time. Another
// text is unchanged.
func timeOf(s string) string {
	at, err := time.Parse("3:04 pm on 2 January, 2006", s)
	if err != nil {
		return s
	}
	return at.Format(time.DateTime)
}
