package board

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"deem"
	"deem/bundle"
	"deem/internal/benchmark"
	"deem/internal/labels"
	"deem/internal/reader"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/words"
	"deem/judge"
	"deem/report"
)

// How much of a row was checked, from what its file holds. Each word includes those before it.
const (
	Claimed  = "claimed"  // somebody states a number
	Rows     = "rows"     // answers and verdicts are there; somebody else judged
	Rejudged = "rejudged" // the judge of the lane judged the answers
	Answered = "answered" // the reader of the lane answered from the system's contexts
)

// A row is a run of a lane.
type row struct {
	System    string
	Assurance string
	Entry     int // in the log

	file, sha, root, signer string
	size                    int
	redacted                bool
	checks                  []bundle.Check
	notes                   []string
	lint                    []string
	history                 []string // corrections, from the log

	report report.Report
	run    store.Run
	in     *laneResult
	letter string // groups

	shown              []string // see shownFields
	questions, answers string   // hashes
	slim               []deem.Record
}

// systemFields are the fields of an item that say what the system did. They are not part of
// the question.
var systemFields = []string{
	deem.FieldTokensIn, deem.FieldTokensOut, deem.FieldLatency, deem.FieldCost, deem.FieldTrace, deem.FieldSpan,
	reader.FieldContexts, reader.FieldCut, reader.FieldStatus,
}

// read reads the records of a file that was verified: the hash of its questions, and what a
// comparison needs of each record.
func (r *row) read(_ context.Context, from io.Reader) error {
	in, err := bundle.NewReader(from)
	if err != nil {
		return err
	}
	r.System = cmp.Or(reports.SettingsOf(r.run.Spec).System, base(r.file))
	r.shown = shownFields(reports.SpecOf(r.run))
	var asked, answered chain
	seen := map[string]string{}
	again, repeated, last := 0, 0, -1
	for rec, err := range in.Records() {
		if err != nil {
			return err
		}
		if rec.Position != last {
			last = rec.Position
			q := r.question(rec.Item)
			asked.add(q)
			key := q.Question + "\n" + strings.Join(q.References, "\n")
			if other, ok := seen[key]; ok && other != q.ID && q.Question != "" {
				repeated++
			}
			seen[key] = q.ID
		}
		answered.add(deem.Item{ID: rec.Item.ID, Response: sealed(rec.Item.Response, r.redacted)})
		if slices.ContainsFunc(rec.Calls, func(c deem.Call) bool { return c.Error != "" }) && rec.Verdict != nil {
			again++
		}
		r.slim = append(r.slim, r.slimmed(rec))
	}
	r.questions, r.answers = asked.String(), answered.String()
	r.assure()
	if again > 0 {
		r.lint = append(r.lint, words.Count(again, "item")+" asked again after a call that failed")
	}
	if repeated > 0 {
		r.lint = append(r.lint, words.Count(repeated, "question")+" asked under a second id")
	}
	return nil
}

// sealed returns the hash of a text as a redacted file has it, so that a file and its
// redacted copy have the same questions.
func sealed(text string, redacted bool) string {
	if text == "" || redacted {
		return text
	}
	return "sha256:" + hashOf([]byte(text))
}

// question returns what an item asks, without what the system did.
func (r *row) question(it deem.Item) deem.Item {
	q := deem.Item{ID: it.ID, Category: it.Category, Cluster: it.Cluster, Weight: it.Weight, Question: sealed(it.Question, r.redacted)}
	for _, ref := range it.References {
		q.References = append(q.References, sealed(ref, r.redacted))
	}
	for name, text := range it.Fields {
		if slices.Contains(systemFields, name) || r.shown != nil && !slices.Contains(r.shown, name) {
			continue
		}
		if q.Fields == nil {
			q.Fields = map[string]string{}
		}
		q.Fields[name] = sealed(text, r.redacted)
	}
	return q
}

// shownFields returns the fields of an item that the judge or reader of a lane may show, or
// nil if that is not known. Other fields are the submitter's notes.
func shownFields(s judge.Spec) []string {
	list := []string{}
	switch {
	case s.Declaration != nil:
		for _, name := range s.Declaration.Fields() {
			list = append(list, strings.TrimSuffix(name, "?"))
		}
	case s.Reader != nil:
		list = append(list, reader.FieldDate, reader.FieldSpeakers)
	case s.Kind == judge.KindRule:
		list = append(list, benchmark.OptionsField)
	case len(s.Members) == 0:
		return nil
	}
	for _, m := range s.Members {
		more := shownFields(m.Judge)
		if more == nil {
			return nil
		}
		list = append(list, more...)
	}
	return list
}

