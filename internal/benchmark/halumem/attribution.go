package halumem

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"deem"
)

// The places where the fact behind a wrong answer can have been lost, in the order in which
// a memory system works.
const (
	notExtracted    = "not_extracted"     // a point it depends on was scored 0
	partlyExtracted = "partly_extracted"  // a point it depends on was scored 1
	wronglyUpdated  = "wrongly_updated"   // an update it depends on was not Correct
	notRetrieved    = "not_retrieved"     // the points were kept, but the context does not seem to contain them
	lostInAnswering = "lost_in_answering" // the context seems to contain everything that was needed
	nothingToRecall = "nothing_to_recall" // the question depends on no point: the right answer is that there is no information
	unknownPlace    = "unknown"           // the points are missing or unjudged, or the context is missing
)

var places = []string{notExtracted, partlyExtracted, wronglyUpdated, notRetrieved, lostInAnswering, nothingToRecall, unknownPlace}

// An outcome is what happened to a memory point. A larger value is better.
type outcome uint8

const (
	unjudgedFate outcome = iota
	missed
	halfMissed
	outdated
	kept
)

// An attribution determines where wrong answers went wrong. Records may come in any order,
// so it decides at the end. Points are identified by user and content, because that is how
// a question names its evidence. Of two points with the same content the better outcome
// counts, because the system did have the fact.
type attribution struct {
	seed     maphash.Seed
	outcomes map[uint64]outcome
	lost     []wrongAnswer
}

// A wrongAnswer is a question that was answered wrongly.
type wrongAnswer struct {
	id        string
	position  int
	evidence  []uint64
	retrieved string
}

func (a *attribution) key(user, content string) uint64 {
	return maphash.Comparable(a.seed, [2]string{user, content})
}

// enter sets the outcome of the point that a record is about.
func (a *attribution) enter(rec deem.Record, f outcome) {
	if len(rec.Item.References) == 0 || f == unjudgedFate {
		return
	}
	key := a.key(rec.Item.Cluster, rec.Item.References[0])
	a.outcomes[key] = max(a.outcomes[key], f)
}

// place returns where the answer went wrong: the first stage that lost a point it depends
// on.
func (a *attribution) place(w wrongAnswer) string {
	if len(w.evidence) == 0 {
		return nothingToRecall
	}
	worst, known := kept, true
	for _, key := range w.evidence {
		f := a.outcomes[key]
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

// maxIDs is the number of items named for each place.
const maxIDs = 10

// A Loss is a place where facts were lost, with the wrong answers that depend on them.
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
