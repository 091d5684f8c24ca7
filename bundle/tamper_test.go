package bundle_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"deem"
	"deem/bundle"
)

// For random single-byte changes of a file, wherever they are, Verify finds something.
// The chain is what most of it rests on; the last line of the file is for what a
// decompressor does not look at. The soak does a thousand changes of ten thousand
// records, which takes minutes.
func TestAnyByteChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	t.Parallel()
	changeBytes(t, 1000, 5)
	changeBytes(t, 20, 1000)
}

// changeBytes changes a byte of a file with so many records, so many times.
func changeBytes(t *testing.T, records, changes int) {
	t.Helper()
	whole := asked(t, records, 1).write(t, options{Key: newKey(t)})
	if v := verify(t, whole, full); v.Total > 0 || v.Records != records {
		t.Fatalf("findings %v in %d records before any change", v.Findings, v.Records)
	}
	rng := rand.New(rand.NewPCG(1, uint64(records)))
	for range changes {
		file := slices.Clone(whole)
		at := rng.IntN(len(file))
		file[at] ^= byte(1 + rng.IntN(255))
		// What the file says of itself is enough: the judge need not be asked again.
		v, err := bundle.Verify(t.Context(), bytes.NewReader(file), bundle.VerifyOptions{})
		if err != nil {
			t.Fatalf("byte %d changed: %v", at, err)
		}
		if v.Total == 0 {
			t.Fatalf("byte %d of %d changed from %#x to %#x: nothing found", at, len(file), whole[at], file[at])
		}
	}
}

// In a small file every byte is changed, and every cut is made.
func TestEveryByteChanged(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	whole := ruled(t, 2).write(t, options{Key: newKey(t)})
	for at := range whole {
		file := slices.Clone(whole)
		file[at] ^= 1 << (at % 8)
		if v := verify(t, file, full); v.Total == 0 {
			t.Errorf("byte %d of %d changed: nothing found", at, len(file))
		}
		if v := verify(t, whole[:at], full); v.Total == 0 {
			t.Errorf("cut to %d of %d bytes: nothing found", at, len(file))
		}
	}
	if v := verify(t, append(slices.Clone(whole), '\n'), full); v.Total == 0 {
		t.Error("a byte more at the end: nothing found")
	}
	if v := verify(t, append(slices.Clone(whole), whole...), full); v.Total == 0 {
		t.Error("the file twice: nothing found")
	}
}

// unpack returns the lines of a bundle, each with its newline.
func unpack(t testing.TB, file []byte) []string {
	t.Helper()
	dec, err := zstd.NewReader(bytes.NewReader(file[len(bundle.Format)+1 : len(file)-72]))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	text, err := io.ReadAll(dec)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	return lines[:len(lines)-1] // behind the last newline there is nothing
}

