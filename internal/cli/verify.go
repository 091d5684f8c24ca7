package cli

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/bundle"
	"deem/internal/catalog"
	"deem/internal/reports"
	"deem/internal/usage"
	"deem/internal/words"
)

// runFileBegins are the first bytes of a run file.
const runFileBegins = "deem.bundle/"

const verifyHelp = `Check a run file written by "deem export RUN -o run.deem", without a network, a database
or the dataset. The checks: bytes and hash chain are intact; every prompt, rendered
again, is the one that was sent; every call was made with the judge's parameters, except
those recorded as dropped; every reply, parsed again, gives the verdict in its record,
and every rule the same verdict as before; panels, cascades, repeated and pairwise judges
combine their members' verdicts to the same result; and every number in the manifest can
be recomputed. One line is printed for each finding, with the record it concerns.

This proves that the file is consistent, but not that it is the original: after a change
to a reply and its verdict in the database, a consistent file can be exported. Two flags
prove more:

  --signer FILE  the file is signed with the private key that belongs to this public
                 key. The owner of the key vouches for it.
  --anchor LINE  the file is the one whose anchor "deem export --anchor" printed, or its
                 run names the lock whose anchor "deem plan lock --anchor" printed. This
                 proves when it existed, if the line was published where its date is visible.

No flag proves that the replies are those the model gave.

In a redacted file texts are replaced by their hashes. Prompts and replies then cannot be
checked, and the output says so; everything else is checked.

EXIT STATUS
  0 nothing is wrong   1 something is wrong, or the file could not be read to the end
  2 wrong usage, a file that cannot be opened, or a malformed anchor
  4 the file does not match the anchor`

func (a *app) verifyCommand() *cobra.Command {
	var signer, anchor string
	cmd := &cobra.Command{
		Use: "verify FILE... [flags]", Short: "check a run file", Long: verifyHelp,
		Example: "  deem verify run.deem\n  deem verify run.deem --signer lab.pub\n" +
			"  deem verify run.deem --anchor 'deem-anchor-1 20261116-01de8a sha256:...'",
		Annotations: map[string]string{noConfig: "yes"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.Mark(deem.WithHint(fmt.Errorf("deem verify needs a run file"), "deem export last -o run.deem writes one"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var key ed25519.PublicKey
			if signer != "" {
				text, err := os.ReadFile(signer)
				if err != nil {
					return usage.Mark(err)
				}
				if key, err = parsePublicKey(text); err != nil {
					return usage.Mark(deem.WithHint(fmt.Errorf("%s: %w", signer, err), "%s", deem.HintOf(err)))
				}
			}
			var at *anchorLine // nil matches any file
			if cmd.Flags().Changed("anchor") {
				parts := anchorForm.FindStringSubmatch(strings.TrimSpace(anchor))
				switch {
				case parts == nil:
					return usage.Mark(deem.WithHint(fmt.Errorf("%q is not an anchor: want %sRUN%s and 64 hexadecimal digits", anchor, anchorMark, anchorHash),
						"deem export --anchor and deem plan lock --anchor print one; quote the line"))
				case len(args) != 1:
					return usage.Errorf("--anchor is of one file, not of %d", len(args))
				}
				at = &anchorLine{Of: parts[1], Hash: parts[2]}
			}
			var all []checkedFile
			var moved error
			findings := 0
			for _, name := range args {
				v, err := a.verify(cmd.Context(), name, key, at)
				if err != nil {
					return err
				}
				findings += v.Total
				if v.anchor != nil {
					moved = fmt.Errorf("%s: %w", name, v.anchor)
				}
				all = append(all, v)
			}
			if a.json {
				_ = writeJSON(a.out, all)
			}
			if moved == nil && findings > 0 {
				return fmt.Errorf("%s in %s", words.Count(findings, "finding"), words.Count(len(args), "file"))
			}
			return moved
		},
	}
	cmd.Flags().StringVar(&signer, "signer", "", "check that the file is signed with the key whose public part is in this `file`")
	cmd.Flags().StringVar(&anchor, "anchor", "", "check that the file is the one that this `line` names; deem export --anchor and deem plan lock --anchor print such lines")
	return cmd
}

// A checkedFile is the result of checking a file.
type checkedFile struct {
	File string `json:"file"`
	OK   bool   `json:"ok"`
	*bundle.Verification

	// Anchored reports whether the file matches the anchor, nil if none was given; anchor
	// says why not.
	Anchored *bool `json:"anchored,omitempty"`
	anchor   error
}

// errAnchor is returned if a file does not match an anchor.
var errAnchor = errors.New("the file does not match the anchor")

// hold compares the file with an anchor.
func (v *checkedFile) hold(anchor *anchorLine) {
	if anchor == nil {
		return
	}
	l := reports.SettingsOf(reports.RunOfFile(v.Run, bundle.Judge{}).Spec).Lock
	switch locked := anchor.Of == anchorOfLock; {
	case locked && (l == nil || l.Hash != anchor.Hash):
		v.anchor = fmt.Errorf("%w: run %s does not name the lock sha256:%s", errAnchor, v.Run.ID, anchor.Hash)
	case locked && len(l.Broken) > 0:
		v.anchor = fmt.Errorf("%w: run %s broke the lock: %s", errAnchor, v.Run.ID, strings.Join(l.Broken, ", "))
	case locked:
	case v.Root == "":
		v.anchor = fmt.Errorf("%w: it has no root hash, because its manifest cannot be read", errAnchor)
	case v.Root != anchor.Hash:
		v.anchor = fmt.Errorf("%w: its root hash is sha256:%s, and the anchor says sha256:%s", errAnchor, v.Root, anchor.Hash)
	case v.Run.ID != anchor.Of:
		v.anchor = fmt.Errorf("%w: it is of run %q, and the anchor says %q", errAnchor, v.Run.ID, anchor.Of)
	}
	ok := v.anchor == nil
	v.Anchored = &ok
	v.OK = v.OK && ok
}

// verify checks a file and prints the findings.
func (a *app) verify(ctx context.Context, name string, signer ed25519.PublicKey, anchor *anchorLine) (checkedFile, error) {
	from := a.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return checkedFile{}, usage.Mark(err)
		}
		defer func() { _ = f.Close() }()
		begin := bufio.NewReader(f)
		head, _ := begin.Peek(len(runFileBegins))
		if filepath.Ext(name) != ".deem" && string(head) != runFileBegins {
			return checkedFile{}, usage.Mark(deem.WithHint(fmt.Errorf("%s is not a run file (.deem)", name), "deem export -o run.deem writes one"))
		}
		from = begin
	}
	shown := 0
	out, err := reports.Verify(ctx, from, reports.VerifyOptions{
		Restore: catalog.Restore, Signer: signer, Software: software(),
		Found: func(f bundle.Finding) {
			if shown++; shown <= maxShown && !a.json {
				fmt.Fprintf(a.out, "%s: %s\n", words.Printable(name), words.Printable(f.String()))
			}
		},
	})
	if err != nil {
		return checkedFile{}, fmt.Errorf("%s: %w", name, err)
	}
	v := checkedFile{File: name, OK: out.OK(), Verification: out.Verification}
	v.hold(anchor)
	if !a.json {
		v.text(a.out, signer)
	}
	return v, nil
}

