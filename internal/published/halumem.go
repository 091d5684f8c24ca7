package published

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/rows"
	"deem/judge"
)

// haluMemLists are the lists in a file of HaluMem's results.
var haluMemLists = []string{"memory_integrity_records", "memory_accuracy_records", "memory_update_records", "question_answering_records"}

const (
	haluMem = "halumem" // the name of the benchmark

	shapeHaluMem   = "judged results of HaluMem"
	shapeHaluMemIn = "HaluMem evaluation input"
)

func isHaluMem(c *content) bool { return slices.ContainsFunc(haluMemLists, c.pieces[0].Has) }

func isHaluMemInput(c *content) bool {
	return c.pieces[0].Has("uuid") && c.pieces[0].Member("sessions").Kind == rows.List
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
		text := p.AppendJSON(nil)
		for rec, err := range b.ReadResults(ctx, bytes.NewReader(text), p.File, judge.Upstream) {
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
	counted, err := rows.Parse(buf.Bytes())
	if err != nil {
		return fmt.Errorf("HaluMem's own numbers: %w", err)
	}
	s.stats = map[string]float64{}
	flatten(counted.Member("overall_score"), "", func(path string, v rows.Node) {
		if x, ok := v.Float(); ok {
			s.stats[path] = x
		}
	})
	if len(c.pieces) != 1 {
		return nil
	}
	flatten(c.pieces[0].Member("overall_score"), "", func(path string, v rows.Node) {
		if !strings.HasPrefix(path, "time_consuming") {
			s.addClaim(path, v, measure{stat: statBenchmark, aspect: path})
		}
	})
	return nil
}

// flatten calls visit with every number of an object and its path.
func flatten(n rows.Node, path string, visit func(path string, v rows.Node)) {
	for i, key := range n.Keys {
		here := strings.TrimPrefix(path+"."+key, ".")
		switch v := n.Vals[i]; v.Kind {
		case rows.Object:
			flatten(v, here, visit)
		case rows.Number:
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
			text = append(p.AppendJSON(text), '\n')
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
