package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"deem"
	"deem/bundle"
	"deem/internal/reader"
	"deem/internal/store"
	"deem/judge"
	"deem/report"
)

// A ReaderMeter measures what a reader shows for the items of a run, and hashes the questions.
// Items come in the order of the dataset.
type ReaderMeter struct {
	by     *reader.Declaration
	what   report.Reader
	link   [sha256.Size]byte
	tokens int
	shown  int // the number of items that the reader is asked about
}

// NewReaderMeter returns the meter of a judge whose items a reader answers.
func NewReaderMeter(s judge.Spec) (*ReaderMeter, error) {
	if s.Kind != judge.KindAnswer || len(s.Members) == 0 {
		return nil, fmt.Errorf("the judge %s has no reader", s.Name)
	}
	spec := s.Members[0].Judge
	by, err := reader.FromSpec(spec)
	if err != nil {
		return nil, err
	}
	hash, err := deem.Hash(spec)
	if err != nil {
		return nil, err
	}
	return &ReaderMeter{by: by, what: report.Reader{Name: spec.Name, Hash: hash, Model: spec.Model, Budget: by.Contexts.Tokens}}, nil
}

// Add measures an item.
func (m *ReaderMeter) Add(it deem.Item) {
	asked := deem.Item{ID: it.ID, Category: it.Category, Cluster: it.Cluster, Question: it.Question, References: it.References, Weight: it.Weight}
	m.link = sha256.Sum256(append(m.link[:], asked.Hash()...))
	if tokens, ok := ShownTokens(m.by, it); ok {
		m.tokens += tokens
		m.shown++
	}
}

// Reader returns the reader with what was measured.
func (m *ReaderMeter) Reader() *report.Reader {
	r := m.what
	r.Tokens = float64(m.tokens) / float64(max(m.shown, 1))
	r.Questions = hex.EncodeToString(m.link[:])
	return &r
}

// ShownTokens returns how many tokens of contexts a reader shows for an item. It shows none
// if the retrieval failed.
func ShownTokens(by *reader.Declaration, it deem.Item) (tokens int, ok bool) {
	q, err := reader.QuestionOf(it)
	if err != nil {
		return 0, false
	}
	joined, _, err := by.Joined(q)
	return reader.Tokens(joined), err == nil
}

// A measured reporter also measures the reader of a run file, so that what the run says about
// it can be compared.
type measured struct {
	*Reporter
	meter *ReaderMeter // nil if no reader answered, or if texts were removed
	last  int
}

func newMeasured(rep *Reporter, run store.Run, redacted bool) *measured {
	m := &measured{Reporter: rep, last: -1}
	if SettingsOf(run.Spec).Reader != nil && !redacted {
		m.meter, _ = NewReaderMeter(SpecOf(run)) // A judge without a reader is another finding.
	}
	return m
}

// Add counts a record, and measures its item once.
func (m *measured) Add(rec deem.Record) {
	if m.meter != nil && rec.Position != m.last {
		m.meter.Add(rec.Item)
		m.last = rec.Position
	}
	m.Reporter.Add(rec)
}

// finding says what the run states wrongly about its reader.
func (m *measured) finding(run store.Run, out *bundle.Verification) (f bundle.Finding, wrong bool) {
	said := SettingsOf(run.Spec).Reader
	if said == nil || m.meter == nil && out.Header.Redacted || out.Items != run.Dataset.Items {
		return f, false // Of a run that has not ended not every item is in the file.
	}
	f.Check = bundle.CheckNumbers
	if m.meter == nil {
		f.Message = "the run says that a reader answered, and its judge has none"
		return f, true
	}
	is := m.meter.Reader()
	is.Arm = said.Arm
	if *is == *said {
		return f, false
	}
	f.Message = fmt.Sprintf("the run says that its items were answered by %s, questions %s; its items and its judge say %s, questions %s",
		said, deem.ShortHash(said.Questions), is, deem.ShortHash(is.Questions))
	return f, true
}
