package doc_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"

	"deem/internal/doc"
	"deem/stat"
)

// sample returns a document with every kind of block, in which name is used for every name
// that may come from data.
func sample(name string, share float64) *doc.Document {
	d := &doc.Document{Title: name}
	est := stat.Estimate{Value: share, Lo: share / 2, Hi: (1 + share) / 2, N: 9, Level: 0.95, Method: "wilson", Warnings: []string{"few: " + name}}
	line := share
	d.Add(doc.Section{Title: name, Blocks: []doc.Block{
		doc.Tiles{{Name: name, Value: "50.0%", Interval: "[1.0, 99.0]", About: name, Marks: d.Mark(name)}},
		doc.Paragraph{Text: name + " is to be read with care", Tone: doc.Warning},
		doc.Facts{{Name: name, Text: name}, {Name: "left out"}},
		doc.Table{
			Columns: []doc.Column{doc.Col("category"), doc.Est("score"), doc.Num("n"), doc.Est("strict").InDetail(), doc.Col("first ones")},
			Rows: [][]doc.Cell{
				{doc.T(name)},
				{{Text: name, Link: doc.Link{Items: url.Values{"category": {name}}}}, d.Share(est), doc.N(1234), doc.T(doc.Share(est)), {IDs: []string{name, "q2"}, More: true}},
				{doc.T("other"), d.Share(stat.Estimate{Method: stat.MethodNone})},
			},
			Draw: &doc.Draw{Column: 1, Line: &line, Include: []float64{0}, Caption: name},
		},
		doc.Items{{ID: name, Category: name, Question: name, References: []string{name}, Sides: []doc.Side{{Name: name, Label: name, Response: name, Reason: name, Tone: doc.Bad}}}},
		doc.Pre(name + "\n\tindented"),
	}})
	d.Add(doc.Section{Title: "hidden", Detail: true, Blocks: []doc.Block{doc.Paragraph{Text: "only in detail"}}})
	return d
}

func text(t interface{ Fatal(...any) }, d *doc.Document, o doc.TextOptions) string {
	var b strings.Builder
	if err := doc.Text(&b, d, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// No control character in data reaches a terminal, and no line of text is wider than the
// screen, except preformatted lines.
func TestTextIsHarmlessAndFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x1b[2Jred", "\u202e", "两个字的名字很长很长很长很长很长很长很长", "\xff\r\n"})).Draw(t, "name")
		width := rapid.IntRange(60, 120).Draw(t, "width")
		shown := text(t, sample(name, rapid.Float64Range(0, 1).Draw(t, "share")), doc.TextOptions{Width: width, Detail: rapid.Bool().Draw(t, "detail")})
		for line := range strings.Lines(shown) {
			line = strings.TrimSuffix(line, "\n")
			if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }); i >= 0 {
				t.Fatalf("the line %q holds a character that does not print", line)
			}
			if w := runewidth.StringWidth(line); w > width && !strings.HasPrefix(line, "\t") && len(name) < 40 {
				t.Fatalf("the line %q is %d columns wide, want at most %d", line, w, width)
			}
		}
	})
}

// Details are omitted unless requested.
func TestTextLeavesOutDetail(t *testing.T) {
	d := sample("name", 0.5)
	d.NotesInDetail = true
	short, long := text(t, d, doc.TextOptions{}), text(t, d, doc.TextOptions{Detail: true})
	for _, part := range []string{"only in detail", "strict", "(1)", "few: name"} {
		if strings.Contains(short, part) || !strings.Contains(long, part) {
			t.Errorf("%q is to be in the detail only:\n%s", part, short)
		}
	}
	if !strings.Contains(short, "●") || strings.Contains(short, "left out") {
		t.Errorf("the estimate is not drawn, or an empty fact is shown:\n%s", short)
	}
}

// A table that is wider than the screen becomes a list.
func TestTextStacks(t *testing.T) {
	got := text(t, sample("a category with a rather long name", 0.5), doc.TextOptions{Width: 45, Detail: true})
	if !strings.Contains(got, "  strict: 50.0% [25.0, 75.0]\n") {
		t.Errorf("the table is not a list:\n%s", got)
	}
}

