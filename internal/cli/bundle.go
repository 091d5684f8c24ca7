package cli

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/bundle"
	"deem/internal/catalog"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
)

// bundleExt is the extension of run files.
const bundleExt = ".deem"

// isBundle reports whether ref is a run file rather than the name of a run. Files with
// another extension are recognized by their beginning.
func isBundle(ref string) bool {
	if strings.HasSuffix(ref, bundleExt) {
		return true
	}
	info, err := os.Stat(ref)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(ref)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	const family = "deem.bundle/" // the first line of a run file, without its version
	begin := make([]byte, len(family))
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == family
}

// readRuns opens the stores of the referenced runs: the database, or run files, or both. A
// reference may have a name prefix, as in "deem compare".
func (a *app) readRuns(ctx context.Context, refs ...string) (store.Store, error) {
	for _, ref := range refs {
		if _, file, ok := strings.Cut(ref, "="); isBundle(ref) || ok && isBundle(file) {
			return &runSources{app: a, placed: map[string]place{}}, nil
		}
	}
	return a.readStore(ctx)
}

// readRun opens the store of a run, and finds the run in it.
func (a *app) readRun(ctx context.Context, ref string) (store.Store, store.Run, error) {
	st, err := a.readRuns(ctx, ref)
	if err != nil {
		return nil, store.Run{}, err
	}
	run, err := findRun(ctx, st, ref)
	if err != nil {
		return nil, run, errors.Join(err, st.Close())
	}
	return st, run, nil
}

// A runSources is a read-only store of the runs in files and in the database. The database is
// opened when one of its runs is needed, because a user who was given a file may not have
// one.
type runSources struct {
	app    *app
	base   store.Database // nil until it is needed
	placed map[string]place
}

// A place is the location of a requested run.
type place struct {
	store store.Store
	id    string
	name  string // of the file or the database
}

var (
	_ store.Store  = (*runSources)(nil)
	_ store.Labels = (*runSources)(nil)
)

// database returns the database and opens it on first use.
func (s *runSources) database(ctx context.Context) (store.Database, error) {
	if s.base == nil {
		st, err := s.app.readStore(ctx)
		if err != nil {
			return nil, err
		}
		s.base = st
	}
	return s.base, nil
}

// Run returns the run of a file or of the database.
func (s *runSources) Run(ctx context.Context, ref string) (store.Run, error) {
	if isBundle(ref) {
		st, err := reports.OpenRunFile(ref)
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				err = usage.Mark(err)
			}
			return store.Run{}, err
		}
		run, err := st.Run(ctx, "last")
		return s.put(run, st, ref), err
	}
	st, err := s.database(ctx)
	if err != nil {
		return store.Run{}, err
	}
	run, err := store.Find(ctx, st, ref)
	if err != nil {
		return run, err
	}
	return s.put(run, st, s.app.db), nil
}

// put records the location of a run. If another run has the same id, for example the run in
// the database from which a file was exported, the location is added to its id.
func (s *runSources) put(run store.Run, st store.Store, name string) store.Run {
	p := place{st, run.ID, name}
	if old, ok := s.placed[run.ID]; ok && old.name != name {
		run.ID += "@" + name
	}
	s.placed[run.ID] = p
	return run
}

// at returns the location of a run.
func (s *runSources) at(runID string) (place, error) {
	p, ok := s.placed[runID]
	if !ok {
		return p, fmt.Errorf("run %q: %w", runID, store.ErrNotFound)
	}
	return p, nil
}

// Runs returns the runs of the database.
func (s *runSources) Runs(ctx context.Context) iter.Seq2[store.Run, error] {
	st, err := s.database(ctx)
	if err != nil {
		return func(yield func(store.Run, error) bool) { yield(store.Run{}, err) }
	}
	return st.Runs(ctx)
}

// Records returns the records of a requested run.
func (s *runSources) Records(ctx context.Context, runID string, q store.Query) iter.Seq2[deem.Record, error] {
	p, err := s.at(runID)
	if err != nil {
		return func(yield func(deem.Record, error) bool) { yield(deem.Record{}, err) }
	}
	return p.store.Records(ctx, p.id, q)
}

// Status returns the status of an item and trial.
func (s *runSources) Status(ctx context.Context, runID, itemID string, trial int) (store.Status, error) {
	p, err := s.at(runID)
	if err != nil {
		return store.Missing, err
	}
	return p.store.Status(ctx, p.id, itemID, trial)
}

