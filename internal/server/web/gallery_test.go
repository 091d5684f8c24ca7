package web_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/probe"
	"deem/internal/store"
	"deem/internal/store/sqlite"
	"deem/internal/words"
	"deem/judge"
	"deem/judge/match"
	"deem/model/fake"
)

// A gallery is a store like that of a team after some weeks: three systems over one dataset,
// judged repeatedly by a rule and by a model, with tags, notes and labels.
type gallery struct {
	store *sqlite.Store
	runs  map[string]store.Run // by system and version
}

// galleryPeople are the people in the questions of the gallery.
var galleryPeople = []string{"Mara", "Jonas", "Priya", "Ines", "Tomás", "Yusuf", "Clara", "Henrik", "Amina", "Luca", "Noor", "Viktor"}

// galleryKinds are the categories of the gallery with the rate of right responses. Each has
// five questions about a person, their right answers, and a sentence for an answer.
var galleryKinds = []struct {
	name      string
	rate      float64
	questions [5]string
	answers   [5]string
	sentence  string
}{
	{
		"dates", 0.60,
		[5]string{"When did %s move to Tromsø?", "When did %s start at the archive?", "When did %s adopt the dog?", "When did %s sell the old van?", "When did %s finish the evening course?"},
		[5]string{},
		"%s told me about it: it was on %s.",
	},
	{
		"amounts", 0.86,
		[5]string{"How much did %s pay for the new boiler?", "How much was the sofa that %s bought?", "What does the train pass of %s cost?", "How much did %s spend on violin lessons?", "What did the roof repair cost %s?"},
		[5]string{},
		"%s mentioned a price of %s, delivery included.",
	},
	{
		"people", 0.88,
		[5]string{"Who helped %s with the greenhouse roof?", "Who drove %s to the airport?", "Who taught %s to sail?", "Who looks after the cats of %s?", "Who lent %s the drill?"},
		[5]string{"her brother Tomás", "Ines from next door", "an uncle in Bergen", "the neighbour, Mr Okafor", "Clara from the choir"},
		"For %s that was %s.",
	},
	{
		"places", 0.91,
		[5]string{"Where does %s rehearse on Fridays?", "Where does %s park the bicycle?", "Where did %s spend the summer?", "Where does %s buy bread?", "Where does %s keep the spare key?"},
		[5]string{"in the old customs house", "behind the library", "on a farm near Évora", "at the market hall", "under the blue flowerpot"},
		"As far as I know, %s does so %s.",
	},
	{
		"preferences", 0.84,
		[5]string{"What does %s drink in the evening?", "What does %s cook for guests?", "What does %s read on the train?", "What does %s listen to at work?", "What does %s order at the bakery?"},
		[5]string{"ginger tea without sugar", "lentil soup with lemon", "crime novels set in Iceland", "string quartets", "two rye rolls"},
		"%s usually goes for %s.",
	},
	{
		"changes", 0.78,
		[5]string{"Which job does %s have now?", "Which car does %s drive now?", "Which floor does %s live on now?", "Which language is %s learning now?", "Which sport does %s do now?"},
		[5]string{"head of the map archive", "a small electric van", "the fourth floor", "Portuguese", "indoor climbing"},
		"By now %s has changed to %s.",
	},
}

// galleryItem returns the i-th item with the right response, and a wrong response.
func galleryItem(i int) (it deem.Item, wrong string) {
	k, n := galleryKinds[i%len(galleryKinds)], i/len(galleryKinds)
	who, q := galleryPeople[n%len(galleryPeople)], n/len(galleryPeople)%5
	right, other := k.answers[q], k.answers[(q+1)%5]
	switch k.name {
	case "dates":
		day := time.Date(2017+n%6, time.Month(1+n%12), 1+7*n%28, 0, 0, 0, 0, time.UTC)
		right, other = day.Format("2 January 2006"), day.AddDate(-1, 0, 9).Format("2 January 2006")
	case "amounts":
		right, other = words.Comma(85+37*n)+" euros", words.Comma(85+37*n+90)+" euros"
	}
	return deem.Item{
		ID: fmt.Sprintf("%s-%03d", k.name, i), Category: k.name, Question: fmt.Sprintf(k.questions[q], who),
		References: []string{right}, Response: fmt.Sprintf(k.sentence, who, right),
	}, fmt.Sprintf(k.sentence, who, other)
}

