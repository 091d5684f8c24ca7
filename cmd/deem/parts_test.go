package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deem/internal/store"
)

// The content types of bodies.
const (
	lines = "application/x-ndjson"
	asOne = "application/json"
)

func makeFolder(dir string) error   { return os.MkdirAll(dir, 0o700) }
func removeFolder(dir string) error { return os.RemoveAll(dir) }

// submit begins a run over HTTP and returns its id.
func (r *round) submit(ctx context.Context, l *lane, judge string) (string, error) {
	body, err := l.lines()
	if err != nil {
		return "", err
	}
	run, err := r.page.tell(ctx, http.StatusAccepted, http.MethodPost, "/api/v1/runs?judge="+judge+"&dataset="+l.name, body, "Content-Type", lines)
	return run.ID, err
}

// overHTTP judges a run with one call per item, watches it to its end, sends the same
// again, which must cost nothing, and downloads it as a run file.
func (r *round) overHTTP(l *lane) func(context.Context) error {
	return func(ctx context.Context) error {
		id, err := r.submit(ctx, l, "universal")
		if err != nil {
			return err
		}
		if err := together(func() error { return r.watchAll(ctx, r.page, id, 0) }, func() error { return r.page.done(ctx, id) }); err != nil {
			return err
		}
		asked := l.asked()
		again, err := r.submit(ctx, l, "universal")
		if err != nil {
			return err
		}
		if err := r.page.done(ctx, id); err != nil {
			return err
		}
		if again != id || l.asked() != asked {
			return fmt.Errorf("the same items again are run %s with %d requests, want %s with none", again, l.asked()-asked, id)
		}
		return errors.Join(r.checkFile(ctx, r.file(), id, l), r.takeAway(ctx, r.page, id, l))
	}
}

// watchAll reads the events of a run and counts them.
func (r *round) watchAll(ctx context.Context, w *web, id string, most int) error {
	n, err := w.watch(ctx, id, most)
	r.add(tally{Events: n})
	return err
}

// takeAway downloads a run as a run file, which must verify, and as a table.
func (r *round) takeAway(ctx context.Context, w *web, id string, l *lane) error {
	file, err := w.get(ctx, "/api/v1/runs/"+id+"/export?format=deem")
	if err != nil {
		return err
	}
	name := filepath.Join(r.dir, l.name+".deem")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		return err
	}
	if _, err := run(ctx, r.dir, nil, "verify", name); err != nil {
		return err
	}
	r.add(tally{Bundles: 1})
	table, err := w.get(ctx, "/api/v1/runs/"+id+"/export?format=jsonl")
	if n := bytes.Count(table, []byte("\n")); err == nil && n != l.n {
		err = fmt.Errorf("the table of run %s has %d lines, want %d", id, n, l.n)
	}
	return err
}

// declaredOverHTTP judges a run with a judge that is sent in the request.
func (r *round) declaredOverHTTP(l *lane) func(context.Context) error {
	return func(ctx context.Context) error {
		body, err := json.Marshal(map[string]any{"declaration": declared, "dataset": l.name, "items": l.items()})
		if err != nil {
			return err
		}
		run, err := r.page.tell(ctx, http.StatusAccepted, http.MethodPost, "/api/v1/runs", body, "Content-Type", asOne)
		if err != nil {
			return err
		}
		if err := r.page.done(ctx, run.ID); err != nil {
			return err
		}
		return r.checkFile(ctx, r.file(), run.ID, l)
	}
}

// ruleOverHTTP judges a run with rules; two people label it.
func (r *round) ruleOverHTTP(l *lane) func(context.Context) error {
	return func(ctx context.Context) error {
		id, err := r.submit(ctx, l, "f1%2BrougeL")
		if err != nil {
			return err
		}
		if err := r.page.done(ctx, id); err != nil {
			return err
		}
		return errors.Join(
			r.checkFile(ctx, r.file(), id, l),
			together(func() error { return r.label(ctx, id, "ada") }, func() error { return r.label(ctx, id, "bea") }),
		)
	}
}

// label labels a few items in the page, as a person who undoes every third label.
func (r *round) label(ctx context.Context, id, who string) error {
	page := "/runs/" + id + "/label"
	kept := 0
	for i := range 6 {
		text, err := r.page.shown(ctx, page+"?who="+who)
		if err != nil {
			return err
		}
		item := between(string(text), `name="item" value="`, `"`)
		if item == "" {
			return fmt.Errorf("%s shows %s no item to label", page, who)
		}
		say := []string{"yes", "no"}[i%2]
		if err := r.page.form(ctx, page, page, url.Values{"annotator": {who}, "item": {item}, "batch": {"1"}, "say": {say}}); err != nil {
			return err
		}
		kept++
		if i%3 == 2 {
			if err := r.page.form(ctx, page, page, url.Values{"annotator": {who}, "batch": {"1"}, "say": {"undo"}}); err != nil {
				return err
			}
			kept--
			r.add(tally{Undone: 1})
		}
		r.add(tally{Labels: 1})
	}
	return r.checkLabels(ctx, id, who, kept)
}

