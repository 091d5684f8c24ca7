package probe

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"sync"

	"deem"
	"deem/internal/words"
	"deem/probe"
	"deem/report/internal/page"
	"deem/stat"
)

//go:embed card.html
var cardText string

// cardTemplate is parsed when the first card is shown: most commands show none.
var cardTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("card").Funcs(template.FuncMap{
		"percent": page.Percent,
		"share":   page.Share,
		"points":  points,
		"comma":   words.Comma[int],
		"short":   deem.ShortHash,
		"orNone":  page.OrNone,
		"bar":     drawBar,
		"tile":    newTile,
		"perHundred": func(x float64) string {
			return fmt.Sprintf("%+.1f pp", 100*x)
		},
	}).Parse(cardText))
})

// HTML writes the card as one page that needs nothing else.
func HTML(w io.Writer, c probe.Card) error {
	v := view{Card: c, Groups: []group{{Title: "Wrong answers, accepted", Bad: "accepted"}, {Title: "Right answers, rejected", Bad: "rejected", Want: true}}}
	for i := range v.Groups {
		for _, k := range c.Kinds {
			if k.Want == v.Groups[i].Want {
				v.Groups[i].Kinds = append(v.Groups[i].Kinds, k)
			}
		}
		for _, m := range c.Mistakes {
			if m.Want == v.Groups[i].Want {
				v.Groups[i].Mistakes = append(v.Groups[i].Mistakes, m)
			}
		}
	}
	return cardTemplate().Execute(w, v)
}

// A view is what the template of the page sees.
type view struct {
	probe.Card
	Groups []group
}

// A group are the kinds of wrong answers, or those of right ones.
type group struct {
	Title, Bad string
	Want       bool
	Kinds      []probe.KindRate
	Mistakes   []probe.Mistake
}

// A tile is one of the numbers at the top of the page.
type tile struct {
	Title, About string
	Rate         probe.Rate
}

func newTile(title, about string, r probe.Rate) tile { return tile{title, about, r} }

// A bar is an interval as it is drawn, in units of the drawing.
type bar struct{ Lo, Value, Hi float64 }

// barWidth is the width of the drawing of an interval.
const barWidth = 180

// drawBar returns where an interval is drawn, nil when there is none.
func drawBar(e *stat.Estimate) *bar {
	if e == nil {
		return nil
	}
	const margin = 5 // so that a dot at either end is whole
	at := func(x float64) float64 { return margin + x*(barWidth-2*margin) }
	lo, hi := e.Drawn()
	return &bar{at(lo), at(e.Value), at(hi)}
}
