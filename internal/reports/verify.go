package reports

import (
	"context"
	"crypto/ed25519"
	"io"

	"deem"
	"deem/bundle"
	"deem/internal/store"
	"deem/report"
)

// VerifyOptions configures how a run file is checked.
type VerifyOptions struct {
	// Restore rebuilds the judge: catalog.Restore. No judge is built in this package.
	Restore RestoreFunc

	Signer   ed25519.PublicKey    // must have signed the file; nil accepts any signature, and none
	Software string               // of this program; texts are compared if it wrote the file
	Found    func(bundle.Finding) // is called with each finding; may be nil
}

// A RestoreFunc rebuilds the judge of a run file; see [bundle.VerifyOptions].
type RestoreFunc = func(bundle.Run, bundle.Judge, func(name, settings string) deem.Model, func(context.Context) (deem.Record, bool)) (bundle.Again, error)

// A Verified is a run file that was checked.
type Verified struct {
	*bundle.Verification

	// Found is the run with its report, computed from the records of the file. It is nil if
	// something is wrong with the file, or if this deem cannot compute the report; the check
	// of the numbers says so.
	Found *Found
}

// OK reports whether nothing is wrong with the file. Some checks may not have been possible.
func (v *Verified) OK() bool { return v.Total == 0 }

// Verify checks a run file and computes its report again. It needs no store, no network and
// no other file. Errors in the file are findings; the returned error is that of reading, or
// of ctx. The caller must import deem/benchmark, which names the judges of benchmarks.
func Verify(ctx context.Context, from io.Reader, o VerifyOptions) (*Verified, error) {
	var run store.Run
	var counted *measured
	out, err := bundle.Verify(ctx, from, bundle.VerifyOptions{
		Restore: o.Restore, Signer: o.Signer, Software: o.Software, Found: o.Found,
		Numbers: func(r bundle.Run, j bundle.Judge, redacted bool) (bundle.Counter, error) {
			run = RunOfFile(r, j)
			rep, err := NewReporter(ctx, run, Options{MaxUnjudged: report.DefaultMaxUnjudged, Redacted: redacted})
			if err != nil {
				return nil, err
			}
			counted = newMeasured(rep, run, redacted)
			return counted, nil
		},
	})
	if err != nil {
		return nil, err
	}
	if counted != nil {
		if f, wrong := counted.finding(run, out); wrong {
			out.Add(f, o.Found)
		}
	}
	v := &Verified{Verification: out}
	if v.OK() && counted != nil {
		found, err := counted.Found(run).withPublished()
		if err != nil {
			return nil, err
		}
		v.Found = &found
	}
	return v, nil
}
