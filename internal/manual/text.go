package manual

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
)

// walk calls f for each node, parents first.
func walk(tree ast.Node, f func(ast.Node)) {
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { //nolint:errcheck // f returns no error.
		if entering {
			f(n)
		}
		return ast.WalkContinue, nil
	})
}

func plain(tree ast.Node, source []byte) string {
	var b strings.Builder
	walk(tree, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		case *ast.Paragraph, *ast.ListItem, *east.TableCell:
			b.WriteByte(' ')
		}
	})
	return b.String()
}

// slugs makes the anchors of headings, as GitHub does: links in the pages use those.
type slugs struct{ seen map[string]int }

// Generate returns the anchor of a heading.
func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsNumber(r), r == '_', r == '-':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	n := s.seen[slug]
	s.seen[slug]++
	if n > 0 {
		slug += "-" + strconv.Itoa(n)
	}
	return []byte(slug)
}

// Put notes an anchor that is taken.
func (s *slugs) Put(value []byte) { s.seen[string(value)]++ }

// nameHeadings gives each heading its anchor.
func nameHeadings(tree ast.Node, source []byte, ids parser.IDs) {
	walk(tree, func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok {
			h.SetAttributeString("id", ids.Generate([]byte(plain(h, source)), ast.KindHeading))
		}
	})
}

// parts returns the title of a page and its headings, each with the text below it.
func parts(tree ast.Node, source []byte) []Part {
	list := []Part{{Level: 1}}
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		last := &list[len(list)-1]
		h, ok := n.(*ast.Heading)
		switch {
		case ok && h.Level == 1 && list[0].Title == "":
			list[0].Title = plain(h, source)
		case ok:
			anchor, _ := h.AttributeString("id")
			id, _ := anchor.([]byte)
			list = append(list, Part{Anchor: string(id), Title: plain(h, source), Level: h.Level})
		default:
			last.Text = strings.TrimSpace(last.Text + " " + strings.Join(strings.Fields(plain(n, source)), " "))
		}
	}
	return list
}

// firstParagraph returns the text of the first paragraph of a page.
func firstParagraph(tree ast.Node, source []byte) string {
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if p, ok := n.(*ast.Paragraph); ok {
			return strings.TrimSpace(plain(p, source))
		}
	}
	return ""
}
