package dataset

import (
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"deem"
)

// parquetRows yields the rows of a Parquet file. Only wanted columns are read: a
// file may hold conversations of megabytes beside each short answer.
func parquetRows(b *body, f *file, want func(string) bool, yield yield) error {
	p, err := openParquet(b, f.size, want)
	if err != nil {
		return deem.WithHint(fmt.Errorf("read %s: %w", f.name, err), "the file may be cut off or broken; see whether another program reads it")
	}
	defer p.close()
	row := Row{File: f.name, names: p.names, values: make([]Value, len(p.names))}
	for {
		err := p.next(&row)
		if err == io.EOF {
			return nil
		}
		if err != nil && !isProblem(err) {
			return fmt.Errorf("read %s:%d: %w", f.name, row.Line, err)
		}
		if err != nil && !yield(nil, err) || err == nil && !yield(&row, nil) {
			return nil
		}
	}
}

// A parquetReader puts the columns of a Parquet file together to rows.
type parquetReader struct {
	names  []string
	nodes  []*node // one for each name; nil when the column is not wanted
	leaves []*leaf // of all nodes

	groups []parquet.RowGroup
	left   int64 // rows left in the group that is being read
}

// openParquet reads the schema.
func openParquet(r io.ReaderAt, size int64, want func(string) bool) (p *parquetReader, err error) {
	defer rescue(&err)
	if err := checkFooter(r, size); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	p = &parquetReader{groups: f.RowGroups()}
	for _, column := range f.Root().Columns() {
		p.names = append(p.names, column.Name())
		var n *node
		if want == nil || want(column.Name()) {
			n = p.newNode(column, 0, 0)
		}
		p.nodes = append(p.nodes, n)
	}
	return p, nil
}

// checkFooter refuses a file whose footer would be longer than the file. The library makes
// room for as much as the file says, which may be four gigabytes, before it looks.
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [8]byte // how long the footer is, and the mark of the format
	if size < 12 {
		return fmt.Errorf("a Parquet file has more than %d bytes", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:4])); n > size-12 {
		return fmt.Errorf("its footer would have %d bytes, and the file has %d", n, size)
	}
	return nil
}

// rescue turns a panic of the library, which broken files can cause, into an
// error. No code of ours that yields rows runs under it.
func rescue(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("broken Parquet: %v", r)
	}
}

// A node is a column, or a part of one that is made of several: a list, a map, a
// group. def and rep are the levels that its values have when they are there, as
// the format's Dremel encoding counts them.
type node struct {
	name     string
	def, rep int
	optional bool
	repeated bool
	kind     nodeKind
	leaf     *leaf   // of a leaf, and else the first one below
	children []*node // of a leaf none
	buf      []byte
}

type nodeKind uint8

const (
	leafNode nodeKind = iota
	groupNode
	listNode    // a group around a repeated node
	elementNode // the repeated group inside a list, around the element proper
	mapNode     // a group around repeated pairs
)

func (p *parquetReader) newNode(c *parquet.Column, def, rep int) *node {
	n := &node{name: c.Name(), optional: c.Optional(), repeated: c.Repeated(), kind: groupNode}
	if n.optional || n.repeated {
		def++
	}
	if n.repeated {
		rep++
	}
	n.def, n.rep = def, rep
	if c.Leaf() {
		n.kind, n.leaf = leafNode, &leaf{column: c.Index(), single: rep == 0, render: renderOf(c.Type())}
		p.leaves = append(p.leaves, n.leaf)
		return n
	}
	for _, child := range c.Columns() {
		n.children = append(n.children, p.newNode(child, def, rep))
	}
	if len(n.children) > 0 {
		n.leaf = n.children[0].leaf
	}
	n.kind = kindOfGroup(c, n.children)
	return n
}

// kindOfGroup recognises lists and maps, which are groups with one repeated child.
func kindOfGroup(c *parquet.Column, children []*node) nodeKind {
	logical := c.Type().LogicalType()
	if logical == nil || len(children) != 1 || !children[0].repeated {
		return groupNode
	}
	child := children[0]
	switch logical.Value.(type) {
	case *format.ListType:
		// Files of today have another group between the list and its elements,
		// old ones may not.
		if child.kind == groupNode && len(child.children) == 1 && child.name != "array" {
			child.kind = elementNode
		}
		return listNode
	case *format.MapType:
		if child.kind == groupNode && len(child.children) == 2 {
			return mapNode
		}
	}
	return groupNode
}

// next reads the next row. It returns io.EOF behind the last one.
func (p *parquetReader) next(row *Row) (err error) {
	defer rescue(&err)
	for p.left == 0 {
		p.close()
		if len(p.groups) == 0 {
			return io.EOF
		}
		p.left = p.groups[0].NumRows()
		chunks := p.groups[0].ColumnChunks()
		for _, l := range p.leaves {
			l.open(chunks[l.column])
		}
		p.groups = p.groups[1:]
	}
	p.left--
	row.Line++
	for _, l := range p.leaves {
		if err := l.nextRow(); err != nil {
			return unexpectedEOF(err)
		}
	}
	row.nans = row.nans[:0]
	for i, n := range p.nodes {
		nan := n.isNaN()
		if row.values[i] = n.value(); !utf8.Valid(row.values[i].data) {
			return deem.WithHint(
				deem.Problem{File: row.File, Line: row.Line, Message: fmt.Sprintf("column %q is not UTF-8", n.name)},
				"write the column as text in UTF-8")
		}
		if nan {
			row.nans = append(row.nans, &n.buf[0])
		}
	}
	return nil
}

// close gives back the pages of the group.
func (p *parquetReader) close() {
	for _, l := range p.leaves {
		l.close()
	}
}