// hashed returns a pseudorandom number for texts.
func hashed(texts ...any) uint32 {
	sum := sha256.Sum256([]byte(fmt.Sprint(texts...)))
	return binary.BigEndian.Uint32(sum[:])
}

// galleryCosts are the cost and the latency of a response of a system.
var galleryCosts = map[string][2]float64{"atlas": {0.0021, 820}, "borealis": {0.0034, 1400}, "compass": {0.0009, 430}, "notepad": {0.0002, 120}}

// galleryItems returns the items with the responses of a version of a system. Versions share
// most of their errors, systems do not, and a shift makes one better or worse.
func galleryItems(system, version string, shift float64, n int) []deem.Item {
	var items []deem.Item
	for i := range n {
		it, wrong := galleryItem(i)
		luck := hashed(system, i)
		if hashed("fresh", system, version, i)%10 < 3 {
			luck = hashed(system, version, i)
		}
		if float64(luck%1000)/1000 > galleryKinds[i%len(galleryKinds)].rate+shift {
			it.Response = wrong
		}
		if system == "borealis" || system == "compass" {
			it.Response += galleryOffer
		}
		if c, ok := galleryCosts[system]; ok {
			vary := 0.8 + 0.4*float64(luck%11)/10
			it.Fields = map[string]string{deem.FieldCost: fmt.Sprintf("%.6f", c[0]*vary), deem.FieldLatency: fmt.Sprintf("%.0f", c[1]*vary)}
		}
		items = append(items, it)
	}
	return items
}

// galleryOffer is the end of responses of verbose systems.
const galleryOffer = " I can look up more if you like."

// galleryRight reports whether the response of an item is the right one.
func galleryRight(id, response string) bool {
	i, err := strconv.Atoi(id[strings.LastIndex(id, "-")+1:])
	it, _ := galleryItem(i)
	return err == nil && strings.TrimSuffix(response, galleryOffer) == it.Response
}

// galleryJudge returns the judge universal with a model that knows the right responses and
// sometimes fails.
func galleryJudge(t testing.TB) deem.Judge {
	t.Helper()
	d, _ := judge.Builtin("universal")
	p, err := d.Protocol(judge.Strict)
	if err != nil {
		t.Fatal(err)
	}
	right := map[string]bool{}
	for i := range 360 {
		it, _ := galleryItem(i)
		right[it.Response+"\nExpected: "+it.References[0]] = true
	}
	return judge.New(p, fake.Func("openai:gpt-4o-mini", func(_ context.Context, req deem.Request) (deem.Reply, error) {
		prompt := req.Messages[0].Content
		n := hashed(prompt)
		reply := deem.Reply{
			Text: "INCORRECT", Stop: deem.StopEnd, Model: "gpt-4o-mini", Usage: deem.Usage{Input: len(prompt) / 4, Output: 4},
			Latency: time.Duration(310+n%260+n/7%190) * time.Millisecond, Attempts: 1, CostMicros: int64(len(prompt)) / 11,
		}
		if n%9 == 0 {
			reply.Latency += time.Duration(n/9%900) * time.Millisecond
		}
		said := strings.ReplaceAll(prompt, galleryOffer, "")
		said = said[strings.LastIndex(said, "Response: ")+len("Response: "):]
		if said, _, _ = strings.Cut(said, "\n\n"); right[said] {
			reply.Text = "CORRECT"
		}
		if n%1201 == 0 {
			return deem.Reply{}, &deem.ModelError{Kind: deem.Timeout, Err: context.DeadlineExceeded}
		}
		return reply, nil
	}))
}

