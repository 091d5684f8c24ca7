// Package cli is the command deem: one file per subcommand, and their common parts.
//
// A command reads flags, deem.yaml and the environment, opens what they name, and passes it
// to the packages that do the work. Only this package prints. Data goes to standard output;
// messages, progress and errors go to standard error.
package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deem"
	"deem/internal/doc"
	"deem/internal/run"
	"deem/internal/telemetry"
	"deem/internal/usage"
	"deem/internal/vendors"
)

// The exit codes of deem. They are a contract: scripts depend on them.
const (
	exitDone        = 0
	exitFailed      = 1   // the command failed
	exitUsage       = 2   // the command or its input is invalid
	exitUnjudged    = 3   // done, but too many items are unjudged
	exitGate        = 4   // done, but a gate or a check failed
	exitInterrupted = 130 // stopped; verdicts so far are saved
)

var (
	errUnjudged    = errors.New("too many items are unjudged")
	errInterrupted = errors.New("interrupted")
)

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	_, isProblems := errors.AsType[*deem.Problems](err)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, errGate), errors.Is(err, errClaim), errors.Is(err, errImpossible), errors.Is(err, errAnchor), errors.Is(err, errBoard):
		return exitGate
	case errors.Is(err, errUnjudged):
		return exitUnjudged
	case usage.Is(err) || isProblems:
		return exitUsage
	default:
		return exitFailed
	}
}

// An app is one invocation of the command.
type app struct {
	args []string // as typed, to print a command that resumes
	in   io.Reader
	out  *screen
	err  io.Writer

	terminal io.Writer // the real standard error, only for the progress bar

	env vendors.Environment

	fromFile map[string]bool // the flags set by deem.yaml

	helpAll bool   // --help-all: help shows every flag
	json    bool   // --json
	verbose bool   // -v, for commands that print a report
	quiet   bool   // -q, for the same commands
	config  string // --config
	db      string // --db

	stream    bool                 // events go to standard output
	telemetry *telemetry.Telemetry // nil if not configured
}

// memoryLimit is a soft limit in bytes above which garbage is collected sooner, so that a
// few long replies do not take twice their memory.
const memoryLimit = 1 << 30

// Main runs the command with the given arguments and streams, and returns its exit
// code.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	a := &app{args: slices.Clone(args), in: in, terminal: errw}
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if arg == "--help-all" {
			a.args[i], a.helpAll = "--help", true
			break
		}
	}
	a.out = &screen{w: out, harmless: isTerminal(out), json: &a.json}
	errs := &screen{w: errw, harmless: true, json: &a.json}
	a.err = errs
	root := a.root()
	root.SetArgs(joinFields(a.args))
	root.SetIn(in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.Execute()
	if err == nil {
		err = a.out.err
	}
	if bug, ok := errors.AsType[*run.PanicError](err); ok {
		_, _ = a.err.Write(bug.Stack) // for the bug report
	}
	var problems []deem.Problem
	if ps, ok := errors.AsType[*deem.Problems](err); ok {
		problems = ps.List
	}
	switch {
	case err == nil:
	case a.stream:
		a.emit(event{Event: "error", Error: err.Error(), Hint: deem.HintOf(err), Exit: exitCode(err), Problem: problems})
	case a.json:
		_ = writeJSON(errs, struct {
			Error    string         `json:"error"`
			Hint     string         `json:"hint,omitempty"`
			Problems []deem.Problem `json:"problems,omitempty"`
			Exit     int            `json:"exit"`
		}{err.Error(), deem.HintOf(err), problems, exitCode(err)})
	default:
		a.quiet = false
		for line := range strings.Lines(err.Error()) {
			a.say("error: %s", strings.TrimSuffix(line, "\n"))
		}
		if hint := deem.HintOf(err); hint != "" {
			a.say("hint: %s", hint)
		}
	}
	return exitCode(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "deem",
		Short:         "LLM-as-judge evaluation",
		Long:          rootHelp,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			a.json = a.json || a.out.query != nil
			if err := a.prepare(cmd); err != nil {
				return err
			}
			return checkOutputs(cmd.Flags(), args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	flags := root.PersistentFlags()
	a.jsonFlags(flags)
	flags.StringVar(&a.config, "config", "", "read settings from this `file` (default deem.yaml if there is one)")
	flags.StringVar(&a.db, "db", defaultDB, "keep runs in this `database`, a file or postgres://user@host/database; also DEEM_DB")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// Parsing stops at the first invalid flag, and --json may come after it.
		a.json = a.json || wantsJSON(a.args)
		return usage.Mark(flagError(cmd, err))
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { help(a.out, cmd, a.helpAll) })
	root.CompletionOptions = cobra.CompletionOptions{HiddenDefaultCmd: true, DisableNoDescFlag: true}
	add := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = title
		}
		root.AddCommand(commands...)
	}
	add("JUDGE", a.demoCommand(), a.observed(a.runCommand()), a.observed(a.answerCommand()), a.observed(a.floorCommand()), hiding(a.planCommand(), "queue", "record", "yes", "dry-run"),
		a.runsCommand(), a.reportCommand(), a.showCommand(), a.retrievalCommand(), a.cascadeCommand(), a.listCommand())
	add("COMPARE", a.compareCommand(), a.agreeCommand())
	add("CHECK OTHERS", a.observed(a.rejudgeCommand()), a.claimsCommand(), a.verifyCommand(), a.observed(a.probeCommand()))
	add("LABEL", a.labelCommand())
	add("SHARE", a.exportCommand(), a.serveCommand(), a.boardCommand())
	add("OPERATE", a.initCommand(), a.doctorCommand(), a.workerCommand(), a.queueCommand(), a.docsCommand(), a.explainCommand(), a.manCommand(), a.versionCommand())
	root.SetHelpCommandGroupID("OPERATE")
	root.SetCompletionCommandGroupID("OPERATE")
	worker, _, _ := root.Find([]string{"worker"})
	worker.Hidden = true // Help lists it under deem queue.
	rejectUnknownHelp(root)
	a.completeValues(root)
	return root
}

