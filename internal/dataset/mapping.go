package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/rows"
	"deem/internal/text"
)

// A Mapping assigns columns to parts of an item, if the names of the columns do not: from a
// part ("question", "references", "field.evidence") to the name of a column or a dotted
// path into one.
type Mapping map[string]string

// The parts of an item that columns can be mapped to.
const (
	toID         = "id"
	toCategory   = "category"
	toCluster    = "cluster"
	toQuestion   = "question"
	toReferences = "references"
	toResponse   = "response"
	toMessages   = "messages"
	toWeight     = "weight"
	toFields     = "fields"

	fieldPrefix  = "field."  // of a part, for example field.evidence=ev
	columnPrefix = "fields." // of a column, as tables spell members of "fields"
)

// targets are the parts in the order in which they are listed and bound.
var targets = []string{toID, toCategory, toCluster, toQuestion, toReferences, toResponse, toMessages, toWeight, toFields}

// parts maps plain column names to parts of an item.
var parts = func() map[string]string {
	m := map[string]string{}
	for _, c := range rows.Columns() {
		if !slices.Contains(targets, c.Target) {
			continue
		}
		for _, name := range slices.Concat(c.Names, c.Also) {
			m[rows.Plain(name)] = c.Target
		}
	}
	return m
}()

// ParseMapping parses a mapping from the command line, for example
// "question=q,response=meta.output,field.evidence=ev". A column name with a comma or with
// surrounding spaces must be in double quotes.
func ParseMapping(s string) (Mapping, error) {
	m := Mapping{}
	for rest := strings.TrimSpace(s); rest != ""; {
		target, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, deem.WithHint(fmt.Errorf("mapping %q: no = in %q", s, rest), "write it as question=COLUMN,response=COLUMN")
		}
		after = strings.TrimLeft(after, " \t")
		var column string
		if strings.HasPrefix(after, `"`) {
			quoted, err := strconv.QuotedPrefix(after)
			if err != nil {
				return nil, fmt.Errorf("mapping %q: a quote is not closed in %s", s, after)
			}
			if column, err = strconv.Unquote(quoted); err != nil {
				return nil, fmt.Errorf("mapping %q: %s is not a quoted name: %w", s, quoted, err)
			}
			rest = strings.TrimLeft(after[len(quoted):], " \t")
			if rest != "" && rest[0] != ',' {
				return nil, fmt.Errorf("mapping %q: %q follows the quoted name %s", s, rest, quoted)
			}
		} else {
			end := strings.IndexByte(after, ',')
			if end < 0 {
				end = len(after)
			}
			column, rest = strings.TrimSpace(after[:end]), after[end:]
		}
		rest = strings.TrimSpace(strings.TrimPrefix(rest, ","))
		if err := m.add(strings.TrimSpace(target), column); err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

// add adds one pair under the canonical name of its target.
func (m Mapping) add(target, column string) error {
	if target == oneReference {
		target = toReferences
	} else if name, ok := strings.CutPrefix(target, columnPrefix); ok {
		target = fieldPrefix + name
	}
	if before, ok := m[target]; ok {
		return fmt.Errorf("mapping: %s is taken from two columns, %q and %q", target, before, column)
	}
	m[target] = column
	return nil
}

// check rejects unknown parts and columns without a name.
func (m Mapping) check() error {
	for _, target := range m.targets() {
		field, isField := strings.CutPrefix(target, fieldPrefix)
		switch {
		case isField && field == "":
			return fmt.Errorf("mapping: %q names no field", target)
		case !isField && !slices.Contains(targets, target):
			err := fmt.Errorf("mapping: an item has no part %q", target)
			all := append(slices.Clone(targets), fieldPrefix+"NAME")
			meant, ok := parts[rows.Plain(target)]
			if !ok || target == rows.Answer {
				meant = text.Closest(target, targets)
			}
			if meant != "" {
				return deem.WithHint(err, "did you mean %s? the parts are %s", meant, strings.Join(all, ", "))
			}
			return deem.WithHint(err, "the parts are %s", strings.Join(all, ", "))
		case m[target] == "":
			return fmt.Errorf("mapping: %s= names no column", target)
		}
	}
	return nil
}

// targets returns the mapped parts in a fixed order.
func (m Mapping) targets() []string { return slices.Sorted(maps.Keys(m)) }

// String returns the mapping in the syntax of [ParseMapping].
func (m Mapping) String() string {
	pairs := make([]string, 0, len(m))
	for _, target := range m.targets() {
		column := m[target]
		if strings.ContainsAny(column, ",\"\\") || strings.TrimSpace(column) != column {
			column = strconv.Quote(column)
		}
		pairs = append(pairs, target+"="+column)
	}
	return strings.Join(pairs, ",")
}

// mapFlag returns the flag that maps a column, quoted for a shell.
func mapFlag(target, column string) string { return shellFlag(Mapping{target: column}) }

// shellFlag returns the flag for a mapping, quoted for a shell.
func shellFlag(m Mapping) string {
	pair := m.String()
	if strings.ContainsAny(pair, " \t\"\\'$`*?!#&;|<>(){}[]~") {
		pair = "'" + strings.ReplaceAll(pair, "'", `'\''`) + "'"
	}
	return "--map " + pair
}
