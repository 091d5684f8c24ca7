package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"

	"deem"
	"deem/internal/dataset"
	"deem/probe"
)

// addBank adds the probes of a file. A row without references is an answer to the item that
// it names.
func addBank(ctx context.Context, set *probe.Set, name string, data items, comparison string) error {
	bank, err := dataset.Open(ctx, dataset.Source{Names: []string{name}, Fields: []string{"kind", "want", "of", probe.FieldKind, probe.FieldWant, probe.FieldOf}})
	if err != nil {
		return err
	}
	defer func() { _ = bank.Close() }()
	known, err := named(bank.Items(), data)
	if err != nil {
		return err
	}
	for row, err := range bank.Items() {
		if err != nil {
			return err
		}
		p, err := bankProbe(row, known)
		if err == nil && comparison != "" && len(p.References) > 0 {
			p.Fields[comparison] = p.References[0]
		}
		if err == nil {
			err = set.Add(p)
		}
		if err != nil {
			return fmt.Errorf("%s: row %s: %w", name, row.ID, err)
		}
	}
	return nil
}

// of returns the item named by a row of a bank.
func of(row deem.Item) string { return firstOf(row.Fields, "of", probe.FieldOf) }

// firstOf returns the first non-empty field.
func firstOf(fields map[string]string, names ...string) string {
	for _, name := range names {
		if v := strings.TrimSpace(fields[name]); v != "" {
			return v
		}
	}
	return ""
}

// named returns the items of the data that are named by the rows of a bank.
func named(rows iter.Seq2[deem.Item, error], data items) (map[string]*deem.Item, error) {
	known := map[string]*deem.Item{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if id := of(row); id != "" {
			known[id] = nil
		}
	}
	if len(known) == 0 {
		return known, nil
	}
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		if _, ok := known[it.ID]; ok {
			known[it.ID] = &it
		}
	}
	return known, nil
}

// bankProbe makes a probe from a row.
func bankProbe(row deem.Item, known map[string]*deem.Item) (probe.Probe, error) {
	kind := probe.Kind(firstOf(row.Fields, "kind", probe.FieldKind))
	if kind == "" {
		kind = "bank"
	}
	want, err := wanted(kind, firstOf(row.Fields, "want", probe.FieldWant))
	if err != nil {
		return probe.Probe{}, err
	}
	it := row
	if id := of(row); id != "" && len(row.References) == 0 {
		if known[id] == nil {
			return probe.Probe{}, fmt.Errorf("there is no item %q to answer", id)
		}
		it = *known[id]
	}
	fields := maps.Clone(it.Fields)
	for _, name := range []string{"kind", "want", "of"} {
		delete(fields, name)
	}
	it.Fields = fields
	p := probe.New(it, kind, "", want, row.Response)
	p.ID = string(kind) + "/" + row.ID
	return p, nil
}

// wanted parses whether an answer of a bank is right. It is optional for built-in kinds.
func wanted(kind probe.Kind, text string) (bool, error) {
	switch strings.ToLower(text) {
	case "yes", "true", "right", "correct", "accept", "1":
		return true, nil
	case "no", "false", "wrong", "incorrect", "reject", "0":
		return false, nil
	case "":
		if want, ok := kind.Want(); ok {
			return want, nil
		}
		return false, deem.WithHint(errors.New("it does not say whether the answer is right"), "a column want says yes or no")
	default:
		return false, fmt.Errorf("want is %q, and neither yes nor no", text)
	}
}