// hiding hides flags of "deem run" that have no effect on a command. The command accepts
// them so that users can change "run" to another word without removing flags.
func hiding(cmd *cobra.Command, flags ...string) *cobra.Command {
	for _, name := range flags {
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}

// rejectUnknownHelp makes "deem help" and "deem completion", which the library adds, reject unknown
// arguments.
func rejectUnknownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err == nil && len(rest) > 0 && of.HasSubCommands() {
					err = unknownCommand(of, rest[0])
				}
				return usage.Mark(err)
			}
		case "completion":
			var shells []string
			for _, sub := range cmd.Commands() {
				shells = append(shells, sub.Name())
			}
			cmd.Args = cobra.ArbitraryArgs
			cmd.RunE = func(_ *cobra.Command, args []string) error {
				if len(args) > 0 {
					return usage.Mark(usage.Unknown("shell", args[0], shells))
				}
				return usage.Mark(deem.WithHint(errors.New("deem completion: for which shell?"), "there are: %s", strings.Join(shells, ", ")))
			}
		}
	}
}

// defaultDB is the default database.
const defaultDB = ".deem/deem.db"

// prepare reads .env and the configuration before a command runs.
func (a *app) prepare(cmd *cobra.Command) error {
	var err error
	if a.env, err = vendors.ReadEnvironment(".env"); err != nil {
		return err
	}
	// The environment takes precedence over deem.yaml, and --db over both.
	db := a.env.Get(dbVariable)
	if flag := cmd.Flags().Lookup("db"); flag != nil && !flag.Changed && db != "" {
		if err := cmd.Flags().Set("db", db); err != nil {
			return err
		}
	}
	if cmd.Annotations[noConfig] != "" {
		return nil
	}
	return a.configure(cmd.Flags())
}

// noConfig marks commands that do not use deem.yaml.
const noConfig = "no-config"

func unknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if does, ok := otherNames[name]; ok && cmd.Parent() == nil {
		return usage.Mark(deem.WithHint(fmt.Errorf("no command %q", name), "deem %s does that", does))
	}
	return usage.Mark(usage.Unknown("command", name, names))
}

// otherNames maps commands of other programs to those of deem.
var otherNames = map[string]string{
	"eval": "run", "evaluate": "run", "judge": "run", "score": "run", "test": "run",
	"view": "serve", "ui": "serve", "web": "serve", "ls": "list", "results": "report", "summary": "report",
	"delete": "runs rm", "remove": "runs rm", "rm": "runs rm", "mv": "runs rename", "rename": "runs rename", "tag": "runs tag", "migrate-store": "runs copy", "lock": "plan lock", "bridge": "compare bridge",
	"budget": "queue settle", "keygen": "export keygen", "labels": "label list", "annotate": "label", "diff": "compare", "start": "demo", "setup": "init",
}

// say prints a message for the user. It prints nothing with --json: then standard error has
// only a JSON object if something failed.
func (a *app) say(format string, args ...any) {
	if a.json || a.stream || a.quiet {
		return
	}
	fmt.Fprintf(a.err, "deem: %s\n", fmt.Sprintf(format, args...))
}

// wantsJSON looks for --json among arguments that could not be parsed.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		value, ok := strings.CutPrefix(arg, "--json=")
		if on, err := strconv.ParseBool(value); arg == "--json" || ok && (err != nil || on) {
			return true
		}
		if arg == "--" {
			break
		}
	}
	return false
}

// writeJSONList writes values as a JSON list, one per line. It writes them as they are
// produced, because there may be many.
func writeJSONList[T any](w *screen, values iter.Seq2[T, error]) error {
	if !w.whole() {
		list := []T{}
		for v, err := range values {
			if err != nil {
				return err
			}
			list = append(list, v)
		}
		return writeJSON(w, list)
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	between := "["
	for v, err := range values {
		if err != nil {
			return err
		}
		line.Reset()
		if err := enc.Encode(v); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n%s", between, bytes.TrimSuffix(line.Bytes(), []byte("\n"))); err != nil {
			return err
		}
		between = ","
	}
	end := "\n]\n"
	if between == "[" {
		end = "[]\n"
	}
	_, err := io.WriteString(w, end)
	return err
}

