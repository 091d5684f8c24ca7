package bundle_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/bundle"
)

// read returns the records of a bundle.
func read(t *testing.T, from io.Reader) (*bundle.Reader, []deem.Record) {
	t.Helper()
	r, err := bundle.NewReader(from)
	if err != nil {
		t.Fatalf("NewReader: %v", err)
	}
	var list []deem.Record
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatalf("Records: after %d: %v", len(list), err)
		}
		list = append(list, rec)
	}
	return r, list
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, j := range map[string]judged{"model": asked(t, 300, 2), "rule": ruled(t, 100), "empty": ruled(t, 0)} {
		t.Run(name, func(t *testing.T) {
			r, got := read(t, bytes.NewReader(j.write(t, options{})))
			if d := cmp.Diff(j.records, got); d != "" {
				t.Errorf("records differ (-want +got):\n%s", d)
			}
			want := j.Run
			want.Settings = nil
			gotRun := r.Run
			if string(gotRun.Settings) != `{"concurrency":8}` {
				t.Errorf("Settings = %s, want them canonical", gotRun.Settings)
			}
			gotRun.Settings = nil
			if d := cmp.Diff(want, gotRun); d != "" {
				t.Errorf("run differs (-want +got):\n%s", d)
			}
			if d := cmp.Diff(j.Judge, r.Judge); d != "" {
				t.Errorf("judge differs (-want +got):\n%s", d)
			}
			m := r.Manifest()
			if m == nil || m.Records != len(j.records) || m.Unjudged != j.Run.Unjudged {
				t.Errorf("Manifest = %+v, want %d records", m, len(j.records))
			}
		})
	}
}

// A pipe gives bytes as it likes, and the end of the file is known only at its end.
func TestReadFromPipe(t *testing.T) {
	t.Parallel()
	j := asked(t, 20, 1)
	_, got := read(t, iotest.OneByteReader(bytes.NewReader(j.write(t, options{}))))
	if d := cmp.Diff(j.records, got); d != "" {
		t.Errorf("records differ (-want +got):\n%s", d)
	}
}

func TestDeterministic(t *testing.T) {
	t.Parallel()
	one, two := asked(t, 200, 1), asked(t, 200, 1)
	if !bytes.Equal(one.write(t, options{}), two.write(t, options{})) {
		t.Error("Write of the same run gives other bytes")
	}
}

func TestVerifyGood(t *testing.T) {
	t.Parallel()
	for name, j := range map[string]judged{"model": asked(t, 300, 2), "rule": ruled(t, 300), "empty": ruled(t, 0)} {
		t.Run(name, func(t *testing.T) {
			v := verify(t, j.write(t, options{}), full)
			if v.Total > 0 || len(v.Notes) > 0 {
				t.Errorf("Verify: findings %v, notes %q, want none", v.Findings, v.Notes)
			}
			if v.Records != len(j.records) || v.Verdicts != len(j.records) {
				t.Errorf("Verify checked %d records and %d verdicts, want %d", v.Records, v.Verdicts, len(j.records))
			}
		})
	}
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	j := asked(t, 200, 2)
	key := newKey(t)
	whole := j.write(t, options{Key: key})
	redacted := j.write(t, options{Key: key, Redact: true})

	r, list := read(t, bytes.NewReader(redacted))
	for _, rec := range list {
		for _, secret := range []string{rec.Item.Question, rec.Item.Response, rec.Item.References[0], rec.Item.Fields["evidence"]} {
			if !strings.HasPrefix(secret, "sha256:") {
				t.Fatalf("item %s holds %q, want its hash", rec.Item.ID, secret)
			}
		}
		for _, c := range rec.Calls {
			if c.Reply != nil && !strings.HasPrefix(c.Reply.Text, "sha256:") {
				t.Fatalf("item %s holds the reply %q, want its hash", rec.Item.ID, c.Reply.Text)
			}
		}
	}
	full0, _ := read(t, bytes.NewReader(whole))
	if r.Manifest().Head != full0.Manifest().Head {
		t.Error("the redacted bundle has another chain")
	}
	if d := cmp.Diff(full0.SignedBy(), r.SignedBy()); d != "" {
		t.Errorf("the redacted bundle has another signature (-full +redacted):\n%s", d)
	}
	v := verify(t, redacted, full)
	if v.Total > 0 || v.Verdicts != 0 || len(v.Notes) == 0 {
		t.Errorf("Verify: findings %v, %d verdicts, notes %q; want no finding, no verdict, a note", v.Findings, v.Verdicts, v.Notes)
	}
	var copied bytes.Buffer
	if _, err := bundle.Redact(&copied, bytes.NewReader(whole)); err != nil {
		t.Fatalf("Redact: %v", err)
	}
	if !bytes.Equal(copied.Bytes(), redacted) {
		t.Error("Redact makes another file than Write with Redact")
	}
	if _, err := bundle.Redact(io.Discard, bytes.NewReader(redacted)); err == nil {
		t.Error("Redact of a redacted bundle: no error")
	}
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestSignature(t *testing.T) {
	t.Parallel()
	j := ruled(t, 20)
	mine, other := newKey(t), newKey(t)
	public := func(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }
	for _, tt := range []struct {
		name   string
		key    ed25519.PrivateKey
		signer ed25519.PublicKey
		want   string
	}{
		{"unsigned, nobody asks", nil, nil, ""},
		{"signed, nobody asks", mine, nil, ""},
		{"signed by the one asked for", mine, public(mine), ""},
		{"signed by another", other, public(mine), "and not by " + bundle.Fingerprint(public(mine))},
		{"unsigned, and should be", nil, public(mine), "not signed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := full
			o.Signer = tt.signer
			v := verify(t, j.write(t, options{Key: tt.key}), o)
			switch {
			case tt.want == "" && v.Total > 0:
				t.Errorf("findings %v, want none", v.Findings)
			case tt.want != "" && (v.Total != 1 || !strings.Contains(v.Findings[0].Message, tt.want)):
				t.Errorf("findings %v, want one that says %q", v.Findings, tt.want)
			}
		})
	}
}

// An export of a run that somebody is judging must not pretend to be whole.
func TestWriteChanged(t *testing.T) {
	t.Parallel()
	j := ruled(t, 10)
	j.Run.Records = 9
	if _, err := bundle.Write(io.Discard, j.Source); err == nil || !strings.Contains(err.Error(), "changed while it was written") {
		t.Errorf("Write: error = %v, want one that says that the run changed", err)
	}
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	j := asked(t, 100, 1)
	broken := errors.New("broken")
	j.Records = func(yield func(deem.Record, error) bool) { yield(deem.Record{}, broken) }
	if _, err := bundle.Write(io.Discard, j.Source); !errors.Is(err, broken) {
		t.Errorf("Write: error = %v, want that of the records", err)
	}
	j = asked(t, 100, 1)
	size := len(j.write(t, options{}))
	for _, room := range []int{0, 5, size / 2, size - 1} {
		j.Numbers = &tally{} // It counts on, and would make a file of another size.
		if _, err := bundle.Write(&narrow{room}, j.Source); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("Write to a disk with room for %d of %d bytes: error = %v, want %v", room, size, err, io.ErrShortWrite)
		}
	}
}

// A narrow disk has little room.
type narrow struct{ room int }

func (n *narrow) Write(p []byte) (int, error) {
	if len(p) > n.room {
		return 0, io.ErrShortWrite
	}
	n.room -= len(p)
	return len(p), nil
}
