package bundle_test

import (
	"bytes"
	"strings"
	"testing"

	"deem/bundle"
)

// FuzzVerify holds that no file makes Verify panic, and that none is found in order
// that the reader does not read. What is changed is the lines, with an outer form that
// is in order: else nothing behind the first checksum would ever be looked at.
func FuzzVerify(f *testing.F) {
	for _, file := range [][]byte{
		asked(f, 3, 2).write(f, bundle.Options{}), ruled(f, 2).write(f, bundle.Options{}),
		asked(f, 2, 1).write(f, bundle.Options{Redact: true}),
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
			_ = r.Close()
		}
		if v.OK() && (err != nil || n != v.Records) {
			t.Errorf("Verify finds nothing in %d records, and reading %d gives %v", v.Records, n, err)
		}
	})
}

// FuzzReader holds that no bytes make a reader panic.
func FuzzReader(f *testing.F) {
	f.Add(ruled(f, 2).write(f, bundle.Options{}))
	f.Add([]byte(bundle.Format + "\n"))
	f.Add([]byte("deem.bundle/2\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		v := verify(t, file, full)
		if _, err := bundle.Redact(new(bytes.Buffer), bytes.NewReader(file)); v.OK() && err != nil && !v.Header.Redacted {
			t.Errorf("Verify finds nothing, and Redact says %v", err)
		}
	})
}