// Reply returns a reply from the database, if there is one.
func (s *runSources) Reply(ctx context.Context, key string) (deem.Reply, bool, error) {
	if s.base == nil && !catalog.FileExists(s.app.db) {
		return deem.Reply{}, false, nil
	}
	st, err := s.database(ctx)
	if err != nil {
		return deem.Reply{}, false, err
	}
	return st.Reply(ctx, key)
}

// Labels returns the labels in the database, if there is one.
func (s *runSources) Labels(ctx context.Context, q store.LabelQuery) iter.Seq2[store.Label, error] {
	if s.base == nil && !catalog.FileExists(s.app.db) {
		return func(func(store.Label, error) bool) {}
	}
	st, err := s.database(ctx)
	if err != nil {
		return func(yield func(store.Label, error) bool) { yield(store.Label{}, err) }
	}
	return st.Labels(ctx, q)
}

// Begin returns an error, like all methods that write.
func (s *runSources) Begin(context.Context, store.Spec, bool) (store.Run, bool, error) {
	return store.Run{}, false, reports.ErrReadOnly
}

// Finish returns an error.
func (s *runSources) Finish(context.Context, string) error { return reports.ErrReadOnly }

// Append returns an error.
func (s *runSources) Append(context.Context, string, []deem.Record) error { return reports.ErrReadOnly }

// PutLabels returns an error.
func (s *runSources) PutLabels(context.Context, []store.Label) error { return reports.ErrReadOnly }

// DropLabel returns an error.
func (s *runSources) DropLabel(context.Context, string, string) error { return reports.ErrReadOnly }

// Release does nothing: there are no claims.
func (s *runSources) Release(string) error { return nil }

// Close closes the database, if it was opened.
func (s *runSources) Close() error {
	if s.base == nil {
		return nil
	}
	return s.base.Close()
}

// redacted reports whether the texts of a run were removed.
func redacted(st store.Store, run store.Run) bool {
	s, ok := st.(*runSources)
	if !ok {
		return false
	}
	b, ok := s.placed[run.ID].store.(*reports.RunFile)
	return ok && b.Redacted
}

// An anchorLine identifies a run file, or a lock, by its hash in one short line. If the line is
// published with a timestamp, it later proves that the file is the one that existed then.
// [bundle.Verify] without a key finds only inconsistencies, and a file that was written again from
// changed records is consistent.
//
// The hash of a run file is its [bundle.Verification].Root, which is the same in a redacted copy.
type anchorLine struct {
	Of   string // the id of the run, or [anchorOfLock]
	Hash string // SHA-256 in hexadecimal
}

// anchorOfLock is the value of Of for a lock, which has no run yet.
const anchorOfLock = "lock"

const (
	anchorMark = "deem-anchor-1 " // with the version of the format
	anchorHash = " sha256:"
)

var anchorForm = regexp.MustCompile("(?s)^" + anchorMark + "(.+)" + anchorHash + "([0-9a-f]{64})$")

// String returns the anchor as one line, for example "deem-anchor-1 20261116-01de8a
// sha256:...".
func (a anchorLine) String() string { return anchorMark + a.Of + anchorHash + a.Hash }

// exportBundle writes a run as a run file, or only prints its anchor.
func (a *app) exportBundle(ctx context.Context, st store.Store, run store.Run, ref string, o exportOptions) error {
	src, signer := bundle.Source{Software: software(), Redact: o.redact}, ""
	if o.sign != "" {
		text, err := os.ReadFile(o.sign)
		if err != nil {
			return usage.Mark(err)
		}
		if src.Key, err = parsePrivateKey(text); err != nil {
			return usage.Errorf("%s: %w", o.sign, err)
		}
		signer = bundle.Fingerprint(src.Key.Public().(ed25519.PublicKey))
	}
	if redacted(st, run) {
		return usage.Errorf("%s is redacted already, and what was removed cannot be exported; copy the file", ref)
	}
	var m bundle.Manifest
	write := func(w io.Writer) (err error) {
		if !isBundle(ref) || !o.redact || o.sign != "" {
			m, err = reports.WriteBundle(ctx, w, st, run, src)
			return err
		}
		// The file may be signed, and the signature is valid for a copy without texts too.
		f, err := os.Open(ref)
		if err != nil {
			return usage.Mark(err)
		}
		defer func() { _ = f.Close() }()
		if m, err = bundle.Redact(w, f); err != nil {
			return deem.WithHint(fmt.Errorf("%s: %w", ref, err), "deem verify %s says what is wrong with it", ref)
		}
		return nil
	}
	var err error
	out := o.out
	switch {
	case out == "-" && o.anchor:
		return usage.Errorf("--anchor prints to standard output, and so does -o -")
	case out == "-":
		return write(a.out)
	case out == "" && o.anchor:
		err = write(io.Discard)
	default:
		out = cmp.Or(out, run.ID+bundleExt)
		err = writeNew(out, write)
	}
	if err != nil {
		return err
	}
	line := anchorLine{Of: run.ID, Hash: m.Root}.String()
	if a.json {
		return writeJSON(a.out, map[string]any{"written": out, "records": m.Records, "head": m.Head, "anchor": line, "redacted": o.redact, "signed": signer})
	}
	if o.anchor {
		fmt.Fprintln(a.out, line)
	}
	if out != "" {
		a.say("wrote %s with %s", out, words.Count(m.Records, "record"))
	}
	return nil
}

