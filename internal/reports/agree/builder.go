package agree

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// Version is the version of the JSON form of an [Agreement].
const Version = "deem.agreement/1"

// Options configures a comparison. The zero value of each field is usable.
type Options struct {
	Judge Party // whose verdicts are checked

	// Truth is the side treated as correct: people, whose Judge is the name of their file,
	// or another judge.
	Truth  Party
	People bool // Truth are people

	// Items is the number of items in the run, 0 if unknown, and Trials how many times each
	// is judged; 0 means once.
	Items, Trials int

	// CalibrationError is the error of the probabilities that the judge gives for items
	// that it does not decide.
	CalibrationError float64

	// MaxUnjudged is the share of unjudged items above which scores are withheld.
	MaxUnjudged float64

	// SystemModel is the model under test, "" if unknown. An item's field "answer_model" or
	// "system" names the model of its response if there are several.
	SystemModel string

	// Stopped is set for a run with a stopping rule.
	Stopped *Stopped

	// Labels are the labels of the judge, highest score first, and Ordered says that no two
	// of them have the same score. They are not needed for yes and no.
	Labels  []string
	Ordered bool

	Seed  uint64 // of the bootstrap of alpha
	Draws int    // of the bootstrap; 0 means [stat.DefaultDraws], and fewer for very many items

	// Width is the requested width of the corrected interval, from end to end; 0 means
	// none.
	Width float64

	// Own is the model or family whose answers are the judge's own; "" means the
	// judge's model.
	Own string

	// Registry are the known disagreements, nil without a registry.
	Registry []Known
}

// Stopped is what the report of a run with a stopping rule says: the score, and the mean
// score if it is another number, with intervals that allow for looking after every item.
type Stopped struct {
	Rule   string
	Scores []stat.Estimate
}

// A Truth is the decision of people, or of another judge, on an item.
type Truth struct {
	Yes   bool
	Score float64 // from 0 to 1
	Label string  // as the judge spells it; "" if no label has the most votes of annotators

	// Tie means that equally many annotators said yes and no: there are votes, but no
	// decision.
	Tie bool

	// Votes are the decisions of the annotators by name. There are none if another judge is
	// the truth.
	Votes map[string]bool

	Reason string

	// Stratum and Probability describe how a plan drew the item to be labelled: from which
	// part of the run, the number of items in that part, and with what probability. They
	// are zero without a plan.
	Stratum     string
	Of          int
	Probability float64
}

// A Pair is one item of the run with the judge's verdict and the truth.
type Pair struct {
	Item     deem.Item
	Position int
	Verdict  *deem.Verdict // nil if the item is undecided or unjudged
	Guess    *float64      // the probability that the response of an undecided item is right; nil otherwise
	Truth    *Truth        // nil if the item has no label

	// Trials are the records of an item that was judged several times. Its verdict is one of
	// those that say what most trials say, and in the score it counts with their mean.
	Trials []deem.Record
}

// Judged returns the pair of an item without a label from the records of its trials. As in a
// report, a probability counts only if the judge states its calibration error.
func Judged(trials []deem.Record, calibration float64) Pair {
	p := Pair{Item: trials[0].Item, Position: trials[0].Position}
	if len(trials) > 1 {
		p.Trials = trials
	}
	for _, rec := range trials {
		if f := rec.Failure; f != nil && f.Probability != nil && calibration > 0 && *f.Probability >= 0 && *f.Probability <= 1 {
			p.Guess = f.Probability
		}
	}
	if verdicts := verdictsOf(trials); len(verdicts) > 0 {
		p.Verdict, p.Guess = doc.MeanOf(verdicts).First, nil
	}
	return p
}

// Confidence returns how sure the judge is of its decision, NaN if that is unknown.
func (p Pair) Confidence() float64 {
	t := traits{confidence: p.confidence(), undecided: p.Verdict == nil && p.Guess != nil}
	if t.undecided {
		return t.certainty(*p.Guess)
	}
	return t.certainty(0)
}

