package cli

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
)

const migrateHelp = `Copy runs from one database into another: from a file into a shared Postgres, or back.
Runs keep their ids, times, records, calls, replies and batches, and a run file exported
from either is identical to the byte. Without RUN, all runs and all labels are copied.

Runs that exist in the target are skipped, so the same command resumes after an
interruption. Nothing is removed from the source, and a run that is being judged is
refused.

A database is a file or postgres://user@host:5432/database. Do not put a password on the
command line: use DEEM_FROM_DB and DEEM_TO_DB in the environment, or a .pgpass file.

EXIT STATUS
  0 copied   1 error   2 wrong usage`

// Variables for the databases, used if --from and --to are not given.
const (
	fromVariable = "DEEM_FROM_DB"
	toVariable   = "DEEM_TO_DB"
)

func (a *app) runsCopy() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use: "copy [RUN...] --to DATABASE [flags]", Short: "copy runs into another database", Long: migrateHelp,
		Example: "  deem runs copy --to postgres://deem@db.example/deem\n  deem runs copy last --from postgres://deem@db.example/deem --to .deem/deem.db",
		RunE: func(cmd *cobra.Command, refs []string) error {
			ctx := cmd.Context()
			if from = cmp.Or(from, a.env.Get(fromVariable), a.db); from == "" {
				return usage.Errorf("no database to copy from")
			}
			if to = cmp.Or(to, a.env.Get(toVariable)); to == "" {
				return usage.Mark(deem.WithHint(errors.New("no database to copy to"), "name one: --to postgres://user@host/database, or a file"))
			}
			if from == to {
				return usage.Errorf("%s is copied to itself", withoutPassword(from))
			}
			at := *a
			at.db = from
			source, err := at.readStore(ctx)
			if err != nil {
				return err
			}
			defer func() { _ = source.Close() }()
			var ids []string
			for _, ref := range refs {
				run, err := findRun(ctx, source, ref)
				if err != nil {
					return err
				}
				ids = append(ids, run.ID)
			}
			at.db = to
			target, err := at.openStore(ctx)
			if err != nil {
				return err
			}
			done, err := store.Copy(ctx, source, target, ids...)
			if err = errors.Join(err, target.Close()); err != nil {
				return deem.WithHint(err, "%s", orHint(err, "what was copied is kept; the same command resumes"))
			}
			if a.json {
				return writeJSON(a.out, done)
			}
			a.say("copied %s with %s and %s from %s to %s",
				words.Count(done.Runs-done.There, "run"), words.Count(done.Records, "record"), words.Count(done.Labels, "label"), withoutPassword(from), withoutPassword(to))
			if done.There > 0 {
				a.say("%s there before", words.Plural(done.There, "run was", "runs were"))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the `database` to copy from (default: "+fromVariable+", or what --db says)")
	cmd.Flags().StringVar(&to, "to", "", "the `database` to copy to (default: "+toVariable+")")
	return cmd
}
