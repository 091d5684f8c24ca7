package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
)

// Strings from Parquet and tables must be unchanged in JSON.
func TestAppendString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\u2028\u2029", "\x00\x1f\x7f\"\\", "<&>", "\ufffd", "\b\f\n\r\t"})).Draw(t, "s")
		quoted := appendString(nil, s)
		if !json.Valid(quoted) {
			t.Fatalf("appendString(%q) = %s, which is not JSON", s, quoted)
		}
		if got := unquote(quoted); got != s {
			t.Fatalf("unquote(appendString(%q)) = %q", s, got)
		}
	})
}

// The hash of a dataset can be computed from its items alone, for any number and size.
func TestChain(t *testing.T) {
	for _, tt := range []struct{ items, size int }{{0, 1}, {2, 1}, {batchItems, 1}, {3*batchItems + 1, 1}, {5, batchBytes}, {6, batchBytes / 2}} {
		var list []deem.Item
		var c chain
		var link [sha256.Size]byte
		for i := range tt.items {
			it := deem.Item{ID: strconv.Itoa(i), Response: strings.Repeat("a", tt.size), Weight: float64(i)}
			list = append(list, it)
			c.add(it)
			link = sha256.Sum256(append(link[:], it.Hash()...))
		}
		c.end()
		want := hex.EncodeToString(link[:])
		if got := c.String(); got != want {
			t.Errorf("%d items of %d: String() = %s, want %s", tt.items, tt.size, got, want)
		}
		items := func(yield func(deem.Item, error) bool) {
			for _, it := range list {
				if !yield(it, nil) {
					return
				}
			}
		}
		if got, err := deem.DatasetHash(items); got != want || err != nil {
			t.Errorf("%d items of %d: DatasetHash = %s, %v, want %s", tt.items, tt.size, got, err, want)
		}
	}
	failing := func(yield func(deem.Item, error) bool) { yield(deem.Item{}, errClosed) }
	if got, err := deem.DatasetHash(failing); got != "" || !errors.Is(err, errClosed) {
		t.Errorf("DatasetHash of a broken stream = %q, %v, want its error", got, err)
	}
}

// FuzzScanner compares our JSON scanner with the standard library.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null,"\u00e9\n"]}`, `[]`, `{}`, ` 1 `, `"`, `{"a" 1}`, `01`, `-`, `1.`, `1e`, `"\q"`, `nul`, "\"\x01\"", `"\ud83d\ude00\ud800"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := scanner{text: []byte(text)}
		s.space()
		begin := s.pos
		err := s.value(0)
		end := s.pos
		s.space()
		if got, want := err == nil && s.pos == len(text), json.Valid([]byte(text)); got != want {
			t.Fatalf("scanner says %v of %q (%v), encoding/json says %v", got, text, err, want)
		}
		if err == nil && s.pos == len(text) && text[begin] == '"' {
			var want string
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			if got := strings.ToValidUTF8(unquote([]byte(text[begin:end])), "\ufffd"); got != strings.ToValidUTF8(want, "\ufffd") && strings.ToValidUTF8(text, "") == text {
				t.Fatalf("unquote(%s) = %q, want %q", text, got, want)
			}
		}
	})
}

func TestSpilledDuplicates(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		id := fmt.Sprintf("q%d", i)
		switch i {
		case 5, 2000, 2999: // one found in memory, two in the temporary file
			id = "q2"
		case 1500:
			id = "q1499"
		}
		fmt.Fprintf(&b, "{\"id\":%q,\"response\":\"r\"}\n", id)
	}
	name := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 100, 1 << 20} {
		_, err := open(t.Context(), Source{Names: []string{name}}, limit)
		ps, ok := errors.AsType[*deem.Problems](err)
		if !ok {
			t.Fatalf("limit %d: open = %v, want *Problems", limit, err)
		}
		want := []deem.Problem{
			{File: name, Line: 6, Message: `id "q2" again, first at ` + name + ":3", More: 2},
			{File: name, Line: 1501, Message: `id "q1499" again, first at ` + name + ":1500"},
		}
		if diff := cmp.Diff(want, ps.List); diff != "" || ps.Total != 4 {
			t.Errorf("limit %d: %d problems (-want +got):\n%s", limit, ps.Total, diff)
		}
	}
}

// TestRegistry compares the registry with a map, for every number of ids kept in memory.
func TestRegistry(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, limit := range []int{0, 10, 1000, 1 << 20} {
		r := newRegistry(limit)
		first := map[string]uint64{}
		var want []duplicate
		for row := range uint64(20_000) {
			id := fmt.Sprint(rng.IntN(2_000_000))
			if before, ok := first[id]; ok {
				want = append(want, duplicate{row, before})
			} else {
				first[id] = row
			}
			if err := r.add(id, row); err != nil {
				t.Fatal(err)
			}
		}
		list, total, err := r.duplicates()
		if err != nil {
			t.Fatal(err)
		}
		if total != len(want) || !slices.Equal(list, want[:min(len(want), mostPlaces)]) {
			t.Errorf("limit %d: %d duplicates %v, want %d %v", limit, total, list, len(want), want[:min(len(want), mostPlaces)])
		}
		if (r.spill != nil) != (limit < 20_000) {
			t.Errorf("limit %d: spilled = %v", limit, r.spill != nil)
		}
		if err := closeTemp(r.spill); err != nil {
			t.Error(err)
		}
	}
}

