package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A parquetCell is one value of a column with its levels, as defined by the format's Dremel
// encoding. Its bytes are a text, or a number in little-endian order.
type parquetCell struct {
	rep, def uint32
	null     bool
	data     []byte
}

// pages yields the cells of a column in one row group. It decodes values one by one, so
// that a corrupt file cannot use more memory than its size.
type pages struct {
	section *io.SectionReader
	buffer  *bufio.Reader
	decoder *thrift.Decoder
	codec   compress.Codec // nil if the data is not compressed
	kind    format.Type
	width   int // of a value in bytes, 0 for byte arrays
	maxRep  int
	maxDef  int

	dict       [][]byte
	left       int32 // unread values of the page
	reps, defs levels
	values     func() ([]byte, error)
}

var codecs = map[format.CompressionCodec]compress.Codec{
	format.Snappy: &snappy.Codec{}, format.Gzip: &gzip.Codec{}, format.Zstd: &zstd.Codec{}, format.Brotli: &brotli.Codec{}, format.Lz4Raw: &lz4.Codec{},
}

// open starts a column of a row group.
func (p *pages) open(r io.ReaderAt, size int64, chunk *format.ColumnMetaData) error {
	begin := chunk.DataPageOffset
	if d := chunk.DictionaryPageOffset; d > 0 {
		begin = min(begin, d)
	}
	if begin < 0 || chunk.TotalCompressedSize < 0 || begin > size-chunk.TotalCompressedSize {
		return errors.New("a column is outside of the file")
	}
	p.codec = codecs[chunk.Codec]
	if p.codec == nil && chunk.Codec != format.Uncompressed {
		return fmt.Errorf("the compression %s is not supported", chunk.Codec)
	}
	p.section = io.NewSectionReader(r, begin, chunk.TotalCompressedSize)
	p.buffer = bufio.NewReader(p.section)
	p.decoder = thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(p.buffer))
	p.dict, p.left = nil, 0
	return nil
}

// next returns the next cell, and io.EOF after the last one.
func (p *pages) next() (parquetCell, error) {
	for p.left == 0 {
		if err := p.turn(); err != nil {
			return parquetCell{}, err
		}
	}
	p.left--
	var c parquetCell
	var err error
	if p.maxRep > 0 {
		if c.rep, err = p.reps.next(); err != nil {
			return c, err
		}
	}
	if p.maxDef > 0 {
		if c.def, err = p.defs.next(); err != nil {
			return c, err
		}
	}
	if c.null = c.def < uint32(p.maxDef); !c.null { //nolint:gosec // It is at most a hundred.
		c.data, err = p.values()
	}
	return c, err
}

// turn advances to the next page.
func (p *pages) turn() error {
	header := new(format.PageHeader)
	if err := p.decoder.Decode(header); err != nil {
		return err
	}
	position, err := p.section.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if n := int64(header.CompressedPageSize); n < 0 || n > p.section.Size()-position+int64(p.buffer.Buffered()) {
		return fmt.Errorf("a page would have %d bytes, which the file does not have", n)
	}
	data := make([]byte, header.CompressedPageSize)
	if _, err := io.ReadFull(p.buffer, data); err != nil {
		return err
	}
	switch v1, v2 := header.DataPageHeader.V, header.DataPageHeaderV2.V; header.Type {
	case format.DictionaryPage:
		if data, err = p.unpack(data); err != nil {
			return err
		}
		next, err := p.plain(data)
		p.dict = nil
		for range header.DictionaryPageHeader.V.NumValues {
			if err != nil {
				return err
			}
			var value []byte
			value, err = next()
			p.dict = append(p.dict, value)
		}
		return err
	case format.DataPage:
		if data, err = p.unpack(data); err != nil {
			return err
		}
		for _, l := range []struct {
			to       *levels
			most     int
			encoding format.Encoding
		}{{&p.reps, p.maxRep, v1.RepetitionLevelEncoding}, {&p.defs, p.maxDef, v1.DefinitionLevelEncoding}} {
			if l.most == 0 {
				continue
			}
			if l.encoding != format.RLE || len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
				return errors.New("the levels of a page are cut off, or in an old encoding that is not supported")
			}
			n := int(binary.LittleEndian.Uint32(data))
			*l.to, data = newLevels(data[4:4+n], bits.Len(uint(l.most))), data[4+n:]
		}
		return p.readData(v1.Encoding, v1.NumValues, data)
	case format.DataPageV2:
		r, d := int(v2.RepetitionLevelsByteLength), int(v2.DefinitionLevelsByteLength)
		if r < 0 || d < 0 || r+d > len(data) {
			return errors.New("the levels of a page are cut off")
		}
		p.reps, p.defs = newLevels(data[:r], bits.Len(uint(p.maxRep))), newLevels(data[r:r+d], bits.Len(uint(p.maxDef)))
		if data = data[r+d:]; !v2.IsCompressed.Valid || v2.IsCompressed.V {
			if data, err = p.unpack(data); err != nil {
				return err
			}
		}
		return p.readData(v2.Encoding, v2.NumValues, data)
	}
	return nil // an index, which is not needed
}

