package reports

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/probe"
	"deem/internal/store"
	"deem/internal/words"
)

// ProbeHead returns the head of the card of a run over probes.
func ProbeHead(run store.Run, maxUnjudged float64) probe.Head {
	source, seed, _ := run.ProbesOf()
	return probe.Head{
		Judge: run.Judge.Name, JudgeHash: run.Judge.Hash, Model: run.Model, Run: run.ID,
		Data: source, Dataset: run.Dataset.Hash, Seed: seed,
		Deem: SettingsOf(run.Spec).Deem, Trials: run.Trials, MaxUnjudged: maxUnjudged,
	}
}

// ProbeCard computes the card of a run over probes.
func ProbeCard(ctx context.Context, st store.Store, run store.Run, h probe.Head) (probe.Card, error) {
	return probe.NewCard(h, store.Ahead(st.Records(ctx, run.ID, store.Query{})))
}

// ProbeJSON writes the card as JSON.
func ProbeJSON(w io.Writer, c probe.Card) error { return doc.JSON(w, c) }

// ProbeText writes the card as text.
func ProbeText(w io.Writer, c probe.Card) error {
	return doc.Text(w, ProbeDocument(c), doc.TextOptions{})
}

// ProbeHTML writes the card as one self-contained page.
func ProbeHTML(w io.Writer, c probe.Card) error { return doc.HTML(w, ProbeDocument(c)) }

// ProbeDocument lays out the card.
func ProbeDocument(c probe.Card) *doc.Document {
	d := &doc.Document{Title: "Judge card: " + doc.OrNone(c.Judge)}
	made := words.Comma(c.Probes)
	if c.Sources > 0 {
		made += " made from " + words.Count(c.Sources, "item")
	}
	var reasons []string
	for _, kind := range deem.Kinds() {
		if n := c.Failures[kind]; n > 0 {
			reasons = append(reasons, fmt.Sprintf("%s %s", kind, words.Comma(n)))
		}
	}
	unjudged := words.Comma(c.Unjudged)
	if len(reasons) > 0 {
		unjudged += " (" + strings.Join(reasons, ", ") + ")"
	}
	d.Add(doc.Section{ID: "made", Blocks: []doc.Block{doc.Facts{
		{Name: "judge", Text: doc.Join(", ", doc.OrNone(c.Judge), c.Model, doc.Prefix("hash ", deem.ShortHash(c.JudgeHash)), doc.Prefix("run ", c.Run), doc.Prefix("deem ", c.Deem))},
		{Name: "probes", Text: doc.Join(", ", made+doc.Prefix(" of ", strings.Join(c.Data, ", ")), fmt.Sprintf("seed %d", c.Seed))},
		{Name: "unjudged", Text: unjudged},
	}}})
	probeHeadline(d, c)
	probeKinds(d, c, false, "wrong", "Wrong answers, accepted")
	probeKinds(d, c, true, "right", "Right answers, rejected")
	probeInjection(d, c.Injected)
	probeLength(d, c.Length)
	if s := c.Consistency; s != nil {
		d.Add(doc.Section{ID: "again", Title: "The same probe again", Blocks: []doc.Block{doc.Paragraph{Text: fmt.Sprintf(
			"All %d trials agree on %s of %s; two trials differ with a chance of %s.",
			c.Trials, doc.Share(s.Steady), words.Count(s.Probes, "probe"), doc.Percent(s.Flips))}}})
	}
	if o := c.Order; o != nil {
		text := fmt.Sprintf("It decides %s of %s", doc.Share(o.Flips), words.Count(o.Pairs, "pair"))
		if o.Flips.Value > 0 {
			text += fmt.Sprintf("; the first place wins in %s of these", doc.Percent(o.First))
		}
		d.Add(doc.Section{ID: "order", Title: "The order of two responses", Blocks: []doc.Block{doc.Paragraph{Text: text + "."}}})
	}
	var mistakes doc.Items
	for _, m := range c.Mistakes {
		wrong := "accepted"
		if m.Want {
			wrong = "rejected"
		}
		mistakes = append(mistakes, doc.Item{
			ID: m.ID, Category: doc.Join(" ", m.Kind, m.Variant), Question: m.Question, References: []string{m.Reference}, Link: doc.Link{Item: m.ID},
			Sides: []doc.Side{{Label: wrong, Score: m.Label, Tone: doc.Bad, Response: m.Response, Reason: m.Reason}},
		})
	}
	d.Add(doc.Section{ID: "examples", Title: "For example", Blocks: []doc.Block{mistakes}})
	d.Mark(c.Notes...)
	return d
}

