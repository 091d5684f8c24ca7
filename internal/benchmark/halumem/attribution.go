package halumem

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"deem"
)

// The places where the fact behind a wrong answer can have been lost, in the order
// in which a memory system works.
const (
	notExtracted    = "not_extracted"     // a point it rests on was scored 0
	partlyExtracted = "partly_extracted"  // a point it rests on was scored 1
	wronglyUpdated  = "wrongly_updated"   // an update it rests on was not Correct
	notRetrieved    = "not_retrieved"     // the points were kept, and the context does not seem to hold them
	lostInAnswering = "lost_in_answering" // the context seems to hold all that was needed
	nothingToRecall = "nothing_to_recall" // the question rests on no point: the right answer is that nobody said so
	unknownPlace    = "unknown"           // the points are not in the data or unjudged, or the context is not there
)

var places = []string{notExtracted, partlyExtracted, wronglyUpdated, notRetrieved, lostInAnswering, nothingToRecall, unknownPlace}

// A fate is what became of a memory point. A larger one is better.
type fate uint8

const (
	unjudgedFate fate = iota
	missed
	halfMissed
	outdated
	kept
)

// An attribution finds out where wrong answers went wrong. Records may come in any
// order, so nothing is decided before the end. Points are told apart by user and
// content, because that is how a question names its evidence; of two points with
// the same content the better fate counts, since the system did have the fact.
type attribution struct {
	seed  maphash.Seed
	fates map[uint64]fate
	lost  []wrongAnswer
}

// A wrongAnswer is a question that was answered wrongly.
type wrongAnswer struct {
	id        string
	position  int
	evidence  []uint64
	retrieved string
}

func newAttribution() attribution {
	return attribution{seed: maphash.MakeSeed(), fates: map[uint64]fate{}}
}

func (a *attribution) key(user, content string) uint64 {
	return maphash.Comparable(a.seed, [2]string{user, content})
}

// enter notes the fate of the point that a record is about.
func (a *attribution) enter(rec deem.Record, f fate) {
	if len(rec.Item.References) == 0 || f == unjudgedFate {
		return
	}
	key := a.key(rec.Item.Cluster, rec.Item.References[0])
	a.fates[key] = max(a.fates[key], f)
}

// extracted notes a record of the stage "integrity".
func (a *attribution) extracted(rec deem.Record, score int) {
	fates := map[int]fate{0: missed, 1: halfMissed, 2: kept}
	a.enter(rec, fates[score])
}

// updated notes a record of the stage "update".
func (a *attribution) updated(rec deem.Record) {
	switch {
	case rec.Verdict == nil:
	case rec.Verdict.Label == correct:
		a.enter(rec, kept)
	default:
		a.enter(rec, outdated)
	}
}

// wrong notes a wrong answer.
func (a *attribution) wrong(rec deem.Record) {
	w := wrongAnswer{id: rec.Item.ID, position: rec.Position, retrieved: rec.Item.Fields[fieldRetrieved]}
	for line := range strings.SplitSeq(rec.Item.Fields[fieldEvidence], "\n") {
		if line != "" {
			w.evidence = append(w.evidence, a.key(rec.Item.Cluster, line))
		}
	}
	a.lost = append(a.lost, w)
}

// place says where the answer went wrong: at the first stage that lost a point that
// it rests on.
func (a *attribution) place(w wrongAnswer) string {
	if len(w.evidence) == 0 {
		return nothingToRecall
	}
	worst, known := kept, true
	for _, key := range w.evidence {
		f := a.fates[key]
		if known = known && f != unjudgedFate; f != unjudgedFate {
			worst = min(worst, f)
		}
	}
	held, all, ok := strings.Cut(w.retrieved, "/")
	switch {
	case worst == missed:
		return notExtracted
	case worst == halfMissed:
		return partlyExtracted
	case worst == outdated:
		return wronglyUpdated
	case !known || !ok:
		return unknownPlace
	case held != all:
		return notRetrieved
	}
	return lostInAnswering
}

// maxIDs is how many items are named for each place.
const maxIDs = 10

// A Loss is a place where facts were lost, with the wrong answers that rest on
// them.
type Loss struct {
	Where string   `json:"where"`
	N     int      `json:"n"`
	Items []string `json:"items"` // the first ten, by id
}

// losses returns a row for every place.
func (a *attribution) losses() []Loss {
	slices.SortFunc(a.lost, func(x, y wrongAnswer) int {
		return cmp.Or(cmp.Compare(x.position, y.position), cmp.Compare(x.id, y.id))
	})
	rows := make([]Loss, len(places))
	for i, where := range places {
		rows[i] = Loss{Where: where, Items: []string{}}
	}
	for _, w := range a.lost {
		row := &rows[slices.Index(places, a.place(w))]
		if row.N++; len(row.Items) < maxIDs {
			row.Items = append(row.Items, w.id)
		}
	}
	return rows
}
