package contexts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/reader"
	"deem/internal/rows"
)

// The columns of a passage.
var (
	textNames    = []string{"text", "memory", "content", "fact", "passage", "chunk", "page_content", "summary", "document", "body"}
	passageNames = []string{"id", "corpus_id", "memory_id", "passage_id", "document_id", "doc_id", "chunk_id", "uuid"}
	scoreNames   = []string{"score", "similarity", "activation", "relevance", "rank_score"}
	timeNames    = []string{
		"time", "timestamp", "created_at", "date", "event_time", "valid_at", "occurred_start", "mentioned_at",
		"metadata.timestamp", "metadata.created_at", "metadata.temporalContext.documentDate",
	}
	speakerOf = []string{"speaker", "speaker_name"}
)

// keyMembers are members of a passage that say whether it contains the answer.
var keyMembers = []string{"hasanswer", "isevidence", "isgold", "relevant", "isrelevant", "label", "gold", "answer"}

// passages returns the contexts of a row in the order of their rank.
func (b *builder) passages(it *deem.Item, r rows.Row) ([]reader.Context, error) {
	list := []reader.Context{}
	if first, second, ok := halves(r.Node); ok {
		speakers := speakersOf(r.Node)
		if len(speakers) < 2 {
			speakers = []string{"speaker 1", "speaker 2"} // The file does not say who they are.
		}
		for i, half := range []rows.Node{first, second} {
			for _, e := range half.Vals {
				c, err := passage(e, r)
				if err != nil {
					return nil, err
				}
				c.Speaker = speakers[i]
				list = append(list, c)
			}
		}
		return list, setSpeakers(it, speakers)
	}
	if err := setSpeakers(it, speakersOf(r.Node)); err != nil {
		return nil, err
	}
	found := b.contextsOf(r.Node)
	if found.Kind != rows.List {
		if !found.Blank() {
			list = append(list, reader.Context{Text: found.Str(), Joined: true})
		}
		return list, nil
	}
	for _, e := range found.Vals {
		c, err := passage(e, r)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// speakersOf returns the names of the two speakers of the conversation, if the row has them.
func speakersOf(o rows.Node) []string {
	if v := o.First(reader.FieldSpeakers); v.Kind == rows.List {
		return v.Texts()
	}
	a, b := o.First("speaker_a", "speaker_1", "speaker_1_name"), o.First("speaker_b", "speaker_2", "speaker_2_name")
	if a.Kind == rows.String && b.Kind == rows.String {
		return []string{a.Text, b.Text}
	}
	return nil
}

func setSpeakers(it *deem.Item, names []string) error {
	if len(names) == 0 {
		return nil
	}
	text, err := json.Marshal(names)
	if err != nil {
		return fmt.Errorf("encode speakers: %w", err)
	}
	it.Fields[reader.FieldSpeakers] = string(text)
	return nil
}

// passage makes a context of an element of a list.
func passage(e rows.Node, r rows.Row) (reader.Context, error) {
	switch e.Kind {
	case rows.Object:
	case rows.String, rows.Number, rows.Bool:
		return reader.Context{Text: e.Str()}, nil
	default:
		return reader.Context{}, deem.Problem{File: r.File, Line: r.Line, Message: "a passage is neither a text nor an object"}
	}
	c := reader.Context{
		ID: e.First(passageNames...).Str(), Text: e.First(textNames...).Str(), Time: e.First(timeNames...).Str(),
		Speaker: e.First(speakerOf...).Str(), Raw: json.RawMessage(withoutKey(e).AppendJSON(nil)),
	}
	if x, ok := e.First(scoreNames...).Float(); ok {
		c.Score = &x
	}
	if turns, date, ok := session(r.Node, c.ID); ok {
		c.Turns, c.Text, c.Raw = turns, "", nil
		c.Time = date
	}
	if c.Text == "" && len(c.Turns) == 0 {
		return c, deem.WithHint(deem.Problem{File: r.File, Line: r.Line, Message: "a passage has no text"},
			"the text of a passage is read from %s", strings.Join(textNames, ", "))
	}
	return c, nil
}

// withoutKey removes what says whether a passage contains the answer: members of such names,
// and ids that begin as those of evidence sessions do in LongMemEval.
func withoutKey(o rows.Node) rows.Node {
	kept := rows.Node{Kind: o.Kind, Text: o.Text, Line: o.Line}
	for i, v := range o.Vals {
		if o.Kind == rows.Object {
			tells := v.Kind == rows.String && (strings.HasPrefix(v.Text, "answer_") || strings.HasPrefix(v.Text, "noans_"))
			if tells || slices.Contains(keyMembers, rows.Plain(o.Keys[i])) {
				continue
			}
			kept.Keys = append(kept.Keys, o.Keys[i])
		}
		kept.Vals = append(kept.Vals, withoutKey(v))
	}
	return kept
}

// session returns the session with the given id in the haystack of a row. Where a row has
// one, the text of a passage is only what was searched, and a reader sees the session.
func session(o rows.Node, id string) (turns []reader.Turn, date string, ok bool) {
	ids, sessions := o.First("haystack_session_ids"), o.First("haystack_sessions")
	i := slices.IndexFunc(ids.Vals, func(v rows.Node) bool { return id != "" && v.Str() == id })
	if i < 0 || i >= len(sessions.Vals) {
		return nil, "", false
	}
	for _, t := range sessions.Vals[i].Vals {
		turns = append(turns, reader.Turn{Role: t.First("role").Str(), Text: t.First("content").Str()})
	}
	if dates := o.First("haystack_dates"); i < len(dates.Vals) {
		date = dates.Vals[i].Str()
	}
	return turns, date, len(turns) > 0
}