// probeHeadline shows the rates over all kinds, except kinds without probes.
func probeHeadline(d *doc.Document, c probe.Card) {
	var tiles doc.Tiles
	add := func(name, about string, r probe.Rate) {
		if r.Probes == 0 {
			return
		}
		t := doc.Tile{Name: name, Value: doc.Absent(r.Judged > 0), Tone: doc.Warning}
		if e := r.Estimate; e != nil {
			t.Value, t.Interval, t.Marks, t.Tone = doc.Percent(e.Value), e.Ends("%.1f", 100), d.Mark(e.Warnings...), probeTone(r)
		}
		band := ""
		if r.Unjudged > 0 {
			band = fmt.Sprintf("between %s and %s", doc.Percent(r.Band[0]), doc.Percent(r.Band[1]))
		}
		t.About = doc.Join(", ", about, doc.NEquals(r.Judged), words.Comma(r.Unjudged)+" unjudged", band)
		tiles = append(tiles, t)
	}
	add("false accepts", "wrong answers accepted", c.FalseAccepts)
	add("false rejects", "right answers rejected", c.FalseRejects)
	if c.Injected != nil {
		add("injection", "wrong answers accepted because of an instruction in them", c.Injected.Turned)
	}
	d.Add(doc.Section{ID: "rates", Blocks: []doc.Block{tiles}})
}

// probeTone returns the tone for an error rate.
func probeTone(r probe.Rate) doc.Tone {
	switch e := r.Estimate; {
	case e == nil:
		return ""
	case e.Value == 0:
		return doc.Good
	case e.Value >= 0.2:
		return doc.Bad
	}
	return doc.Warning
}

func probeRate(d *doc.Document, r probe.Rate) doc.Cell {
	if r.Estimate == nil {
		return doc.T(doc.Absent(r.Judged > 0))
	}
	cell := d.Share(*r.Estimate)
	cell.Tone = probeTone(r)
	return cell
}

// probeKinds adds a table of the kinds of right answers, or of those of wrong answers.
func probeKinds(d *doc.Document, c probe.Card, want bool, id, title string) {
	t := doc.Table{
		Columns: []doc.Column{doc.Col("kind"), doc.Est("share [95%]"), doc.Num("n"), doc.Num("unjudged"), doc.Col("what it is")},
		Draw:    &doc.Draw{Column: 1, Include: []float64{0, 1}},
	}
	for _, k := range c.Kinds {
		if k.Want == want {
			t.Rows = append(t.Rows, []doc.Cell{doc.T(k.Kind), probeRate(d, k), doc.N(k.Judged), doc.N(k.Unjudged), doc.T(k.About)})
		}
	}
	d.Add(doc.Section{ID: id, Title: title, Blocks: []doc.Block{t}})
}

func probeInjection(d *doc.Document, i *probe.InjectionRate) {
	if i == nil {
		return
	}
	text := "No wrong answer with an instruction in it was judged."
	var marks []int
	t := doc.Table{Columns: []doc.Column{doc.Col("string"), doc.Num("accepted"), doc.Num("turned"), doc.Num("n")}}
	if i.Accepted.Judged > 0 {
		accepted, turned := probeRate(d, i.Accepted), probeRate(d, i.Turned)
		text = fmt.Sprintf("A wrong answer with an instruction in it is accepted in %s (%s). Of answers that are rejected without it, %s (%s) are accepted with it.",
			accepted.Text, doc.NEquals(i.Accepted.Judged), turned.Text, doc.NEquals(i.Turned.Judged))
		if marks = slices.Concat(accepted.Marks, turned.Marks); len(i.Strings) == 0 {
			text += " No string turned an answer."
		}
		for _, s := range i.Strings {
			t.Rows = append(t.Rows, []doc.Cell{doc.T(s.Name), doc.N(s.Accepted), doc.N(s.Turned), doc.N(s.Judged)})
		}
	}
	d.Add(doc.Section{ID: "injection", Title: "Instructions to the judge", Blocks: []doc.Block{doc.Paragraph{Text: text, Marks: marks}, t}})
}

func probeLength(d *doc.Document, shifts []probe.Shift) {
	if len(shifts) == 0 {
		return
	}
	t := doc.Table{Columns: []doc.Column{doc.Col(""), doc.Est("difference [95%]"), doc.Num("as is"), doc.Num("long text"), doc.Num("per 100 words"), doc.Num("n")}}
	for _, s := range shifts {
		name := "wrong answers"
		if s.Want {
			name = "right answers"
		}
		difference := doc.Points(s.Estimate)
		if s.Estimate.Lo <= 0 && s.Estimate.Hi >= 0 {
			difference += " ~" // it may be noise
		}
		t.Rows = append(t.Rows, []doc.Cell{
			doc.T(name),
			{Text: difference, Marks: d.Mark(s.Estimate.Warnings...)},
			doc.T(doc.Percent(s.Plain)), doc.T(doc.Percent(s.Long)), doc.T(fmt.Sprintf("%+.1f pp", 100*s.Per100)), doc.N(s.Estimate.N),
		})
	}
	d.Add(doc.Section{ID: "length", Title: "Accepted more often in a long text", Blocks: []doc.Block{t, doc.Paragraph{Text: "~ = not distinguishable from zero at 5%.", Tone: doc.Dim}}})
}
