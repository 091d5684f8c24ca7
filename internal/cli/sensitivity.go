package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/benchmark"
	"deem/internal/catalog"
	"deem/internal/doc"
	"deem/internal/published"
	"deem/internal/reports"
	"deem/internal/reports/sensitivity"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/words"
	"deem/judge"
	"deem/report"
)

// A study collects the verdicts of several judges on several systems' responses.
type study struct {
	app      *app
	store    store.Store
	o        rejudgeOptions
	judgings []catalog.Choice

	systems []studySystem
}

// A studySystem is a system with a column of verdicts for each judge.
type studySystem struct {
	checkedSystem
	columns map[int]column // by the index of the judge
	metrics benchmark.Metrics
	notes   []string
}

// A column is the verdicts of one judge on one system.
type column struct {
	run      store.Run
	report   report.Report
	verdicts []*deem.Verdict // by position
	reading  string          // of a judge that is shown under all its readings
}

// The indices of the judges that make no calls. Judges that are called follow, two indices
// each: under the current reading, and under the other one.
const (
	atPublished = iota
	atReread
	atRejudged
)

// add adds one system: the recorded verdicts, which are stored as a run, its replies read
// again, and the verdicts of the judges that are called now.
func (s *study) add(ctx context.Context, checked checkedSystem) error {
	sys := studySystem{checkedSystem: checked, columns: map[int]column{}}
	if sys.set.Trials() > 0 {
		run, err := s.keep(ctx, &sys)
		if err != nil {
			return err
		}
		f, err := reports.Of(ctx, s.store, run, reports.Options{MaxUnjudged: s.o.run.maxUnjudged})
		if err != nil {
			return err
		}
		sys.metrics = f.Published
		if b, ok := benchmark.All().Named(sys.set.Benchmark); ok && b.Note != "" {
			sys.notes = append(sys.notes, b.Note)
		}
		sys.columns[atPublished] = column{run: run, report: f.Report, verdicts: majority(sys.set)}
	}
	if sys.set.Replies() > 0 {
		s.reread(&sys)
	}
	o := s.o.run
	o.responses, o.system, o.systemModel = sys.set.Names(), sys.name, sys.set.SystemModel
	if b, ok := benchmark.All().Named(sys.set.Benchmark); ok {
		o.benchmark = &b
	}
	for i, j := range s.judgings {
		id, _, err := s.app.judgeAll(ctx, s.store, j, sys.set, o)
		if err != nil {
			return err
		}
		run, err := s.store.Run(ctx, id)
		if err != nil {
			return err
		}
		f, err := reports.Of(ctx, s.store, run, reports.Options{MaxUnjudged: o.maxUnjudged})
		if err != nil {
			return err
		}
		if sys.metrics == nil {
			sys.metrics = f.Published
		}
		c := column{run: run, report: f.Report, verdicts: make([]*deem.Verdict, sys.set.Len())}
		for rec, err := range s.store.Records(ctx, id, store.Query{Trial: new(int), Brief: true}) {
			if err != nil {
				return err
			}
			c.verdicts[rec.Position] = rec.Verdict
		}
		if s.o.readings {
			if err := s.otherReading(ctx, &sys, i, &c); err != nil {
				return err
			}
		}
		sys.columns[atRejudged+2*i] = c
	}
	s.systems = append(s.systems, sys)
	return nil
}

// keep writes the recorded verdicts to the store, unless they are there already. A judge
// with recorded replies used a model, even if its name is unknown.
func (s *study) keep(ctx context.Context, sys *studySystem) (store.Run, error) {
	set := sys.set
	identity, err := deem.Canonical(set.Identity())
	if err != nil {
		return store.Run{}, err
	}
	hash, err := deem.Hash(set.Identity())
	if err != nil {
		return store.Run{}, err
	}
	spec := store.Spec{
		Judge:   store.JudgeSpec{Name: set.JudgeName(), Hash: hash, Identity: identity, Rule: set.Replies() == 0},
		Dataset: store.DatasetSpec{Names: set.Names(), Hash: set.Hash(), Items: set.Len()},
		Trials:  max(1, set.Trials()),
	}
	if !spec.Judge.Rule {
		spec.Model = set.JudgeModel
	}
	with := maps.Clone(s.o.run.judge.With)
	delete(with, "category5") // Recorded verdicts on category 5 did not use that policy.
	spec.Settings, err = json.Marshal(reports.Settings{
		Benchmark: set.Benchmark, Data: s.o.run.data, Responses: set.Names(), System: sys.name, SystemModel: set.SystemModel, With: with,
	})
	if err != nil {
		return store.Run{}, err
	}
	kept, had, err := run.Record(ctx, s.store, spec, set.Records(), s.o.run.Fresh)
	switch {
	case err != nil:
		return kept, err
	case had:
		s.app.say("run %s holds what %s recorded", kept.ID, sys.name)
	default:
		s.app.say("run %s: %s of %s recorded by %s", kept.ID, words.Count(set.Len(), "item"), sys.name, spec.Judge.Name)
	}
	return kept, nil
}

