package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"deem"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/stat"
)

// text returns the schema of a string, with the allowed values if there are any.
func text(values ...string) node {
	n := node{"type": "string"}
	if len(values) > 0 {
		n["enum"] = values
	}
	return n
}

// whole returns the schema of an integer.
func whole(least, most int) node {
	return node{"type": "integer", "minimum": least, "maximum": most}
}

// truth returns the schema of a boolean.
func truth() node { return node{"type": "boolean"} }

// schemas generates JSON Schemas from the types of requests and responses, so that the
// document cannot contradict the code. The schemas of structs are named and defined once.
type schemas struct {
	named node
	names map[reflect.Type]string
}

// node returns a schema unchanged, and for every other value the schema of its type.
func (b *schemas) node(v any) node {
	if n, ok := v.(node); ok {
		return n
	}
	return b.of(reflect.TypeOf(v))
}

// special has the schemas of types whose JSON differs from that of their kind.
var special = map[reflect.Type]node{
	reflect.TypeFor[time.Time]():       {"type": "string", "format": "date-time"},
	reflect.TypeFor[time.Duration]():   {"type": "integer", "description": "Nanoseconds."},
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[dollarSum](): {
		"description": "US dollars, as 1.5 or \"1.50\", with at most six decimals.", "type": []string{"number", "string"},
		"minimum": 0, "maximum": 1_000_000, "pattern": `^\$?[0-9]+(\.[0-9]{1,6})?$`,
	},
	reflect.TypeFor[deem.Kind]():   {"type": "string", "enum": append(deem.Kinds(), store.Unfinished)},
	reflect.TypeFor[store.State](): {"type": "string", "enum": []store.State{store.Open, store.Done}},
}

// of returns the schema of a type.
func (b *schemas) of(t reflect.Type) node {
	if n, ok := special[t]; ok {
		return n
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.of(t.Elem())
	case reflect.String:
		return node{"type": "string"}
	case reflect.Bool:
		return node{"type": "boolean"}
	case reflect.Float64:
		return node{"type": "number"}
	case reflect.Slice:
		return node{"type": "array", "items": b.of(t.Elem())}
	case reflect.Map:
		return node{"type": "object", "additionalProperties": b.of(t.Elem())}
	case reflect.Interface:
		return node{}
	case reflect.Struct:
		return node{"$ref": "#/components/schemas/" + b.define(t)}
	default:
		return node{"type": "integer"}
	}
}

// define generates the schema of a struct, once, and returns its name.
func (b *schemas) define(t reflect.Type) string {
	if name, ok := b.names[t]; ok {
		return name
	}
	name, ok := schemaNames[t]
	if !ok {
		name = strings.TrimSuffix(strings.ToUpper(t.Name()[:1])+t.Name()[1:], "Out")
		if strings.HasSuffix(t.PkgPath(), "/report") && name != "Report" {
			name = "Report" + name
		}
	}
	for other, taken := range b.names {
		if taken == name {
			panic(fmt.Sprintf("api: %v and %v are both called %s in the document", other, t, name))
		}
	}
	b.names[t] = name
	properties, required := node{}, []string{}
	b.fields(t, name, properties, &required)
	n := node{"type": "object", "properties": properties}
	if len(required) > 0 {
		n["required"] = required
	}
	if about := abouts[name]; about != "" {
		n["description"] = about
	}
	if closed[name] {
		n["additionalProperties"] = false
	}
	b.named[name] = n
	return name
}

// fields adds the members of a struct, and of the structs that it embeds.
func (b *schemas) fields(t reflect.Type, name string, properties node, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && key == "":
			b.fields(f.Type, name, properties, required)
			continue
		case key == "-" || !f.IsExported():
			continue
		case key == "":
			key = f.Name
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		n := b.of(f.Type)
		if v, ok := insides[name+"."+key]; ok {
			n = b.node(v)
		}
		// Numbers of an estimate are null if the data do not allow them.
		missing := t == reflect.TypeFor[stat.Estimate]() && (key == "value" || key == "lo" || key == "hi")
		if f.Type.Kind() == reflect.Pointer && !optional || missing {
			n = node{"anyOf": []node{n, {"type": "null"}}}
		}
		if about := abouts[name+"."+key]; about != "" {
			n = maps.Clone(n)
			n["description"] = about
		}
		properties[key] = n
		if !optional && !closed[name] || needed[name+"."+key] {
			*required = append(*required, key)
		}
	}
}

// schemaNames has the types whose name in the document differs from the Go name.
var schemaNames = map[reflect.Type]string{
	reflect.TypeFor[deem.Record]():          "WholeRecord",
	reflect.TypeFor[submissionIn]():         "Submission",
	reflect.TypeFor[itemOut]():              "Trials",
	reflect.TypeFor[judgeOut]():             "RunJudge",
	reflect.TypeFor[reports.ErrataReport](): "Errata",
}

// insides has the types of members whose Go type does not determine their schema.
var insides = map[string]any{
	"Report.gates": []reports.GateOutcome{}, "Report.errata": reports.ErrataReport{},
}

// submissionIn is a submission with its items, in the form that clients send. It only
// serves as a schema: items are read one by one.
type submissionIn struct {
	submission
	Items []sentItem `json:"items"`
}

// closed has the types that clients send. Unknown members of these are an error.
var closed = map[string]bool{
	"SentItem": true, "SentLabels": true, "SentLabel": true, "Submission": true, "Resumption": true,
}

// needed has the members that clients must send.
var needed = map[string]bool{
	"SentItem.response": true, "Submission.items": true, "SentLabels.labels": true, "SentLabel.id": true,
}

