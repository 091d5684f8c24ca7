package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
)

const showHelp = `Show one item of a run: the prompt, the model's reply, and the verdict read from it.
The prompt is not stored; it is rendered again from the item and the judge, and checked
against the hash of what was sent.

EXIT STATUS
  0 shown   1 error   2 no such run or item`

func (a *app) showCommand() *cobra.Command {
	ref := "last"
	cmd := &cobra.Command{
		Use: "show ITEM [flags]", Short: "one item: prompt, reply, verdict", Long: showHelp,
		Example: "  deem show q17\n  deem show q17 --run last~1 --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage.Mark(deem.WithHint(fmt.Errorf("deem show needs the id of one item, not %s", words.Count(len(args), "argument")), "deem show q17"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			st, run, err := a.readRun(cmd.Context(), ref)
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			p, err := reports.Protocol(run)
			if err != nil {
				return err
			}
			if redacted(st, run) {
				a.say("the texts of this run were removed: their hashes stand in their place")
				p = nil // there is nothing to render or read
			}
			n := 0
			for rec, err := range st.Records(cmd.Context(), run.ID, store.Query{IDs: []string{args[0]}, WithCalls: true}) {
				if err != nil {
					return err
				}
				shown := reports.Show(run, p, rec)
				if a.json {
					_ = writeJSON(a.out, shown)
				} else {
					writeShown(a.out, shown)
				}
				n++
			}
			if n == 0 {
				return usage.Mark(deem.WithHint(fmt.Errorf("run %s has no record of item %q", run.ID, args[0]), "an id is case-sensitive; deem runs shows how far the run is"))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&ref, "run", ref, "the `run` to look into: an id or its beginning, last, last~1, or a run file")
	return cmd
}

// writeShown writes an item for a person.
func writeShown(w io.Writer, s reports.Shown) {
	rec := s.Record
	fmt.Fprintf(w, "item %s of run %s", words.Printable(rec.Item.ID), s.Run)
	if rec.Trial > 0 {
		fmt.Fprintf(w, ", trial %d", rec.Trial)
	}
	fmt.Fprintln(w, words.Printable(doc.Prefix(", system ", s.System)))
	block(w, "category", rec.Item.Category)
	block(w, "question", rec.Item.Question)
	for _, r := range rec.Item.References {
		block(w, "reference", r)
	}
	if s.Reader != nil {
		writeReader(w, *s.Reader)
	}
	block(w, "response", rec.Item.Response)
	block(w, "conversation", rec.Item.Messages.Text(0, len(rec.Item.Messages)))
	for _, m := range s.Prompt {
		block(w, "prompt ("+m.Role+")", m.Content)
	}
	if s.Prompt != nil && len(rec.Calls) > 0 {
		check := "rendered again, and equal to what was sent (SHA-256)"
		if !s.Verified {
			check = "rendered again, and NOT equal to what was sent: another deem rendered it"
		}
		block(w, "prompt check", check)
	}
	for _, c := range rec.Calls {
		block(w, "call", describe(c))
		if c.Reply != nil {
			block(w, "reply", c.Reply.Text)
		}
	}
	block(w, "verdict", decision(rec.Verdict, rec.Failure))
	if s.Other != nil {
		block(w, "reading "+s.Other.Reading, decision(s.Other.Verdict, s.Other.Failure))
	}
}

// writeReader writes what a reader was given, and what it asked.
func writeReader(w io.Writer, r reports.ShownReader) {
	for i, c := range r.Contexts {
		block(w, doc.Join(", ", fmt.Sprintf("context %d", i+1), words.Printable(c.About())), c.Content())
	}
	for _, m := range r.Prompt {
		block(w, fmt.Sprintf("prompt of reader %s (%s)", words.Printable(r.Name), m.Role), m.Content)
	}
	if r.Verified {
		block(w, "reader prompt check", "rendered again, and equal to what was sent (SHA-256)")
	}
}

// block writes a titled text, indented so that data cannot imitate a title.
func block(w io.Writer, title, text string) {
	if text == "" && title != "response" && title != "reply" {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for line := range strings.Lines(text + "\n") {
		fmt.Fprintf(w, "  %s\n", words.Printable(strings.TrimSuffix(line, "\n")))
	}
}

func describe(c deem.Call) string {
	parts := []string{c.Model, c.Started.Format("2006-01-02 15:04:05")}
	r := c.Reply
	switch {
	case r == nil:
		return strings.Join(append(parts, "error: "+c.Error), ", ")
	case r.Cached:
		parts = append(parts, "from the cache")
	default:
		parts = append(parts, fmt.Sprintf("%d ms, attempt %d", r.Latency.Milliseconds(), r.Attempts), words.ExactDollars(r.CostMicros))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d tokens in, %d out, stopped: %s", r.Usage.Input, r.Usage.Output, r.Stop)), ", ")
}

// decision formats a verdict or a failure in a few lines.
func decision(v *deem.Verdict, f *deem.Failure) string {
	if f != nil {
		return "unjudged: " + f.Error()
	}
	lines := []string{fmt.Sprintf("%s, score %.4g", v.Label, v.Score)}
	if len(v.Aspects) > 0 {
		aspects, _ := json.Marshal(v.Aspects) // finite numbers can always be encoded
		lines = append(lines, "aspects "+string(aspects))
	}
	for i, p := range v.Parts {
		var text string
		if p.Failure != nil {
			text = "unjudged: " + p.Failure.Error()
		} else {
			text = fmt.Sprintf("%s, score %.4g%s", p.Label, *p.Score, doc.Prefix(": ", p.Reason))
		}
		lines = append(lines, fmt.Sprintf("criterion %d: %s\n  %s", i+1, p.Name, text))
	}
	if v.Confidence != nil {
		lines = append(lines, fmt.Sprintf("confidence %.2f", *v.Confidence))
	}
	if v.Reason != "" {
		lines = append(lines, v.Reason)
	}
	return strings.Join(lines, "\n")
}
