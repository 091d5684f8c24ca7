package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deem"
	"deem/internal/catalog"
	"deem/internal/reports"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
)

const lockHelp = `Fix before a run what will be judged, by which judge, what is left out, and which gates
must hold. Nothing is judged and no model is called.

The flags are those of "deem run". The lock contains the hash of the dataset, the hash of
each judge with its model and reading, the trials, the exclusions, the errata, the
allowed share of unjudged items, and the gates. It contains no address and no key.

"deem run --lock FILE" then refuses to judge anything else. The lock's exclusions, gates
and share of unjudged items apply unless the run's own flags differ. With --anyway it
judges despite a difference, and the run, its reports and its run file always show what
differed. docs/lock.md explains what a lock proves.

With --anchor one line with the hash of the lock is printed on standard output. Publish
it where its date is visible before you judge; "deem verify --anchor LINE run.deem" checks
that the run used this lock and kept it.

EXIT STATUS
  0 written   1 error   2 wrong usage or input, or the file exists`

// defaultLock is the default name of a lock file.
const defaultLock = "deem.lock"

func (a *app) lockCommand() *cobra.Command {
	var o runOptions
	out := defaultLock
	var anchor bool
	cmd := &cobra.Command{
		Use: "lock [BENCHMARK] --data FILE [flags]", Short: "fix in advance what will be judged", Long: lockHelp,
		Example: "  deem plan lock --data answers.jsonl --judge grade --model openai:gpt-4o-mini --gate 'overall.lo >= 65%'\n" +
			"  deem run --data answers.jsonl --judge grade --model openai:gpt-4o-mini --lock deem.lock",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.setBenchmark(args); err != nil {
				return err
			}
			if anchor && out == "-" {
				return usage.Errorf("--anchor prints to standard output, and so does -o -")
			}
			o.model.Uncalled = true
			judgings, data, err := a.open(cmd.Context(), &o)
			if err != nil {
				return err
			}
			defer func() { _ = data.Close() }()
			l, err := promised(cmd.Context(), judgings, data, o)
			if err != nil {
				return err
			}
			if out == "-" {
				return l.Write(a.out)
			}
			if err := writeNew(out, l.Write); err != nil {
				return err
			}
			line := anchorLine{Of: anchorOfLock, Hash: l.Hash()}.String()
			if a.json {
				return writeJSON(a.out, map[string]any{"written": out, "hash": l.Hash(), "anchor": line, "lock": l})
			}
			if anchor {
				fmt.Fprintln(a.out, line)
			}
			a.say("wrote %s with hash %s: publish the hash, and judge with --lock %s", out, l.Hash(), out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", out, "write to this `file`, - for standard output")
	cmd.Flags().BoolVar(&anchor, "anchor", false, "print a line with the hash of the lock, for posting in public before the run")
	o.flags(cmd.Flags())
	o.sampleFlags(cmd.Flags())
	return cmd
}

// promised returns the lock of a run with these options.
func promised(ctx context.Context, judgings []catalog.Choice, data items, o runOptions) (reports.Lock, error) {
	l := reports.Lock{
		Version: reports.LockVersion, Created: clock().UTC(), Deem: version(),
		Dataset: reports.LockedDataset{Names: data.Names(), Hash: data.Hash(), Items: data.Len()},
		Trials:  o.Trials, Exclude: append([]string{}, o.exclude...), Gates: append([]string{}, o.gates...), MaxUnjudged: o.maxUnjudged,
	}
	for _, g := range judgings {
		j, err := g.Judge() // without the decorators of a run's models, which do not change the judge
		if err != nil {
			return l, err
		}
		who := reports.LockedJudge{Name: j.Name()}
		who.Model, _ = g.Models()
		if g.Spec.Kind == judge.KindModel {
			who.Reading = g.Spec.Reading
		}
		if who.Hash, err = deem.JudgeHash(j); err != nil {
			return l, err
		}
		l.Judges = append(l.Judges, who)
	}
	if o.errata.file != "" {
		e, err := reports.ReadErrata(ctx, o.errata.file, o.benchmark)
		if err != nil {
			return l, err
		}
		l.Errata, l.Corrected = e.Hash, o.errata.corrected
	}
	return l, nil
}

// lockOptions are the options of a run for a lock.
type lockOptions struct {
	file   string
	anyway bool

	locked *reports.Lock // content of the file
	broken []string      // deviations of the run from it
}

// take reads the lock, if there is one, and applies its counting settings where the flags
// are not given.
func (o *runOptions) take(flags *pflag.FlagSet) error {
	if o.lock.file == "" {
		if o.lock.anyway {
			return usage.Errorf("--anyway goes with --lock")
		}
		return nil
	}
	f, err := os.Open(o.lock.file)
	if err != nil {
		return usage.Mark(err)
	}
	defer func() { _ = f.Close() }()
	l, err := reports.ReadLock(f)
	if err != nil {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s: %w", o.lock.file, err), "deem plan lock writes one"))
	}
	o.lock.locked = &l
	if !flags.Changed("exclude") {
		o.exclude = l.Exclude
	}
	if !flags.Changed("gate") {
		o.gates = l.Gates
	}
	if !flags.Changed("max-unjudged") {
		o.maxUnjudged = l.MaxUnjudged
	}
	return nil
}

// hold checks the judges and items against the lock, before anything is written or paid
// for.
func (a *app) hold(ctx context.Context, judgings []catalog.Choice, data items, o *runOptions) error {
	if o.lock.locked == nil {
		return nil
	}
	now, err := promised(ctx, judgings, data, *o)
	if err != nil {
		return err
	}
	var lines []string
	for _, d := range o.lock.locked.Against(now) {
		o.lock.broken = append(o.lock.broken, d.String())
		lines = append(lines, fmt.Sprintf("%s: %s: locked %s, now %s", o.lock.file, d, d.Locked, d.Now))
	}
	if len(lines) > 0 && !o.lock.anyway {
		return usage.Mark(deem.WithHint(errors.New(strings.Join(lines, "\n")), "judge what was promised; or judge this with --anyway, and every report says what was broken"))
	}
	for _, line := range lines {
		a.say("%s", words.Printable(line))
	}
	return nil
}