// pack makes a file of lines whose outer form is in order, as a forger would.
func pack(t testing.TB, lines []string) []byte {
	t.Helper()
	var file bytes.Buffer
	file.WriteString(bundle.Format + "\n")
	enc, err := zstd.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(enc, strings.Join(lines, "")); err != nil {
		t.Fatal(err)
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(file.Bytes())
	fmt.Fprintf(&file, "sha256 %s\n", hex.EncodeToString(sum[:]))
	return file.Bytes()
}

// nth returns the index of the n-th line of a kind.
func nth(t testing.TB, lines []string, kind string, n int) int {
	t.Helper()
	for i, l := range lines {
		if strings.Contains(l, `"kind":"`+kind+`","prev"`) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	t.Fatalf("there is no such line of kind %s", kind)
	return 0
}

// What a person may do to the lines, and what is found of it.
func TestTampered(t *testing.T) {
	t.Parallel()
	whole := asked(t, 10, 2).write(t, options{Key: newKey(t)})
	replaceIn := func(kind string, n int, old, now string) func(t *testing.T, lines []string) []string {
		return func(t *testing.T, lines []string) []string {
			i := nth(t, lines, kind, n)
			if !strings.Contains(lines[i], old) {
				t.Fatalf("line %d does not hold %q:\n%s", i+1, old, lines[i])
			}
			lines[i] = strings.Replace(lines[i], old, now, 1)
			return lines
		}
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, lines []string) []string
		want   string // the beginning of one of the findings
		total  int
	}{
		{"nothing", func(_ *testing.T, lines []string) []string { return lines }, "", 0},
		{"a record removed", func(t *testing.T, lines []string) []string {
			i := nth(t, lines, "record", 5)
			return slices.Delete(lines, i, i+1)
		}, `chain, line 13: the line does not follow the one before it`, 0},
		{"two records swapped", func(t *testing.T, lines []string) []string {
			i := nth(t, lines, "record", 4)
			lines[i], lines[i+1] = lines[i+1], lines[i]
			return lines
		}, `order, line 13, item "q00002": the record is of trial 0, and behind that of trial 1`, 0},
		{"an item and its records removed", func(t *testing.T, lines []string) []string {
			i := nth(t, lines, "item", 3)
			return slices.Delete(lines, i, i+3)
		}, `chain, line 14: the line does not follow the one before it`, 0},
		{"the last record removed", func(t *testing.T, lines []string) []string {
			i := nth(t, lines, "record", 19)
			return slices.Delete(lines, i, i+1)
		}, `chain, line 34: the line does not follow the one before it`, 0},
		{"a response", replaceIn("item", 3, "years & more", "years & less"), `chain, line 14, item "q00003": the item was changed`, 0},
		{"a label", replaceIn("record", 2, `"label":"`, `"label":"IN`), `chain, line 9, item "q00001": the record was changed`, 0},
		{"a score", replaceIn("record", 2, `"score":`, `"score":0.`), ``, -1},
		{"a prompt", replaceIn("judge", 0, "Evaluate if", "Evaluate not if"), `chain, line 3: the judge was changed`, 0},
		{"a price", replaceIn("prices", 0, "2026", "2025"), `chain, line 4: the prices was changed`, 1},
		{"the model", replaceIn("run", 0, "fake:labels", "fake:better"), `chain, line 2: the run was changed`, 0},
		{"a count", replaceIn("manifest", 0, `"judged":`, `"judged":1`), `chain, line 35: the manifest was changed`, 0},
		{"the numbers", replaceIn("manifest", 0, `"score":`, `"score":1`), `chain, line 35: the manifest was changed`, 0},
		{"the signature", replaceIn("signature", 0, `"signature":"`, `"signature":"A`), ``, -1},
		{"no signature", func(_ *testing.T, lines []string) []string { return lines[:len(lines)-1] }, "", 0},
		{"no manifest", func(_ *testing.T, lines []string) []string { return lines[:len(lines)-2] }, `file: the bundle is damaged: it ends behind line 34, before its manifest`, 1},
		{"no judge", func(_ *testing.T, lines []string) []string { return slices.Delete(lines, 2, 3) }, `order, line 3: a line of kind "prices" stands where the judge should`, 1},
		{"a second manifest", func(_ *testing.T, lines []string) []string { return append(lines, lines[len(lines)-2]) }, `order, line 37: a line of kind "manifest" stands behind the manifest`, 0},
		{"a key twice", replaceIn("record", 2, `"trial":0`, `"trial":1,"trial":0`), `form, line 9: the bundle is damaged: from byte`, 0},
		{"a key nobody knows", replaceIn("record", 2, `"trial":0`, `"trial":0,"tried":1`), `form, line 9: the bundle is damaged: from byte`, 0},
		{"a space", replaceIn("record", 2, `"trial":0`, `"trial": 0`), `form, line 9: the bundle is damaged: from byte`, 0},
		{"no JSON", replaceIn("record", 2, `"trial":0`, `"trial":`), `form, line 9: the bundle is damaged: invalid character`, 0},
		{"no line", func(_ *testing.T, lines []string) []string { lines[9] = "hello\n"; return lines }, `file: the bundle is damaged: line 10 is not a line of a bundle`, 1},
		{"an empty line", func(_ *testing.T, lines []string) []string { return slices.Insert(lines, 9, "\n") }, `file: the bundle is damaged: line 10 is not a line of a bundle`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := verify(t, pack(t, tt.change(t, unpack(t, whole))), full)
			found := slices.ContainsFunc(v.Findings, func(f bundle.Finding) bool { return strings.HasPrefix(f.String(), tt.want) })
			switch {
			case tt.want == "" && tt.total == 0 && v.Total > 0:
				t.Errorf("findings %v, want none", v.Findings)
			case tt.total < 0 && v.Total == 0:
				t.Error("nothing found")
			case tt.want != "" && !found:
				t.Errorf("findings %v, want one that begins %q", v.Findings, tt.want)
			case tt.total > 0 && v.Total != tt.total:
				t.Errorf("findings %v, want %d", v.Findings, tt.total)
			}
		})
	}
}