// confidence returns the confidence that the judge states, -1 if it states none.
func (p Pair) confidence() float64 {
	if v := p.Verdict; v != nil && v.Confidence != nil && *v.Confidence >= 0 && *v.Confidence <= 1 { // an external run file may contain any value
		return *v.Confidence
	}
	return -1
}

// TruthOf returns what another judge says about an item, from the records of its trials; nil
// if it gave no verdict.
func TruthOf(trials []deem.Record) *Truth {
	verdicts := verdictsOf(trials)
	if len(verdicts) == 0 {
		return nil
	}
	all := doc.MeanOf(verdicts)
	return &Truth{Yes: all.First.Yes(), Score: all.Score, Label: all.First.Label, Reason: all.First.Reason}
}

// verdictsOf returns the usable verdicts of records.
func verdictsOf(trials []deem.Record) []*deem.Verdict {
	var list []*deem.Verdict
	for _, rec := range trials {
		if v := rec.Verdict; rec.Failure == nil && v != nil && v.Score >= 0 && v.Score <= 1 {
			list = append(list, v)
		}
	}
	return list
}

// records returns the records that the pair stands for.
func (p Pair) records() []deem.Record {
	if p.Trials != nil {
		return p.Trials
	}
	rec := deem.Record{Item: p.Item, Position: p.Position, Verdict: p.Verdict}
	if p.Verdict == nil {
		rec.Failure = &deem.Failure{Kind: deem.Unsure, Probability: p.Guess}
	}
	return []deem.Record{rec}
}

// A Builder collects pairs for an [Agreement]. Its memory grows with the number of labelled
// items, and by a few numbers for each of the others.
type Builder struct {
	o Options

	// What the score of the run is made of, as in its report: the share of yes of each item,
	// and its mean score.
	shares, means stat.Values
	guesses       stat.Guesses
	trials        int // records
	failed        int // records without a verdict

	items, unjudged int
	labelled        int // items with a label or a tie
	ties            int
	unjudgedLabels  int // labels of items that the judge did not judge

	both     []paired
	alone    []single // judged items without a label
	open     []paired // undecided items with a label
	openOnly []single // undecided items without a label
	how      drawing  // how labels were drawn; "" until it is determined
	tests    []SelectionTest
	names    map[string]string // categories and clusters, interned
	marked   bool              // some verdict has a pass mark
	unmarked bool              // and some has none
	graded   bool              // the judge gave a score between 0 and 1
	truthful bool              // the truth has a score between 0 and 1

	votes    []map[string]bool // of each labelled item
	registry *registry         // nil without one

	weight   float64 // of the first judged item; 0 before the first
	weighted bool    // judged items have different weights
	split    bool    // some trials of an item differ
}

// A cell is the part of a category with the same verdict of the judge, and, for labels of a
// plan, the same certainty.
type cell struct {
	category    string
	yes, unsure bool
}

// A paired is an item with a verdict and a label, without its texts.
type paired struct {
	traits
	id, model          string
	judge, truth       bool
	judgeScore, score  float64
	share              float64 // of the judge's trials that say yes
	stratum            string
	of                 int
	probability        float64
	label, truthLabel  string
	reason, why        string // of the judge, and of the truth
	votesFor, votesAll int
}

// New returns a builder.
func New(o Options) *Builder {
	b := &Builder{o: o, names: map[string]string{}}
	if o.Registry != nil {
		b.registry = &registry{known: map[string]Known{}, now: map[string]string{}, met: map[string]bool{}}
	}
	for _, k := range o.Registry {
		b.registry.known[k.Item] = k
	}
	return b
}