// newGallery returns a gallery in a new store.
func newGallery(t testing.TB) *gallery {
	t.Helper()
	monday := time.Date(2026, 9, 7, 9, 30, 0, 0, time.UTC)
	now := monday
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "deem.db"), sqlite.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	g := &gallery{store: st, runs: map[string]store.Run{}}
	add := func(week, day int, system, version string, shift float64, n int, j deem.Judge, file string) {
		t.Helper()
		now = monday.AddDate(0, 0, 7*week+day).Add(time.Duration(hashed(system, version)%50) * time.Minute)
		begun, pace := now, time.Duration(410+hashed("pace", system, version)%90)*time.Millisecond
		items := galleryItems(system, version, shift, n)
		spec := specOf(t, j, file, n, 1)
		spec.Dataset.Hash, spec.Endpoint = fmt.Sprintf("%x", sha256.Sum256([]byte(system+version+file))), ""
		if spec.Model != "" {
			spec.Model = "openai:gpt-4o-mini"
		} else {
			pace = 9 * time.Millisecond
		}
		spec.Settings = fmt.Appendf(nil, `{"concurrency":8,"system":%q}`, system)
		run := keep(t, st, spec, j, items, func(rec *deem.Record) {
			now = begun.Add(time.Duration(rec.Position) * pace)
			for i := range rec.Calls {
				rec.Calls[i].Started = now
			}
			if v := rec.Verdict; v != nil && !spec.Judge.Rule {
				unsure := float64(hashed("sure", rec.Item.ID, rec.Item.Response)%1000) / 1000
				c := 0.99 - 0.5*math.Pow(unsure, 3)
				v.Confidence = &c
			}
		})
		name := strings.TrimSpace(system + " " + version)
		if run, err = st.Edit(t.Context(), run.ID, func(a *store.About) { a.Name = name; a.Tags = []string{"weekly"} }); err != nil {
			t.Fatal(err)
		}
		g.runs[name] = run
	}
	llm := galleryJudge(t)
	const file = "household-memory.jsonl"
	add(0, 0, "atlas", "1.0", -0.12, 360, llm, file)
	add(0, 1, "notepad", "baseline", -0.3, 360, llm, file)
	add(1, 0, "atlas", "1.1", -0.10, 360, llm, file)
	add(1, 2, "borealis", "0.7", -0.06, 360, llm, file)
	add(2, 0, "atlas", "1.2", -0.14, 360, llm, file)
	add(2, 1, "compass", "", -0.2, 360, llm, file)
	add(3, 0, "atlas", "1.3", 0.05, 360, llm, file)
	add(3, 2, "borealis", "0.8", -0.02, 360, llm, file)
	add(4, 0, "atlas", "1.4", 0.05, 360, llm, file)
	add(5, 0, "atlas", "1.5", 0.07, 360, llm, file)
	add(5, 2, "borealis", "0.9", -0.01, 360, llm, file)
	add(5, 3, "atlas", "rule", 0.06, 120, match.New(), "household-sample.jsonl")
	if _, err := st.Edit(t.Context(), g.runs["atlas 1.3"].ID, func(a *store.About) {
		a.Tags, a.Note = []string{"weekly", "release"}, "First run with the new retriever."
	}); err != nil {
		t.Fatal(err)
	}
	return g
}

// scored stores a run of a judge that scores three aspects.
func (g *gallery) scored(t testing.TB) store.Run {
	t.Helper()
	j := judgeOf(t, "name: helpdesk\nprompt: \"Rate {response}.\"\naspects: {accuracy: {min: 1, max: 5, integer: true}, tone: {min: 1, max: 5, integer: true}, brevity: {min: 0, max: 1}}\n")
	begun := time.Date(2026, 11, 3, 14, 0, 0, 0, time.UTC)
	items := galleryItems("helpdesk", "", 0, 240)
	for i := range items {
		items[i].ID = "helpdesk-" + items[i].ID
	}
	return judged(t, g.store, j, "helpdesk.jsonl", items, 1, func(rec *deem.Record) {
		n := hashed(rec.Item.ID)
		accuracy, tone, brevity := float64(3+n%3-n/7%2), float64(2+n/11%4), float64(n%100)/100
		rec.Failure, rec.Verdict = nil, &deem.Verdict{
			Label: "scored", Score: ((accuracy-1)/4 + (tone-1)/4 + brevity) / 3,
			Aspects: map[string]float64{"accuracy": accuracy, "tone": tone, "brevity": brevity},
		}
		for i := range rec.Calls {
			rec.Calls[i].Started = begun.Add(time.Duration(rec.Position) * time.Second)
			if r := rec.Calls[i].Reply; r != nil {
				r.Latency, r.CostMicros = time.Duration(300+n%500+uint32(rec.Position)*4)*time.Millisecond, 210
			}
		}
	})
}