// A forger who can make a whole new chain still has to make verdicts that follow from
// the replies, and numbers that follow from the verdicts.
func TestForged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		forge func(j *judged)
		want  string
	}{
		{"a verdict", func(j *judged) { *j.first("CORRECT").Verdict = *j.first("INCORRECT").Verdict }, `says "INCORRECT", and the judge now "CORRECT"`},
		{"a score", func(j *judged) { j.first("INCORRECT").Verdict.Score = 1 }, `has score 1, and the judge now gives 0`},
		{"a confidence", func(j *judged) { j.first("INCORRECT").Verdict.Confidence = new(0.99) }, `differ in confidence`},
		{"a reason", func(j *judged) { j.first("CORRECT").Verdict.Reason = "it is so" }, `differ in the reason`},
		{"a reply", func(j *judged) { j.first("CORRECT").Calls[0].Reply.Text = "Who knows?" }, `says "CORRECT", and the judge now unparseable`},
		{"no reply", func(j *judged) { j.first("CORRECT").Calls = nil }, `there is a verdict, and no reply that gives it`},
		{"a prompt", func(j *judged) { j.first("CORRECT").Calls[0].Request = strings.Repeat("0", 64) }, `the prompt rendered again has hash`},
		{"another model", func(j *judged) { j.first("CORRECT").Calls[0].Model = "fake:better" }, `one of its calls is to "fake:better"`},
		{"another judge", func(j *judged) { j.first("CORRECT").Judge = "me" }, `it is by judge "me"`},
		{"no outcome", func(j *judged) { j.first("CORRECT").Verdict = nil; j.Run.Unjudged++ }, `neither a verdict nor a failure`},
		{"a verdict that is called unfinished", func(j *judged) {
			rec := j.first("INCORRECT")
			rec.Verdict, rec.Failure = nil, deem.Failf("unfinished", "broken off")
			j.Run.Unjudged++
		}, `the item is unfinished, and the run is done`},
		{"the judge's hash", func(j *judged) { j.Judge.Hash = strings.Repeat("0", 64) }, `the judge has hash`},
		{"the dataset's hash", func(j *judged) { j.Run.Dataset.Hash = strings.Repeat("0", 64) }, `and the run says 000000000000`},
		{"the dataset's size", func(j *judged) { j.Run.Dataset.Items = 3 }, `the dataset has 3 items, and 40 are in the file`},
		{"the cost", func(j *judged) { j.Run.CostMicros = 7 }, `micro-dollars of the run: the file says 7, and 0 are counted`},
		{"the numbers", func(j *judged) { j.Numbers = &tally{N: 1} }, `n: the file says 41, and 40 is counted`},
		{"a failure made a verdict", func(j *judged) {
			for i := range j.records {
				if rec := &j.records[i]; rec.Failure != nil && rec.Calls[0].Reply != nil {
					rec.Verdict, rec.Failure = j.first("CORRECT").Verdict, nil
					j.Run.Unjudged--
					return
				}
			}
		}, `says "CORRECT", and the judge now unparseable`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := asked(t, 40, 1)
			tt.forge(&j)
			var buf bytes.Buffer
			if _, err := bundle.Write(&buf, j.Source); err != nil {
				t.Fatal(err)
			}
			v := verify(t, buf.Bytes(), full)
			if !slices.ContainsFunc(v.Findings, func(f bundle.Finding) bool { return strings.Contains(f.Message, tt.want) }) {
				t.Errorf("findings %v, want one that says %q", v.Findings, tt.want)
			}
		})
	}
}