// checkLabels checks that want labels of a person are stored.
func (r *round) checkLabels(ctx context.Context, id, who string, want int) error {
	text, err := r.page.get(ctx, "/api/v1/runs/"+id+"/labels")
	if err != nil {
		return err
	}
	var kept struct {
		Labels []store.Label `json:"labels"`
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		return err
	}
	n := 0
	for _, l := range kept.Labels {
		if l.Annotator == who {
			n++
		}
	}
	if n != want {
		return fmt.Errorf("%d labels of %s are kept, want %d", n, who, want)
	}
	return nil
}

// waitedFor requests the verdicts of a few items and reads them as they come.
func (r *round) waitedFor(l *lane) func(context.Context) error {
	return func(ctx context.Context) error {
		body, err := json.Marshal(map[string]any{"judge": "universal", "dataset": l.name, "items": l.items()})
		if err != nil {
			return err
		}
		text, err := r.page.ask(ctx, http.StatusOK, http.MethodPost, "/api/v1/verdicts", body,
			"Content-Type", asOne, "Accept", lines, "Prefer", "wait=300")
		if err != nil {
			return err
		}
		var id string
		seen := map[string]int{}
		for sc := bufio.NewScanner(bytes.NewReader(text)); sc.Scan(); {
			var line struct {
				Record  *struct{ ID string } `json:"record"`
				Run     *runInfo             `json:"run"`
				Problem json.RawMessage      `json:"problem"`
			}
			if err := json.Unmarshal(sc.Bytes(), &line); err != nil || line.Problem != nil {
				return fmt.Errorf("a line of verdicts: %w: %s", err, sc.Bytes())
			}
			switch {
			case line.Record != nil:
				seen[line.Record.ID]++
			case line.Run != nil:
				id = line.Run.ID
			}
		}
		for i := range l.n {
			if seen[itemID(i)] != 1 {
				return fmt.Errorf("the stream has %d records of item %s, want 1", seen[itemID(i)], itemID(i))
			}
		}
		return r.checkFile(ctx, r.file(), id, l)
	}
}

// requests waits until the vendor of a lane has had n requests, or until or returns true.
func requests(ctx context.Context, l *lane, n int, or func() (bool, error)) error {
	return until(ctx, fmt.Sprintf("%d requests of %s", n, l.name), func() (bool, error) {
		if l.asked() >= n {
			return true, nil
		}
		return or()
	})
}

// cancelled cancels a run in the middle, checks that everything paid for is stored, and
// resumes it.
func (r *round) cancelled(l *lane, after int) func(context.Context) error {
	return func(ctx context.Context) error {
		id, err := r.submit(ctx, l, "universal")
		if err != nil {
			return err
		}
		w := r.page
		done := func() (bool, error) {
			run, err := w.look(ctx, id)
			return run.State == "done", err
		}
		if err := requests(ctx, l, after, done); err != nil {
			return err
		}
		if err := r.watchAll(ctx, w, id, 1); err != nil {
			return err
		}
		if over, err := done(); err != nil || over {
			return errors.Join(err, r.checkFile(ctx, r.file(), id, l))
		}
		_, err = w.tell(ctx, http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+id+"/cancel", nil)
		if err != nil {
			if over, _ := done(); over { // It was faster.
				return r.checkFile(ctx, r.file(), id, l)
			}
			return err
		}
		r.add(tally{Cancels: 1})
		if err := r.paidIsKept(ctx, id, l); err != nil {
			return err
		}
		if _, err := w.tell(ctx, http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+id+"/resume", nil); err != nil {
			return err
		}
		if err := w.done(ctx, id); err != nil {
			return err
		}
		return r.checkFile(ctx, r.file(), id, l)
	}
}

// paidIsKept waits until the run is no longer judged, and checks that every answer that its
// vendor charges for is in the store.
func (r *round) paidIsKept(ctx context.Context, id string, l *lane) error {
	var run runInfo
	err := until(ctx, "run "+id+" to stop", func() (bool, error) {
		var err error
		run, err = r.page.look(ctx, id)
		return (run.State == "open" || run.State == "done") && l.srv.Stats().InFlight == 0, err
	})
	if err != nil {
		return err
	}
	if charged := int64(l.srv.Stats().Answered) * perCall; run.Cost != charged {
		return fmt.Errorf("run %s is cancelled and cost %d micros, and its vendor charges %d", id, run.Cost, charged)
	}
	return nil
}

// The maximum cost of a kill: the calls in flight, and two commits, one being collected and
// one in progress.
const (
	inFlight     = 16
	commandSlack = inFlight + 2*128
	workerSlack  = slots + 2*250
)

// killed judges a run with a command that is killed after a number of requests each time,
// and resumed.
func (r *round) killed(l *lane, db, judge string, moments []int) func(context.Context) error {
	l.slack = commandSlack
	return func(ctx context.Context) error {
		args, err := r.command(l, db, judge)
		if err != nil {
			return err
		}
		for _, after := range moments {
			p, err := start(ctx, r.dir, nil, args...)
			if err != nil {
				return err
			}
			err = requests(ctx, l, after, func() (bool, error) { return p.gone(), nil })
			p.kill()
			if err != nil {
				return p.trouble(err)
			}
			l.kills++
			r.add(tally{Kills: 1})
		}
		out, err := run(ctx, r.dir, nil, append(args, "--json")...)
		if err != nil {
			return err
		}
		return r.reported(ctx, l, db, out)
	}
}

