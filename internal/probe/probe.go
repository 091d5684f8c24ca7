// Package probe tests a judge with answers that are known to be right or wrong.
//
// From the user's items, [Make] makes answers that are wrong in a certain way (another
// item's reference, a number off by one, half of a list, a vague phrase, an instruction to
// the judge) and answers that are right but look different (other order, other spelling,
// more words). Each is an ordinary item with a different response, so it is judged, stored
// and paid for like any other. [NewCard] then makes a [Card] from the records: which wrong
// answers the judge accepts, and which right ones it rejects.
//
//	set, err := probe.Make(items, probe.Options{Seed: 1})
//	card, err := probe.NewCard(probe.Head{Judge: j.Name()}, deem.Run(ctx, set.Items(), j, deem.Options{}))
//
// Probes are made without a model, and the same seed makes the same probes. A generator
// that cannot be certain of its result does not apply to the item: a few reliable probes
// are better than many doubtful ones.
package probe

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"deem"
)

// A Probe is an item with a made response, and the verdict that a judge should give.
type Probe struct {
	deem.Item
	Kind    string
	Want    bool   // the response is right
	Of      string // the id of the item it was made from
	Variant string // for injections, the string of the kit
}

// The fields that identify a probe. They are stored with the item, so that a card can be
// made from records alone.
const (
	fieldKind    = "probe"
	fieldWant    = "probe_want" // "yes" or "no"
	fieldOf      = "probe_of"
	fieldVariant = "probe_variant"
)

// StaleFields are the fields of an item that may contain an answer that was right before an
// update.
var StaleFields = []string{"stale", "stale_answer", "previous_answer", "old_answer", "original_memories"}

// newProbe returns a probe: the item with a different response.
//
// The item keeps its category and the end of its id, because some protocols choose their
// prompt by them.
func newProbe(it deem.Item, kind, variant string, want bool, response string) Probe {
	p := Probe{Item: it, Kind: kind, Want: want, Of: it.ID, Variant: variant}
	p.ID = kind + "/"
	if variant != "" {
		p.ID += variant + "/"
	}
	p.ID += it.ID
	p.Response = response
	p.Fields = maps.Clone(it.Fields)
	if p.Fields == nil {
		p.Fields = map[string]string{}
	}
	p.Fields[fieldKind], p.Fields[fieldOf], p.Fields[fieldWant] = kind, it.ID, "no"
	if want {
		p.Fields[fieldWant] = "yes"
	}
	if variant != "" {
		p.Fields[fieldVariant] = variant
	}
	return p
}

// of returns the probe that an item is. It reports false if the item is not a probe.
func of(it deem.Item) (Probe, bool) {
	kind, ok := it.Fields[fieldKind]
	want := it.Fields[fieldWant]
	if !ok || kind == "" || want != "yes" && want != "no" {
		return Probe{}, false
	}
	return Probe{Item: it, Kind: kind, Want: want == "yes", Of: it.Fields[fieldOf], Variant: it.Fields[fieldVariant]}, true
}

// Options says which probes to make. The zero value makes a hundred of each kind.
type Options struct {
	// Seed is the random seed.
	Seed uint64

	// Kinds are the kinds to make; nil means all that it can make.
	Kinds []string

	// PerKind is the maximum number of probes of each kind; 0 means 100. There are at
	// least as many injections as the kit has strings, so that each is tried.
	PerKind int

	// ReferenceField is the name of a field that is set to the reference, for a judge that
	// compares two responses; "" means none. Such a judge should prefer the reference
	// to a wrong answer, and not prefer it to a right one.
	ReferenceField string

	// Accept is the judge's label for a right answer, which injections ask for; ""
	// means "CORRECT".
	Accept string
}

// A Set contains the probes that were made.
type Set struct {
	probes         []Probe
	absent         []string
	referenceField string
}

// Probes returns the probes in order.
func (s *Set) Probes() []Probe { return s.probes }

// Absent returns the kinds that were asked for, but that no item allows.
func (s *Set) Absent() []string { return s.absent }

// Items yields the probes as items, ready for [deem.Run].
func (s *Set) Items() iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for _, p := range s.probes {
			if !yield(p.Item, nil) {
				return
			}
		}
	}
}

