package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"deem"
)

// A Row is one item that somebody has judged.
type Row struct {
	Item  deem.Item
	Right bool
	From  string // the system or run that gave the response
}

// line is a line of a labelled file. A reference is a text, a number or a list of
// them; the label is a person's, a judge's, or that of several judges.
type line struct {
	System, Run, Question, Response string
	Reference                       any
	HumanLabel                      *bool  `json:"human_label"`
	JudgeLabel                      *bool  `json:"judge_label"`
	JudgeLabels                     []bool `json:"judge_labels"`

	// Improper marks a question that people found to have no one answer. What they
	// then said about a response says nothing about it.
	Improper bool
}

// ReadFile reads the labelled items of a file of JSON lines, compressed if its name
// ends in .gz. Lines without a label are left out.
func ReadFile(name string) ([]Row, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	var in io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	if strings.HasSuffix(name, ".json") {
		return readScored(in, name)
	}
	return Read(in, name)
}

// readScored reads a JSON list of answers, each with the score that a person gave it.
func readScored(in io.Reader, name string) ([]Row, error) {
	var list []struct {
		Question, Answer string
		Golden           string `json:"golden_answer"`
		Metrics          map[string]struct{ Score float64 }
	}
	if err := json.NewDecoder(in).Decode(&list); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	var rows []Row
	for _, l := range list {
		for _, m := range l.Metrics {
			rows = append(rows, Row{Item: deem.Item{Question: l.Question, References: []string{l.Golden}, Response: l.Answer}, Right: m.Score >= .5})
		}
	}
	return rows, nil
}

// Read reads labelled items; name is for errors.
func Read(in io.Reader, name string) ([]Row, error) {
	var rows []Row
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, 1<<26)
	for n := 1; sc.Scan(); n++ {
		var l line
		dec := json.NewDecoder(strings.NewReader(sc.Text()))
		dec.UseNumber()
		if err := dec.Decode(&l); err != nil {
			return nil, fmt.Errorf("read %s:%d: %w", name, n, err)
		}
		right, ok := l.label()
		refs := l.references()
		if !ok || l.Improper || len(refs) == 0 {
			continue
		}
		rows = append(rows, Row{
			Item:  deem.Item{Question: l.Question, References: refs, Response: l.Response},
			Right: right, From: l.System + l.Run,
		})
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return rows, nil
}

func (l line) label() (right, ok bool) {
	switch {
	case l.HumanLabel != nil:
		return *l.HumanLabel, true
	case l.JudgeLabel != nil:
		return *l.JudgeLabel, true
	case len(l.JudgeLabels) > 0:
		yes := 0
		for _, v := range l.JudgeLabels {
			if v {
				yes++
			}
		}
		return 2*yes > len(l.JudgeLabels), true
	}
	return false, false
}

func (l line) references() []string {
	switch v := l.Reference.(type) {
	case nil:
		return nil
	case []any:
		var refs []string
		for _, ref := range v {
			refs = append(refs, fmt.Sprint(ref))
		}
		return refs
	default:
		return []string{fmt.Sprint(v)}
	}
}
