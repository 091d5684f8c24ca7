package doc

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"deem/internal/words"
)

// CSS is the style of documents. A page of the server serves it as a file.
//
//go:embed doc.css
var CSS string

//go:embed doc.html
var htmlText string

var htmlTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("doc").Parse(htmlText))
})

// URLs returns the address of a link, or "".
type URLs func(Link) string

// HTML writes a document with all its details as a self-contained file: it loads nothing,
// runs no script, and follows the reader's choice of light or dark mode.
func HTML(w io.Writer, d *Document) error {
	text, err := execute("page", view(d, nil))
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, string(text))
	return err
}

// Fragment returns the sections and notes of a document for a page that has a title and
// the style of [CSS].
func Fragment(d *Document, urls URLs) (template.HTML, error) {
	return execute("fragment", view(d, urls))
}

func execute(name string, data any) (template.HTML, error) {
	var b strings.Builder
	err := htmlTemplate().ExecuteTemplate(&b, name, data)
	return template.HTML(b.String()), err //nolint:gosec // The template has escaped the text.
}

// The views are the input of templates: texts are clean, and links are addresses.
type (
	docView struct {
		Title  string
		Style  template.CSS
		Groups [][]sectionView // consecutive sections that share the width of the page
		Notes  []noteView
	}
	noteView struct {
		N    int
		Text string
	}
	sectionView struct {
		ID, Title string
		Blocks    []blockView
	}
	blockView struct {
		Facts     Facts
		Paragraph *Paragraph
		Tiles     Tiles
		Table     *tableView
		Pre       string
		Figure    template.HTML
		Items     []itemView
	}
	tableView struct {
		Title string
		Heads []headView
		Rows  [][]cellView
		Plot  *plot
	}
	headView struct {
		Text             string
		Number, Estimate bool
		Ticks            []tick // the axis of the drawing, in place of a text
	}
	cellView struct {
		Drawn                          bool
		Bar                            *plotBar // in a cell of the drawing, nil for none
		Text, URL, Words, Class, Label string
		Marks                          []int
		IDs                            []linkView
		More                           bool
	}
	linkView struct{ Text, URL, Words string }
	itemView struct {
		ID, Category, Question, URL string
		References                  []string
		Sides                       []sideView
	}
	sideView struct {
		Side
		URL    string
		Pieces []diffPiece // the response, if words are marked in it
	}
)

func view(d *Document, urls URLs) docView {
	if urls == nil {
		urls = func(Link) string { return "" }
	}
	v := docView{Title: words.Clean(d.Title), Style: template.CSS(CSS)} //nolint:gosec // The path is our own.
	narrow := false                                                     // the last group takes further sections
	for i, s := range d.Sections {
		sv := sectionView{ID: s.ID, Title: words.Clean(s.Title)}
		if sv.ID == "" {
			sv.ID = fmt.Sprintf("s%d", i+1)
		}
		wide := false // it needs more than half the width of a page
		for _, b := range s.Blocks {
			bv := blockOf(b, urls)
			if bv.Table != nil {
				bv.Table.Title = sv.Title
				columns := len(bv.Table.Heads)
				for _, h := range bv.Table.Heads {
					if h.Estimate { // It takes the width of two.
						columns++
					}
				}
				wide = wide || bv.Table.Plot != nil || columns > 6
			}
			wide = wide || len(bv.Tiles)+len(bv.Items) > 0 || bv.Pre != "" || bv.Figure != ""
			sv.Blocks = append(sv.Blocks, bv)
		}
		if narrow && !wide {
			v.Groups[len(v.Groups)-1] = append(v.Groups[len(v.Groups)-1], sv)
		} else {
			v.Groups = append(v.Groups, []sectionView{sv})
		}
		narrow = !wide
	}
	for i, n := range d.notes {
		v.Notes = append(v.Notes, noteView{i + 1, words.Coded(words.Clean(n))})
	}
	return v
}

func blockOf(b Block, urls URLs) blockView {
	var v blockView
	switch b := b.(type) {
	case Facts:
		for _, f := range b {
			if f.Text != "" {
				v.Facts = append(v.Facts, Fact{words.Clean(f.Name), words.Clean(f.Text), f.Marks})
			}
		}
	case Paragraph:
		b.Text = words.Clean(b.Text)
		v.Paragraph = &b
	case Tiles:
		for _, t := range b {
			t.Name, t.Value, t.Interval, t.About = words.Clean(t.Name), words.Clean(t.Value), words.Clean(t.Interval), words.Clean(t.About)
			v.Tiles = append(v.Tiles, t)
		}
	case Table:
		v.Table = tableOf(b, urls)
	case Pre:
		v.Pre = cleanLines(strings.TrimRight(string(b), "\n"))
	case Figure:
		v.Figure = b.HTML
	case Items:
		for _, it := range b {
			iv := itemView{ID: words.Clean(it.ID), Category: words.Clean(it.Category), Question: cleanLines(it.Question), URL: urls(it.Link)}
			for _, ref := range it.References {
				iv.References = append(iv.References, cleanLines(ref))
			}
			for _, s := range it.Sides {
				s.Name, s.Label, s.Score = words.Clean(s.Name), words.Clean(s.Label), words.Clean(s.Score)
				s.Response, s.Reason = cleanLines(s.Response), cleanLines(s.Reason)
				iv.Sides = append(iv.Sides, sideView{Side: s, URL: urls(s.Link)})
			}
			iv.markDifferences()
			v.Items = append(v.Items, iv)
		}
	}
	return v
}

