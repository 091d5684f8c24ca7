package probe

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"

	"deem"
)

// AddBank adds a bank of answers that people wrote. The field kind of a row, or probe, is
// the kind of the answer, and want, or probe_want, says yes if it is right; a built-in kind
// needs no want. A row without references is an answer to the one of items whose id is in
// the field of, or probe_of.
func (s *Set) AddBank(rows, items iter.Seq2[deem.Item, error]) error {
	known := map[string]*deem.Item{} // the items that the rows answer
	for row, err := range rows {
		if err != nil {
			return err
		}
		if id := field(row, "of", fieldOf); id != "" {
			known[id] = nil
		}
	}
	if len(known) > 0 {
		for it, err := range items {
			if err != nil {
				return err
			}
			if _, ok := known[it.ID]; ok {
				known[it.ID] = &it
			}
		}
	}
	seen := map[string]bool{}
	for _, p := range s.probes {
		seen[p.ID] = true
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		p, err := bankProbe(row, known)
		if err == nil && seen[p.ID] {
			err = fmt.Errorf("there are two probes %q", p.ID)
		}
		if err != nil {
			return fmt.Errorf("row %s: %w", row.ID, err)
		}
		if s.referenceField != "" && len(p.References) > 0 {
			p.Fields[s.referenceField] = p.References[0]
		}
		seen[p.ID] = true
		s.probes = append(s.probes, p)
	}
	return nil
}

// field returns the first non-empty field.
func field(it deem.Item, names ...string) string {
	for _, name := range names {
		if v := strings.TrimSpace(it.Fields[name]); v != "" {
			return v
		}
	}
	return ""
}

func bankProbe(row deem.Item, known map[string]*deem.Item) (Probe, error) {
	kind := cmp.Or(field(row, "kind", fieldKind), "bank")
	want, err := wanted(kind, field(row, "want", fieldWant))
	if err != nil {
		return Probe{}, err
	}
	it := row
	if id := field(row, "of", fieldOf); id != "" && len(row.References) == 0 {
		if known[id] == nil {
			return Probe{}, fmt.Errorf("there is no item %q to answer", id)
		}
		it = *known[id]
	}
	it.Fields = maps.Clone(it.Fields)
	for _, name := range []string{"kind", "want", "of"} {
		delete(it.Fields, name)
	}
	p := newProbe(it, kind, "", want, row.Response)
	p.ID = kind + "/" + row.ID
	return p, nil
}

// wanted reports whether an answer of a bank is right. The text may be empty for a built-in
// kind, and must not contradict it.
func wanted(kind, text string) (bool, error) {
	at := place(kind)
	var want bool
	switch strings.ToLower(text) {
	case "yes", "true", "right", "correct", "accept", "1":
		want = true
	case "no", "false", "wrong", "incorrect", "reject", "0":
	case "":
		if at < 0 {
			return false, deem.WithHint(errors.New("it does not say whether the answer is right"), "a column want says yes or no")
		}
		want = rows()[at].want
	default:
		return false, fmt.Errorf("want is %q, and neither yes nor no", text)
	}
	if at >= 0 && want != rows()[at].want {
		return false, fmt.Errorf("answers of kind %q are %s", kind, map[bool]string{true: "right", false: "wrong"}[!want])
	}
	return want, nil
}