// slimmed returns what a comparison needs of a record.
func (r *row) slimmed(rec deem.Record) deem.Record {
	q := r.question(rec.Item)
	q.Fields = nil
	s := deem.Record{Item: q, Position: rec.Position, Judge: rec.Judge, Trial: rec.Trial, Failure: rec.Failure}
	if v := rec.Verdict; v != nil {
		s.Verdict = &deem.Verdict{Label: v.Label, Score: v.Score, Pass: v.Pass}
	}
	return s
}

// A chain is a hash over items.
type chain [sha256.Size]byte

func (c *chain) add(it deem.Item) { *c = sha256.Sum256(append(c[:], it.Hash()...)) }

func (c *chain) String() string { return hex.EncodeToString(c[:]) }

// assure sets what the file shows about how the number came about.
func (r *row) assure() {
	spec := reports.SpecOf(r.run)
	switch kind := reports.Grader(spec).Kind; {
	case kind == judge.KindRecorded || kind == labels.Kind:
		r.Assurance = Rows
	case spec.Kind == judge.KindAnswer:
		r.Assurance = Answered
	default:
		r.Assurance = Rejudged
	}
}

// parts returns what a lane fixes: the hashes of judge and reader, and the budget.
func (r *row) parts() (judgeHash, readerHash string, budget int) {
	spec := reports.SpecOf(r.run)
	judgeHash = reports.GraderHash(r.run)
	if spec.Kind != judge.KindAnswer {
		return judgeHash, "", 0
	}
	readerHash, _ = deem.Hash(spec.Members[0].Judge) //nolint:errcheck // It was read from JSON.
	if by, err := reader.FromSpec(spec.Members[0].Judge); err == nil {
		budget = by.Contexts.Tokens
	}
	return judgeHash, readerHash, budget
}

// place finds the lane of a row. It describes the problem if there is none. The reader of a
// floor or ceiling may be another, such as one that always refuses.
func (r *row) place(lanes []*laneResult) string {
	judged, by, budget := r.parts()
	closest := ""
	for _, l := range lanes {
		switch same := l.Questions == r.questions && l.Judge == judged && l.Budget == budget; {
		case same && l.Reader == by:
			r.in = l
			return ""
		case same && by != "" && l.Reader != "" && l.isLine(r.System) != "":
			r.in = l
			return ""
		case l.Questions == r.questions:
			closest = fmt.Sprintf("; lane %q asks the same questions, with judge %s, reader %s and budget %d", l.Name, l.Judge, cmp.Or(l.Reader, "none"), l.Budget)
		}
	}
	return fmt.Sprintf("no lane has questions %s, judge %s, reader %s and budget %d%s", r.questions, judged, cmp.Or(by, "none"), budget, closest)
}

// corrections lists what the log says about the file before and after its first entry.
func (r *row) corrections(log *history) {
	for i, e := range log.entries {
		if e.File != r.file {
			continue
		}
		text := fmt.Sprintf("entry %d: %s", i, e.Action)
		if e.Reason != "" {
			text += ", because " + e.Reason
		}
		r.history = append(r.history, text)
	}
}

// isLine returns "floor" or "ceiling" for a system that is drawn as a line, else "".
func (l lane) isLine(system string) string {
	switch {
	case slices.Contains(l.Floors, system):
		return "floor"
	case slices.Contains(l.Ceilings, system):
		return "ceiling"
	}
	return ""
}

// An Identity is what a lane of board.yaml says about its runs.
type Identity struct {
	System    string `json:"system"`
	Assurance string `json:"assurance"`
	Questions string `json:"questions"`
	Judge     string `json:"judge"`
	Reader    string `json:"reader,omitempty"`
	Budget    int    `json:"budget,omitempty"`
}

// Identify returns what the lane of a run file must say. The file must be right.
func Identify(ctx context.Context, file []byte) (Identity, error) {
	v, err := Verify(ctx, file, "")
	if err != nil {
		return Identity{}, err
	}
	if !v.OK() || v.Found == nil {
		return Identity{}, fmt.Errorf("the run file is not right: %s", wrong(v))
	}
	r := &row{file: "the run", run: v.Found.Run, redacted: v.Header.Redacted}
	if err := r.read(ctx, bytes.NewReader(file)); err != nil {
		return Identity{}, err
	}
	id := Identity{System: r.System, Assurance: r.Assurance, Questions: r.questions}
	id.Judge, id.Reader, id.Budget = r.parts()
	return id, nil
}
