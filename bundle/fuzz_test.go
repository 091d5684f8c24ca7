package bundle_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"deem"
	"deem/bundle"
	"deem/judge"
	"deem/model/fake"
)

// FuzzVerify holds that no file makes Verify panic, and that none is found in order
// that the reader does not read. What is changed is the lines, with an outer form that
// is in order: else nothing behind the first checksum would ever be looked at.
func FuzzVerify(f *testing.F) {
	for _, file := range [][]byte{
		asked(f, 3, 2).write(f, options{}), ruled(f, 2).write(f, options{}),
		asked(f, 2, 1).write(f, options{Redact: true}),
	} {
		f.Add(strings.Join(unpack(f, file), ""))
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := pack(t, []string{text})
		v := verify(t, file, full)
		r, err := bundle.NewReader(bytes.NewReader(file))
		n := 0
		if err == nil {
			for _, e := range r.Records() {
				if err = e; err != nil {
					break
				}
				n++
			}
		}
		if v.Total == 0 && (err != nil || n != v.Records) {
			t.Errorf("Verify finds nothing in %d records, and reading %d gives %v", v.Records, n, err)
		}
	})
}

// FuzzReader holds that no bytes make a reader panic.
func FuzzReader(f *testing.F) {
	f.Add(ruled(f, 2).write(f, options{}))
	f.Add([]byte(bundle.Format + "\n"))
	f.Add([]byte("deem.bundle/2\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		v := verify(t, file, full)
		if _, err := bundle.Redact(new(bytes.Buffer), bytes.NewReader(file)); v.Total == 0 && err != nil && !v.Header.Redacted {
			t.Errorf("Verify finds nothing, and Redact says %v", err)
		}
	})
}

// FuzzRedact takes the texts out of a bundle with any texts in it. None of them is left, and
// what is left is in order.
func FuzzRedact(f *testing.F) {
	f.Add("a response nobody may see", "the reason for it")
	f.Add("\"quoted\"\n<b>\u2028", "1.5 and so on")
	f.Fuzz(func(t *testing.T, text, reason string) {
		const mark = "Zq7-only-here-"
		list := items(2)
		for i := range list {
			list[i].Response, list[i].Question = mark+text, text+mark
		}
		d, _ := judge.Builtin("universal")
		p, err := d.Protocol("")
		if err != nil {
			t.Fatal(err)
		}
		src := run(t, list, judge.New(p, fake.Func("fake:fuzz", func(context.Context, deem.Request) (deem.Reply, error) {
			return deem.Reply{Text: mark + reason + "\nVerdict: CORRECT", Stop: deem.StopEnd}, nil
		})), 1)
		var copied bytes.Buffer
		if _, err := bundle.Redact(&copied, bytes.NewReader(src.write(t, options{}))); err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(unpack(t, copied.Bytes()), ""); strings.Contains(all, mark) {
			t.Errorf("a text is left: %s", all)
		}
		if v := verify(t, copied.Bytes(), full); v.Total > 0 {
			t.Errorf("the redacted bundle is not in order: %+v", v.Findings)
		}
	})
}