// maxShown is the maximum number of findings printed. A file with more has one problem many
// times.
const maxShown = 100

// text prints the results.
func (v checkedFile) text(w io.Writer, signer ed25519.PublicKey) {
	name := words.Printable(v.File)
	if more := v.Total - maxShown; more > 0 {
		fmt.Fprintf(w, "%s: and %s more\n", name, words.Comma(more))
	}
	for _, note := range v.Notes {
		fmt.Fprintf(w, "%s: note: %s\n", name, words.Printable(note))
	}
	if v.Run.ID != "" {
		fmt.Fprintf(w, "%s: run %s by %s (%s), %s of %s, written by %s\n", name, words.Printable(v.Run.ID), words.Printable(v.Judge),
			words.Printable(deem.ShortHash(v.JudgeHash)), words.Count(v.Records, "record"), words.Count(v.Items, "item"), words.Printable(v.Header.Software))
		compared := ""
		if v.Wires > 0 {
			compared = ", " + words.Count(v.Wires, "request") + " compared with what was sent"
		}
		fmt.Fprintf(w, "%s: %s rendered again, %s made again%s\n", name, words.Count(v.Prompts, "prompt"), words.Count(v.Verdicts, "verdict"), compared)
	}
	if key := v.SignedBy; key != nil && v.OK {
		who := "by somebody whose key nobody named: --signer says whose it should be"
		if signer != nil {
			who = "as it should be"
		}
		fmt.Fprintf(w, "%s: signed with key %s, %s\n", name, bundle.Fingerprint(key), who)
	}
	word := "ok"
	switch {
	case v.Total > 0:
		word = words.Count(v.Total, "finding")
	case v.anchor != nil:
		word = v.anchor.Error()
	case v.Anchored != nil:
		word = "ok, matches the anchor"
	case v.SignedBy == nil:
		word = "ok, not signed"
	}
	fmt.Fprintf(w, "%s: %s\n", name, word)
}