// isNaN reports whether the node is a number in the row that reads as null.
func (n *node) isNaN() bool {
	if n == nil || n.kind != leafNode || n.repeated || n.leaf == nil || n.leaf.render == nil {
		return false
	}
	v := n.leaf.peek()
	return !v.IsNull() && v.Kind() != parquet.ByteArray && string(n.leaf.write(nil, v)) == "null"
}

// value returns the value of the node in the row: plain text as it is, all else as
// JSON.
func (n *node) value() Value {
	if n == nil || n.leaf == nil {
		return Value{}
	}
	if v := n.leaf.peek(); n.kind == leafNode && !n.repeated && n.leaf.render == nil && !v.IsNull() {
		return Value{literal, v.ByteArray()}
	}
	if cap(n.buf) > keptBuffer {
		n.buf = nil
	}
	n.buf = n.write(n.buf[:0])
	return Value{raw, n.buf}
}

// write appends the node as JSON.
func (n *node) write(b []byte) []byte {
	switch {
	case n.leaf == nil:
		return append(b, "null"...) // a group without members
	case n.repeated:
		return n.writeList(b)
	case n.optional && n.leaf.peek().DefinitionLevel() < n.def:
		n.skip()
		return append(b, "null"...)
	}
	return n.writeValue(b)
}

// writeList appends a repeated node.
func (n *node) writeList(b []byte) []byte {
	return append(n.each(append(b, '['), n.writeValue), ']')
}

// each appends every occurrence of a repeated node in the row.
func (n *node) each(b []byte, write func([]byte) []byte) []byte {
	if n.leaf.peek().DefinitionLevel() < n.def {
		n.skip()
		return b
	}
	b = write(b)
	for n.leaf.more() && n.leaf.peek().RepetitionLevel() == n.rep {
		b = write(append(b, ','))
	}
	return b
}

// skip takes the one value that stands for nothing from every leaf below.
func (n *node) skip() {
	if n.kind == leafNode {
		n.leaf.take()
	}
	for _, child := range n.children {
		child.skip()
	}
}

// writeValue appends a node that is there.
func (n *node) writeValue(b []byte) []byte {
	switch n.kind {
	case leafNode:
		return n.leaf.write(b, n.leaf.take())
	case listNode:
		return n.children[0].write(b)
	case elementNode:
		return n.children[0].write(b)
	case mapNode:
		return append(n.children[0].each(append(b, '{'), n.children[0].writePair), '}')
	}
	b = append(b, '{')
	for i, child := range n.children {
		if i > 0 {
			b = append(b, ',')
		}
		b = child.write(append(appendString(b, child.name), ':'))
	}
	return append(b, '}')
}

// writePair appends a key of a map, which in JSON is a string, and its value.
func (n *node) writePair(b []byte) []byte {
	key := Value{raw, n.children[0].write(nil)}
	return n.children[1].write(append(appendString(b, key.Str()), ':'))
}

// A leaf reads the values of one column, row by row.
type leaf struct {
	column int
	single bool                               // a row has exactly one value
	render func([]byte, parquet.Value) []byte // nil for text

	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	batch  [64]parquet.Value
	unread []parquet.Value // of the batch
	row    []parquet.Value
	taken  int // of the row
}

func (l *leaf) open(chunk parquet.ColumnChunk) { l.pages = chunk.Pages() }

func (l *leaf) close() {
	if l.page != nil {
		parquet.Release(l.page)
	}
	if l.pages != nil {
		// Nothing was written; there is nothing that closing could lose.
		_ = l.pages.Close()
	}
	l.pages, l.page, l.values, l.unread = nil, nil, nil, nil
}

// nextRow collects the values of the next row: the next value, and those behind it
// that repeat.
func (l *leaf) nextRow() error {
	l.row, l.taken = l.row[:0], 0
	for {
		if len(l.unread) == 0 {
			if err := l.fill(); err == io.EOF && len(l.row) > 0 {
				return nil
			} else if err != nil {
				return err
			}
		}
		if len(l.row) > 0 && l.unread[0].RepetitionLevel() == 0 {
			return nil
		}
		l.row = append(l.row, l.unread[0])
		l.unread = l.unread[1:]
		if l.single {
			return nil
		}
	}
}

// fill reads a batch of values.
func (l *leaf) fill() error {
	for {
		if l.values != nil {
			n, err := l.values.ReadValues(l.batch[:])
			if l.unread = l.batch[:n]; n > 0 {
				return nil
			}
			if err != nil && err != io.EOF {
				return err
			}
		}
		if err := l.turn(); err != nil {
			return err
		}
	}
}

// turn goes to the next page. Values of the row that lie in the one before are
// copied first.
func (l *leaf) turn() error {
	for i, v := range l.row {
		l.row[i] = v.Clone()
	}
	if l.page != nil {
		parquet.Release(l.page)
		l.page, l.values = nil, nil
	}
	page, err := l.pages.ReadPage()
	if err != nil {
		return err
	}
	l.page, l.values = page, page.Values()
	return nil
}

// more reports whether the row has values that were not taken.
func (l *leaf) more() bool { return l.taken < len(l.row) }

// peek returns the next value of the row, a null behind the last.
func (l *leaf) peek() parquet.Value {
	if !l.more() {
		return parquet.Value{}
	}
	return l.row[l.taken]
}

func (l *leaf) take() parquet.Value {
	v := l.peek()
	l.taken++
	return v
}

// write appends a value as JSON.
func (l *leaf) write(b []byte, v parquet.Value) []byte {
	switch {
	case v.IsNull():
		return append(b, "null"...)
	case l.render == nil:
		return appendString(b, string(v.ByteArray()))
	}
	return l.render(b, v)
}