// majority returns the verdict of the recorded judge on each item: a single verdict, or the
// majority of several.
func majority(set *published.Set) []*deem.Verdict {
	list := make([]*deem.Verdict, set.Len())
	sums, counts := make([]float64, set.Len()), make([]int, set.Len())
	for rec := range set.Records() {
		if rec.Verdict == nil {
			continue
		}
		if list[rec.Position] == nil {
			list[rec.Position] = new(*rec.Verdict)
		}
		sums[rec.Position] += rec.Verdict.Score
		counts[rec.Position]++
	}
	for i, v := range list {
		if v != nil && counts[i] > 1 {
			v.Score = sums[i] / float64(counts[i])
			v.Pass = new(v.Score >= 0.5)
		}
	}
	return list
}

// A menu is a set of labels that judges are offered, right ones first.
type menu struct {
	labels []string
	form   *judge.Form
}

// menus are the usual ones. A reply is read if it is the label alone, ends with the line
// that such prompts demand, or has a JSON object with the label under a usual key.
var menus = []menu{
	menuOf("{label}", "yes", "no"),
	menuOf("{label}", "CORRECT", "WRONG"),
	menuOf("{label}", "CORRECT", "INCORRECT"),
	menuOf("{label}", "PASS", "FAIL"),
	menuOf("{label}", "EQUIVALENT", "DIFFERENT"),
	menuOf("GRADE: {label}", "C", "I", "P"),
}

func menuOf(line string, labels ...string) menu { return menu{labels, judge.MustForm(line, labels...)} }

// find finds the label of a reply.
func (m menu) find(rec deem.Record) (judge.Found, error) {
	reply := rec.Calls[0].Reply.Text
	found, err := m.form.Read(rec.Item, reply)
	if err == nil {
		return found, nil
	}
	for _, match := range labelObject.FindAllStringSubmatch(judge.Answer(reply), -1) {
		i := slices.IndexFunc(m.labels, func(l string) bool { return strings.EqualFold(l, strings.TrimSpace(match[1])) })
		switch {
		case judge.Quotes(rec.Item, match[0]):
			return judge.Found{}, deem.Failf(deem.Contradictory, "the object with the label also stands in the item")
		case i < 0:
		case found.Label != "" && found.Label != m.labels[i]:
			return judge.Found{}, deem.Failf(deem.Contradictory, "the reply says %s and %s", found.Label, m.labels[i])
		default:
			found.Label, err = m.labels[i], nil
		}
	}
	return found, err
}

// labelObject matches a JSON object with a label. Many published prompts let the model
// explain before it.
var labelObject = regexp.MustCompile(`\{[^{}]*"(?:label|verdict|judge?ment)"\s*:\s*"([^"]*)"[^{}]*\}`)

// readAgain reads the reply of a record strictly.
func readAgain(rec deem.Record, m menu) (*deem.Verdict, *deem.Failure) {
	found, err := m.find(rec)
	if err != nil {
		f, ok := errors.AsType[*deem.Failure](err)
		if !ok {
			f = deem.Failf(deem.Unparseable, "%v", err)
		}
		return nil, f
	}
	v := &deem.Verdict{Label: found.Label}
	switch slices.Index(m.labels, found.Label) {
	case 0:
		v.Score = 1
	case 2:
		v.Score = 0.5
	}
	return v, nil
}