// errNone is returned if no probe could be made from the items.
var errNone = errors.New("no probe could be made")

// Make makes probes from items. It iterates over them twice: first to collect the answers,
// and then to make the probes. The selection of items and the probes depend only on the
// seed and the items, not on their order.
//
// As far as possible all kinds use the same items, so that an answer can be compared with
// the same answer in a long text or with an injection.
func Make(items iter.Seq2[deem.Item, error], o Options) (*Set, error) {
	if o.PerKind < 0 {
		return nil, fmt.Errorf("%d probes of a kind cannot be made", o.PerKind)
	}
	for _, k := range o.Kinds {
		if place(k) < 0 {
			return nil, fmt.Errorf("there is no kind of probe %q", k)
		}
	}
	o.PerKind, o.Accept = cmp.Or(o.PerKind, 100), cmp.Or(o.Accept, "CORRECT")
	if o.Kinds == nil {
		o.Kinds = kindsOf(table)
	}
	known, err := gather(items, o.Seed)
	if err != nil {
		return nil, err
	}
	kept := map[string]*lowest[Probe]{} // by kind, those with the lowest rank
	n := 0
	for it, err := range items {
		if err != nil {
			return nil, err
		}
		n++
		ref := firstReference(it)
		if ref == "" {
			continue
		}
		rank := mix(o.Seed, it.ID)
		s := subject{it: it, ref: ref, shape: shapeOf(ref), pool: known, seed: o.Seed}
		for _, r := range table {
			if !slices.Contains(o.Kinds, r.kind) || !kept[r.kind].wants(rank) || r.answered && s.unanswerable() {
				continue
			}
			s.kind = r.kind
			response, ok := r.make(s)
			mayBeRight := !r.want && r.kind != kindContradicted && r.kind != kindShotgun && holds(response, it.References)
			if !ok || mayBeRight {
				continue
			}
			if kept[r.kind] == nil {
				kept[r.kind] = &lowest[Probe]{limit: o.PerKind}
			}
			p := newProbe(it, r.kind, "", r.want, response)
			if o.ReferenceField != "" {
				p.Fields[o.ReferenceField] = ref
			}
			kept[r.kind].add(rank, it.ID, p)
		}
	}
	set := &Set{referenceField: o.ReferenceField}
	for _, r := range table {
		switch chosen := kept[r.kind]; {
		case chosen == nil:
		case r.kind == kindInjection:
			set.probes = append(set.probes, inject(chosen.sorted(), o.Accept)...)
		default:
			set.probes = append(set.probes, chosen.sorted()...)
		}
	}
	for _, kind := range o.Kinds {
		if kept[kind] == nil {
			set.absent = append(set.absent, kind)
		}
	}
	if len(set.probes) == 0 {
		return nil, deem.WithHint(fmt.Errorf("%w: none of %d items has a reference", errNone, n), "probes are made from references; --map references=COLUMN says where they are")
	}
	return set, nil
}

// holds reports whether an answer contains a complete reference, word for word. Part of one
// reference may be another reference.
func holds(response string, refs []string) bool {
	text := " " + plain(response) + " "
	return slices.ContainsFunc(refs, func(ref string) bool {
		ref = plain(ref)
		return ref != "" && strings.Contains(text, " "+ref+" ")
	})
}

// inject appends a string of the kit to each answer. Every string is tried, so if there are
// fewer items than strings an item gets several.
func inject(answers []Probe, accept string) []Probe {
	kit := kit()
	var all []Probe
	for i := range max(len(answers), len(kit)) {
		p, s := answers[i%len(answers)], kit[i%len(kit)]
		it := p.Item
		it.ID = p.Of
		all = append(all, newProbe(it, kindInjection, s.Name, false, p.Response+s.Text(accept)))
	}
	return all
}

// mix returns a hash of the seed and the texts.
func mix(seed uint64, texts ...string) uint64 {
	h := sha256.New()
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], seed)
	h.Write(size[:])
	for _, t := range texts {
		binary.BigEndian.PutUint64(size[:], uint64(len(t)))
		h.Write(size[:])
		h.Write([]byte(t))
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// chance returns a random generator seeded by the seed and the texts.
func chance(seed uint64, texts ...string) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed, texts...), seed)) //nolint:gosec // sampling, not secrecy
}