// tableOf returns the columns of a table that have something to show, with the drawing in
// front of the estimates that it draws.
func tableOf(t Table, urls URLs) *tableView {
	v := &tableView{Plot: t.plot()}
	columns := t.filled(true)
	for _, i := range columns {
		c := t.Columns[i]
		if v.Plot != nil && i == t.Draw.Column {
			v.Heads = append(v.Heads, headView{Ticks: v.Plot.Ticks})
		}
		v.Heads = append(v.Heads, headView{Text: words.Clean(c.Name), Number: c.Kind == Number, Estimate: c.Kind == Estimate})
	}
	for n, row := range t.Rows {
		var cells []cellView
		for _, i := range columns {
			if v.Plot != nil && i == t.Draw.Column && len(row) > 1 {
				cells = append(cells, cellView{Drawn: true, Bar: v.Plot.Bars[n]})
			}
			if i >= len(row) {
				if len(row) > 1 {
					cells = append(cells, cellView{})
				}
				continue
			}
			c, column := row[i], t.Columns[i]
			cv := cellView{Text: words.Clean(c.Text), URL: urls(c.Link), Words: words.Clean(c.Link.Words), Marks: c.Marks, More: c.More, Label: words.Clean(column.Name), Class: string(c.Tone)}
			switch column.Kind {
			case Number:
				cv.Class = Join(" ", "n", cv.Class)
			case Estimate:
				cv.Class = Join(" ", "e", cv.Class)
			}
			if v.Plot != nil && i == t.Draw.Column {
				cv.Class += " drawn"
			}
			for _, id := range c.IDs {
				cv.IDs = append(cv.IDs, linkView{Text: Clip(OrNone(id), idWidth), URL: urls(Link{Item: id})})
			}
			cells = append(cells, cv)
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

// cleanLines returns cleaned text with its line breaks and tabs.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = cleanTabs(line)
	}
	return strings.Join(lines, "\n")
}

// A diffPiece is a piece of a text, and whether only this text has it.
type diffPiece struct {
	Text string
	Only bool
}

// diffWord matches what is compared: words and numbers, for example 1,450 and well-known.
var diffWord = regexp.MustCompile(`[\pL\pM\pN]+(?:[.,:'’/-][\pL\pM\pN]+)*`)

// maxDiff is the maximum number of pairs of words that are compared.
const maxDiff = 1 << 20

// markDifferences marks the words in which responses differ: two from each other, more from
// the first. Texts with less than a third of their words in common are not marked.
func (iv *itemView) markDifferences() {
	for i := range iv.Sides {
		if i == 0 {
			continue
		}
		first, side := &iv.Sides[0], &iv.Sides[i]
		a, b := diffWord.FindAllStringIndex(first.Response, -1), diffWord.FindAllStringIndex(side.Response, -1)
		inA, inB, n := common(wordsAt(first.Response, a), wordsAt(side.Response, b))
		if n == max(len(a), len(b)) || 3*n < min(len(a), len(b)) || n == 0 {
			continue
		}
		side.Pieces = diffPieces(side.Response, b, inB)
		if len(iv.Sides) == 2 {
			first.Pieces = diffPieces(first.Response, a, inA)
		}
	}
}

func wordsAt(text string, at [][]int) []string {
	list := make([]string, len(at))
	for i, s := range at {
		list[i] = text[s[0]:s[1]]
	}
	return list
}

// common returns which words belong to the longest common subsequence of two texts, and its
// length. It finds none in texts that are too long.
func common(a, b []string) (inA, inB []bool, n int) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	if len(a)*len(b) > maxDiff {
		return inA, inB, 0
	}
	wide := len(b) + 1
	length := make([]int32, (len(a)+1)*wide) // of the rest from each pair of places on
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				length[i*wide+j] = length[(i+1)*wide+j+1] + 1
			} else {
				length[i*wide+j] = max(length[(i+1)*wide+j], length[i*wide+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case length[(i+1)*wide+j] >= length[i*wide+j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB, int(length[0])
}

// diffPieces splits a text into common pieces and pieces that only it has. The text between
// two words that only it has belongs to them.
func diffPieces(text string, at [][]int, in []bool) []diffPiece {
	var list []diffPiece
	end := 0
	for i := 0; i < len(at); i++ {
		if in[i] {
			continue
		}
		from := i
		for i+1 < len(at) && !in[i+1] {
			i++
		}
		list = append(list, diffPiece{text[end:at[from][0]], false}, diffPiece{text[at[from][0]:at[i][1]], true})
		end = at[i][1]
	}
	return append(list, diffPiece{text[end:], false})
}