// abouts has the descriptions of types and their members.
var abouts = map[string]string{
	"Submission":                "Items, and who judges them.",
	"Submission.judge":          "The name of a judge (GET /api/v1/judges); rules can be put together, as f1+rougeL. The default is match, a rule.",
	"Submission.declaration":    "A declared judge as text, YAML or JSON, in place of the name of one. Its prompt is in it, and it is made of no other judges.",
	"Submission.model":          "The model that the judge asks, one of GET /api/v1/models. The default is the first of them.",
	"Submission.reading":        "How replies are read: upstream or strict.",
	"Submission.trials":         "How often each item is judged, from 1 to 100.",
	"Submission.max_cost":       "The run starts no call that could make it cost more. The server may have a lower bound.",
	"Submission.dataset":        "What the items are called in lists and reports; api without it.",
	"Submission.system":         "The system under test, for reports.",
	"Submission.system_model":   "The model inside the system under test, for reports.",
	"Submission.fresh":          "Start over: do not resume an earlier run of these items, and do not use cached replies.",
	"Submission.retry_unjudged": "Judge again what an earlier request could not judge.",
	"Submission.items":          "What is judged.",

	"SentItem":            "One thing to judge: a question, the answers that would be right, and what the system gave.",
	"SentItem.id":         "Unique among the items; without it, their number from 1.",
	"SentItem.category":   "The stratum of the item, as temporal.",
	"SentItem.cluster":    "Items of the same cluster are not independent; intervals allow for that.",
	"SentItem.references": "Right answers, any one of which suffices.",
	"SentItem.response":   "What the system gave; the empty text if it gave nothing.",
	"SentItem.messages":   "The conversation that the response is part of, in the form of OpenAI's messages.",
	"SentItem.fields":     "Further texts that the judge's prompt has slots for.",
	"SentItem.weight":     "The importance of the item, more than 0.",

	"Item":                 "One thing to judge.",
	"Record":               "What a judge made of an item: a verdict or a failure, and never both.",
	"Record.id":            "Of the item.",
	"Record.position":      "Place of the item among those that were sent, from 0.",
	"Record.trial":         "The number of the trial, from 0.",
	"Record.failure":       "Why there is no verdict. It has no score: unjudged is not wrong.",
	"Record.item":          "With with=item.",
	"Record.calls":         "With with=calls.",
	"WholeRecord":          "A record with all of its parts.",
	"Verdict":              "What a judge decided.",
	"Verdict.label":        "As the judge spells it.",
	"Verdict.score":        "How it counts, from 0 to 1.",
	"Verdict.pass":         "Whether it meets the judge's pass mark, where it has one.",
	"Verdict.parts":        "The verdicts on the criteria of the item, where the judge decides each on its own.",
	"Part":                 "The verdict on one criterion: a score, or a failure, and never both.",
	"Failure":              "Why an item has no verdict.",
	"Call":                 "A request to a model and what came of it.",
	"Verdicts":             "The run with all of its records, and what they amount to.",
	"Run":                  "One judge over one set of items.",
	"Run.state":            "queued and judging: by this server; open: not done, and not judged by this server; done.",
	"Run.dataset":          "What the items are called.",
	"Run.wanted":           "How many records there will be: items times trials.",
	"Run.records":          "How many there are.",
	"Run.unjudged":         "How many of them are failures.",
	"Run.cost_micros":      "What the calls cost, in millionths of a US dollar.",
	"Run.resumable":        "POST /api/v1/runs/{id}/resume resumes it.",
	"Run.problem":          "Why this server did not come to the end of it.",
	"RunJudge.hash":        "Prompt, reading, parameters and model: two runs with different hashes had different judges.",
	"RunJudge.identity":    "What the hash is of. Only where one run is asked for.",
	"Runs.next":            "Send it as after to get the next page; there is none when it is missing.",
	"Records.next":         "Send it as after to get the next page; there is none when it is missing.",
	"Problem":              "What is wrong (RFC 9457).",
	"Problem.hint":         "Advice.",
	"Problem.problems":     "What is wrong with single items. The first twenty are listed.",
	"Problem.run":          "What was judged before is kept in this run.",
	"ItemProblem.index":    "Place of the item in the list that was sent, from 0.",
	"Report":               "What a run found: what deem report --json prints. docs/statistics.md says what the numbers mean.",
	"Report.gates":         "The conditions that were held against the report, and what became of each. Absent without any.",
	"Report.errata":        "What the known faults of the answer key do to the numbers. Absent when the run was told of none.",
	"GateOutcome.ok":       "Whether the gate holds. A number that is not there holds nothing.",
	"GateOutcome.detail":   "The numbers that decided.",
	"Errata":               "What a list of known faults in the answer key does to a score (docs/errata.md).",
	"Estimate":             "A number, and how sure it is.",
	"SentLabels":           "Human labels.",
	"SentLabels.annotator": "Who said it.",
	"SentLabel.id":         "Of the item.",
	"SentLabel.label":      "yes or no, or another word for one of them, as correct.",
	"SentLabel.score":      "A number from 0 to 1, in place of a label; from one half on it says yes.",
	"SentLabel.note":       "Why.",
	"Label.item":           "The hash of the item with its response.",
	"Resumption":           "What changes when a run is resumed.",
	"Resumption.max_cost":  "A new bound, earlier parts of the run included.",
	"VerdictLine":          "A line of a stream: a record or, in the last line, the run with its report, the run alone if it continues in the background, or the problem that ended it.",
}
