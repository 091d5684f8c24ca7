package main_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"deem/internal/test/faultserver"
)

// A scale says how much a round does.
type scale struct {
	share float64 // of the items of a round in the hour test
}

// items returns about n items.
func (sc scale) items(n int) int { return max(10, int(float64(n)*sc.share)) }

// A round is several concurrent runs, and the events meanwhile.
type round struct {
	*site
	scale
	n    int
	seed uint64
	dir  string // the round's own folder
	rng  *rand.Rand
}

// lane opens the vendor of a run with about n items, with asks calls for each.
func (r *round) lane(name string, n, asks int) *lane {
	l := &lane{name: fmt.Sprintf("r%d-%s", r.n, name), n: r.items(n), asks: asks}
	return r.vendor.open(l, badly(r.rng))
}

// A part of a round has a name for diagnosis.
type part struct {
	name string
	do   func(ctx context.Context) error
}

// parts are the concurrent parts of a round. All random draws are made here, in a fixed
// order, so that the seed determines them.
func (r *round) parts() []part {
	list := []part{
		{"single call over HTTP", r.overHTTP(r.lane("universal", 400, 1))},
		{"JSON judge over HTTP", r.declaredOverHTTP(r.jsonLane("json", 200))},
		{"rule over HTTP", r.ruleOverHTTP(r.lane("rule", 600, 0))},
		{"verdicts waited for", r.waitedFor(r.lane("waited", 40, 1))},
		{"cancelled and resumed over HTTP", r.cancelled(r.lane("cancelled", 300, 1), r.moments(1, 150)[0])},
		{"command killed", r.killed(r.lane("killed", 700, 1), r.file(), "universal", r.moments(1+r.rng.IntN(2), 500))},
		{"panel killed", r.killed(r.lane("panel", 120, 2), "panel.db", "../three.yaml", r.moments(1, 150))},
	}
	if r.url == "" {
		return list
	}
	return append(list, r.workerParts()...)
}

// workerParts are the parts that use Postgres. Every other time a worker that shares every
// run is killed.
func (r *round) workerParts() []part {
	long, panel := r.lane("workers", 900, 1), r.calmLane("workers-panel", 100, 2)
	inJSON, steered := r.jsonLane("workers-json", 100), r.calmLane("steered", 300, 1)
	list := []part{
		{"left to workers", r.detached(long, "universal")},
		{"panel left to workers", r.detached(panel, "../three.yaml")},
		{"JSON judge left to workers", r.detached(inJSON, "../json.yaml")},
		{"steered in the page", r.steered(steered, r.moments(2, 200))},
	}
	after := r.moments(1, 600)[0]
	if r.seed%2 == 0 {
		return list
	}
	for _, l := range []*lane{long, panel, inJSON, steered} {
		l.kills, l.slack = 1, workerSlack
	}
	return append(list, part{"worker killed", r.killWorker(long, after)})
}

// calmLane opens a vendor that never refuses calls for their number, whatever else it does.
// All callers of a model slow down if one of them is refused, and a round in which all
// vendors did that in turn would take minutes.
func (r *round) calmLane(name string, n, asks int) *lane {
	l := &lane{name: fmt.Sprintf("r%d-%s", r.n, name), n: r.items(n), asks: asks}
	return r.vendor.open(l, calm(badly(r.rng)))
}

// jsonLane opens a calm vendor that answers in JSON.
func (r *round) jsonLane(name string, n int) *lane {
	l := &lane{name: fmt.Sprintf("r%d-%s", r.n, name), n: r.items(n), asks: 1}
	o := calm(badly(r.rng))
	// The quotes are escaped for the JSON string that they end up in.
	o.Labels = []string{`{\"label\": \"SAME\", \"why\": \"by lot\"}`, `{\"label\": \"DIFFERENT\"}`}
	return r.vendor.open(l, o)
}

