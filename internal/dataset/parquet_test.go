package dataset_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"deem"
	"deem/internal/dataset"
)

// parquetOf returns a Parquet file with the given rows.
func parquetOf[T any](tb testing.TB, rows []T, options ...parquet.WriterOption) string {
	tb.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

type parquetItem struct {
	ID         *string           `parquet:"id,optional"`
	Category   *string           `parquet:"category,optional,dict"`
	Cluster    *string           `parquet:"cluster,optional"`
	Question   *string           `parquet:"question,optional"`
	References []string          `parquet:"references,list"`
	Response   string            `parquet:"response,zstd"`
	Fields     map[string]string `parquet:"fields"`
	Weight     *float64          `parquet:"weight,optional"`
	Haystack   []string          `parquet:"haystack"`
}

func TestParquet(t *testing.T) {
	text := func(s string) *string { return &s }
	number := func(f float64) *float64 { return &f }
	rows := []parquetItem{
		{ID: text("a"), Question: text("q"), References: []string{"x", "y"}, Response: "r1", Fields: map[string]string{"k": "v\n"}, Weight: number(2)},
		{ID: text("b"), Category: text("c"), Cluster: text("k"), Response: ""},
		{ID: text("c"), References: []string{"one"}, Response: "\x00é\"", Haystack: []string{"a", "b"}},
	}
	want := []deem.Item{
		{ID: "a", Question: "q", References: []string{"x", "y"}, Response: "r1", Fields: map[string]string{"k": "v\n"}, Weight: 2},
		{ID: "b", Category: "c", Cluster: "k", Response: ""},
		{ID: "c", References: []string{"one"}, Response: "\x00é\"", Fields: map[string]string{"ground_truth": "['one']"}},
	}
	file := parquetOf(t, rows)
	old := parquetOf(t, rows, parquet.DataPageVersion(1))
	small := parquetOf(t, rows, parquet.PageBufferSize(1), parquet.MaxRowsPerRowGroup(2))
	for name, text := range map[string]string{
		"a.parquet": file, "nameless": file, "a.parquet.gz": gzipped(t, file), "a.zst": zstandard(t, file), "old.pq": old, "small.parquet": small,
	} {
		for range 2 {
			if diff := cmp.Diff(want, items(t, name, text, dataset.Source{})); diff != "" {
				t.Errorf("items of %s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// A weight of NaN is an error, as in JSON, and not the default weight.
func TestParquetNaNWeight(t *testing.T) {
	nan := math.NaN()
	name := write(t, "a.parquet", parquetOf(t, []parquetItem{{Response: "r1"}, {Response: "r2", Weight: &nan}}))
	_, err := dataset.Open(t.Context(), dataset.Source{Names: []string{name}})
	var ps *deem.Problems
	if !errors.As(err, &ps) || len(ps.List) != 1 || ps.List[0].Line != 2 || !strings.Contains(ps.List[0].Message, `weight "NaN"`) {
		t.Errorf("Open = %v, want one problem with the weight of row 2", err)
	}
}

// TestParquetTypes compares every type with its text.
func TestParquetTypes(t *testing.T) {
	day := time.Date(2023, 5, 20, 10, 30, 0, 0, time.UTC)
	tests := []struct {
		node  parquet.Node
		value any
		want  string
	}{
		{parquet.String(), "text", "text"},
		{parquet.Enum(), "A", "A"},
		{parquet.Leaf(parquet.BooleanType), true, "True"},
		{parquet.Leaf(parquet.Int32Type), int32(-5), "-5"},
		{parquet.Leaf(parquet.Int64Type), int64(1 << 60), "1152921504606846976"},
		{parquet.Uint(32), uint32(math.MaxUint32), "4294967295"},
		{parquet.Uint(64), uint64(math.MaxUint64), "18446744073709551615"},
		{parquet.Int(8), int32(-8), "-8"},
		{parquet.Leaf(parquet.FloatType), float32(0.1), "0.1"},
		{parquet.Leaf(parquet.DoubleType), 2.0, "2.0"},
		{parquet.Leaf(parquet.DoubleType), 1e22, "1e+22"},
		{parquet.Leaf(parquet.DoubleType), math.Inf(-1), "-inf"},
		{parquet.Leaf(parquet.ByteArrayType), []byte("bytes"), "bytes"},
		{parquet.Leaf(parquet.FixedLenByteArrayType(2)), []byte("ab"), "ab"},
		{parquet.Leaf(parquet.FixedLenByteArrayType(2)), []byte{0xff, 1}, "ff01"},
		{parquet.UUID(), []byte("0123456789abcdef"), "30313233-3435-3637-3839-616263646566"},
		{parquet.JSON(), []byte(` {"b": 1, "a": [true]} `), `{"b": 1, "a": [true]}`},
		{parquet.JSON(), []byte(`no JSON`), "no JSON"},
		{parquet.Date(), int32(19497), "2023-05-20"},
		{parquet.Timestamp(parquet.Millisecond), day.UnixMilli(), "2023-05-20 10:30:00+00:00"},
		{parquet.TimestampAdjusted(parquet.Microsecond, false), day.UnixMicro() + 5, "2023-05-20 10:30:00.000005"},
		{parquet.TimestampAdjusted(parquet.Nanosecond, false), day.UnixNano() + 5, "2023-05-20 10:30:00.000000005"},
		{parquet.TimestampAdjusted(parquet.Millisecond, false), int64(-1), "1969-12-31 23:59:59.999000"},
		{parquet.Time(parquet.Millisecond), int32(1000), "00:00:01"},
		{parquet.Decimal(2, 9, parquet.Int32Type), int32(-1250), "-12.50"},
		{parquet.Decimal(3, 12, parquet.Int64Type), int64(5), "0.005"},
		{parquet.Decimal(0, 12, parquet.Int64Type), int64(5), "5"},
		{parquet.Decimal(1, 9, parquet.FixedLenByteArrayType(2)), []byte{0xff, 0xfe}, "-0.2"},
		{parquet.Leaf(parquet.Int96Type), deprecated.Int96{0, 0, 2440588 + 19497}, "2023-05-20 00:00:00"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.node, " ", tt.value), func(t *testing.T) {
			schema := parquet.NewSchema("row", parquet.Group{"response": parquet.Optional(tt.node), "id": parquet.Leaf(parquet.Int32Type)})
			var b bytes.Buffer
			w := parquet.NewWriter(&b, schema)
			row := parquet.Row{parquet.Int32Value(7).Level(0, 0, 0), parquet.ValueOf(tt.value).Level(0, 1, 1)}
			if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			want := []deem.Item{{ID: "7", Response: tt.want}}
			if diff := cmp.Diff(want, items(t, "a.parquet", b.String(), dataset.Source{})); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParquetEncodings reads every encoding and compression that the library writes, over
// several pages and with absent values.
func TestParquetEncodings(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	type row struct {
		ID       string   `parquet:"id,delta,snappy"`
		Response string   `parquet:"response,dict,gzip"`
		A        string   `parquet:"a,delta,brotli"`
		B        int32    `parquet:"b,delta,lz4"`
		C        int64    `parquet:"c,delta,zstd"`
		D        float64  `parquet:"d,split,snappy"`
		E        float32  `parquet:"e,split,uncompressed"`
		F        bool     `parquet:"f"`
		G        *bool    `parquet:"g,optional"`
		H        *int64   `parquet:"h,optional,dict"`
		I        [3]byte  `parquet:"i,delta"`
		J        []string `parquet:"j,list,dict"`
		K        string   `parquet:"k,plain,zstd"`
	}
	const n = 3000
	rows, want := make([]row, n), make([]deem.Item, n)
	for i := range rows {
		yes, number := i%3 == 0, int64(i%50)
		r := row{
			ID: fmt.Sprintf("id-%05d", i), Response: fmt.Sprint("r", i%7), A: strings.Repeat("a", i%9), B: int32(i - 1500), C: int64(i) << 33, D: float64(i) / 4, E: float32(i) / 8,
			F: i%5 < 2, I: [3]byte([]byte(fmt.Sprintf("%03d", i%1000))), K: fmt.Sprint("k", i),
		}
		var j []string
		for k := range i % 4 {
			j = append(j, fmt.Sprint("v", (i+k)%300))
		}
		r.J = j
		fields := map[string]string{
			"a": r.A, "b": fmt.Sprint(r.B), "c": fmt.Sprint(r.C), "f": map[bool]string{true: "True", false: "False"}[r.F], "i": string(r.I[:]), "k": r.K,
			"j": "['" + strings.Join(j, "', '") + "']",
		}
		if len(j) == 0 {
			fields["j"] = "[]"
		}
		for name, f := range map[string]float64{"d": r.D, "e": float64(r.E)} {
			if fields[name] = fmt.Sprint(f); f == math.Trunc(f) {
				fields[name] += ".0"
			}
		}
		if yes {
			r.G, fields["g"] = &r.F, fields["f"]
		}
		if i%2 == 0 {
			r.H, fields["h"] = &number, fmt.Sprint(number)
		}
		rows[i], want[i] = r, deem.Item{ID: r.ID, Response: r.Response, Fields: fields}
	}
	src := dataset.Source{Fields: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}}
	for _, version := range []int{1, 2} {
		for _, size := range []int{500, 1 << 20} {
			text := parquetOf(t, rows, parquet.DataPageVersion(version), parquet.PageBufferSize(size))
			if diff := cmp.Diff(want, items(t, "a.parquet", text, src)); diff != "" {
				t.Errorf("version %d in pages of %d bytes (-want +got):\n%.3000s", version, size, diff)
			}
		}
	}
}

// TestParquetNested reads nested data of other programs.
func TestParquetNested(t *testing.T) {
	type turn struct {
		Role string `parquet:"role"`
		Text string `parquet:"text,optional"`
	}
	type session struct {
		Turns []turn `parquet:"turns,list"`
	}
	type meta struct {
		Gold []int64            `parquet:"gold,list"`
		By   map[string]float64 `parquet:"by"`
	}
	type row struct {
		Response string    `parquet:"response"`
		Turns    []turn    `parquet:"turns"`
		Deep     []session `parquet:"deep,list"`
		Meta     *meta     `parquet:"meta,optional"`
	}
	rows := []row{
		{
			Response: "r1", Turns: []turn{{"user", "hi"}, {"bot", ""}}, Deep: []session{{[]turn{{"a", "b"}}}, {}, {[]turn{{"c", "d"}, {"e", "f"}}}},
			Meta: &meta{Gold: []int64{1, 2}, By: map[string]float64{"k": 0.5}},
		},
		{Response: "r2"},
		{Response: "r3", Turns: []turn{{"user", "x"}}, Meta: &meta{Gold: []int64{}, By: nil}},
	}
	src := dataset.Source{
		Map:    dataset.Mapping{"references": "meta.gold", "field.second": "turns.1.role", "field.by": "meta.by"},
		Fields: []string{"turns", "deep"},
	}
	want := []deem.Item{
		{ID: "1", Response: "r1", References: []string{"1", "2"}, Fields: map[string]string{
			"ground_truth": "[1, 2]", "second": "bot", "by": "{'k': 0.5}",
			"turns": "[{'role': 'user', 'text': 'hi'}, {'role': 'bot', 'text': None}]",
			"deep":  "[{'turns': [{'role': 'a', 'text': 'b'}]}, {'turns': []}, {'turns': [{'role': 'c', 'text': 'd'}, {'role': 'e', 'text': 'f'}]}]",
		}},
		{ID: "2", Response: "r2", Fields: map[string]string{"turns": "[]", "deep": "[]"}},
		{ID: "3", Response: "r3", Fields: map[string]string{"turns": "[{'role': 'user', 'text': 'x'}]", "deep": "[]", "by": "{}"}},
	}
	for _, size := range []int{1, 1 << 20} {
		text := parquetOf(t, rows, parquet.PageBufferSize(size))
		if diff := cmp.Diff(want, items(t, "a.parquet", text, src)); diff != "" {
			t.Errorf("items (-want +got):\n%s", diff)
		}
	}
}

func TestParquetTrouble(t *testing.T) {
	type row struct {
		ID       string  `parquet:"id"`
		Response *string `parquet:"response,optional"`
	}
	r, bad := "r", "Malm\xf6"
	name := write(t, "a.parquet", parquetOf(t, []row{{"a", &r}, {"b", nil}, {"c", &bad}, {"a", &r}}))
	_, err := dataset.Open(t.Context(), dataset.Source{Names: []string{name}})
	want := name + ":2: the response is null\n" + name + ":3: column \"response\" is not UTF-8\n" + name + ":4: id \"a\" again, first at " + name + ":1"
	if err == nil || err.Error() != want {
		t.Errorf("Open = %v\nwant %s", err, want)
	}

	// Whichever byte of a file is corrupt, there are items or an error.
	whole := parquetOf(t, []row{{"a", &r}, {"b", &r}})
	broken := write(t, "b.parquet", "")
	for i := 0; i < len(whole); i += 2 {
		b := []byte(whole)
		b[i] ^= 0x55
		if err := os.WriteFile(broken, b, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{broken}, Format: "parquet"})
		if err != nil {
			continue
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestParquetReadsOnlyWhatIsWanted corrupts a column that no item needs.
func TestParquetReadsOnlyWhatIsWanted(t *testing.T) {
	type row struct {
		Haystack string `parquet:"haystack"`
		Response string `parquet:"response"`
	}
	const needle = "in the haystack"
	text := parquetOf(t, []row{{needle, "r"}})
	i := bytes.Index([]byte(text), []byte(needle))
	if i < 0 {
		t.Fatal("the haystack is not stored as it is")
	}
	b := []byte(text)
	for j := i - 8; j < i+len(needle); j++ {
		b[j] = 0xff // the header of the page, and the text
	}
	want := []deem.Item{{ID: "1", Response: "r"}}
	if diff := cmp.Diff(want, items(t, "a.parquet", string(b), dataset.Source{})); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

// TestParquetFooter checks that a file that claims a footer of four gigabytes is rejected
// before memory is allocated for it.
func TestParquetFooter(t *testing.T) {
	file := []byte(parquetOf(t, []parquetItem{{Response: "r"}}))
	copy(file[len(file)-8:], "\xff\xff\xff\xff")
	_, err := dataset.Open(t.Context(), dataset.Source{Names: []string{write(t, "a.parquet", string(file))}})
	if err == nil || !strings.Contains(err.Error(), "its footer would have 4294967295 bytes") {
		t.Errorf("Open = %v, want an error about the footer", err)
	}
}
