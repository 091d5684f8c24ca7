package export

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"deem"
)

// The limits of a row group in rows and in bytes of text. Readers prefer large groups, but
// a group is held in memory, and items may be long.
const (
	groupRows  = 16 << 10
	groupBytes = 16 << 20
)

// A Parquet writes a Parquet file, compressed with zstd, with the run in the file's
// metadata. The file is incomplete until Close.
//
// It supports only the types of a [Row]. The library's own writer supports any type, which
// takes a tenth of the compile time of deem.
type Parquet struct {
	run     Run
	w       io.Writer
	at      int64 // bytes written
	err     error
	meta    format.FileMetaData
	columns []*parquetColumn
	rows    int
	size    int
}

var _ Writer = (*Parquet)(nil)

// A parquetColumn collects the values of one column of a row group. Optional and repeated
// values have levels (docs of Parquet: "nested encoding").
type parquetColumn struct {
	path           []string
	kind           format.Type
	maxDef, maxRep byte
	defs, reps     []byte
	values         int
	data           []byte
	bools          int // of them, for their bits
}

// NewParquet returns a writer of Parquet.
func NewParquet(w io.Writer, run Run) *Parquet {
	p := &Parquet{run: run, w: w}
	p.write([]byte("PAR1"))
	p.meta.Version, p.meta.CreatedBy = 1, "deem version "+strings.TrimPrefix(run.Software, "deem ")
	for _, kv := range [][2]string{
		{"deem.run", run.ID},
		{"deem.judge", run.Judge},
		{"deem.judge_hash", run.JudgeHash},
		{"deem.dataset", run.Dataset},
		{"deem.dataset_hash", run.DatasetHash},
	} {
		p.meta.KeyValueMetadata = append(p.meta.KeyValueMetadata, format.KeyValue{Key: kv[0], Value: kv[1]})
	}
	row := reflect.TypeFor[Row]()
	p.group("row", thrift.Null[format.FieldRepetitionType]{}, row.NumField(), nil)
	p.declareFields(row, 0, 0)
	return p
}

func (p *Parquet) declareFields(t reflect.Type, def, rep byte, path ...string) {
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		p.declare(field.Type, format.Required, def, rep, slices.Concat(path, []string{name})...)
	}
}

// declare adds a type to the schema. An optional value raises the definition level, and a
// repeated value raises both.
func (p *Parquet) declare(t reflect.Type, repetition format.FieldRepetitionType, def, rep byte, path ...string) {
	name, required := path[len(path)-1], thrift.New(format.Required)
	switch t.Kind() {
	case reflect.Pointer:
		p.declare(t.Elem(), format.Optional, def+1, rep, path...)
	case reflect.Slice:
		p.group(name, required, 1, new(format.ListType))
		p.group("list", thrift.New(format.Repeated), 1, nil)
		p.declare(t.Elem(), format.Required, def+1, rep+1, slices.Concat(path, []string{"list", "element"})...)
	case reflect.Map:
		p.group(name, required, 1, new(format.MapType))
		p.group("key_value", thrift.New(format.Repeated), 2, nil)
		p.declare(t.Key(), format.Required, def+1, rep+1, slices.Concat(path, []string{"key_value", "key"})...)
		p.declare(t.Elem(), format.Required, def+1, rep+1, slices.Concat(path, []string{"key_value", "value"})...)
	case reflect.Struct:
		p.group(name, required, t.NumField(), nil)
		p.declareFields(t, def, rep, path...)
	default:
		kind := map[reflect.Kind]format.Type{
			reflect.String: format.ByteArray, reflect.Int64: format.Int64, reflect.Float64: format.Double, reflect.Bool: format.Boolean,
		}[t.Kind()]
		e := format.SchemaElement{Name: name, Type: thrift.New(kind), RepetitionType: thrift.New(repetition)}
		if kind == format.ByteArray {
			e.ConvertedType, e.LogicalType.Value = thrift.New(deprecated.UTF8), new(format.StringType)
		}
		p.meta.Schema = append(p.meta.Schema, e)
		p.columns = append(p.columns, &parquetColumn{path: path, kind: kind, maxDef: def, maxRep: rep})
	}
}

// group adds a group to the schema. The root has no repetition.
func (p *Parquet) group(name string, repetition thrift.Null[format.FieldRepetitionType], children int, logical format.LogicalTypeValue) {
	e := format.SchemaElement{Name: name, RepetitionType: repetition, NumChildren: thrift.New(int32(children)), LogicalType: format.LogicalType{Value: logical}} //nolint:gosec // A few.
	switch logical.(type) {
	case *format.ListType:
		e.ConvertedType = thrift.New(deprecated.List)
	case *format.MapType:
		e.ConvertedType = thrift.New(deprecated.Map)
	}
	p.meta.Schema = append(p.meta.Schema, e)
}

// Add adds one row.
func (p *Parquet) Add(rec deem.Record) error {
	row := p.run.Of(rec)
	put(p.columns, reflect.TypeFor[Row](), reflect.ValueOf(row), 0, 0, 0)
	p.rows++
	p.size += row.size()
	if p.rows >= groupRows || p.size >= groupBytes {
		p.flush()
	}
	return p.err
}