// software names this program in the files that it writes.
func software() string { return "deem " + version() }

const keygenHelp = `Make a key pair to sign run files with: NAME.key, to keep secret, and NAME.pub, for people
who check your files. Both are Ed25519 keys in PEM format, compatible with OpenSSL. No
file is overwritten.

EXIT STATUS
  0 made   1 error   2 wrong usage, or a file exists`

func (a *app) exportKeygen() *cobra.Command {
	return &cobra.Command{
		Use: "keygen NAME", Short: "make keys to sign run files", Long: keygenHelp,
		Example:     "  deem export keygen lab\n  deem export last -o run.deem --sign lab.key\n  deem verify run.deem --signer lab.pub",
		Annotations: map[string]string{noConfig: "yes"},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage.Mark(deem.WithHint(fmt.Errorf("deem export keygen needs one name, not %s", words.Count(len(args), "argument")), "deem export keygen lab"))
			}
			private, public, err := generateKey()
			if err != nil {
				return err
			}
			key, err := parsePublicKey(public)
			if err != nil {
				return err
			}
			name := args[0]
			for _, file := range []string{name + ".key", name + ".pub"} {
				if catalog.FileExists(file) {
					return usage.Mark(deem.WithHint(fmt.Errorf("%s is there already", file), "choose another name"))
				}
			}
			if err := os.WriteFile(filepath.Clean(name+".key"), private, 0o600); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Clean(name+".pub"), public, 0o644); err != nil { //nolint:gosec // It is public.
				return errors.Join(err, os.Remove(filepath.Clean(name+".key")))
			}
			if a.json {
				return writeJSON(a.out, map[string]string{"private": name + ".key", "public": name + ".pub", "fingerprint": bundle.Fingerprint(key)})
			}
			a.say("wrote %s.key and %s.pub, fingerprint %s", name, name, bundle.Fingerprint(key))
			return nil
		},
	}
}

// generateKey returns a new key pair as the contents of two PEM files: PKCS #8 for the
// private key, PKIX for the public one, as used by OpenSSL.
func generateKey() (private, public []byte, err error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	pubDER, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return nil, nil, err
	}
	private = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pubDER}), nil
}

const keyAdvice = "deem export keygen makes a pair of keys; so does openssl genpkey -algorithm ed25519"

// parsePrivateKey parses the contents of a private key file.
func parsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	der, err := pemBlock(text, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("the private key cannot be read") // the parser's error may contain parts of the key
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, deem.WithHint(fmt.Errorf("the private key is a %T, and only Ed25519 signs a bundle", parsed), keyAdvice)
	}
	return key, nil
}

// parsePublicKey parses the contents of a public key file.
func parsePublicKey(text []byte) (ed25519.PublicKey, error) {
	der, err := pemBlock(text, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("the public key cannot be read: %w", err)
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, deem.WithHint(fmt.Errorf("the public key is a %T, and only Ed25519 signs a bundle", parsed), keyAdvice)
	}
	return key, nil
}

// pemBlock returns the contents of the first block of a PEM text.
func pemBlock(text []byte, kind string) ([]byte, error) {
	b, _ := pem.Decode(text)
	switch {
	case b == nil:
		return nil, deem.WithHint(errors.New("it is not a key in PEM"), keyAdvice)
	case b.Type != kind:
		return nil, deem.WithHint(fmt.Errorf("it holds a %q, and a %q is wanted", b.Type, kind), keyAdvice)
	}
	return b.Bytes, nil
}