// reread reads the replies of the file again.
func (s *study) reread(sys *studySystem) {
	const most = 200
	best, found := menus[0], -1 // the labels with which most of the replies can be read
	for _, m := range menus {
		seen, read := 0, 0
		for rec := range sys.set.Records() {
			if len(rec.Calls) == 0 || seen == most {
				continue
			}
			seen++
			if v, _ := readAgain(rec, m); v != nil {
				read++
			}
		}
		if read > found {
			best, found = m, read
		}
	}
	b := report.New(report.Head{
		Judge: sensitivity.Reread, JudgeKind: judge.KindModel, Items: sys.set.Len(), MaxUnjudged: &s.o.run.maxUnjudged, Complete: true,
	})
	verdicts := make([]*deem.Verdict, sys.set.Len())
	left := 0
	for rec := range sys.set.Records() {
		switch {
		case rec.Trial > 0:
			continue
		case len(rec.Calls) == 0:
			left++
			continue
		}
		rec.Verdict, rec.Failure = readAgain(rec, best)
		verdicts[rec.Position] = rec.Verdict
		b.Add(rec)
	}
	if left > 0 {
		sys.notes = append(sys.notes, fmt.Sprintf("%s without a reply, which cannot be read again", words.Count(left, "record")))
	}
	sys.notes = append(sys.notes, "re-read is what the replies in the file say when they are read strictly, as "+strings.Join(best.labels, " or "))
	sys.columns[atReread] = column{report: b.Report(), verdicts: verdicts}
}

// otherReading reads the replies to a judge under its other reading, if it has one. That
// costs nothing.
func (s *study) otherReading(ctx context.Context, sys *studySystem, i int, c *column) error {
	p, err := reports.Protocol(c.run)
	if err != nil || p == nil {
		return err
	}
	other := p.Reread()
	if other == nil {
		return nil
	}
	head := reports.Head(c.run, s.o.run.maxUnjudged)
	head.Reading = other.Reading()
	b := report.New(head)
	verdicts := make([]*deem.Verdict, sys.set.Len())
	for rec, err := range s.store.Records(ctx, c.run.ID, store.Query{WithCalls: true}) {
		if err != nil {
			return err
		}
		if v, f, ok := reports.Reread(other, rec); ok {
			rec.Verdict, rec.Failure = v, f
		}
		if rec.Trial == 0 {
			verdicts[rec.Position] = rec.Verdict
		}
		b.Add(rec)
	}
	c.reading = p.Reading()
	sys.columns[atRejudged+2*i+1] = column{run: c.run, report: b.Report(), verdicts: verdicts, reading: other.Reading()}
	return nil
}

func (s *study) build() sensitivity.Report {
	var places []int // the judges that at least one system has
	var judges []sensitivity.Judge
	for place := range atRejudged + 2*len(s.judgings) {
		if !slices.ContainsFunc(s.systems, func(sys studySystem) bool { _, ok := sys.columns[place]; return ok }) {
			continue
		}
		c := s.systems[0].columns[place]
		j := sensitivity.Judge{Name: c.run.Judge.Name, Kind: sensitivity.Rejudged, Model: c.run.Model, Hash: c.run.Judge.Hash, Reading: c.reading}
		switch place {
		case atPublished:
			j = sensitivity.Judge{Name: sensitivity.Published, Kind: sensitivity.Published}
		case atReread:
			j = sensitivity.Judge{Name: sensitivity.Reread, Kind: sensitivity.Reread}
		}
		places, judges = append(places, place), append(judges, j)
	}
	b := sensitivity.New(judges)
	for _, sys := range s.systems {
		part := b.System(sys.head())
		for i, place := range places {
			c, ok := sys.columns[place]
			if !ok {
				continue
			}
			r := c.report
			score := sensitivity.Score{Judge: i, Run: c.run.ID, Items: r.Items, Unjudged: r.Unjudged, Withheld: r.Hold != nil}
			if len(r.Metrics) > 0 {
				m := r.Metrics[0] // With several trials it is the mean of all.
				score.Estimate, score.Lo, score.Hi = m.Judged, m.Band.Lo, m.Band.Hi
				score.Undecided, score.Decided = m.Undecided, m.Decided
				score.Passes = m.Metric == doc.PassRate
			}
			part.Score(score)
		}
		position := 0
		for it := range sys.set.Items() {
			verdicts := make([]*deem.Verdict, len(places))
			for i, place := range places {
				if c, ok := sys.columns[place]; ok {
					verdicts[i] = c.verdicts[position]
				}
			}
			part.Add(it, verdicts)
			position++
		}
	}
	r := b.Report()
	// How the judges of one benchmark differ from the first of them.
	var first *column
	for i, place := range places {
		c, ok := s.systems[0].columns[place]
		if !ok || judges[i].Kind != sensitivity.Rejudged {
			continue
		}
		if first == nil {
			first = &c
		}
		if note := reports.Differ(first.run, c.run); note != "" && !slices.Contains(r.Notes, note) {
			r.Notes = append(r.Notes, note)
		}
	}
	return r
}