// moments draws after how many requests something happens, in order.
func (r *round) moments(k, below int) []int {
	list := make([]int, k)
	for i := range list {
		list[i] = 1 + r.rng.IntN(r.items(below))
	}
	slices.Sort(list)
	return list
}

// round runs one round and checks the results.
func (s *site) round(ctx context.Context, sc scale, n int, seed uint64) error {
	r := &round{site: s, scale: sc, n: n, seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), dir: filepath.Join(s.dir, fmt.Sprintf("round-%d", n))}
	if err := makeFolder(r.dir); err != nil {
		return err
	}
	began := time.Now()
	within, giveUp := context.WithCancel(ctx)
	defer giveUp()
	s.vendor.begin(giveUp) // A round with a stray request does not end by itself.
	around, leave := context.WithCancel(within)
	var readers sync.WaitGroup
	var reading error
	list := r.parts()
	readers.Go(func() { reading = r.readAll(around) })
	var do []func() error
	for _, p := range list {
		do = append(do, func() error {
			err := p.do(within)
			s.note("round %d: %s took %v: %v", n, p.name, time.Since(began).Round(time.Millisecond), err)
			if err != nil {
				err = fmt.Errorf("%s: %w", p.name, err)
			}
			return err
		})
	}
	err := together(do...)
	leave()
	readers.Wait()
	err = errors.Join(err, reading, r.account(), s.idle(ctx), s.healthy())
	s.t.Logf("round %d, SOAKSEED=%d: %v", n, seed, time.Since(began).Round(time.Millisecond))
	return err
}

// note prints details for diagnosis.
func (s *site) note(format string, args ...any) {
	if os.Getenv("SOAKNOTES") != "" {
		s.t.Logf(format, args...)
	}
}

// account closes the vendors of the round and counts what they saw.
func (r *round) account() error {
	lanes, strays := r.vendor.close()
	for _, l := range lanes {
		st := l.srv.Stats()
		r.add(tally{Requests: st.Requests, Answered: st.Answered, Twice: st.Duplicates, Refused: st.Refused, Faults: st.Faults})
	}
	r.add(tally{Rounds: 1})
	if len(strays) > 0 {
		return fmt.Errorf("requests that belong to nobody: %q", strays)
	}
	return removeFolder(r.dir)
}

// healthy checks that all processes are running and none complained.
func (s *site) healthy() error {
	for _, p := range s.processes() {
		if p.gone() {
			return p.trouble(errors.New("it has ended"))
		}
		if line := p.complaint(); line != "" {
			return p.trouble(errors.New(line))
		}
	}
	return nil
}

// A tally is the counts of what was done and seen.
type tally struct {
	Rounds, Runs, Items, Verdicts, Failures int
	Requests, Answered, Refused, Twice      int
	Kills, Cancels, Labels, Undone          int
	Pages, Events, Bundles                  int
	Faults                                  map[faultserver.Fault]int
}

// add adds another tally.
func (t *tally) add(o tally) {
	for _, p := range [][2]*int{
		{&t.Rounds, &o.Rounds},
		{&t.Runs, &o.Runs},
		{&t.Items, &o.Items},
		{&t.Verdicts, &o.Verdicts},
		{&t.Failures, &o.Failures},
		{&t.Requests, &o.Requests},
		{&t.Answered, &o.Answered},
		{&t.Refused, &o.Refused},
		{&t.Twice, &o.Twice},
		{&t.Kills, &o.Kills},
		{&t.Cancels, &o.Cancels},
		{&t.Labels, &o.Labels},
		{&t.Undone, &o.Undone},
		{&t.Pages, &o.Pages},
		{&t.Events, &o.Events},
		{&t.Bundles, &o.Bundles},
	} {
		*p[0] += *p[1]
	}
	if t.Faults == nil {
		t.Faults = map[faultserver.Fault]int{}
	}
	for f, n := range o.Faults {
		t.Faults[f] += n
	}
}
