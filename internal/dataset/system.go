package dataset

import (
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/text"
)

// systemSlots finds the columns that say what a response took the system under test. In a
// file that deem exported, columns of these names are what judging took.
func systemSlots(names []string) []fieldSlot {
	if slices.Contains(names, "judge_hash") {
		return nil
	}
	var list []fieldSlot
	for _, target := range SystemFields() {
		for _, name := range ColumnNames(target) {
			if s, ok := slotNamed(name, names); ok {
				list = append(list, fieldSlot{slot: s, name: target, source: name})
				break
			}
		}
	}
	// Langfuse exports seconds in a column whose name does not say so.
	if s, ok := slotNamed("latency", names); ok && hasAll(names, "totalcost", "timestamp") {
		list = append(list, fieldSlot{slot: s, name: deem.FieldLatency, source: "latency_s"})
	}
	return list
}

// hasAll reports whether there are columns of these plain names.
func hasAll(names []string, plain ...string) bool {
	return !slices.ContainsFunc(plain, func(p string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return PlainName(n) == p })
	})
}

// slotNamed finds a column by its plain name. A name with a dot leads into a value.
func slotNamed(name string, names []string) (slot, bool) {
	head, rest, _ := strings.Cut(name, ".")
	for _, want := range [][2]string{{name, ""}, {head, rest}} {
		plain := PlainName(want[0])
		if at := slices.IndexFunc(names, func(n string) bool { return PlainName(n) == plain }); at >= 0 {
			return slot{at, want[1]}, true
		}
	}
	return slot{}, false
}

// InMilliseconds returns the text of a value in the unit of its field: columns of seconds
// become milliseconds. A value that is not a number stays as it is, and the report says so.
func InMilliseconds(column, value string) string {
	if !strings.HasSuffix(column, "_s") && !strings.HasSuffix(column, "_sec") && !strings.HasSuffix(column, "_seconds") {
		return value
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return value
	}
	return text.Float(x * 1000)
}

// SetSystemFields enters into an item what its response took the system under test. It is
// for readers that make items themselves: get returns the value in a column, or at a path
// with dots.
func SetSystemFields(it *deem.Item, get func(path string) Value) {
	for _, field := range SystemFields() {
		for _, name := range ColumnNames(field) {
			v := get(name)
			if v.Blank() {
				continue
			}
			if it.Fields == nil {
				it.Fields = map[string]string{}
			}
			it.Fields[field] = InMilliseconds(name, v.Str())
			break
		}
	}
}

// IsSystemColumn reports whether a column may say what a response took the system.
func IsSystemColumn(column string) bool {
	plain := PlainName(column)
	for _, field := range SystemFields() {
		for _, name := range ColumnNames(field) {
			if head, _, _ := strings.Cut(name, "."); PlainName(name) == plain || PlainName(head) == plain {
				return true
			}
		}
	}
	return false
}