func (p *pages) unpack(data []byte) ([]byte, error) {
	if p.codec == nil || len(data) == 0 {
		return data, nil
	}
	return p.codec.Decode(nil, data)
}

// readData starts the values of a page.
func (p *pages) readData(encoding format.Encoding, n int32, data []byte) (err error) {
	if n < 0 {
		return errors.New("a page has a negative number of values")
	}
	p.left = n
	if len(data) == 0 {
		p.values = nothing
		return nil
	}
	switch encoding {
	case format.Plain:
		p.values, err = p.plain(data)
	case format.PlainDictionary, format.RLEDictionary: //nolint:staticcheck // Old files have the first.
		indexes := newLevels(data[1:], int(data[0]))
		p.values = func() ([]byte, error) {
			i, err := indexes.next()
			if err != nil {
				return nil, err
			}
			if int64(i) >= int64(len(p.dict)) {
				return nil, fmt.Errorf("a value is number %d of a dictionary with %d", i, len(p.dict))
			}
			return p.dict[i], nil
		}
	case format.RLE: // booleans
		if len(data) < 4 {
			return io.ErrUnexpectedEOF
		}
		flags := newLevels(data[4:], 1)
		p.values = func() ([]byte, error) {
			flag, err := flags.next()
			return []byte{byte(flag)}, err
		}
	case format.ByteStreamSplit:
		if p.width == 0 {
			return fmt.Errorf("%s does not go with %s", encoding, p.kind)
		}
		joined, n := make([]byte, len(data)), len(data)/p.width
		for i := range n * p.width {
			joined[i] = data[i%p.width*n+i/p.width]
		}
		p.values, err = p.plain(joined)
	default:
		p.values, err = p.deltas(encoding, data)
	}
	return err
}

func nothing() ([]byte, error) { return nil, io.ErrUnexpectedEOF }

// plain yields values in plain encoding.
func (p *pages) plain(data []byte) (func() ([]byte, error), error) {
	take := func(n int64) ([]byte, error) {
		if n < 0 || n > int64(len(data)) {
			return nil, io.ErrUnexpectedEOF
		}
		value := data[:n:n]
		data = data[n:]
		return value, nil
	}
	switch {
	case p.kind == format.Boolean:
		flags := levels{packed: data, left: uint64(len(data)) * 8, width: 1}
		return func() ([]byte, error) {
			flag, err := flags.next()
			return []byte{byte(flag)}, err
		}, nil
	case p.kind == format.ByteArray:
		return func() ([]byte, error) {
			n, err := take(4)
			if err != nil {
				return nil, err
			}
			return take(int64(binary.LittleEndian.Uint32(n)))
		}, nil
	case p.width <= 0:
		return nil, fmt.Errorf("values of type %s have no width", p.kind)
	}
	return func() ([]byte, error) { return take(int64(p.width)) }, nil
}