// A rule is asked again, too.
func TestForgedRule(t *testing.T) {
	t.Parallel()
	j := ruled(t, 10)
	j.records[4].Verdict.Score = 1 - j.records[4].Verdict.Score
	v := verify(t, j.write(t, options{}), full)
	if v.Total != 1 || v.Findings[0].Item != "q00004" || v.Findings[0].Check != bundle.CheckVerdict {
		t.Errorf("findings %v, want one about the verdict on q00004", v.Findings)
	}
}

// A text in a redacted bundle is one too many.
func TestForgedRedacted(t *testing.T) {
	t.Parallel()
	lines := unpack(t, asked(t, 3, 1).write(t, options{Redact: true}))
	i := nth(t, lines, "item", 1)
	at := strings.Index(lines[i], "sha256:")
	lines[i] = lines[i][:at] + "in clear" + lines[i][at+71:]
	v := verify(t, pack(t, lines), full)
	if v.Total == 0 || !strings.Contains(v.Findings[0].String(), "holds text") {
		t.Errorf("findings %v, want one that says that there is text", v.Findings)
	}
}

func TestVerifyCancelled(t *testing.T) {
	t.Parallel()
	file := asked(t, 500, 1).write(t, options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bundle.Verify(ctx, bytes.NewReader(file), full); err == nil {
		t.Error("Verify with a context that is done: no error")
	}
}

// A signature covers the lines, so bytes that a decompressor skips would travel with a signed
// file without anybody having signed them. There is one frame and nothing else.
func TestForeignBytes(t *testing.T) {
	t.Parallel()
	whole := asked(t, 10, 1).write(t, options{Key: newKey(t)})
	frame := whole[len(bundle.Format)+1 : len(whole)-72]
	skippable := append([]byte{0x5a, 0x2a, 0x4d, 0x18, 8, 0, 0, 0}, "smuggled"...)
	empty := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, 1, 0, 0} // a frame with one raw block of no bytes
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := []byte(strings.Join(unpack(t, whole), ""))
	var first zstd.Header
	if err := first.Decode(frame); err != nil {
		t.Fatal(err)
	}
	head, blocks := frame[:first.HeaderSize], frame[first.HeaderSize:]
	for name, body := range map[string][]byte{
		"skippable frame before":  slices.Concat(skippable, frame),
		"skippable frame behind":  slices.Concat(frame, skippable),
		"skippable frame between": slices.Concat(enc.EncodeAll(lines[:100], nil), skippable, enc.EncodeAll(lines[100:], nil)),
		"empty frame before":      slices.Concat(empty, frame),
		"empty frame behind":      slices.Concat(frame, empty),
		"two frames":              slices.Concat(enc.EncodeAll(lines[:100], nil), enc.EncodeAll(lines[100:], nil)),
		"bytes behind":            slices.Concat(frame, []byte("smuggled")),
		"one byte behind":         slices.Concat(frame, []byte{0}),
		"repeated byte, no times": slices.Concat(head, []byte{1 << 1, 0, 0, 'x'}, blocks),
	} {
		file := slices.Concat([]byte(bundle.Format+"\n"), body)
		sum := sha256.Sum256(file)
		file = fmt.Appendf(file, "sha256 %s\n", hex.EncodeToString(sum[:]))
		if v := verify(t, file, full); v.Total == 0 {
			t.Errorf("%s: nothing found", name)
		}
		if _, err := bundle.Redact(io.Discard, bytes.NewReader(file)); err == nil {
			t.Errorf("%s: it is redacted", name)
		}
	}
	if v := verify(t, whole, full); v.Total > 0 {
		t.Errorf("findings in the file itself: %v", v.Findings)
	}
}
