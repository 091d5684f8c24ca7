package main

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzTally reads any log of tests. It counts no more tests than there are lines, the same
// however the bytes arrive, and a line that is no event is shown as it is.
func FuzzTally(f *testing.F) {
	f.Add(`{"Action":"run","Package":"p","Test":"T"}` + "\n" + `{"Action":"pass","Package":"p","Test":"T"}` + "\n")
	f.Add(`{"Action":"output","Package":"p","Test":"T","Output":"x\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"T"}`)
	f.Add("panic: x\n{}\n{\"Action\":\"skip\",\"Package\":\"p\",\"Test\":\"T/a\"}\n{\"Action\":\"build-output\"}")
	f.Fuzz(func(t *testing.T, log string) {
		var out strings.Builder
		whole := newTally(&out)
		if err := whole.read(strings.NewReader(log)); err != nil {
			t.Fatal(err)
		}
		if n, lines := whole.passed+len(whole.failed)+len(whole.skipped), strings.Count(log, "\n")+1; n > lines {
			t.Errorf("%d tests in %d lines of %q", n, lines, log)
		}
		if !strings.Contains(log, "{") && out.String() != log {
			t.Errorf("%q is shown as %q", log, out.String())
		}
		parts := newTally(io.Discard)
		if err := parts.read(iotest.OneByteReader(strings.NewReader(log))); err != nil {
			t.Fatal(err)
		}
		if parts.passed != whole.passed || len(parts.failed) != len(whole.failed) || parts.pkgs != whole.pkgs {
			t.Errorf("byte by byte %q counts otherwise", log)
		}
	})
}