// head returns the description of a system before items are added.
func (sys studySystem) head() sensitivity.System {
	set := sys.set
	out := sensitivity.System{Name: sys.name, Claims: make([]sensitivity.Claim, len(sys.checks)), Notes: set.Notes()}
	for i, c := range sys.checks {
		out.Claims[i] = sensitivity.Claim{
			Name: c.Name, Claimed: c.Text, Value: c.Value, Given: c.Given, Share: c.Share, Right: c.Right, N: c.N,
			Counted: c.Counted, Agrees: c.Agrees, How: c.How, Because: c.Because, Main: c.Main(),
		}
	}
	for _, f := range set.Findings() {
		if f.Kind != published.FoundNumber || f.Claim == "" { // The report has a table of claims.
			out.Notes = append(out.Notes, f.Text)
		}
	}
	out.Notes = append(out.Notes, sys.notes...)
	out.Source = sensitivity.Source{
		Files: set.Names(), Shape: set.Shape, Columns: set.Columns, Rule: set.Rule, LeftOut: set.LeftOut, Replies: set.Replies(), Trials: set.Trials(),
	}
	if set.Trials() > 0 {
		out.Source.Judge, out.Source.Model = set.JudgeName(), set.JudgeModel
		out.Source.Hash = sys.columns[atPublished].run.Judge.Hash
	}
	for _, a := range set.Aspects() {
		out.Also = append(out.Also, sensitivity.Aspect{Name: a.Name, Mean: a.Mean, N: a.N})
	}
	return out
}

// show prints the report, and returns the error that determines the exit code.
func (s *study) show(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := s.build()
	if err := s.print(r); err != nil {
		return err
	}
	if s.o.html != "" {
		if err := writeWhole(s.o.html, r.HTML); err != nil {
			return err
		}
		s.app.say("wrote %s", s.o.html)
	}
	if wrong := r.Disagreeing(); len(wrong) > 0 {
		c := wrong[0]
		err := fmt.Errorf("%w: %s is claimed to be %s, and the rows give %s", errClaim, words.Printable(c.Name), words.Printable(c.Claimed), c.Rows())
		if more := len(wrong) - 1; more > 0 {
			err = fmt.Errorf("%w; %s not confirmed either", err, words.Plural(more, "more claim is", "more claims are"))
		}
		return deem.WithHint(err, "the report says which other ways of counting were tried")
	}
	for _, sys := range s.systems {
		for place := range atRejudged + 2*len(s.judgings) {
			c, ok := sys.columns[place]
			switch {
			case !ok || c.report.Hold == nil || place == atReread: // The replies to prompts that are unknown here may have any form.
			case place < atRejudged:
				return deem.WithHint(withheld(c.report, s.o.run.maxUnjudged), "the file holds no verdict on these; --judge judges them now, and --max-unjudged allows more")
			default:
				return withheld(c.report, s.o.run.maxUnjudged)
			}
		}
	}
	return nil
}

// print prints the report followed by the benchmarks' own numbers.
func (s *study) print(r sensitivity.Report) error {
	if s.app.json {
		out := struct {
			sensitivity.Report
			Metrics map[string]any `json:"published,omitempty"` // by system, in the format of the benchmark's package
		}{Report: r, Metrics: map[string]any{}}
		for _, sys := range s.systems {
			if sys.metrics != nil {
				out.Metrics[sys.name] = sys.metrics.JSON()
			}
		}
		return writeJSON(s.app.out, out)
	}
	if err := s.app.document(r.Document()); err != nil {
		return err
	}
	for _, sys := range s.systems {
		if sys.metrics == nil || s.app.quiet {
			continue
		}
		which := ""
		if sys.set.Trials() > 1 {
			which = ", of the first verdict on each item"
		}
		if _, err := fmt.Fprintf(s.app.out, "\n%s, by the benchmark's own metrics%s\n\n", words.Printable(sys.name), which); err != nil {
			return err
		}
		write := sys.metrics.Text
		if t, ok := sys.metrics.(interface{ Table(w io.Writer) error }); ok && !s.app.verbose {
			write = t.Table
		}
		if err := write(s.app.out); err != nil {
			return err
		}
	}
	return nil
}