// deltas yields values in delta encoding.
func (p *pages) deltas(encoding format.Encoding, data []byte) (func() ([]byte, error), error) {
	var err error
	var text []byte
	var offsets []uint32
	switch {
	case encoding == format.DeltaBinaryPacked && p.kind == format.Int32:
		var list []int32
		list, err = new(delta.BinaryPackedEncoding).DecodeInt32(nil, data)
		for _, v := range list {
			text = binary.LittleEndian.AppendUint32(text, uint32(v)) //nolint:gosec // Only the bits are copied.
		}
	case encoding == format.DeltaBinaryPacked && p.kind == format.Int64:
		var list []int64
		list, err = new(delta.BinaryPackedEncoding).DecodeInt64(nil, data)
		for _, v := range list {
			text = binary.LittleEndian.AppendUint64(text, uint64(v)) //nolint:gosec // Only the bits are copied.
		}
	case encoding == format.DeltaByteArray && p.kind == format.FixedLenByteArray:
		text, err = new(delta.ByteArrayEncoding).DecodeFixedLenByteArray(nil, data, p.width)
	case encoding == format.DeltaByteArray && p.kind == format.ByteArray:
		text, offsets, err = new(delta.ByteArrayEncoding).DecodeByteArray(nil, data, nil)
	case encoding == format.DeltaLengthByteArray && p.kind == format.ByteArray:
		text, offsets, err = new(delta.LengthByteArrayEncoding).DecodeByteArray(nil, data, nil)
	default:
		return nil, fmt.Errorf("the encoding %s of %s is not supported", encoding, p.kind)
	}
	if err != nil {
		return nil, err
	}
	if p.kind != format.ByteArray {
		return p.plain(text)
	}
	return func() ([]byte, error) {
		if len(offsets) < 2 {
			return nil, io.ErrUnexpectedEOF
		}
		value := text[offsets[0]:offsets[1]:offsets[1]]
		offsets = offsets[1:]
		return value, nil
	}, nil
}

// levels are small numbers in runs: one repeated number, or numbers packed into a few bits
// each.
type levels struct {
	data   []byte // of the runs that follow
	width  int    // of a number in bits
	left   uint64 // numbers left in the run
	value  uint32
	packed []byte // nil if the run is one repeated number
	bit    int    // the next one of packed
}

func newLevels(data []byte, width int) levels { return levels{data: data, width: width} }

func (l *levels) next() (uint32, error) {
	for l.left == 0 {
		head, n := binary.Uvarint(l.data)
		size := (l.width + 7) / 8
		if n <= 0 || l.width > 32 {
			return 0, io.ErrUnexpectedEOF
		}
		l.data = l.data[n:]
		if l.left, l.packed, l.bit = head>>1, nil, 0; head&1 != 0 {
			// The last run may end before the group of eight numbers is full.
			size = int(min(l.left*uint64(l.width), uint64(len(l.data)))) //nolint:gosec // The count is bounded by the data.
			l.left, l.packed, l.data = l.left*8, l.data[:size:size], l.data[size:]
			continue
		}
		if len(l.data) < size {
			return 0, io.ErrUnexpectedEOF
		}
		var word [4]byte
		copy(word[:], l.data[:size])
		l.value, l.data = binary.LittleEndian.Uint32(word[:]), l.data[size:]
	}
	l.left--
	if l.packed == nil {
		return l.value, nil
	}
	if l.bit+l.width > 8*len(l.packed) {
		return 0, io.ErrUnexpectedEOF
	}
	var word [8]byte
	copy(word[:], l.packed[l.bit/8:])
	value := binary.LittleEndian.Uint64(word[:]) >> (l.bit % 8) & (1<<l.width - 1)
	l.bit += l.width
	return uint32(value), nil //nolint:gosec // It has at most 32 bits.
}
