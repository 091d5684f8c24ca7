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

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// renderOf returns how values of a type become JSON, or nil for text. What JSON has
// no type for becomes the text that Python would print.
func renderOf(t parquet.Type) func([]byte, parquet.Value) []byte {
	if logical := t.LogicalType(); logical != nil {
		if render, ok := renderOfLogical(logical, t); ok {
			return render
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return func(b []byte, v parquet.Value) []byte { return strconv.AppendBool(b, v.Boolean()) }
	case parquet.Int32:
		return func(b []byte, v parquet.Value) []byte { return strconv.AppendInt(b, int64(v.Int32()), 10) }
	case parquet.Int64:
		return func(b []byte, v parquet.Value) []byte { return strconv.AppendInt(b, v.Int64(), 10) }
	case parquet.Int96:
		return func(b []byte, v parquet.Value) []byte { return appendTime(b, int96Time(v), "2006-01-02 15:04:05") }
	case parquet.Float:
		return func(b []byte, v parquet.Value) []byte { return appendFloat(b, float64(v.Float()), 32) }
	case parquet.Double:
		return func(b []byte, v parquet.Value) []byte { return appendFloat(b, v.Double(), 64) }
	case parquet.FixedLenByteArray:
		return appendBytes
	}
	return nil
}

// renderOfLogical is renderOf for types that say more than how they are stored.
func renderOfLogical(logical *format.LogicalType, t parquet.Type) (func([]byte, parquet.Value) []byte, bool) {
	switch lt := logical.Value.(type) {
	case *format.StringType, *format.EnumType:
		return nil, true
	case *format.JsonType:
		return appendJSON, true
	case *format.UUIDType:
		return appendUUID, true
	case *format.DateType:
		return func(b []byte, v parquet.Value) []byte {
			return appendTime(b, time.Unix(int64(v.Int32())*86400, 0).UTC(), time.DateOnly)
		}, true
	case *format.TimestampType:
		layout := "2006-01-02 15:04:05"
		if lt.IsAdjustedToUTC {
			layout += "+00:00"
		}
		unit := lt.Unit.Value.Duration()
		return func(b []byte, v parquet.Value) []byte { return appendTime(b, instant(v.Int64(), unit), layout) }, true
	case *format.TimeType:
		unit := lt.Unit.Value.Duration()
		return func(b []byte, v parquet.Value) []byte { return appendTime(b, instant(integer(v), unit), time.TimeOnly) }, true
	case *format.DecimalType:
		scale := int(lt.Scale)
		return func(b []byte, v parquet.Value) []byte { return appendDecimal(b, unscaled(v), scale) }, true
	case *format.IntType:
		if !lt.IsSigned {
			return appendUnsigned, true
		}
	case *format.Float16Type:
		return func(b []byte, v parquet.Value) []byte { return appendFloat(b, half(v.ByteArray()), 32) }, t.Length() == 2
	}
	return nil, false
}

// integer returns the number in a value of either width.
func integer(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func appendUnsigned(b []byte, v parquet.Value) []byte {
	if v.Kind() == parquet.Int32 {
		return strconv.AppendUint(b, uint64(v.Uint32()), 10)
	}
	return strconv.AppendUint(b, v.Uint64(), 10)
}

// appendFloat appends a number that stays a float when it is whole. NaN is how
// pandas writes a missing number.
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

// half returns a number in the IEEE 754 format of sixteen bits.
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

// appendJSON appends a value that is JSON already, and as text if it is not.
func appendJSON(b []byte, v parquet.Value) []byte {
	s := scanner{text: v.ByteArray()}
	s.space()
	begin := s.pos
	if err := s.value(0); err == nil {
		end := s.pos
		if s.space(); s.pos == len(s.text) {
			return append(b, s.text[begin:end]...)
		}
	}
	return appendString(b, string(v.ByteArray()))
}

func appendUUID(b []byte, v parquet.Value) []byte {
	p := v.ByteArray()
	if len(p) != 16 {
		return appendBytes(b, v)
	}
	return fmt.Appendf(b, `"%x-%x-%x-%x-%x"`, p[:4], p[4:6], p[6:8], p[8:10], p[10:])
}

// appendBytes appends bytes of which nothing is known: as text if they are, and
// otherwise in hexadecimal.
func appendBytes(b []byte, v parquet.Value) []byte {
	if p := v.ByteArray(); utf8.Valid(p) {
		return appendString(b, string(p))
	}
	return fmt.Appendf(b, `"%x"`, v.ByteArray())
}

// instant returns the time that is n units after the epoch.
func instant(n int64, unit time.Duration) time.Time {
	perSecond := int64(time.Second / unit)
	return time.Unix(n/perSecond, n%perSecond*int64(unit)).UTC()
}

// int96Time reads the timestamps of old writers: nanoseconds of the day, and the
// Julian day.
func int96Time(v parquet.Value) time.Time {
	i := v.Int96()
	nanos := int64(uint64(i[1])<<32 | uint64(i[0]))
	const epoch = 2440588 // the Julian day of 1970-01-01
	return time.Unix((int64(i[2])-epoch)*86400, nanos).UTC()
}

// appendTime appends a time as Python prints it: a fraction only if there is one,
// of six digits, or of nine if they are needed.
func appendTime(b []byte, t time.Time, layout string) []byte {
	if nanos := t.Nanosecond(); nanos%1000 != 0 {
		layout = strings.Replace(layout, "05", "05.000000000", 1)
	} else if nanos != 0 {
		layout = strings.Replace(layout, "05", "05.000000", 1)
	}
	return append(t.AppendFormat(append(b, '"'), layout), '"')
}

// unscaled returns the integer of a decimal.
func unscaled(v parquet.Value) *big.Int {
	if kind := v.Kind(); kind == parquet.Int32 || kind == parquet.Int64 {
		return big.NewInt(integer(v))
	}
	p := v.ByteArray()
	n := new(big.Int).SetBytes(p)
	if len(p) > 0 && p[0]&0x80 != 0 { // two's complement, big endian
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(p))))
	}
	return n
}

// appendDecimal appends a decimal with all its digits, as text: it is no float.
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