// command writes the items of a lane to a file and returns the arguments that judge them.
func (r *round) command(l *lane, db, judge string) ([]string, error) {
	text, err := l.lines()
	if err != nil {
		return nil, err
	}
	name := l.name + ".jsonl"
	args := []string{
		"run", "--data", name, "--judge", judge, "--model", "openai:soak", "--base-url", r.vendor.url,
		"--prices", "../prices.json", "--max-unjudged", "100%", "-j", fmt.Sprint(inFlight),
	}
	if db != "" {
		args = append(args, "--db", db)
	}
	return args, os.WriteFile(filepath.Join(r.dir, name), text, 0o600)
}

// reported checks a run that a command has finished, writes it to a run file and verifies
// that.
func (r *round) reported(ctx context.Context, l *lane, db, out string) error {
	var rep struct {
		Head  struct{ Run string } `json:"head"`
		Items int                  `json:"items"`
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		return fmt.Errorf("the report of %s: %w: %s", l.name, err, out)
	}
	if rep.Items != l.n {
		return fmt.Errorf("the report of %s has %d items, want %d", l.name, rep.Items, l.n)
	}
	if !filepath.IsAbs(db) {
		db = filepath.Join(r.dir, db)
	}
	if err := r.checkFile(ctx, db, rep.Head.Run, l); err != nil {
		return err
	}
	file := l.name + ".deem"
	if _, err := run(ctx, r.dir, nil, "export", rep.Head.Run, "--db", db, "-o", file); err != nil {
		return err
	}
	if _, err := run(ctx, r.dir, nil, "verify", file); err != nil {
		return err
	}
	r.add(tally{Bundles: 1})
	return nil
}

// detach hands a run over to workers and returns its id.
func (r *round) detach(ctx context.Context, l *lane, judge string) (string, error) {
	args, err := r.command(l, "", judge)
	if err != nil {
		return "", err
	}
	out, err := run(ctx, r.dir, []string{"DEEM_DB=" + r.url}, append(args, "--detach")...)
	return strings.TrimSpace(out), err
}

// detached judges a run with workers.
func (r *round) detached(l *lane, judge string) func(context.Context) error {
	return func(ctx context.Context) error {
		id, err := r.detach(ctx, l, judge)
		if err != nil {
			return err
		}
		if err := together(func() error { return r.watchAll(ctx, r.shared, id, 0) }, func() error { return r.shared.done(ctx, id) }); err != nil {
			return err
		}
		return r.check(ctx, r.kept, id, l)
	}
}

// killWorker kills a worker after a number of requests of a lane and starts another one.
func (r *round) killWorker(l *lane, after int) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := requests(ctx, l, after, func() (bool, error) { return false, nil }); err != nil {
			return err
		}
		r.third.kill()
		r.add(tally{Kills: 1})
		p, err := r.worker(ctx)
		if err == nil {
			r.third = p
		}
		return err
	}
}

// steered pauses a run of workers, and cancels it, each time in the page, and resumes it.
func (r *round) steered(l *lane, moments []int) func(context.Context) error {
	return func(ctx context.Context) error {
		id, err := r.detach(ctx, l, "universal")
		if err != nil {
			return err
		}
		for i, verb := range []string{"pause", "cancel"} {
			over, err := r.steer(ctx, id, l, verb, moments[i])
			if err != nil {
				return err
			}
			if over {
				break
			}
		}
		if err := r.shared.done(ctx, id); err != nil {
			return err
		}
		return r.check(ctx, r.kept, id, l)
	}
}

// steer stops a run after a number of requests and resumes it, and reports whether the run
// was done before.
func (r *round) steer(ctx context.Context, id string, l *lane, verb string, after int) (over bool, err error) {
	w := r.shared
	done := func() (bool, error) {
		run, err := w.look(ctx, id)
		over = run.State == "done"
		return over, err
	}
	if err := requests(ctx, l, after, done); err != nil || over {
		return over, err
	}
	page := "/runs/" + id
	if err := w.form(ctx, page, page+"/queue", url.Values{"verb": {verb}}); err != nil {
		if is, _ := done(); is { // It was faster.
			return true, nil
		}
		return false, err
	}
	r.add(tally{Cancels: 1})
	if err := r.quiet(ctx, l); err != nil {
		return false, err
	}
	if is, err := done(); err != nil || is {
		return is, err
	}
	return false, w.form(ctx, page, page+"/queue", url.Values{"verb": {"resume"}})
}

// quiet waits until a vendor has had no request for a second.
func (r *round) quiet(ctx context.Context, l *lane) error {
	asked, since := l.asked(), time.Now()
	return until(ctx, l.name+" to be quiet", func() (bool, error) {
		if n := l.asked(); n != asked || l.srv.Stats().InFlight > 0 {
			asked, since = n, time.Now()
		}
		return time.Since(since) > time.Second, nil
	})
}