// Add adds one item of the run. Items should be added in the order of the dataset.
func (b *Builder) Add(p Pair) {
	var all doc.Trials
	verdicts := verdictsOf(p.records())
	b.trials += len(p.records())
	b.failed += len(p.records()) - len(verdicts)
	if len(verdicts) > 0 {
		all = doc.MeanOf(verdicts)
	}
	b.count(p, all)
	b.items++
	b.how = ""
	if p.Truth != nil {
		b.labelled++
		if len(p.Truth.Votes) > 0 {
			b.votes = append(b.votes, p.Truth.Votes)
		}
		if p.Truth.Tie {
			b.ties++
		}
	}
	if p.Verdict != nil || p.Guess != nil {
		weight, _ := doc.WeightOf(p.Item)
		b.weight = cmp.Or(b.weight, weight)
		b.weighted = b.weighted || weight != b.weight
	}
	if p.Verdict != nil {
		b.marked, b.unmarked = b.marked || all.Marked, b.unmarked || !all.Marked
		b.graded = b.graded || all.Graded
		b.split = b.split || all.Yes != 0 && all.Yes != 1
	}
	switch {
	case p.Verdict == nil && p.Guess != nil:
		b.registry.skip(p.Item.ID, "the judge did not decide it")
		t := b.traits(p)
		t.undecided = true
		yes := *p.Guess >= 0.5
		if p.Truth == nil || p.Truth.Tie {
			b.openOnly = append(b.openOnly, single{traits: t, yes: yes, score: *p.Guess, share: *p.Guess})
			return
		}
		b.open = append(b.open, paired{
			traits: t, judge: yes, judgeScore: *p.Guess, share: *p.Guess, truth: p.Truth.Yes, score: p.Truth.Score,
			stratum: p.Truth.Stratum, of: p.Truth.Of, probability: p.Truth.Probability,
		})
	case p.Verdict == nil:
		b.unjudged++
		if p.Truth != nil {
			b.unjudgedLabels++
		}
		b.registry.skip(p.Item.ID, "the judge did not judge it")
	case p.Truth == nil || p.Truth.Tie:
		b.alone = append(b.alone, single{traits: b.traits(p), yes: all.Yes >= 0.5, score: all.Score, share: all.Yes})
		why := "nobody labelled it"
		if p.Truth != nil {
			why = "people are evenly split"
		}
		b.registry.skip(p.Item.ID, why)
	default:
		b.addBoth(p, all)
	}
}

// count adds an item to the score of the run.
func (b *Builder) count(p Pair, all doc.Trials) {
	weight, _ := doc.WeightOf(p.Item)
	cluster := strings.Clone(p.Item.Cluster)
	switch {
	case p.Verdict != nil:
		b.shares.Add(cluster, all.Yes, weight)
		b.means.Add(cluster, all.Score, weight)
	case p.Guess != nil:
		b.failed -= len(p.records())
		b.guesses.Add(*p.Guess, weight)
		b.shares.Add(cluster, *p.Guess, weight)
		b.means.Add(cluster, *p.Guess, weight)
	}
}

// scored returns the score of the run, or its mean score, as its report does.
func (b *Builder) scored(mean bool) stat.Estimate {
	if s := b.o.Stopped; s != nil && len(s.Scores) > 0 {
		if mean {
			return s.Scores[len(s.Scores)-1]
		}
		return s.Scores[0]
	}
	score := b.shares.Score(true)
	if mean {
		score = b.means.Score(false)
	}
	score.Undecided = b.guesses.Allowance(score.Values.Weight(), b.o.CalibrationError)
	return score.At(stat.DefaultLevel)
}

// whole returns the builder with undecided items included. They count in the score of the
// run, but not in the agreement of decisions.
func (b *Builder) whole() *Builder {
	w := *b
	w.both, w.alone = slices.Concat(b.both, b.open), slices.Concat(b.alone, b.openOnly)
	w.open, w.openOnly = nil, nil
	return &w
}

// between reports whether a score is a grade rather than a decision.
func between(score float64) bool { return score != 0 && score != 1 }

