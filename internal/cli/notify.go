package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"deem"
	"deem/internal/catalog"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/model/command"
	"deem/stat"
)

// notifyTime is the timeout of the command of --notify. A run must not hang on it.
const notifyTime = 30 * time.Second

const notifyUsage = "run this program when the run ends for any reason, for example `command:./tell.sh`; it reads a JSON document on standard input (docs/cli.md)"

// A notice is the document that the program of --notify reads: how the command ended, and
// its results so far.
type notice struct {
	Version string       `json:"version"` // deem.notify/1
	Exit    int          `json:"exit"`
	Error   string       `json:"error,omitempty"`
	Hint    string       `json:"hint,omitempty"`
	Runs    []noticedRun `json:"runs"` // one for each judge that began
}

type noticedRun struct {
	Run      string         `json:"run"`
	Judge    string         `json:"judge"`
	Model    string         `json:"model,omitempty"`
	Dataset  []string       `json:"dataset"`
	System   string         `json:"system,omitempty"`
	Items    int            `json:"items"`
	Judged   int            `json:"judged"`
	Unjudged int            `json:"unjudged"`
	Missing  int            `json:"missing"` // not judged yet
	Metric   string         `json:"metric"`
	Score    *stat.Estimate `json:"score"` // null if it is withheld or nothing was judged
	Strict   *stat.Estimate `json:"strict"`
}

// notifier returns the program and the arguments of --notify, or nil if it is not set.
func notifier(flag string) ([]string, error) {
	if flag == "" {
		return nil, nil
	}
	text, ok := strings.CutPrefix(flag, "command:")
	args, err := catalog.SplitCommand(text)
	if err == nil && (!ok || len(args) == 0) {
		err = errors.New("it names no program")
	}
	if err != nil {
		return nil, usage.Mark(deem.WithHint(errors.Join(errors.New("--notify "+flag), err), `name a program, as --notify command:./tell.sh or --notify "command:curl -sS --json @- https://example.com/hook"`))
	}
	return args, nil
}

// noticed returns the results of a run, whether it is done or not.
func (want showing) noticed(ctx context.Context, st store.Store, id string) (noticedRun, error) {
	run, err := st.Run(ctx, id)
	if err != nil {
		return noticedRun{}, err
	}
	f, err := want.findings(ctx, st, run)
	if err != nil {
		return noticedRun{}, err
	}
	n := noticedRun{
		Run: run.ID, Judge: run.Judge.Name, Model: run.Model, Dataset: run.Dataset.Names, System: f.Report.Head.System,
		Items: run.Dataset.Items, Missing: run.Dataset.Items - f.Report.Items,
	}
	if len(f.Report.Metrics) > 0 {
		m := f.Report.Metrics[0]
		n.Metric, n.Score, n.Unjudged, n.Judged = m.Metric, m.Judged, m.Unjudged, m.Items-m.Unjudged
		if m.Items > 0 {
			n.Strict = &m.Strict
		}
	}
	return n, nil
}

// notify passes a notice to the program. A failure is only a warning: it does not change
// the result of the run.
func (a *app) notify(ctx context.Context, program []string, runs []noticedRun, ended error) {
	n := notice{Version: "deem.notify/1", Exit: exitCode(ended), Hint: deem.HintOf(ended), Runs: runs}
	if ended != nil {
		n.Error = ended.Error()
	}
	text, err := json.Marshal(n)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTime)
		defer cancel()
		err = command.Tell(ctx, program, append(text, '\n'))
	}
	if err != nil {
		a.say("warning: --notify: %v", err)
	}
}
