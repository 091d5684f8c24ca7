package probe

import (
	"bytes"
	"embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"deem"
)

// The sets of the judges without references. Every case is an item with slots, and every
// record fills them: a set has as many probes as there are records, for each of its cases.
//
//go:embed sets/*.jsonl
var setFiles embed.FS

// A setCase is one kind of probe of a set.
type setCase struct {
	Judge   string            `json:"judge"`
	Records string            `json:"records"` // the file with the slot values
	Kind    string            `json:"kind"`
	Want    bool              `json:"want"`
	About   string            `json:"about"`
	Item    map[string]string `json:"item"` // question, response, and fields
}

// setCases returns all cases, in file order.
var setCases = sync.OnceValue(func() []setCase { return readLines[setCase]("cases") })

// readLines reads a file of the sets. It panics if the file is invalid: a test reads them
// all.
func readLines[T any](name string) []T {
	data, err := setFiles.ReadFile("sets/" + name + ".jsonl")
	if err != nil {
		panic("probe: " + err.Error())
	}
	var list []T
	for dec := json.NewDecoder(bytes.NewReader(data)); dec.More(); {
		var one T
		if err := dec.Decode(&one); err != nil {
			panic("probe: " + name + ": " + err.Error())
		}
		list = append(list, one)
	}
	return list
}

// Shipped returns the built-in set of probes for a judge without references, and reports
// whether there is one. It ignores the options that concern references and injections.
func Shipped(judge string, o Options) (*Set, bool) {
	set := &Set{referenceField: o.ReferenceField}
	for _, c := range setCases() {
		if c.Judge != judge || o.Kinds != nil && !slices.Contains(o.Kinds, c.Kind) {
			continue
		}
		records := readLines[map[string]string](c.Records)
		for i := range records {
			if o.PerKind > 0 && i >= o.PerKind {
				break
			}
			set.probes = append(set.probes, c.probe(records, i))
		}
	}
	return set, len(set.probes) > 0
}

// probe fills the slots of a case with a record. Slots that begin with "other_" take values
// of the next record; {others} and {more_others} are the facts of three further records
// each.
func (c setCase) probe(records []map[string]string, i int) Probe {
	at := func(n int) map[string]string { return records[(i+n)%len(records)] }
	facts := func(from int) string {
		return strings.Join([]string{at(from)["fact"], at(from + 1)["fact"], at(from + 2)["fact"]}, "\n\n")
	}
	pairs := []string{"{others}", facts(2), "{more_others}", facts(5)}
	for name, value := range at(0) {
		pairs = append(pairs, "{"+name+"}", value, "{other_"+name+"}", at(1)[name])
	}
	fill := strings.NewReplacer(pairs...)
	it := deem.Item{ID: at(0)["id"], Fields: map[string]string{}}
	for name, text := range c.Item {
		switch text = fill.Replace(text); name {
		case "question":
			it.Question = text
		case "response":
			it.Response = text
		default:
			it.Fields[name] = text
		}
	}
	return newProbe(it, c.Kind, "", c.Want, it.Response)
}
