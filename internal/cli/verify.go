package cli

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"deem"
	"deem/benchmark"
	"deem/bundle"
	"deem/internal/store/bundled"
	"deem/judge/rule"
	"deem/report"
)

const verifyHelp = `Check a run file that "deem export RUN -o run.deem" wrote, without a network, a
database or the dataset: that its bytes are whole and its chain of hashes is; that
every prompt rendered again is the one that was sent; that every reply read again
gives the verdict in its record, and every rule the same verdict as before; and that
every number in its manifest comes out again. One line is printed for each finding,
with the record that it concerns.

That a file is consistent does not say who made it. With --signer the file must be
signed with the private key that belongs to the public key named there.

In a redacted file texts are replaced by their hashes. Then prompts and replies cannot
be checked, which is said; all else is.

EXIT STATUS
  0 nothing is wrong   1 something is, or the file could not be read   2 wrong usage`

func (a *app) verifyCommand() *cobra.Command {
	var signer string
	cmd := &cobra.Command{
		Use: "verify FILE... [flags]", Short: "check a run file", Long: verifyHelp,
		Example:     "  deem verify run.deem\n  deem verify run.deem --signer lab.pub",
		Annotations: map[string]string{noConfig: "yes"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(deem.WithHint(fmt.Errorf("deem verify wants a run file"), "deem export last -o run.deem writes one"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := readSigner(signer)
			if err != nil {
				return err
			}
			return a.verifyAll(cmd.Context(), args, key)
		},
	}
	cmd.Flags().StringVar(&signer, "signer", "", "the file must be signed with the key whose public part is in this `file`")
	return cmd
}

// readSigner reads a public key; nil when none is named.
func readSigner(name string) (ed25519.PublicKey, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, usage(err)
	}
	key, err := bundle.ParsePublicKey(text)
	if err != nil {
		return nil, usage(deem.WithHint(fmt.Errorf("%s: %w", name, err), "%s", deem.HintOf(err)))
	}
	return key, nil
}

// verifyAll checks files, all of them, and fails if one has a finding.
func (a *app) verifyAll(ctx context.Context, names []string, signer ed25519.PublicKey) error {
	var all []checkedFile
	findings := 0
	for _, name := range names {
		v, err := a.verify(ctx, name, signer)
		if err != nil {
			return err
		}
		findings += v.Total
		all = append(all, v)
	}
	if a.json {
		writeJSON(a.out, all)
	}
	if findings > 0 {
		return fmt.Errorf("%s in %s", count(findings, "finding"), count(len(names), "file"))
	}
	return nil
}

// A checkedFile is what came of checking it.
type checkedFile struct {
	File string `json:"file"`
	OK   bool   `json:"ok"`
	*bundle.Verification
}

// verify checks a file and prints what it found.
func (a *app) verify(ctx context.Context, name string, signer ed25519.PublicKey) (checkedFile, error) {
	from, err := a.openFile(name)
	if err != nil {
		return checkedFile{}, usage(err)
	}
	defer func() { _ = from.Close() }()
	shown := 0
	out, err := bundle.Verify(ctx, from, bundle.VerifyOptions{
		Restore: againOf,
		Numbers: func(r bundle.Run, j bundle.Judge, redacted bool) (bundle.Counter, error) {
			return countAgain(ctx, r, j, redacted)
		},
		Signer:   signer,
		Software: software(),
		Found: func(f bundle.Finding) {
			if shown++; shown <= maxShown && !a.json {
				fmt.Fprintf(a.out, "%s: %s\n", printable(name), printable(f.String()))
			}
		},
	})
	if err != nil {
		return checkedFile{}, fmt.Errorf("%s: %w", name, err)
	}
	v := checkedFile{name, out.OK(), out}
	if !a.json {
		v.text(a.out, signer)
	}
	return v, nil
}

// maxShown is how many findings are printed. Whoever has more of them has one problem
// many times.
const maxShown = 100

// openFile opens a file, or standard input for "-".
func (a *app) openFile(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.in), nil
	}
	return os.Open(name)
}

// againOf makes the judge of a run file again, as far as it needs neither a model nor
// any other file.
func againOf(r bundle.Run, j bundle.Judge) (bundle.Again, error) {
	run := bundled.RunOf(r, j)
	if isRecorded(run) {
		return bundle.Again{Note: j.Name + " was recorded by others, and deem asked nobody"}, nil
	}
	if !j.Rule {
		p, err := protocolOf(run)
		if err != nil {
			return bundle.Again{}, err
		}
		if p == nil {
			return bundle.Again{Note: j.Name + " is made of several judges"}, nil
		}
		return bundle.Again{Protocol: p}, nil
	}
	if !knownRule(j.Name) {
		return bundle.Again{Note: j.Name + " judges by a file of its own"}, nil
	}
	_, set, err := benchmarkOf(run)
	if err != nil {
		return bundle.Again{}, err
	}
	again := ruleOf(run, set)
	if again == nil {
		return bundle.Again{Note: fmt.Sprintf("this deem cannot make the rule %s (%s) without further data, or has another version of it", j.Name, deem.ShortHash(j.Hash))}, nil
	}
	return bundle.Again{Rule: again}, nil
}

// knownRule reports whether a name is that of a rule, or of several. What a file says
// must not make us open others.
func knownRule(name string) bool {
	for _, part := range together(name) {
		if _, ok := benchmark.OfJudge(part); !ok && !slices.Contains(rule.Names(), part) {
			return false
		}
	}
	return true
}

// countAgain returns who counts the numbers of a run file again.
func countAgain(ctx context.Context, r bundle.Run, j bundle.Judge, redacted bool) (bundle.Counter, error) {
	rep, err := newReporter(ctx, bundled.RunOf(r, j), showing{maxUnjudged: report.DefaultMaxUnjudged}, redacted)
	if err != nil {
		return nil, err
	}
	return recount{rep, redacted}, nil
}

// text prints what was checked.
func (v checkedFile) text(w io.Writer, signer ed25519.PublicKey) {
	name := printable(v.File)
	if more := v.Total - maxShown; more > 0 {
		fmt.Fprintf(w, "%s: and %s more\n", name, thousands(more))
	}
	for _, note := range v.Notes {
		fmt.Fprintf(w, "%s: note: %s\n", name, printable(note))
	}
	if v.Run.ID != "" {
		fmt.Fprintf(w, "%s: run %s by %s (%s), %s of %s, written by %s\n", name, printable(v.Run.ID), printable(v.Judge),
			printable(deem.ShortHash(v.JudgeHash)), count(v.Records, "record"), count(v.Items, "item"), printable(v.Header.Software))
		fmt.Fprintf(w, "%s: %s rendered again, %s made again\n", name, count(v.Prompts, "prompt"), count(v.Verdicts, "verdict"))
	}
	if s := v.Signature; s != nil && v.OK {
		who := "by somebody whose key nobody named: --signer says whose it should be"
		if signer != nil {
			who = "as it should be"
		}
		fmt.Fprintf(w, "%s: signed with key %s, %s\n", name, bundle.Fingerprint(s.Key), who)
	}
	word := "ok"
	if !v.OK {
		word = count(v.Total, "finding")
	} else if v.Signature == nil {
		word = "ok, not signed"
	}
	fmt.Fprintf(w, "%s: %s\n", name, word)
}
