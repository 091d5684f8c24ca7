package web

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"deem/internal/reports"
	"deem/internal/store"
)

// Parameters of the labelling plan. All annotators of a run label its items in one order: a
// random sample stratified by category and verdict, whose seed depends on the run.
//
// Everybody labels the first planShared items, which measures the agreement between
// annotators. Each other item is labelled by the first annotator who reaches it, so that
// several people label more items than one. The plan begins with planSize items and can be
// doubled when these are labelled; the labelled items are then a random sample again.
const (
	planSize   = 200
	planShared = 30
	maxBatch   = 16 // maximum number of doublings, more than any run has items for
)

// A plan is the part of the order to be labelled.
type plan struct {
	Items []planItem
	Total int            // items with a verdict, labelled or not
	byKey map[string]int // positions by hash
}

// A planItem is an item to label.
type planItem struct {
	reports.Drawn
	Hash   string
	Design string // how it was drawn
}

// planOf returns the plan of a run: the first items of its order, with the hashes that
// identify the items of labels. The result is cached.
func (s *Server) planOf(ctx context.Context, run store.Run, batch int) (*plan, error) {
	stamp := fmt.Sprint(run.State, run.Records)
	return countOnce(ctx, s.bench, fmt.Sprint("plan ", run.ID, " ", batch), stamp, false, func(ctx context.Context) (*plan, error) {
		seed := fnv.New64a()
		_, _ = seed.Write([]byte(run.ID)) // Write never fails.
		order, err := reports.DrawOrder(ctx, s.Store, run, planSize, seed.Sum64())
		if err != nil {
			return nil, err
		}
		p := &plan{Total: len(order.Items), byKey: map[string]int{}}
		n := min(len(order.Items), planSize<<(batch-1))
		hashes, design := map[reports.Drawn]string{}, order.Design(n)
		for some := range slices.Chunk(order.Items[:n], planSize) {
			ids := make([]string, len(some))
			for i, d := range some {
				ids[i] = d.ID
			}
			for rec, err := range s.Store.Records(ctx, run.ID, store.Query{IDs: ids, Trial: new(int)}) {
				if err != nil {
					return nil, err
				}
				hashes[reports.Drawn{ID: rec.Item.ID, Position: rec.Position}] = rec.Item.Hash()
			}
		}
		for i, d := range order.Items[:n] {
			if hash, ok := hashes[d]; ok {
				p.byKey[hash] = len(p.Items)
				p.Items = append(p.Items, planItem{d, hash, design[i].String()})
			}
		}
		return p, nil
	})
}

// A labelledPlan is a plan and the labels of its items.
type labelledPlan struct {
	*plan
	by   []map[string]store.Label // by position, then by annotator
	form labelForm
}

// outdated returns the labels that were given when fewer items were drawn, with the current
// design.
func (lp labelledPlan) outdated() []store.Label {
	var list []store.Label
	for at, by := range lp.by {
		now := lp.Items[at].Design
		stratum, _, _ := strings.Cut(now, " ")
		for _, l := range by {
			if was, _, _ := strings.Cut(l.Drawn, " "); was == stratum && l.Drawn != now {
				l.Drawn = now
				list = append(list, l)
			}
		}
	}
	return list
}

// next returns the position of the next item for an annotator, or false if there is none:
// first items that they have not skipped and that nobody else is looking at, then items
// that somebody else is looking at, then items that they have skipped.
func (lp labelledPlan) next(who string, d *labelSession) (int, bool) {
	busy, put := -1, -1
	for at, it := range lp.Items {
		_, mine := lp.by[at][who]
		shared := at < planShared
		if shared && mine || !shared && len(lp.by[at]) > 0 {
			continue
		}
		by := d.l.held[d.run+"\x00"+it.Hash]
		switch {
		case d.skipped(it.Hash):
			if put < 0 || d.putOff[it.Hash] < d.putOff[lp.Items[put].Hash] {
				put = at
			}
		case !shared && by.who != who && time.Now().Before(by.until):
			if busy < 0 {
				busy = at
			}
		default:
			return at, true
		}
	}
	if busy >= 0 {
		return busy, true
	}
	return put, put >= 0
}

// newest returns the position of the last item that an annotator labelled on this page.
// Labels from a file are not undone, because the page could not restore them.
func (lp labelledPlan) newest(who, dataset string) (int, bool) {
	found := -1
	for at, by := range lp.by {
		l, ok := by[who]
		ours := ok && l.Dataset == dataset && !l.Labelled.IsZero() && lp.form.gives(l.Label)
		if ours && (found < 0 || l.Labelled.After(lp.by[found][who].Labelled)) {
			found = at
		}
	}
	return found, found >= 0
}

// labelling holds the labelling sessions in memory. Losing them is harmless: a skipped item
// is shown again sooner, and undo uses the time of the labels.
type labelling struct {
	mu            sync.Mutex
	labelSessions map[string]*labelSession // by run and annotator
	held          map[string]heldBy        // by run and item
}

// A heldBy is the annotator who is looking at an item.
type heldBy struct {
	who   string
	until time.Time
}

// holdTime is how long an item that somebody is looking at is withheld from others.
const holdTime = 10 * time.Minute

// Limits of memory use. Expired holds are dropped once there are maxHeld holds.
const (
	maxLabelSessions = 1000
	maxHistory       = 1000
	maxHeld          = 10_000
)

// A labelSession is the labelling session of one annotator and one run.
type labelSession struct {
	l       *labelling
	run     string
	putOff  map[string]int // sequence number by hash of the skipped item
	puts    int
	history []change
	used    time.Time
}

// A change is an action that can be undone.
type change struct {
	hash   string
	before *store.Label // the label before, nil for none
	skip   bool
}

// labelSession returns the labelling session of an annotator. The caller holds the lock.
func (l *labelling) labelSession(run, who string) *labelSession {
	key := run + "\x00" + who
	d := l.labelSessions[key]
	if d == nil {
		if len(l.labelSessions) >= maxLabelSessions { // Drop the least recently used one.
			oldest := ""
			for key, d := range l.labelSessions {
				if oldest == "" || d.used.Before(l.labelSessions[oldest].used) {
					oldest = key
				}
			}
			delete(l.labelSessions, oldest)
		}
		d = &labelSession{l: l, run: run, putOff: map[string]int{}}
		l.labelSessions[key] = d
	}
	d.used = time.Now()
	return d
}

func (d *labelSession) skipped(hash string) bool {
	_, ok := d.putOff[hash]
	return ok
}

// did records a change. A skipped item moves behind all others.
func (d *labelSession) did(c change) {
	if c.skip {
		d.puts++
		d.putOff[c.hash] = d.puts
	} else {
		delete(d.putOff, c.hash)
	}
	if d.history = append(d.history, c); len(d.history) > maxHistory {
		d.history = d.history[1:]
	}
}
