package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"deem"
	"deem/internal/catalog"
	"deem/internal/model"
	"deem/internal/money"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/telemetry"
	"deem/internal/words"
	"deem/report"
)

// plainEvery is the interval of progress lines without a terminal.
const plainEvery = 10 * time.Second

// A progress shows the progress of a run: a bar on a terminal, or a line at intervals.
type progress struct {
	app     *app
	total   int
	model   deem.Model      // nil if the judge is a rule
	limit   telemetry.Limit // of the model; may be nil
	budget  *money.Budget   // nil without one
	batches *run.BatchModel // nil without batches

	mu       sync.Mutex
	started  time.Time
	before   int // records of earlier starts
	done     int // records of this start
	unjudged map[deem.Kind]int

	undecided int // records with a probability in place of a verdict

	bars *mpb.Progress
	bar  *mpb.Bar
	over chan struct{}
	wg   sync.WaitGroup
}

// startProgress starts showing the progress of a run. It has a goroutine until stop.
func (a *app) startProgress(r *run.Run, o runOptions) *progress {
	p := &progress{
		app: a, total: r.Dataset.Items * o.Trials, before: r.Records - len(r.Unfinished), started: clock(),
		unjudged: map[deem.Kind]int{}, over: make(chan struct{}), budget: o.Budget,
	}
	if o.RetryUnjudged {
		p.before -= r.Unjudged - len(r.Unfinished)
	}
	m := r.Model
	if m == nil {
		m = embeddingModel(o)
	}
	if m != nil {
		p.model = m
		p.limit, _ = model.As[telemetry.Limit](m)
		p.batches, _ = model.As[*run.BatchModel](m)
	}
	switch {
	case a.json, a.quiet:
	case isTerminal(a.terminal):
		p.bars = mpb.New(mpb.WithOutput(a.terminal), mpb.WithWidth(24), mpb.WithRefreshRate(200*time.Millisecond))
		p.bar = p.bars.New(int64(p.total), mpb.BarStyle(), mpb.BarRemoveOnComplete(),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return words.Printable(p.line()) })))
		p.bar.SetCurrent(int64(p.before))
	default:
		p.wg.Go(func() {
			tick := time.NewTicker(plainEvery)
			defer tick.Stop()
			for {
				select {
				case <-p.over:
					return
				case <-tick.C:
					a.say("%s", p.line())
				}
			}
		})
	}
	return p
}

// embeddingModel returns the model that a rule uses for embeddings, or nil.
func embeddingModel(o runOptions) deem.Model {
	if e, ok := o.judge.Embedder.(*catalog.Embedding); ok {
		return e.Model()
	}
	return nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (p *progress) add(rec deem.Record) {
	p.mu.Lock()
	p.done++
	switch f := rec.Failure; {
	case f != nil && f.Probability != nil:
		p.undecided++
	case f != nil:
		p.unjudged[f.Kind]++
	}
	done := p.before + p.done
	p.mu.Unlock()
	if p.bar != nil {
		p.bar.SetCurrent(int64(done))
	}
}

// stop ends the progress display.
func (p *progress) stop() {
	close(p.over)
	p.wg.Wait()
	if p.bar != nil {
		p.bar.Abort(true)
		p.bars.Wait()
	}
	if p.done > 0 {
		p.app.say("%s", p.line())
	}
}

// line returns the progress as text: done, rate, remaining time, cost, concurrent calls,
// and failures.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []string{fmt.Sprintf("%s of %s", words.Comma(p.before+p.done), words.Comma(p.total))}
	elapsed := clock().Sub(p.started).Seconds()
	if rate := float64(p.done) / elapsed; p.done > 0 && elapsed > 0 {
		list = append(list, perSecond(rate))
		if left := p.total - p.before - p.done; left > 0 {
			list = append(list, "about "+roughly(time.Duration(float64(left)/rate*float64(time.Second)))+" left")
		}
	}
	if cost := p.cost(); cost != "" {
		list = append(list, cost)
	}
	if p.limit != nil {
		list = append(list, fmt.Sprintf("%d at once", p.limit.Current()))
	}
	if p.undecided > 0 {
		list = append(list, words.Comma(p.undecided)+" undecided")
	}
	var kinds []string
	unjudged := 0
	for _, k := range deem.Kinds() {
		if n := p.unjudged[k]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%s %d", k, n))
			unjudged += n
		}
	}
	if unjudged > 0 {
		list = append(list, fmt.Sprintf("%d unjudged (%s)", unjudged, strings.Join(kinds, ", ")))
	}
	return strings.Join(list, ", ")
}

// cost returns the money spent: of the budget if there is one, including earlier parts of
// the run, or else by this start.
func (p *progress) cost() string {
	switch {
	case p.budget != nil:
		return words.ExactDollars(p.budget.Spent()) + " of " + words.ExactDollars(p.budget.Sum())
	case p.model == nil:
		return ""
	}
	t := model.TotalsOf(p.model)
	if p.batches != nil {
		t.CostMicros += p.batches.CostMicros()
	}
	if t.Unpriced > 0 {
		return words.ExactDollars(t.CostMicros) + " and more (no price known)"
	}
	return words.ExactDollars(t.CostMicros)
}

// perSecond formats a rate with a suitable number of digits.
func perSecond(rate float64) string {
	if rate >= 100 {
		return words.Comma(int(rate)) + "/s"
	}
	return fmt.Sprintf("%.3g/s", rate)
}

// roughly formats a duration, for example 40s, 3m20s, 2h5m.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds())+1)
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// clock returns the time for progress only; it is never stored.
func clock() time.Time { return time.Now() }

// An event is a line that a command with --stream writes to standard output. Exactly one of
// its parts is set. docs/cli.md documents them.
type event struct {
	Event   string         `json:"event"` // run, record, report or error
	Run     *runEvent      `json:"run,omitempty"`
	Record  *deem.Record   `json:"record,omitempty"`
	Report  *report.Report `json:"report,omitempty"`
	Error   string         `json:"error,omitempty"`
	Hint    string         `json:"hint,omitempty"`
	Exit    int            `json:"exit,omitempty"`
	Problem []deem.Problem `json:"problems,omitempty"`
}

// A runEvent describes the run that begins or resumes.
type runEvent struct {
	ID    string `json:"id"`
	Judge string `json:"judge"`
	Model string `json:"model,omitempty"`
	Items int    `json:"items"`
	Done  int    `json:"done"` // records of earlier commands
}

func (a *app) streamFlag(f *pflag.FlagSet) {
	f.BoolVar(&a.stream, "stream", false, "write JSON lines to standard output: each record when it is done, then the report (docs/cli.md)")
}

// emit writes an event as one line.
func (a *app) emit(e event) {
	line, err := json.Marshal(e)
	if err != nil {
		line, _ = json.Marshal(event{Event: "error", Error: err.Error(), Exit: 1}) // can always be encoded
	}
	_, _ = a.out.Write(append(line, '\n')) // The screen keeps the error.
}

// emitKept writes the stored data of a run.
func (a *app) emitKept(ctx context.Context, st store.Store, run store.Run) error {
	a.emit(event{Event: "run", Run: &runEvent{ID: run.ID, Judge: run.Judge.Name, Model: run.Model, Items: run.Dataset.Items, Done: run.Records}})
	for rec, err := range st.Records(ctx, run.ID, store.Query{WithCalls: true}) {
		if err != nil {
			return err
		}
		a.emit(event{Event: "record", Record: &rec})
	}
	return nil
}
