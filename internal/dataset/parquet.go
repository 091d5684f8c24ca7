package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"deem"
)

// A parquetReader assembles the columns of a Parquet file into rows.
type parquetReader struct {
	names  []string
	nodes  []*node // one for each name; nil if the column is not wanted
	leaves []*leaf // of all nodes

	file   io.ReaderAt
	size   int64
	groups []format.RowGroup
	left   int64 // rows left in the current row group
}

// openParquet reads the schema.
func openParquet(r io.ReaderAt, size int64, want func(string) bool) (p *parquetReader, err error) {
	defer rescue(&err)
	var tail [8]byte // the length of the footer, and the magic number
	if size < 12 {
		return nil, fmt.Errorf("a Parquet file has more than %d bytes", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) != "PAR1" {
		return nil, fmt.Errorf("it ends with %q, not with PAR1", tail[4:])
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	if n > size-12 {
		return nil, fmt.Errorf("its footer would have %d bytes, and the file has %d", n, size)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, size-8-n); err != nil {
		return nil, err
	}
	meta, _, err := new(format.FooterDecoder).Decode(text)
	if err != nil {
		return nil, err
	}
	p = &parquetReader{file: r, size: size, groups: meta.RowGroups}
	schema := schemaReader{rest: meta.Schema}
	root, err := schema.next()
	if err != nil {
		return nil, err
	}
	for range root.NumChildren.V {
		n, err := schema.node(0, 0, 0)
		if err != nil {
			return nil, err
		}
		p.names = append(p.names, n.name)
		if want == nil || want(n.name) {
			p.leaves = append(p.leaves, n.leaves(nil)...)
		} else {
			n = nil
		}
		p.nodes = append(p.nodes, n)
	}
	return p, nil
}

// rescue converts a panic of the library, which corrupt files can cause, into an error.
// Code that yields rows does not run under it.
func rescue(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("broken Parquet: %v", r)
	}
}

// A node is a column, or a part of a nested column: a list, a map or a group. def and rep
// are the levels of its values if they are present, as defined by the format's Dremel
// encoding.
type node struct {
	name     string
	def, rep int
	optional bool
	repeated bool
	kind     nodeKind
	leaf     *leaf   // the leaf itself, or the first one below
	children []*node // none for a leaf
	buf      []byte
}

type nodeKind uint8

const (
	leafNode nodeKind = iota
	groupNode
	listNode    // a group around a repeated node
	elementNode // the repeated group in a list, around the actual element
	mapNode     // a group around repeated pairs
)

// A schemaReader converts the elements of a schema, which are in depth-first order, to
// nodes.
type schemaReader struct {
	rest   []format.SchemaElement
	column int // of the next leaf
}

func (s *schemaReader) next() (*format.SchemaElement, error) {
	if len(s.rest) == 0 {
		return nil, errors.New("its schema is cut off")
	}
	e := &s.rest[0]
	s.rest = s.rest[1:]
	return e, nil
}

func (s *schemaReader) node(def, rep, depth int) (*node, error) {
	e, err := s.next()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("its columns are nested more than %d deep", maxDepth)
	}
	n := &node{name: e.Name, optional: e.RepetitionType.V == format.Optional, repeated: e.RepetitionType.V == format.Repeated, kind: groupNode}
	if n.optional || n.repeated {
		def++
	}
	if n.repeated {
		rep++
	}
	n.def, n.rep = def, rep
	logical := logicalType(e)
	if e.Type.Valid {
		n.kind, n.leaf = leafNode, &leaf{column: s.column, single: rep == 0, render: renderOf(e, logical)}
		n.leaf.pages = pages{kind: e.Type.V, width: widthOf(e), maxRep: rep, maxDef: def}
		s.column++
		return n, nil
	}
	for range e.NumChildren.V {
		child, err := s.node(def, rep, depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	if len(n.children) > 0 {
		n.leaf = n.children[0].leaf
	}
	n.kind = kindOfGroup(logical, n.children)
	return n, nil
}

// widthOf returns the size of a value in bytes, 0 for values with a length prefix.
func widthOf(e *format.SchemaElement) int {
	switch e.Type.V {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return int(e.TypeLength.V)
	}
	return 0
}

// leaves appends all leaves of the node.
func (n *node) leaves(list []*leaf) []*leaf {
	if n.kind == leafNode {
		return append(list, n.leaf)
	}
	for _, child := range n.children {
		list = child.leaves(list)
	}
	return list
}

// logicalType returns the logical type. Old writers use a different field for it.
func logicalType(e *format.SchemaElement) format.LogicalTypeValue {
	if e.LogicalType.Value != nil || !e.ConvertedType.Valid {
		return e.LogicalType.Value
	}
	milli, micro := format.TimeUnit{Value: new(format.MilliSeconds)}, format.TimeUnit{Value: new(format.MicroSeconds)}
	switch e.ConvertedType.V {
	case deprecated.UTF8:
		return new(format.StringType)
	case deprecated.Map:
		return new(format.MapType)
	case deprecated.List:
		return new(format.ListType)
	case deprecated.Enum:
		return new(format.EnumType)
	case deprecated.Json:
		return new(format.JsonType)
	case deprecated.Date:
		return new(format.DateType)
	case deprecated.Decimal:
		return &format.DecimalType{Scale: e.Scale.V, Precision: e.Precision.V}
	case deprecated.TimeMillis:
		return &format.TimeType{IsAdjustedToUTC: true, Unit: milli}
	case deprecated.TimeMicros:
		return &format.TimeType{IsAdjustedToUTC: true, Unit: micro}
	case deprecated.TimestampMillis:
		return &format.TimestampType{IsAdjustedToUTC: true, Unit: milli}
	case deprecated.TimestampMicros:
		return &format.TimestampType{IsAdjustedToUTC: true, Unit: micro}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return new(format.IntType) // unsigned
	}
	return nil
}

// kindOfGroup detects lists and maps, which are groups with one repeated child.
func kindOfGroup(logical format.LogicalTypeValue, children []*node) nodeKind {
	if len(children) != 1 || !children[0].repeated {
		return groupNode
	}
	child := children[0]
	switch logical.(type) {
	case *format.ListType:
		// Current files have another group between the list and its elements; old files may
		// not.
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

// next reads the next row. It returns io.EOF after the last one.
func (p *parquetReader) next(row *Row) (err error) {
	defer rescue(&err)
	for p.left == 0 {
		if len(p.groups) == 0 {
			return io.EOF
		}
		p.left = p.groups[0].NumRows
		for _, l := range p.leaves {
			l.ahead = false
			if err := l.pages.open(p.file, p.size, &p.groups[0].Columns[l.column].MetaData); err != nil {
				return err
			}
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

// isNaN reports whether the node is a number in the row that reads as null.
func (n *node) isNaN() bool {
	if n == nil || n.kind != leafNode || n.repeated || n.leaf == nil || n.leaf.render == nil {
		return false
	}
	v := n.leaf.peek()
	return !v.null && n.leaf.pages.kind != format.ByteArray && string(n.leaf.write(nil, v)) == "null"
}

// value returns the value of the node in the row: plain text unchanged, everything else as
// JSON.
func (n *node) value() Value {
	if n == nil || n.leaf == nil {
		return Value{}
	}
	if v := n.leaf.peek(); n.kind == leafNode && !n.repeated && n.leaf.render == nil && !v.null {
		return Value{literal, v.data}
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
		return append(n.each(append(b, '['), n.writeValue), ']')
	case n.optional && int(n.leaf.peek().def) < n.def:
		n.skip()
		return append(b, "null"...)
	}
	return n.writeValue(b)
}

// each appends every occurrence of a repeated node in the row.
func (n *node) each(b []byte, write func([]byte) []byte) []byte {
	if int(n.leaf.peek().def) < n.def {
		n.skip()
		return b
	}
	b = write(b)
	for n.leaf.more() && int(n.leaf.peek().rep) == n.rep {
		b = write(append(b, ','))
	}
	return b
}

// skip consumes the placeholder value of an absent node from every leaf below.
func (n *node) skip() {
	if n.kind == leafNode {
		n.leaf.take()
	}
	for _, child := range n.children {
		child.skip()
	}
}

// writeValue appends a node that is present.
func (n *node) writeValue(b []byte) []byte {
	switch n.kind {
	case leafNode:
		return n.leaf.write(b, n.leaf.take())
	case listNode, elementNode:
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

// writePair appends a key of a map, as a JSON string, and its value.
func (n *node) writePair(b []byte) []byte {
	key := Value{raw, n.children[0].write(nil)}
	return n.children[1].write(append(appendString(b, key.Str()), ':'))
}

// A leaf reads the values of one column, row by row.
type leaf struct {
	column int
	single bool                             // a row has exactly one value
	render func([]byte, parquetCell) []byte // nil for text

	pages pages
	head  parquetCell // the first one of the next row, if ahead
	ahead bool
	row   []parquetCell
	taken int // of the row
}

// nextRow collects the values of the next row: the next value, and the repeated values
// after it.
func (l *leaf) nextRow() error {
	l.row, l.taken = l.row[:0], 0
	for {
		if !l.ahead {
			var err error
			if l.head, err = l.pages.next(); err == io.EOF && len(l.row) > 0 {
				return nil
			} else if err != nil {
				return err
			}
			l.ahead = true
		}
		if len(l.row) > 0 && l.head.rep == 0 {
			return nil
		}
		l.row, l.ahead = append(l.row, l.head), false
		if l.single {
			return nil
		}
	}
}

// more reports whether the row has values that were not consumed.
func (l *leaf) more() bool { return l.taken < len(l.row) }

// peek returns the next value of the row, a null after the last.
func (l *leaf) peek() parquetCell {
	if !l.more() {
		return parquetCell{null: true}
	}
	return l.row[l.taken]
}

func (l *leaf) take() parquetCell {
	v := l.peek()
	l.taken++
	return v
}

// write appends a value as JSON.
func (l *leaf) write(b []byte, v parquetCell) []byte {
	switch {
	case v.null:
		return append(b, "null"...)
	case l.render == nil:
		return appendString(b, string(v.data))
	}
	return l.render(b, v)
}
