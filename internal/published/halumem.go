package published

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/judge"
)

// haluMemLists are the lists in a file of HaluMem's results.
var haluMemLists = []string{"memory_integrity_records", "memory_accuracy_records", "memory_update_records", "question_answering_records"}

const (
	haluMem = "halumem" // the name of the benchmark

	shapeHaluMem   = "judged results of HaluMem"
	shapeHaluMemIn = "HaluMem evaluation input"
)

func isHaluMem(c *content) bool { return slices.ContainsFunc(haluMemLists, c.pieces[0].has) }

func isHaluMemInput(c *content) bool {
	return c.pieces[0].has("uuid") && c.pieces[0].member("sessions").kind == list
}

// readHaluMem reads judged results of HaluMem, as the benchmark itself reads them.
func (s *Set) readHaluMem(ctx context.Context, _ Source, c *content) error {
	b, ok := benchmark.All().Named(haluMem)
	if !ok {
		return errors.New("this program does not know the benchmark HaluMem")
	}
	s.Shape, s.Benchmark = shapeHaluMem, haluMem
	s.Rule = "each stage counts by HaluMem's own rules"
	s.identity = map[string]string{"benchmark": haluMem, "reading": judge.Upstream}
	for _, p := range c.pieces {
		text := p.appendJSON(nil)
		for rec, err := range b.ReadResults(ctx, bytes.NewReader(text), p.file, judge.Upstream) {
			if err != nil {
				return deem.WithHint(err, "a row has uuid and ssession_id, and its list says which stage it is of")
			}
			rec.Position = len(s.items)
			s.items = append(s.items, rec.Item)
			s.records = append(s.records, rec)
		}
	}
	var buf bytes.Buffer
	records := func(yield func(deem.Record, error) bool) {
		for _, rec := range s.records {
			if !yield(rec, nil) {
				return
			}
		}
	}
	if _, err := b.WriteResults(ctx, &buf, benchmark.Finished{Options: benchmark.Options{Reading: judge.Upstream}, Judge: haluMem, Records: records}); err != nil {
		return err
	}
	counted, err := parse(buf.Bytes())
	if err != nil {
		return fmt.Errorf("HaluMem's own numbers: %w", err)
	}
	s.stats = map[string]float64{}
	flatten(counted.member("overall_score"), "", func(path string, v node) {
		if x, ok := v.float(); ok {
			s.stats[path] = x
		}
	})
	if len(c.pieces) != 1 {
		return nil
	}
	flatten(c.pieces[0].member("overall_score"), "", func(path string, v node) {
		if !strings.HasPrefix(path, "time_consuming") {
			s.addClaim(path, v, measure{stat: statBenchmark, aspect: path})
		}
	})
	return nil
}

// flatten calls visit with every number of an object and its path.
func flatten(n node, path string, visit func(path string, v node)) {
	for i, key := range n.keys {
		here := strings.TrimPrefix(path+"."+key, ".")
		switch v := n.vals[i]; v.kind {
		case object:
			flatten(v, here, visit)
		case number:
			visit(here, v)
		}
	}
}

// readHaluMemInput reads what a system extracted and answered, without verdicts.
func (s *Set) readHaluMemInput(ctx context.Context, _ Source, c *content) error {
	b, ok := benchmark.All().Named(haluMem)
	if !ok {
		return errors.New("this program does not know the benchmark HaluMem")
	}
	s.Shape, s.Benchmark = shapeHaluMemIn, haluMem
	o := benchmark.Options{Data: c.files}
	if slices.Contains(c.files, "-") {
		var text []byte
		for _, p := range c.pieces {
			text = append(p.appendJSON(text), '\n')
		}
		o.Data, o.Stdin = []string{"-"}, bytes.NewReader(text)
	}
	set, err := b.Open(ctx, o)
	if err != nil {
		return deem.WithHint(err, "%s", cmp.Or(deem.HintOf(err), "the file is read as a system's results on HaluMem: uuid, sessions, memory_points, extracted_memories, questions"))
	}
	defer func() { _ = set.Close() }()
	for it, err := range set.Items() {
		if err != nil {
			return err
		}
		s.items = append(s.items, it)
	}
	s.notes = append(s.notes, set.Notes()...)
	return nil
}

// appendJSON writes the value as JSON, in the order of the file.
func (n node) appendJSON(to []byte) []byte {
	switch n.kind {
	case boolean, number:
		return append(to, n.text...)
	case str:
		return appendString(to, n.text)
	case list:
		to = append(to, '[')
		for i, v := range n.vals {
			if i > 0 {
				to = append(to, ',')
			}
			to = v.appendJSON(to)
		}
		return append(to, ']')
	case object:
		to = append(to, '{')
		for i, key := range n.keys {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendString(to, key), ':')
			to = n.vals[i].appendJSON(to)
		}
		return append(to, '}')
	}
	return append(to, "null"...)
}

func appendString(to []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // every string can be marshaled
	}
	return append(to, text...)
}
