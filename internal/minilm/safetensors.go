package minilm

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"deem"
)

// A tensor is one array of a safetensors file, as bytes. Numbers are decoded on demand:
// only a few rows of the word embeddings are needed.
type tensor struct {
	dtype string
	shape []int
	bytes []byte
}

// widths are the sizes in bytes of the supported number types.
var widths = map[string]int{"F32": 4, "F16": 2, "BF16": 2}

// maxHeader is the maximum length of the header in the format.
const maxHeader = 100 << 20

// readSafetensors parses the header of a safetensors file: a length in eight bytes, that
// much JSON, and then the numbers. It checks that the arrays are within the file; whether
// they can be decoded is checked on use, because a file may contain others, such as the
// positions, which are integers.
func readSafetensors(data []byte) (map[string]tensor, error) {
	if strings.HasPrefix(string(data[:min(len(data), 64)]), "version https://git-lfs") {
		return nil, deem.WithHint(errors.New("it is a pointer of Git LFS and not the file itself"), "fetch the file with git lfs pull")
	}
	if len(data) < 8 {
		return nil, fmt.Errorf("%d bytes are not a safetensors file", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader || n > uint64(len(data)-8) {
		return nil, fmt.Errorf("the header takes %d bytes of a file of %d: it is cut off, or no safetensors file", n, len(data))
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+n], &entries); err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	tensors := make(map[string]tensor, len(entries))
	for name, entry := range entries {
		if name == "__metadata__" {
			continue
		}
		var e struct {
			Dtype   string    `json:"dtype"`
			Shape   []int     `json:"shape"`
			Offsets [2]uint64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(entry, &e); err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		body, from, to := data[8+n:], e.Offsets[0], e.Offsets[1]
		if from > to || to > uint64(len(body)) {
			return nil, fmt.Errorf("array %s: bytes %d to %d of %d: the file is cut off", name, from, to, len(body))
		}
		tensors[name] = tensor{dtype: e.Dtype, shape: e.Shape, bytes: body[from:to]}
	}
	return tensors, nil
}

// check returns an error unless the tensor has that shape and a supported type.
func (t tensor) check(shape ...int) error {
	width, ok := widths[t.dtype]
	if !ok {
		return fmt.Errorf("numbers of type %q, want F32, F16 or BF16", t.dtype)
	}
	if !slices.Equal(t.shape, shape) {
		return fmt.Errorf("shape %v, want %v", t.shape, shape)
	}
	want := width
	for _, n := range shape {
		want *= n
	}
	if len(t.bytes) != want {
		return fmt.Errorf("%d bytes for shape %v of %s, want %d", len(t.bytes), shape, t.dtype, want)
	}
	return nil
}

// add adds the numbers from index first on to those in dst.
func (t tensor) add(dst []float32, first int) {
	width := widths[t.dtype]
	b := t.bytes[first*width:]
	for i := range dst {
		dst[i] += t.number(b[i*width:])
	}
}

func (t tensor) floats() []float32 {
	width := widths[t.dtype]
	list := make([]float32, len(t.bytes)/width)
	for i := range list {
		list[i] = t.number(t.bytes[i*width:])
	}
	return list
}

// number decodes the number at the start of b.
func (t tensor) number(b []byte) float32 {
	switch t.dtype {
	case "F32":
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	case "BF16": // the upper half of a float
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
	default:
		return half(binary.LittleEndian.Uint16(b))
	}
}

// half converts an IEEE 754 half-precision number.
func half(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent, fraction := uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch exponent {
	case 0: // zero and subnormals, which are multiples of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 0x1f: // infinity and NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	default: // the exponents are biased by 15 and by 127
		return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
	}
}