// TestFeed reads the same text through readers that give it in pieces.
func TestFeed(t *testing.T) {
	long := strings.Repeat("x", windowSize+17)
	text := "\ufeffa\n\n" + long + "\r\n" + long + long + "\nlast"
	want := []string{"a\n", "\n", long + "\r\n", long + long + "\n", "last"}
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)), "data with EOF": iotest.DataErrReader(strings.NewReader(text)),
	} {
		f := newFeed(r)
		for i, w := range want {
			line, at, err := f.readLine()
			if err != nil || string(line) != w || at != i+1 {
				t.Errorf("%s: line %d = %d bytes at %d, %v, want %d bytes", name, i+1, len(line), at, err, len(w))
			}
		}
		if _, _, err := f.readLine(); err != io.EOF {
			t.Errorf("%s: readLine at the end = %v, want EOF", name, err)
		}
	}
	broken := errors.New("broken")
	f := newFeed(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if line, _, err := f.readLine(); err != nil || string(line) != "a\n" {
		t.Errorf("readLine = %q, %v", line, err)
	}
	if line, _, err := f.readLine(); err != broken {
		t.Errorf("readLine = %q, %v, want the error of the reader", line, err)
	}
}

// TestBuffersShrink reads a huge row and then a small one.
func TestBuffersShrink(t *testing.T) {
	huge := strings.Repeat("x", 3<<20)
	f := newFeed(strings.NewReader(huge + "\nsmall\n"))
	for range 2 {
		if _, _, err := f.readLine(); err != nil {
			t.Fatal(err)
		}
	}
	if cap(f.long) > keptBuffer {
		t.Errorf("the feed keeps %d bytes after a small row", cap(f.long))
	}
	tab := table{f: newFeed(strings.NewReader(`"` + huge + "\"\nsmall\n")), comma: ','}
	for range 2 {
		if err := tab.next(); err != nil {
			t.Fatal(err)
		}
	}
	if cap(tab.record) > keptBuffer {
		t.Errorf("the table keeps %d bytes after a small row", cap(tab.record))
	}
}

// TestExtent splits values at every place.
func TestExtent(t *testing.T) {
	for _, value := range []string{`{"a":"}\"]","b":[{}]}`, `"a\\"`, `12.5e3`, `[[],{"x":[]}]`, `null`} {
		for size := 1; size <= len(value)+1; size++ {
			f := newFeed(iotest.OneByteReader(strings.NewReader(value + ", next")))
			got, err := f.readValue(true)
			if err != nil || !bytes.Equal(got, []byte(value)) {
				t.Errorf("readValue of %s = %s, %v", value, got, err)
			}
		}
	}
}

// TestMemoryStaysFlat opens twenty times as many items in about the same memory.
func TestMemoryStaysFlat(t *testing.T) {
	peak := func(n int) uint64 {
		name := filepath.Join(t.TempDir(), "a.jsonl")
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintf(&b, "{\"id\":\"item-%d\",\"response\":\"some response\"}\n", i)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		b = bytes.Buffer{}
		d, err := open(t.Context(), Source{Names: []string{name}}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var most uint64
		rows := 0
		for _, err := range d.Items() {
			if err != nil {
				t.Fatal(err)
			}
			if rows++; rows%(n/4) == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return most
	}
	small, large := peak(3_000), peak(60_000)
	if large > small+2<<20 {
		t.Errorf("heap of %d bytes with 60,000 items, %d with 3,000", large, small)
	}
}

// Input that is longer than the disk should hold ends with an error.
func TestEndlessInput(t *testing.T) {
	defer func(n int64) { maxSpool = n }(maxSpool)
	maxSpool = 1 << 20
	_, err := Open(t.Context(), Source{Names: []string{"-"}, Stdin: strings.NewReader(strings.Repeat("{}\n", 1<<20))})
	if err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("Open of an endless pipe = %v, want an error that names the limit", err)
	}
}

// A named pipe is read if a program writes to it, and is an error if none does.
func TestPipe(t *testing.T) {
	defer func(d time.Duration) { pipeWait = d }(pipeWait)
	pipeWait = 200 * time.Millisecond
	dir := t.TempDir()
	silent, name := filepath.Join(dir, "silent.jsonl"), filepath.Join(dir, "pipe.jsonl")
	if err := exec.CommandContext(t.Context(), "mkfifo", silent, name).Run(); err != nil {
		t.Skip("no named pipes here:", err)
	}
	_, err := Open(t.Context(), Source{Names: []string{silent}})
	if err == nil || !strings.Contains(err.Error(), "nothing writes to this pipe") {
		t.Errorf("without a writer: %v", err)
	}
	if f, err := os.OpenFile(silent, os.O_RDWR, 0); err == nil { // It wakes the reader that was given up.
		_ = f.Close()
	}
	go func() {
		if err := os.WriteFile(name, []byte(`{"id":"a","response":"b"}`+"\n"), 0); err != nil {
			t.Error(err)
		}
	}()
	pipeWait = time.Minute
	data, err := Open(t.Context(), Source{Names: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	if err := data.Close(); err != nil {
		t.Error(err)
	}
}