// writeJSON writes v as indented JSON, or what --json and --jq take from it. A caller may
// ignore the error, because a screen keeps it.
func writeJSON(w *screen, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return w.keep(err)
	}
	if !w.whole() {
		return w.keep(w.shape.write(w, b.Bytes()))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// flagGroups are the flags that help shows first for a command with many flags.
var flagGroups = []struct {
	title string
	flags []string
}{
	{"DATA", []string{"data", "responses", "contexts", "arm", "reader", "reader-model", "context-tokens", "map", "limit", "sample", "system"}},
	{"JUDGE", []string{"judge", "reading", "trials"}},
	{"MODEL", []string{"model", "thinking", "max-tokens", "base-url"}},
	{"LIMITS", []string{"concurrency", "rpm", "max-cost", "max-unjudged", "until"}},
	{"OUTPUT", []string{"gate", "dry-run", "fresh", "retry-unjudged", "verbose", "quiet"}},
}

// manyFlags is the number of flags from which help groups them and shows only the most used
// ones.
const manyFlags = 32

// help prints the help of a command: its purpose, flags, an example and exit codes.
func help(w io.Writer, cmd *cobra.Command, all bool) {
	text := strings.TrimSpace(cmd.Long)
	if text == "" {
		text = cmd.Short
	}
	text, exits, _ := strings.Cut(text, "\nEXIT STATUS\n")
	fmt.Fprintf(w, "%s\n\n%s\n", cmd.UseLine(), strings.TrimSpace(text))
	for _, g := range cmd.Groups() {
		section(w, g.Title, commandsOf(cmd, g.ID))
	}
	section(w, "SUBCOMMANDS", commandsOf(cmd, ""))
	section(w, "EXIT STATUS", exits)
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	count := 0
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			rest.AddFlag(f)
			count++
		}
	})
	if count < manyFlags {
		section(w, "FLAGS", flagUsages(rest, flagWidth))
	} else {
		groupedFlags(w, cmd, rest, all)
	}
	width := flagWidth
	if !cmd.HasParent() {
		width = doc.DefaultWidth
	}
	section(w, "COMMON FLAGS", flagUsages(cmd.Root().PersistentFlags(), width))
	section(w, "EXAMPLE", cmd.Example)
}

// commandsOf lists the commands of a group, or those in no group, in alphabetical order.
func commandsOf(root *cobra.Command, group string) string {
	var b strings.Builder
	for _, cmd := range root.Commands() {
		if cmd.GroupID == group && cmd.IsAvailableCommand() {
			fmt.Fprintf(&b, "  %-*s  %s\n", cmd.NamePadding(), cmd.Name(), cmd.Short)
		}
	}
	return b.String()
}

// groupedFlags prints the flags that only this command has, then those of "deem run" in
// groups, and the other flags of "deem run" if all is set.
func groupedFlags(w io.Writer, cmd *cobra.Command, flags *pflag.FlagSet, all bool) {
	grouped := map[string]bool{}
	flags.SortFlags = false
	run, _, err := cmd.Root().Find([]string{"run"})
	if err == nil && run != cmd {
		own := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.VisitAll(func(f *pflag.Flag) {
			if run.Flags().Lookup(f.Name) == nil {
				own.AddFlag(f)
				grouped[f.Name] = true
			}
		})
		section(w, "FLAGS", flagUsages(own, flagWidth))
	}
	for _, g := range flagGroups {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		for _, name := range g.flags {
			if f := flags.Lookup(name); f != nil {
				set.AddFlag(f)
				grouped[name] = true
			}
		}
		section(w, g.title, flagUsages(set, flagWidth))
	}
	more := pflag.NewFlagSet("", pflag.ContinueOnError)
	count := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if !grouped[f.Name] {
			more.AddFlag(f)
			count++
		}
	})
	if all {
		section(w, "MORE FLAGS", flagUsages(more, flagWidth))
	} else {
		fmt.Fprintf(w, "\n%d more flags: %s --help-all\n", count, cmd.CommandPath())
	}
}

// flagWidth is the width of the flags of a command, so that those of "deem run" take two
// screens.
const flagWidth = 100

// flagUsages lists flags in the order of their declaration: the most important come first.
func flagUsages(fs *pflag.FlagSet, width int) string {
	fs.SortFlags = false
	fs.VisitAll(func(f *pflag.Flag) {
		if f.DefValue == "[]" && f.Value.Type() == "stringToString" {
			f.DefValue = "" // pflag would print it
		}
	})
	return fs.FlagUsagesWrapped(width)
}

func section(w io.Writer, title, text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		fmt.Fprintf(w, "\n%s\n%s\n", title, text)
	}
}

const rootHelp = `deem is an LLM-as-judge evaluation tool. Give it your system's answers; it
grades each one, and reports the score with its confidence interval and the
number of items that could not be judged.

Start with "deem demo", then "deem run --data answers.jsonl". Every command has
--help, and those with many flags --help-all.

EXIT STATUS
  0 done   1 error   2 wrong usage or input
  3 done, but too many items unjudged   4 a gate failed
  130 interrupted: finished items are saved; the same command resumes`
