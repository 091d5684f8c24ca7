package memoryagentbench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/benchmark"
)

// Options says what to read. Data and Responses are result files of upstream's programs, and
// rows of the published data, which are recognised by their content. A result file is
// sufficient, except for key points and types of questions, which only the published data
// has.
type Options = benchmark.Options

// known contains the published data about a question.
type known struct {
	cluster, question, questionID, kind string
	keypoints                           string // a JSON list
}

// Open reads result files and joins them with the published data by qa_pair_id. It drops the
// items that need a model, unless a judge that asks one is named.
func Open(ctx context.Context, o Options) (benchmark.Set, error) {
	names := slices.Concat(o.Data, o.Responses)
	if err := benchmark.CheckNames(names); err != nil {
		return nil, err
	}
	columns := []string{"data", "dataset_config", "questions", "answers", "metadata"}
	in := benchmark.Input{
		Names: names, Stdin: o.Stdin,
		Want: func(column string) bool { return slices.Contains(columns, column) },
		Whole: func(keys []string) bool {
			return slices.Contains(keys, "dataset_config") || slices.Contains(keys, "questions") && slices.Contains(keys, "metadata")
		},
	}
	var items []deem.Item
	var problems benchmark.Problems
	published, texts := map[string]known{}, map[string]int{}
	notes, err := benchmark.Visit(ctx, in, &problems, func(row *benchmark.Row) error {
		if !row.Get("questions").Missing() {
			addPublished(published, texts, row)
			return nil
		}
		return readResults(row, &items)
	})
	if err == nil {
		err = problems.Err("give upstream's result files, outputs/AGENT/PART/*.json, and rows of the published data")
	}
	if err != nil {
		return nil, err
	}
	for i := range items {
		it := &items[i]
		k, ok := published[it.ID]
		if !ok {
			continue
		}
		it.Cluster = k.cluster
		if isChat(it.Category) {
			it.Question = k.question
		}
		for field, value := range map[string]string{fieldQuestionID: k.questionID, fieldType: k.kind, fieldKeypoints: k.keypoints} {
			if value != "" && value != "[]" && it.Fields[field] == "" {
				benchmark.SetField(it, field, value)
			}
		}
	}
	if !slices.ContainsFunc(o.Judges, func(name string) bool { return name != RulesName }) {
		asked := func(it deem.Item) bool { return isSummary(it.Category) || isChat(it.Category) }
		var dropped []string
		items = slices.DeleteFunc(items, func(it deem.Item) bool {
			if asked(it) {
				dropped = append(dropped, it.ID)
			}
			return asked(it)
		})
		notes = benchmark.Note(notes, dropped, "item", "left out: "+UpstreamName+" asks a model about it")
	}
	if len(items) == 0 {
		return nil, deem.WithHint(fmt.Errorf("no response to judge in %s", strings.Join(names, ", ")),
			"only a model can judge summaries and chats: --judge %s --model PROVIDER:NAME", UpstreamName)
	}
	if len(published) == 0 {
		notes = append(notes, "without the published data nobody knows which questions share a text, so intervals take each question for itself")
	}
	items, notes = benchmark.Limit(items, o.Limit, notes)
	return benchmark.Hold(items, names, notes)
}

// addPublished adds the questions of a row of the published data, which is one text, and
// counts the texts of each part.
func addPublished(published map[string]known, texts map[string]int, row *benchmark.Row) {
	source := row.Get("metadata.source").Str()
	questions, _ := row.Get("questions").List()
	keypoints := "[]"
	if list, ok := row.Get("metadata.keypoints").List(); ok && len(list) > 0 {
		keypoints = string(row.Get("metadata.keypoints").JSON())
	}
	texts[source]++
	cluster := fmt.Sprintf("%s/%d", source, texts[source])
	for i, q := range questions {
		at := func(column string) string {
			if v := row.Get("metadata." + column + "." + strconv.Itoa(i)); !v.Missing() {
				return v.Str()
			}
			return ""
		}
		k := known{cluster, q.Str(), at("question_ids"), at("question_types"), keypoints}
		for _, id := range []string{at("qa_pair_ids"), k.questionID} {
			if id != "" {
				published[source+"/"+id] = k
			}
		}
	}
}

// readResults adds the items of a result file.
func readResults(row *benchmark.Row, items *[]deem.Item) error {
	source := row.Get("dataset_config.sub_dataset")
	rows, ok := row.Get("data").List()
	if !ok || source.Blank() {
		return benchmark.At(row, "this is neither a result file, with data and dataset_config.sub_dataset, nor a row of the published data")
	}
	seen := map[string]bool{}
	for i, v := range rows {
		response, answers := v.Get("output"), v.Get("answer")
		if response.Missing() || answers.Missing() {
			return benchmark.At(row, "data %d has no output or no answer", i)
		}
		pair := v.Get("qa_pair_id")
		if pair.Blank() {
			pair = v.Get("query_id")
		}
		it := deem.Item{ID: fmt.Sprintf("%s/%s", source.Str(), pair.Str()), Category: source.Str(), Response: response.Str(), References: flat(answers)}
		if pair.Blank() || seen[it.ID] {
			return benchmark.At(row, "data %d has no qa_pair_id, or one that was there before: %q", i, pair.Str())
		}
		seen[it.ID] = true
		if q := v.Get("query"); !q.Missing() {
			it.Question = q.Str()
		}
		set := func(field string, value benchmark.Value) {
			if !value.Blank() {
				benchmark.SetField(&it, field, value.Str())
			}
		}
		set(fieldPair, pair)
		set(fieldAnswers, answers)
		set(deem.FieldTokensIn, v.Get("input_len"))
		set(deem.FieldTokensOut, v.Get("output_len"))
		if s, ok := v.Get("query_time_len").Float(); ok {
			benchmark.SetField(&it, deem.FieldLatency, strconv.FormatFloat(1000*s, 'f', -1, 64))
		}
		set(fieldQuestionID, v.Get(fieldQuestionID))
		set(fieldType, v.Get(fieldType))
		for _, list := range []string{fieldKeypoints, fieldPredicted, fieldMovies} {
			if _, ok := v.Get(list).List(); ok {
				benchmark.SetField(&it, list, string(v.Get(list).JSON()))
			}
		}
		*items = append(*items, it)
	}
	return nil
}

// flat returns the strings of a list and its nested lists, flattened as in upstream.
func flat(v benchmark.Value) []string {
	list, ok := v.List()
	if !ok {
		return []string{v.Str()}
	}
	var all []string
	for _, inner := range list {
		all = append(all, flat(inner)...)
	}
	return all
}