// put adds a value to the columns of its type, and returns the columns after them. The zero
// Value is an absent value, and depth is the number of lists around the value.
func put(columns []*parquetColumn, t reflect.Type, v reflect.Value, rep, def, depth byte) []*parquetColumn {
	switch there := v.IsValid(); t.Kind() {
	case reflect.Pointer:
		if there && !v.IsNil() {
			return put(columns, t.Elem(), v.Elem(), rep, def+1, depth)
		}
		return put(columns, t.Elem(), reflect.Value{}, rep, def, depth)
	case reflect.Slice:
		if !there || v.Len() == 0 {
			return put(columns, t.Elem(), reflect.Value{}, rep, def, depth+1)
		}
		var rest []*parquetColumn
		for i := range v.Len() {
			rest = put(columns, t.Elem(), v.Index(i), rep, def+1, depth+1)
			rep = depth + 1
		}
		return rest
	case reflect.Map:
		if !there || v.Len() == 0 {
			values := put(columns, t.Key(), reflect.Value{}, rep, def, depth+1)
			return put(values, t.Elem(), reflect.Value{}, rep, def, depth+1)
		}
		var rest []*parquetColumn
		byName := func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), byName) {
			values := put(columns, t.Key(), key, rep, def+1, depth+1)
			rest = put(values, t.Elem(), v.MapIndex(key), rep, def+1, depth+1)
			rep = depth + 1
		}
		return rest
	case reflect.Struct:
		for i := range t.NumField() {
			member := reflect.Value{}
			if there {
				member = v.Field(i)
			}
			columns = put(columns, t.Field(i).Type, member, rep, def, depth)
		}
		return columns
	}
	columns[0].add(rep, def, v)
	return columns[1:]
}

// add adds a value with its levels. The zero Value means none.
func (c *parquetColumn) add(rep, def byte, v reflect.Value) {
	c.values++
	if c.maxRep > 0 {
		c.reps = append(c.reps, rep)
	}
	if c.maxDef > 0 {
		c.defs = append(c.defs, def)
	}
	switch {
	case !v.IsValid():
	case c.kind == format.ByteArray:
		c.data = append(binary.LittleEndian.AppendUint32(c.data, uint32(v.Len())), v.String()...) //nolint:gosec // Texts are shorter than 4 GB.
	case c.kind == format.Int64:
		c.data = binary.LittleEndian.AppendUint64(c.data, uint64(v.Int())) //nolint:gosec // Only the bits are written.
	case c.kind == format.Double:
		c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(v.Float()))
	case c.kind == format.Boolean:
		if c.bools%8 == 0 {
			c.data = append(c.data, 0)
		}
		if v.Bool() {
			c.data[len(c.data)-1] |= 1 << (c.bools % 8)
		}
		c.bools++
	}
}

// flush writes a row group: one page for each column.
func (p *Parquet) flush() {
	group := format.RowGroup{NumRows: int64(p.rows), Ordinal: int16(len(p.meta.RowGroups))} //nolint:gosec // It is only a hint.
	for _, c := range p.columns {
		body := slices.Concat(encodeLevels(c.maxRep, c.reps), encodeLevels(c.maxDef, c.defs), c.data)
		packed, err := new(zstd.Codec).Encode(nil, body)
		header := format.PageHeader{
			Type: format.DataPage, UncompressedPageSize: int32(len(body)), CompressedPageSize: int32(len(packed)), //nolint:gosec // A row group has a few MB.
			DataPageHeader: thrift.New(format.DataPageHeader{
				NumValues: int32(c.values), Encoding: format.Plain, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE, //nolint:gosec // A row group has a few MB.
			}),
		}
		head, err2 := thrift.Marshal(new(thrift.CompactProtocol), &header)
		if p.err == nil {
			p.err = errors.Join(err, err2)
		}
		group.Columns = append(group.Columns, format.ColumnChunk{FileOffset: p.at, MetaData: format.ColumnMetaData{
			Type: c.kind, Encoding: []format.Encoding{format.Plain, format.RLE}, PathInSchema: c.path, Codec: format.Zstd, NumValues: int64(c.values),
			TotalUncompressedSize: int64(len(head) + len(body)), TotalCompressedSize: int64(len(head) + len(packed)), DataPageOffset: p.at,
		}})
		group.TotalByteSize += int64(len(head) + len(body))
		group.TotalCompressedSize += int64(len(head) + len(packed))
		p.write(head)
		p.write(packed)
		*c = parquetColumn{path: c.path, kind: c.kind, maxDef: c.maxDef, maxRep: c.maxRep, data: c.data[:0], defs: c.defs[:0], reps: c.reps[:0]}
	}
	p.meta.RowGroups = append(p.meta.RowGroups, group)
	p.meta.NumRows += int64(p.rows)
	p.rows, p.size = 0, 0
}

// encodeLevels encodes levels of one bit as runs of equal values.
func encodeLevels(most byte, list []byte) []byte {
	if most == 0 {
		return nil
	}
	b := make([]byte, 4) // the length, written last
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n] == list[0] {
			n++
		}
		b = append(binary.AppendUvarint(b, uint64(n)<<1), list[0])
		list = list[n:]
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4)) //nolint:gosec // A row group has a few MB.
	return b
}

func (p *Parquet) write(b []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
		p.at += int64(len(b))
	}
}

// Close writes the last group and the footer.
func (p *Parquet) Close() error {
	if p.rows > 0 {
		p.flush()
	}
	foot, err := thrift.Marshal(new(thrift.CompactProtocol), &p.meta)
	if p.err == nil {
		p.err = err
	}
	p.write(foot)
	p.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(foot))), "PAR1"...)) //nolint:gosec // It is short.
	return p.err
}
