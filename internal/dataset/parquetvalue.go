package dataset

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"
)

// renderOf returns how values of a type become JSON, or nil for text. Types that JSON does
// not have become the text that Python would print.
func renderOf(e *format.SchemaElement, logical format.LogicalTypeValue) func([]byte, parquetCell) []byte {
	switch lt := logical.(type) {
	case *format.StringType, *format.EnumType:
		return nil
	case *format.JsonType:
		return appendJSON
	case *format.UUIDType:
		return appendUUID
	case *format.DateType:
		return func(b []byte, v parquetCell) []byte {
			return appendTime(b, time.Unix(integer(v)*86400, 0).UTC(), time.DateOnly)
		}
	case *format.TimestampType:
		layout := "2006-01-02 15:04:05"
		if lt.IsAdjustedToUTC {
			layout += "+00:00"
		}
		unit := lt.Unit.Value.Duration()
		return func(b []byte, v parquetCell) []byte { return appendTime(b, instant(integer(v), unit), layout) }
	case *format.TimeType:
		unit := lt.Unit.Value.Duration()
		return func(b []byte, v parquetCell) []byte { return appendTime(b, instant(integer(v), unit), time.TimeOnly) }
	case *format.DecimalType:
		scale, whole := int(lt.Scale), e.Type.V == format.Int32 || e.Type.V == format.Int64
		return func(b []byte, v parquetCell) []byte {
			if whole {
				return appendDecimal(b, big.NewInt(integer(v)), scale)
			}
			return appendDecimal(b, unscaled(v.data), scale)
		}
	case *format.IntType:
		if !lt.IsSigned {
			return appendUnsigned
		}
	case *format.Float16Type:
		if e.TypeLength.V == 2 {
			return func(b []byte, v parquetCell) []byte { return appendFloat(b, half(v.data), 32) }
		}
	}
	switch e.Type.V { // no logical type, or one that changes nothing
	case format.Boolean:
		return func(b []byte, v parquetCell) []byte { return strconv.AppendBool(b, v.data[0] != 0) }
	case format.Int32, format.Int64:
		return func(b []byte, v parquetCell) []byte { return strconv.AppendInt(b, integer(v), 10) }
	case format.Int96:
		return func(b []byte, v parquetCell) []byte { return appendTime(b, int96Time(v), "2006-01-02 15:04:05") }
	case format.Float:
		return func(b []byte, v parquetCell) []byte {
			return appendFloat(b, float64(math.Float32frombits(binary.LittleEndian.Uint32(v.data))), 32)
		}
	case format.Double:
		return func(b []byte, v parquetCell) []byte {
			return appendFloat(b, math.Float64frombits(binary.LittleEndian.Uint64(v.data)), 64)
		}
	case format.FixedLenByteArray:
		return appendBytes
	}
	return nil
}

// integer returns the number in a value of either width.
func integer(v parquetCell) int64 {
	if len(v.data) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(v.data))) //nolint:gosec // The value is signed.
	}
	return int64(binary.LittleEndian.Uint64(v.data)) //nolint:gosec // The value is signed.
}

func appendUnsigned(b []byte, v parquetCell) []byte {
	if len(v.data) == 4 {
		return strconv.AppendUint(b, uint64(binary.LittleEndian.Uint32(v.data)), 10)
	}
	return strconv.AppendUint(b, binary.LittleEndian.Uint64(v.data), 10)
}

// appendFloat appends a number that stays a float even if it is integral. NaN is how pandas
// writes a missing number.
func appendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "null"...)
	case math.IsInf(f, 1):
		return append(b, `"inf"`...)
	case math.IsInf(f, -1):
		return append(b, `"-inf"`...)
	}
	s := strconv.FormatFloat(f, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return append(b, s...)
}

// half decodes an IEEE 754 half-precision number.
func half(p []byte) float64 {
	if len(p) != 2 {
		return math.NaN()
	}
	bits := binary.LittleEndian.Uint16(p)
	sign := 1.0
	if bits&0x8000 != 0 {
		sign = -1
	}
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	switch {
	case exponent == 0x1f && fraction != 0:
		return math.NaN()
	case exponent == 0x1f:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1+fraction/1024, exponent-15)
}

// appendJSON appends a value that is already JSON, or as text if it is not valid.
func appendJSON(b []byte, v parquetCell) []byte {
	s := scanner{text: v.data}
	s.space()
	begin := s.pos
	if err := s.value(0); err == nil {
		end := s.pos
		if s.space(); s.pos == len(s.text) {
			return append(b, s.text[begin:end]...)
		}
	}
	return appendString(b, string(v.data))
}

func appendUUID(b []byte, v parquetCell) []byte {
	p := v.data
	if len(p) != 16 {
		return appendBytes(b, v)
	}
	return fmt.Appendf(b, `"%x-%x-%x-%x-%x"`, p[:4], p[4:6], p[6:8], p[8:10], p[10:])
}

// appendBytes appends bytes of unknown type: as text if they are valid UTF-8, and otherwise
// in hexadecimal.
func appendBytes(b []byte, v parquetCell) []byte {
	if p := v.data; utf8.Valid(p) {
		return appendString(b, string(p))
	}
	return fmt.Appendf(b, `"%x"`, v.data)
}

// instant returns the time that is n units after the epoch.
func instant(n int64, unit time.Duration) time.Time {
	perSecond := int64(time.Second / unit)
	return time.Unix(n/perSecond, n%perSecond*int64(unit)).UTC()
}

// int96Time decodes the timestamps of old writers: nanoseconds of the day, and the Julian
// day.
func int96Time(v parquetCell) time.Time {
	nanos, day := integer(parquetCell{data: v.data[:8]}), integer(parquetCell{data: v.data[8:12]})
	const epoch = 2440588 // the Julian day of 1970-01-01
	return time.Unix((day-epoch)*86400, nanos).UTC()
}

// appendTime appends a time as Python prints it: with a fraction only if there is one, of
// six digits, or of nine if needed.
func appendTime(b []byte, t time.Time, layout string) []byte {
	if nanos := t.Nanosecond(); nanos%1000 != 0 {
		layout = strings.Replace(layout, "05", "05.000000000", 1)
	} else if nanos != 0 {
		layout = strings.Replace(layout, "05", "05.000000", 1)
	}
	return append(t.AppendFormat(append(b, '"'), layout), '"')
}

// unscaled returns the integer of a decimal stored as bytes.
func unscaled(p []byte) *big.Int {
	n := new(big.Int).SetBytes(p)
	if len(p) > 0 && p[0]&0x80 != 0 { // two's complement, big endian
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(p))))
	}
	return n
}

// appendDecimal appends a decimal with all its digits as text, because it is not a float.
func appendDecimal(b []byte, n *big.Int, scale int) []byte {
	digits := new(big.Int).Abs(n).String()
	if scale > 0 {
		if missing := scale + 1 - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if n.Sign() < 0 {
		digits = "-" + digits
	}
	return append(append(append(b, '"'), digits...), '"')
}
