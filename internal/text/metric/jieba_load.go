package metric

import (
	"compress/gzip"
	_ "embed" // for the dictionary
	"encoding/binary"
	"io"
	"math"
	"strings"
	"sync"
	"unicode/utf8"
)

// packed is the dictionary and the model, as written by jieba_gen.go.
//
//go:embed jieba/jieba.bin.gz
var packed string

// load returns the dictionary and unpacks it at the first call.
var load = sync.OnceValue(unpack)

func unpack() *dictionary {
	zr, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		panic("jieba: dictionary: " + err.Error())
	}
	data, err := io.ReadAll(zr)
	if err != nil {
		panic("jieba: dictionary: " + err.Error())
	}
	r := &reader{data}
	d := &dictionary{}
	d.total = r.float()
	d.logs = make([]float64, r.int())
	for i := range d.logs {
		r.int() // the frequency itself, for human readers only
		d.logs[i] = r.float()
	}
	n := r.int()
	shared, lengths, rest, classes := r.part(), r.part(), r.part(), r.part()
	d.ends = make([]uint32, n)
	d.class = make([]uint16, n)
	text := make([]byte, 0, len(rest.data)*3)
	before := 0 // start of the previous word
	for i := range n {
		from := len(text)
		text = append(text, text[before:before+shared.int()]...)
		text = append(text, rest.take(lengths.int())...)
		d.ends[i] = uint32(len(text))
		d.class[i] = uint16(classes.int())
		before = from
	}
	d.text = string(text)
	// Record where the words with each first character begin.
	d.first = make([]uint32, lastHan+2)
	filled := 0
	for i := range d.ends {
		r, _ := utf8.DecodeRuneInString(d.word(i))
		for ; filled <= min(int(r), lastHan+1); filled++ {
			d.first[filled] = uint32(i)
		}
	}
	for ; filled < len(d.first); filled++ {
		d.first[filled] = uint32(len(d.ends))
	}
	d.readEmissions(r)
	if len(r.data) > 0 {
		panic("jieba: dictionary is longer than it should be")
	}
	return d
}

func (d *dictionary) readEmissions(r *reader) {
	for _, y := range []int{begin, end, middle, single} {
		d.emit[y] = make([]float64, lastHan-firstHan+1)
		for i := range d.emit[y] {
			d.emit[y][i] = impossible
		}
		chars := make([]rune, r.int())
		before := rune(0)
		for i := range chars {
			before += rune(r.int())
			chars[i] = before
		}
		for _, c := range chars {
			if p := r.float(); isHan(c) {
				d.emit[y][c-firstHan] = p
			}
		}
	}
}

// A reader consumes numbers from the front of its data. The data is our own, so a read
// error is a bug and panics.
type reader struct{ data []byte }

func (r *reader) int() int {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		panic("jieba: dictionary is cut short")
	}
	r.data = r.data[n:]
	return int(v)
}

func (r *reader) float() float64 {
	f := math.Float64frombits(binary.LittleEndian.Uint64(r.data))
	r.data = r.data[8:]
	return f
}

func (r *reader) take(n int) []byte {
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

// part returns a reader of a part that is preceded by its length.
func (r *reader) part() *reader { return &reader{r.take(r.int())} }