// Data is shown as text in a page: tags close, nothing runs, and all links are made by the
// page.
func TestHTMLEscapes(t *testing.T) {
	const evil = `</text></svg><script>alert("x")</script><img src=x onerror=alert(1)>\'"&` + "\u202e\x1b"
	d := sample(evil, 0.3)
	var b bytes.Buffer
	if err := doc.HTML(&b, d); err != nil {
		t.Fatal(err)
	}
	fragment, err := doc.Fragment(d, func(l doc.Link) string {
		switch {
		case l.Item != "":
			return "/item?id=" + url.QueryEscape(l.Item)
		case len(l.Items) > 0:
			return "/items?" + l.Items.Encode()
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{b.String(), string(fragment)} {
		for _, bad := range []string{"<script", "<img", "\u202e", "\x1b", "ZgotmplZ"} {
			if strings.Contains(page, bad) {
				t.Errorf("the page holds %q", bad)
			}
		}
		dec := xml.NewDecoder(strings.NewReader(page))
		dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("the page is not well formed: %v", err)
			}
		}
	}
	for _, want := range []string{`href="/items?category=`, `href="/item?id=q2"`, `href="#note1"`, `id="note1"`, "<svg", "colspan"} {
		if !strings.Contains(string(fragment), want) {
			t.Errorf("the fragment does not hold %q:\n%s", want, fragment)
		}
	}
}

// A row of a Markdown table keeps its columns whatever the names contain.
func TestMarkdownKeepsColumns(t *testing.T) {
	var b strings.Builder
	if err := doc.Markdown(&b, sample("a|b`c @someone #1 <img> [l](u)\n# head", 0.5)); err != nil {
		t.Fatal(err)
	}
	columns, outside := 0, ""
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "    ") { // Preformatted text is code.
			outside += line
		}
		if !strings.HasPrefix(line, "| ") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns == 0 {
			columns = n
		}
		if n != columns {
			t.Errorf("a row has %d bars, want %d: %s", n, columns, line)
		}
	}
	for _, bad := range []string{" @someone", " <img", "\n# head"} {
		if strings.Contains(outside, bad) {
			t.Errorf("the text holds %q as markup:\n%s", bad, outside)
		}
	}
}

// The words in which two answers differ are marked, no text is lost, and answers with
// little in common are not marked.
func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		answers []string
		want    []string // what the page shows of each
	}{
		{"one word", []string{"She moved on 12 March, before the thaw.", "She moved on 21 March, before the thaw."}, []string{"She moved on <mark>12</mark> March, before the thaw.", "She moved on <mark>21</mark> March, before the thaw."}},
		{"words in a row", []string{"It was Ines.", "It was, as I know, her old friend Ines."}, []string{"It was Ines.", "It was, <mark>as I know, her old friend</mark> Ines."}},
		{"alike", []string{"It was Ines.", "It was Ines."}, []string{"It was Ines.", "It was Ines."}},
		{"nothing in common", []string{"It was Ines.", "Nobody knows that <b>."}, []string{"It was Ines.", "Nobody knows that &lt;b&gt;."}},
		{"three", []string{"It was Ines.", "It was Tom.", "It is Ines."}, []string{"It was Ines.", "It was <mark>Tom</mark>.", "It <mark>is</mark> Ines."}},
		{"one", []string{"It was Ines."}, []string{"It was Ines."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			it := doc.Item{ID: "q"}
			for _, answer := range tt.answers {
				it.Sides = append(it.Sides, doc.Side{Response: answer})
			}
			d := &doc.Document{}
			d.Add(doc.Section{Blocks: []doc.Block{doc.Items{it}}})
			page, err := doc.Fragment(d, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(page), `tabindex="0">`+want+"</div>") {
					t.Errorf("the page lacks %q:\n%s", want, page)
				}
			}
		})
	}
}
