package dataset

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/rows"
	"deem/internal/text"
)

// systemSlots finds the columns with the cost of a response for the system under test. In a
// file exported by deem, columns of these names are the cost of judging.
func systemSlots(names []string) []fieldSlot {
	if slices.Contains(names, "judge_hash") {
		return nil
	}
	at := make(map[string]int, len(names)) // by plain name; the first counts
	for i, name := range slices.Backward(names) {
		at[rows.Plain(name)] = i
	}
	find := func(name string) (slot, bool) {
		head, rest, _ := strings.Cut(name, ".")
		if i, ok := at[rows.Plain(name)]; ok {
			return slot{i, ""}, true
		}
		i, ok := at[rows.Plain(head)]
		return slot{i, rest}, ok
	}
	var list []fieldSlot
	for _, target := range rows.SystemFields() {
		for _, name := range rows.Names(target) {
			if s, ok := find(name); ok {
				list = append(list, fieldSlot{slot: s, name: target, source: name})
				break
			}
		}
	}
	// Langfuse exports seconds in a column whose name does not show the unit.
	_, priced := at["totalcost"]
	_, timed := at["timestamp"]
	if s, ok := find("latency"); ok && priced && timed {
		list = append(list, fieldSlot{slot: s, name: deem.FieldLatency, source: "latency_s"})
	}
	return list
}

// InMilliseconds converts the text of a value to the unit of its field: columns of seconds
// become milliseconds. A value that is not a number is unchanged, and the report says so.
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

// SetSystemFields sets the fields of an item for the cost of its response and for what the
// system retrieved. It is for readers that create items themselves: get returns the value
// in a column, or at a dotted path.
func SetSystemFields(it *deem.Item, get func(path string) Value) {
	setRetrieved(it, get)
	for _, field := range rows.SystemFields() {
		for _, name := range rows.Names(field) {
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

// IsSystemColumn reports whether [SetSystemFields] uses a column.
func IsSystemColumn(column string) bool {
	return isRetrievalColumn(column) || systemColumns[rows.Plain(column)]
}

// systemColumns are the plain names of the columns with the cost of a response.
var systemColumns = func() map[string]bool {
	columns := map[string]bool{}
	for _, field := range rows.SystemFields() {
		for _, name := range rows.Names(field) {
			head, _, _ := strings.Cut(name, ".")
			columns[rows.Plain(name)], columns[rows.Plain(head)] = true, true
		}
	}
	return columns
}()

// The columns of a ranked list and of its gold documents, in files about retrieval. The
// last of each are those of LongMemEval's programs.
var (
	rankedColumns = []string{"retrieved", "retrieved_ids", "ranked", "ranked_ids", "ranking", "retrievedConversationIds", "retrieval_results.ranked_items"}
	goldColumns   = []string{"gold_ids", "relevant_ids", "evidence_ids", "relevantConversationIds", "answer_session_ids"}
)

// The fields of an item with these lists, as JSON.
const (
	fieldRanked = "retrieved"
	fieldGold   = "gold_ids"
)

// Ranked returns the ids of the documents in a row, best first.
func Ranked(get func(path string) Value) ([]string, bool) { return documentIDs(get, rankedColumns) }

// Gold returns the ids of the documents that contain the answer. also names further
// columns.
func Gold(get func(path string) Value, also ...string) ([]string, bool) {
	return documentIDs(get, slices.Concat(goldColumns, also))
}

// documentIDs returns the ids in the first of the columns that contains a list: texts,
// numbers, or objects with an id.
func documentIDs(get func(path string) Value, columns []string) ([]string, bool) {
	for _, column := range columns {
		list, ok := get(column).List()
		if !ok {
			continue
		}
		ids := make([]string, 0, len(list))
		for _, v := range list {
			for _, key := range []string{"corpus_id", "doc_id", "id"} {
				if inner := v.Get(key); !inner.Missing() {
					v = inner
					break
				}
			}
			ids = append(ids, v.Str())
		}
		return ids, true
	}
	return nil, false
}

// Sessions converts a ranked list of turns to one of their sessions, each at its first
// place, if the gold documents are sessions: the id of a turn is that of its session, an
// underscore and a number. Other lists are unchanged.
func Sessions(ranked, gold []string) []string {
	turns := false
	for _, id := range ranked {
		if slices.Contains(gold, id) {
			return ranked
		}
		at := strings.LastIndexByte(id, '_')
		turns = turns || at > 0 && slices.Contains(gold, id[:at])
	}
	if !turns {
		return ranked
	}
	var list []string
	for _, id := range ranked {
		if at := strings.LastIndexByte(id, '_'); at > 0 {
			id = id[:at]
		}
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// setRetrieved sets the retrieved and the gold documents of an item, if a row has both.
func setRetrieved(it *deem.Item, get func(path string) Value) {
	ranked, ok := Ranked(get)
	gold, also := Gold(get)
	if ok && also {
		SetRetrieved(it, ranked, gold)
	}
}

// SetGold sets the gold documents of an item that is yet to be answered, if a row names them
// or has a list of the ids of its evidence.
func SetGold(it *deem.Item, get func(path string) Value) {
	gold, ok := documentIDs(get, slices.Concat(goldColumns, []string{"evidence"}))
	if !ok || len(gold) == 0 {
		return
	}
	text, err := json.Marshal(gold)
	if err != nil {
		panic("dataset: " + err.Error()) // strings can always be marshaled
	}
	if it.Fields == nil {
		it.Fields = map[string]string{}
	}
	it.Fields[fieldGold] = string(text)
}

// SetRetrieved sets the retrieved and the gold documents of an item.
func SetRetrieved(it *deem.Item, ranked, gold []string) {
	if it.Fields == nil {
		it.Fields = map[string]string{}
	}
	for field, ids := range map[string][]string{fieldRanked: Sessions(ranked, gold), fieldGold: gold} {
		text, err := json.Marshal(ids)
		if err != nil {
			panic("dataset: " + err.Error()) // strings can always be marshaled
		}
		it.Fields[field] = string(text)
	}
}

// isRetrievalColumn reports whether a column may contain a ranked list or its gold
// documents.
func isRetrievalColumn(column string) bool { return retrievalColumns[column] }

var retrievalColumns = func() map[string]bool {
	columns := map[string]bool{}
	for _, name := range slices.Concat(rankedColumns, goldColumns) {
		head, _, _ := strings.Cut(name, ".")
		columns[head] = true
	}
	return columns
}()