func (b *Builder) addBoth(p Pair, all doc.Trials) {
	v, t := p.Verdict, p.Truth
	it := paired{
		traits: b.traits(p), id: strings.Clone(p.Item.ID), model: b.o.SystemModel,
		judge: v.Yes(), truth: t.Yes, judgeScore: all.Score, share: all.Yes, score: t.Score, label: strings.Clone(v.Label), truthLabel: strings.Clone(t.Label),
		stratum: t.Stratum, of: t.Of, probability: t.Probability,
	}
	for _, name := range ModelFields {
		if model := p.Item.Fields[name]; model != "" {
			it.model = strings.Clone(model)
			break
		}
	}
	if it.judge != it.truth {
		it.reason, it.why = clip(v.Reason), clip(t.Reason)
	}
	for _, yes := range t.Votes {
		it.votesAll++
		if yes == t.Yes {
			it.votesFor++
		}
	}
	b.truthful = b.truthful || between(t.Score)
	if r := b.registry; r != nil {
		k, known := r.known[it.id]
		r.met[it.id] = known
		switch {
		case known && k.Judge == it.judge && k.People == it.truth:
		case it.judge != it.truth:
			r.appeared = append(r.appeared, Known{Item: it.id, Judge: it.judge, People: it.truth})
			r.now[it.id] = "they differ the other way round"
		default:
			r.now[it.id] = "both say " + yesNo(it.judge)
		}
	}
	b.both = append(b.both, it)
}

// traits returns the known properties of a judged item.
func (b *Builder) traits(p Pair) traits {
	once := func(name string) string {
		if _, known := b.names[name]; !known {
			name = strings.Clone(name)
			b.names[name] = name
		}
		return b.names[name]
	}
	t := traits{
		category: once(p.Item.Category), cluster: once(p.Item.Cluster), confidence: p.confidence(),
		position: p.Position, length: len(p.Item.Response),
	}
	t.weight, _ = doc.WeightOf(p.Item)
	unit := fnv.New64a()
	if p.Item.Cluster != "" {
		_, _ = unit.Write([]byte("cluster " + p.Item.Cluster)) // never fails
	} else {
		_, _ = unit.Write([]byte("item " + p.Item.ID))
	}
	t.unit = unit.Sum64()
	return t
}

// clip shortens a reason: a disagreement is one line, and "deem show" has the rest.
func clip(s string) string {
	return strings.Clone(words.Clip(s, 400))
}

// ModelFields are the fields of an item that may name the model that answered.
var ModelFields = []string{"answer_model", "system", "system_model"}

// A Known is a disagreement that was reviewed and recorded.
type Known struct {
	Item   string `json:"item"`
	Judge  bool   `json:"judge"`
	People bool   `json:"people"`
	Why    string `json:"why,omitempty"`
}

// A RegistryCheck lists how the disagreements differ from the known ones. Every difference
// needs a look: a new disagreement may be an error of the judge, and one that disappeared
// may mean that the judge changed.
type RegistryCheck struct {
	Known    int     `json:"known"`    // in the registry
	Appeared []Known `json:"appeared"` // but not in the registry
	Gone     []Gone  `json:"gone"`     // in the registry, but not found
}

// Gone is a known disagreement that no longer exists or could not be checked.
type Gone struct {
	Known
	Now string `json:"now"` // the current state
}

// Pass reports whether nothing differs.
func (c RegistryCheck) Pass() bool { return len(c.Appeared) == 0 && len(c.Gone) == 0 }

// A registry is compared with the disagreements as items are added.
type registry struct {
	known map[string]Known
	now   map[string]string // the current state of known items, if it is not as known
	met   map[string]bool

	appeared []Known
}

// skip records why an item cannot be checked.
func (r *registry) skip(id, why string) {
	if r == nil {
		return
	}
	if _, known := r.known[id]; known {
		r.met[id], r.now[id] = true, why
	}
}

// check returns the differences by item; nil without a registry.
func (r *registry) check() *RegistryCheck {
	if r == nil {
		return nil
	}
	c := &RegistryCheck{Known: len(r.known), Appeared: append([]Known{}, r.appeared...), Gone: []Gone{}}
	for id, k := range r.known {
		now, differs := r.now[id]
		if !r.met[id] {
			now, differs = "the run has no such item", true
		}
		if differs {
			c.Gone = append(c.Gone, Gone{k, now})
		}
	}
	slices.SortFunc(c.Gone, func(x, y Gone) int { return cmp.Compare(x.Item, y.Item) })
	return c
}
