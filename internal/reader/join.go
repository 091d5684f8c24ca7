package reader

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem/internal/text"
)

// forms are the ways to write passages.
var forms map[string]func(j Joining, list []Context) (string, error)

func init() {
	forms = map[string]func(Joining, []Context) (string, error){
		"lines": Joining.lines, "list": Joining.list, "sessions": Joining.sessions,
		"days": Joining.days, "results": Joining.results,
	}
}

func formNames() []string { return slices.Sorted(maps.Keys(forms)) }

// join returns the text of the passages that fit into the budget, and how many were left out.
func (j Joining) join(list []Context, cut string) (joined string, left int, err error) {
	if len(list) == 1 && list[0].Joined {
		return cutText(list[0].Text, j.Tokens), 0, nil
	}
	if cut == CutEnd {
		joined, err = j.write(list)
		return cutText(joined, j.Tokens), 0, err
	}
	shown := list
	if j.Top > 0 && len(shown) > j.Top {
		shown = shown[:j.Top]
	}
	for {
		joined, err = j.write(shown)
		if err != nil || j.Tokens == 0 || len(shown) == 0 || Tokens(joined) <= j.Tokens {
			return joined, len(list) - len(shown), err
		}
		// Without the last passage the text is shorter by about its length, so most of
		// those that do not fit are left out at once.
		over := len(joined) - 4*j.Tokens
		for over > 0 && len(shown) > 0 {
			over -= shown[len(shown)-1].size()
			shown = shown[:len(shown)-1]
		}
	}
}

// size returns the length of a passage without what surrounds it.
func (c Context) size() int {
	n := len(c.Text)
	for _, t := range c.Turns {
		n += len(t.Text)
	}
	return max(n, 1)
}

// cutText cuts a text at the end of a character, so that it fits into the budget.
func cutText(s string, tokens int) string {
	if tokens == 0 || len(s) <= 4*tokens {
		return s
	}
	return strings.ToValidUTF8(s[:4*tokens], "")
}

// write returns the text of all passages.
func (j Joining) write(list []Context) (string, error) {
	if len(list) == 0 {
		return j.Empty, nil
	}
	if j.Order == "time" {
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b Context) int { return cmp.Compare(a.Time, b.Time) })
	}
	body, err := forms[j.Form](j, list)
	return j.Before + body + j.After, err
}

// line returns one passage in its template.
func (j Joining) line(c Context, number int) string {
	each := j.Each
	if c.Time == "" && j.Untimed != "" {
		each = j.Untimed
	}
	text := c.text()
	if len(c.Turns) == 1 && strings.Contains(each, "{speaker}") {
		text = c.Turns[0].Text // The template says who spoke.
	}
	return fillText(each, map[string]string{
		"text": text, "time": j.timeOf(c), "speaker": c.Speaker, "number": strconv.Itoa(number),
	})
}

// text returns the text of a passage; the turns of a session are written as lines.
func (c Context) text() string {
	if len(c.Turns) == 0 {
		return c.Text
	}
	var b strings.Builder
	for i, t := range c.Turns {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s", t.Role, t.Text)
	}
	return b.String()
}

// timeOf returns the time of a passage as the reader writes it. A time in an unknown format
// is written as given.
func (j Joining) timeOf(c Context) string {
	layout := map[string]string{"day": time.DateOnly, "weekday": "Monday, January 02, 2006"}[j.Time]
	for _, format := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, time.DateOnly} {
		if at, err := time.Parse(format, c.Time); layout != "" && err == nil {
			return at.Format(layout)
		}
	}
	return c.Time
}

// lines writes each passage with its template.
func (j Joining) lines(list []Context) (string, error) {
	written := make([]string, len(list))
	for i, c := range list {
		written[i] = j.line(c, i+1)
	}
	return strings.Join(written, j.Between), nil
}

// list writes the lines as Python's json.dumps with an indent of four does.
func (j Joining) list(list []Context) (string, error) {
	written := make([]string, len(list))
	for i, c := range list {
		quoted, err := dumps(j.line(c, i+1))
		if err != nil {
			return "", err
		}
		written[i] = "    " + quoted
	}
	return "[\n" + strings.Join(written, ",\n") + "\n]", nil
}

// dumps returns a value as Python's json.dumps writes it.
func dumps(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return text.Dumps(raw)
}

// sessions writes numbered sessions as LongMemEval does: a JSON list of turns, or a line per
// turn.
func (j Joining) sessions(list []Context) (string, error) {
	var b strings.Builder
	for i, c := range list {
		fmt.Fprintf(&b, "\n### Session %d:\nSession Date: %s\nSession Content:\n", i+1, c.Time)
		type turn struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}
		var turns []turn
		for _, t := range c.Turns {
			turns = append(turns, turn{t.Role, t.Text})
		}
		var content any = turns
		if turns == nil {
			content = c.Text
		}
		switch {
		case j.Turns == "json":
			shown, err := dumps(content)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "\n%s\n", shown)
		case turns == nil:
			fmt.Fprintf(&b, "\n%s\n", c.Text)
		default:
			for _, t := range turns {
				fmt.Fprintf(&b, "\n\n%s: %s", t.Role, text.Strip(t.Content))
			}
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// days writes lines under the day that they belong to.
func (j Joining) days(list []Context) (string, error) {
	var groups []string
	last := ""
	for i, c := range list {
		day := j.timeOf(c)
		line := j.line(c, i+1)
		switch {
		case i > 0 && day == last:
			groups[len(groups)-1] += j.Between + line
		case day == "":
			groups = append(groups, line)
		default:
			groups = append(groups, "--- "+day+" ---"+j.Between+line)
		}
		last = day
	}
	return strings.Join(groups, "\n\n"), nil
}

// results writes the search results as JavaScript's JSON.stringify with an indent of two
// does.
func (j Joining) results(list []Context) (string, error) {
	raw := make([]json.RawMessage, len(list))
	for i, c := range list {
		raw[i] = c.Raw
		if len(c.Raw) == 0 {
			var err error
			if raw[i], err = json.Marshal(map[string]string{"text": c.text()}); err != nil {
				return "", err
			}
		}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(raw)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// bySpeaker returns the passages of each of two speakers. A passage without a speaker
// belongs to the first.
func bySpeaker(q Question) (first, second []Context) {
	for _, c := range q.Contexts {
		if len(q.Speakers) > 1 && c.Speaker == q.Speakers[1] {
			second = append(second, c)
		} else {
			first = append(first, c)
		}
	}
	return first, second
}

// memoriesOf begins the memories of a speaker in texts that a harness for two speakers
// joined.
const memoriesOf = "Memories for user "

// mergeHalves returns a joined text of two speakers with their memories shown once, if they
// are equal and the headings cannot be mistaken for a memory.
func mergeHalves(s string) string {
	if strings.Count(s, memoriesOf) != 2 {
		return s
	}
	_, rest, _ := strings.Cut(s, memoriesOf)
	one, two, _ := strings.Cut(rest, memoriesOf)
	nameOne, textOne, ok1 := strings.Cut(one, ":")
	nameTwo, textTwo, ok2 := strings.Cut(two, ":")
	textOne, textTwo = text.Strip(textOne), text.Strip(textTwo)
	if !ok1 || !ok2 || textOne != textTwo || textOne == "" {
		return s
	}
	return "Shared memories from conversation between " + nameOne + " and " + nameTwo + ":\n\n" + textOne
}