// wrong returns the first item of a category that a run of the gallery got wrong.
func (g *gallery) wrong(t testing.TB, run store.Run, category string) string {
	t.Helper()
	for rec, err := range g.store.Records(t.Context(), run.ID, store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Item.Category == category && rec.Verdict != nil && !rec.Verdict.Yes() {
			return rec.Item.ID
		}
	}
	t.Fatalf("run %s has no wrong item of category %s", run.ID, category)
	return ""
}

// label adds the labels of two people, who disagree on one item.
func (g *gallery) label(t testing.TB, run store.Run) {
	t.Helper()
	var list []store.Label
	for rec, err := range g.store.Records(t.Context(), run.ID, store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Verdict == nil || rec.Position%4 > 1 {
			continue
		}
		mistaken := *rec.Verdict.Confidence < 0.8 && rec.Position%7 == 1
		right := galleryRight(rec.Item.ID, rec.Item.Response) != mistaken
		for i, who := range []string{"anna", "bert"} {
			l := store.Label{
				Item: rec.Item.Hash(), ID: rec.Item.ID, Dataset: run.Dataset.Hash, Annotator: who, Label: "no",
				Yes: right != (i == 1 && rec.Position == 8), Labelled: run.Updated.Add(time.Duration(rec.Position) * time.Minute),
			}
			if l.Yes {
				l.Label, l.Score = "yes", 1
			}
			if i == 0 || rec.Position < 60 {
				list = append(list, l)
			}
		}
	}
	if err := g.store.PutLabels(t.Context(), list); err != nil {
		t.Fatal(err)
	}
}

// probes stores a run over probes whose judge accepts most vague answers.
func (g *gallery) probes(t testing.TB) store.Run {
	t.Helper()
	var items []deem.Item
	for i := range 360 {
		it, _ := galleryItem(i)
		items = append(items, it)
	}
	set, err := probe.Make(func(yield func(deem.Item, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}, probe.Options{Seed: 7, PerKind: 40, Kinds: []string{"vague", "other", "off-by-one", "padded", "injection", "reference", "buried"}})
	if err != nil {
		t.Fatal(err)
	}
	spec := specOf(t, galleryJudge(t), "", len(set.Probes()), 1)
	spec.Dataset = store.DatasetSpec{Names: store.ProbeNames([]string{"household-memory.jsonl"}, 7), Hash: fmt.Sprintf("%x", sha256.Sum256([]byte("probes"))), Items: len(set.Probes())}
	spec.Model, spec.Endpoint = "openai:gpt-4o-mini", ""
	run, _, err := g.store.Begin(t.Context(), spec, false)
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]uint32{"vague": 62, "other": 2, "off-by-one": 24, "padded": 9, "injection": 12, "reference": 97, "buried": 93}
	var recs []deem.Record
	for _, p := range set.Probes() {
		rec := deem.Record{Item: p.Item, Position: len(recs), Judge: "universal", Verdict: &deem.Verdict{Label: "INCORRECT"}}
		if hashed(p.ID)%100 < rates[p.Kind] {
			rec.Verdict.Label, rec.Verdict.Score = "CORRECT", 1
		}
		recs = append(recs, rec)
	}
	if err := g.store.Append(t.Context(), run.ID, recs); err != nil {
		t.Fatal(err)
	}
	if err := g.store.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	return run
}
