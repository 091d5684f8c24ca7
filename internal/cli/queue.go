package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/catalog"
	"deem/internal/queue"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/usage"
	"deem/internal/words"
)

const queueHelp = `Show the runs submitted to workers, and the workers; or pause, resume or cancel a run.

  deem queue               runs, their progress and estimated end; workers
  deem queue pause RUN     workers take no more items of the run until it is resumed
  deem queue resume RUN    workers continue, also after cancel or when the budget was spent
  deem queue cancel RUN    workers take no more items; finished items are kept
  deem queue settle RUN    stop counting reserved money as spent, and print the amount

Workers notice within about two seconds. Calls in flight are paid for, so they finish and
are kept.

With --max-cost, money is reserved before calls are made. If a call timed out, its reply was
truncated, or deem was killed, it is unknown whether the vendor charged for it, and the
reserved amount counts as spent. Check the vendor's bill before you settle the run. A run in
a file can be settled too; all other subcommands need a Postgres database.

EXIT STATUS
  0 done   1 error   2 wrong usage`

// queueVerbs are the subcommands of "deem queue".
var queueVerbs = []string{"status", "pause", "resume", "cancel", "settle"}

func (a *app) queueCommand() *cobra.Command {
	var maxCost catalog.Optional[int64]
	var priority string
	cmd := &cobra.Command{
		Use: "queue [status|pause|resume|cancel|settle] [RUN]", Short: "runs submitted to workers", Long: queueHelp,
		Example:   "  deem queue --db postgres://deem@db.example/deem\n  deem queue cancel last\n  deem queue resume 20261115-9f3a2c --max-cost 10.00",
		ValidArgs: queueVerbs, Args: atMost(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ch queue.Change
			if maxCost.Set {
				ch.MaxMicros = &maxCost.Value
			}
			if priority != "" {
				p, err := queue.ParsePriority(priority)
				if err != nil {
					return usage.Mark(err)
				}
				ch.Priority = &p
			}
			ctx := cmd.Context()
			if len(args) == 0 || args[0] == "status" {
				return a.queueStatus(ctx, args)
			}
			if !slices.Contains(queueVerbs, args[0]) {
				return usage.Mark(usage.Unknown("subcommand", args[0], queueVerbs))
			}
			if len(args) == 1 {
				return usage.Mark(deem.WithHint(fmt.Errorf("deem queue %s needs a run", args[0]), "deem runs lists them, and deem queue those that workers judge"))
			}
			if args[0] != "resume" && ch != (queue.Change{}) {
				return usage.Errorf("--max-cost and --priority need deem queue resume")
			}
			if args[0] == "settle" {
				return a.settle(ctx, args[1])
			}
			st, c, err := a.openQueue(ctx, postgres.Options{})
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			id, err := resolveQueued(ctx, st, c, args[1])
			if err != nil {
				return err
			}
			switch args[0] {
			case "pause":
				err = c.Pause(ctx, id)
			case "resume":
				err = c.Resume(ctx, id, ch)
			case "cancel":
				err = c.Cancel(ctx, id)
			}
			if err != nil {
				return err
			}
			s, err := c.Run(ctx, id)
			if err != nil {
				return err
			}
			if a.json {
				return writeJSON(a.out, s)
			}
			a.printQueued(s)
			return nil
		},
	}
	f := cmd.Flags()
	f.Var(moneyFlag(&maxCost), "max-cost", "with resume: new maximum cost of the run in US `dollars`")
	f.StringVar(&priority, "priority", "", "with resume: high, normal or low")
	cmd.AddCommand(a.workerCommand())
	return cmd
}

// resolveQueued returns the id of the run that ref means. "last" is the newest run in the
// queue, even if it has no record yet.
func resolveQueued(ctx context.Context, st store.Store, c *queue.Control, ref string) (string, error) {
	s, err := c.Status(ctx)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, r := range s.Runs {
		ids = append(ids, r.Run)
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	if id, err := store.Resolve(ref, ids, ids); err == nil {
		return id, nil
	}
	run, err := store.Find(ctx, st, ref)
	return run.ID, usage.Mark(err)
}

// queueStatus shows the state of the queue, or the progress of one run.
func (a *app) queueStatus(ctx context.Context, args []string) error {
	st, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	pg, ok := st.(*postgres.Store)
	if !ok {
		return usage.Mark(deem.WithHint(errors.New("the queue needs a Postgres database"), "name it: --db postgres://user@host:5432/database, or DEEM_DB"))
	}
	c, err := queue.Look(ctx, pg)
	if err != nil {
		return err
	}
	var s queue.Status
	switch {
	case c == nil: // Nothing was ever queued.
	case len(args) == 2:
		id, err := resolveQueued(ctx, st, c, args[1])
		if err != nil {
			return err
		}
		one, err := c.Run(ctx, id)
		if err != nil {
			return err
		}
		s.Runs = []queue.RunStatus{one}
	default:
		if s, err = c.Status(ctx); err != nil {
			return err
		}
	}
	if a.json {
		return writeJSON(a.out, s)
	}
	if len(s.Runs) == 0 {
		fmt.Fprintln(a.out, "no run is left to workers")
	}
	for _, r := range s.Runs {
		a.printQueued(r)
	}
	if len(s.Workers) == 0 {
		fmt.Fprintln(a.out, "no worker is at work; start one with: deem worker")
	}
	for _, w := range s.Workers {
		fmt.Fprintf(a.out, "worker %s  %s, %d of %d items in flight, %s, %.1f/s\n", words.Printable(w.ID), w.State, w.InFlight, w.Slots,
			words.Count(w.Records, "record"), w.Rate)
	}
	return nil
}

// printQueued prints a run in one line, and what delays it in further lines.
func (a *app) printQueued(r queue.RunStatus) {
	line := fmt.Sprintf("run %s  %s, %s of %s records, %s left, %s priority", r.Run, r.State, words.Comma(r.Records), words.Comma(r.Total),
		words.Count(r.Chunks, "chunk"), r.Priority)
	if r.Workers > 0 {
		line += fmt.Sprintf(", %s, %.1f/s", words.Count(r.Workers, "worker"), r.Rate)
	}
	if r.ETA != nil {
		line += ", done in " + (time.Duration(*r.ETA) * time.Second).String()
	}
	if r.MaxMicros != nil {
		line += fmt.Sprintf(", %s of %s spent", words.ExactDollars(r.SpentMicros), words.ExactDollars(*r.MaxMicros))
	}
	fmt.Fprintln(a.out, line)
	if r.Reason != "" {
		fmt.Fprintf(a.out, "  %s\n", words.Printable(r.Reason))
	}
	for worker, why := range r.Refused {
		fmt.Fprintf(a.out, "  worker %s leaves it to others: %s\n", words.Printable(worker), words.Printable(why))
	}
}
