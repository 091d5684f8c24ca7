package dataset_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/dataset"
)

func mapping(tb testing.TB, s string) dataset.Mapping {
	tb.Helper()
	m, err := dataset.ParseMapping(s)
	if err != nil {
		tb.Fatalf("ParseMapping(%q): %v", s, err)
	}
	return m
}

// one is an item with ID 1 and response r, changed by f.
func one(f func(*deem.Item)) deem.Item {
	it := deem.Item{ID: "1", Response: "r"}
	f(&it)
	return it
}

func TestItem(t *testing.T) {
	fields := func(pairs ...string) func(*deem.Item) {
		return func(it *deem.Item) {
			it.Fields = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				it.Fields[pairs[i]] = pairs[i+1]
			}
		}
	}
	refs := func(rendering string, refs ...string) func(*deem.Item) {
		return func(it *deem.Item) {
			it.References = refs
			if rendering != "" {
				it.Fields = map[string]string{"ground_truth": rendering}
			}
		}
	}
	tests := []struct {
		title, text string
		src         dataset.Source
		want        func(*deem.Item)
	}{
		// Conversations.
		{"messages", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"r"},{"role":"user","content":"thanks"}]}`, dataset.Source{}, func(it *deem.Item) {
			it.Question, it.Messages = "thanks", deem.Conversation{{Role: "user", Content: "q"}, {Role: "assistant", Content: "r"}, {Role: "user", Content: "thanks"}}
		}},
		{"messages and a response", `{"messages":[{"role":"user","content":"q"}],"response":"r"}`, dataset.Source{}, func(it *deem.Item) {
			it.Question, it.Messages = "q", deem.Conversation{{Role: "user", Content: "q"}}
		}},
		{"messages as question and response", `{"input":[{"role":"user","content":"q"}],"output":{"role":"assistant","content":"r"}}`, dataset.Source{}, func(it *deem.Item) {
			it.Question, it.Messages = "q", deem.Conversation{{Role: "user", Content: "q"}, {Role: "assistant", Content: "r"}}
		}},
		{"messages in a text", `{"messages":"[{\"role\":\"user\",\"content\":\"q\"}]","response":"r"}`, dataset.Source{}, func(it *deem.Item) {
			it.Question, it.Messages = "q", deem.Conversation{{Role: "user", Content: "q"}}
		}},
		{"messages elsewhere", `{"chat":[{"role":"user","content":"q"}],"response":"r"}`, dataset.Source{Map: mapping(t, "messages=chat")}, func(it *deem.Item) {
			it.Question, it.Messages = "q", deem.Conversation{{Role: "user", Content: "q"}}
		}},
		{"a text that looks like a message", `{"response":"{\"role\":\"assistant\",\"content\":\"x\"}"}`, dataset.Source{}, func(it *deem.Item) {
			it.Response = `{"role":"assistant","content":"x"}`
		}},
		{"other messages", `{"messages":["hello",3],"response":"r"}`, dataset.Source{}, func(*deem.Item) {}},

		// References, and how Python would write them.
		{"a text", `{"response":"r","references":"Oslo"}`, dataset.Source{}, refs("", "Oslo")},
		{"a text in the singular", `{"response":"r","reference":"Oslo"}`, dataset.Source{}, refs("", "Oslo")},
		{"several texts", `{"response":"r","references":["a","b's"]}`, dataset.Source{}, refs("", "a", "b's")},
		{"a list of one", `{"response":"r","references":["Oslo"]}`, dataset.Source{}, refs("['Oslo']", "Oslo")},
		{"an integer", `{"response":"r","references":15}`, dataset.Source{}, refs("", "15")},
		{"a negative integer", `{"response":"r","references":-15}`, dataset.Source{}, refs("", "-15")},
		{"minus zero", `{"response":"r","references":-0}`, dataset.Source{}, refs("", "0")},
		{"a big integer", `{"response":"r","references":123456789012345678901234567890}`, dataset.Source{}, refs("", "123456789012345678901234567890")},
		{"a whole float", `{"response":"r","references":2.0}`, dataset.Source{}, refs("", "2.0")},
		{"a float with exponent", `{"response":"r","references":1E3}`, dataset.Source{}, refs("", "1000.0")},
		{"a truth", `{"response":"r","references":true}`, dataset.Source{}, refs("", "True")},
		{"numbers in a list", `{"response":"r","references":[1, 2.50]}`, dataset.Source{}, refs("[1, 2.5]", "1", "2.5")},
		{"null in a list", `{"response":"r","references":[null,"a"]}`, dataset.Source{}, refs("[None, 'a']", "a")},
		{"an empty text in a list", `{"response":"r","references":["","a","b"]}`, dataset.Source{}, refs("['', 'a', 'b']", "a", "b")},
		{"a list in a list", `{"response":"r","references":[["a","b"],["c"]]}`, dataset.Source{}, refs("[['a', 'b'], ['c']]", "['a', 'b']", "['c']")},
		{"an object keeps its order", `{"response":"r","references":{"z":1,"a":[null]}}`, dataset.Source{}, refs("", "{'z': 1, 'a': [None]}")},
		{"null", `{"response":"r","references":null}`, dataset.Source{}, refs("")},
		{"an empty list", `{"response":"r","references":[]}`, dataset.Source{}, refs("")},
		{"a list of nothing", `{"response":"r","references":[null,""]}`, dataset.Source{}, refs("")},
		{"an empty text", `{"response":"r","references":""}`, dataset.Source{}, refs("")},
		{"a text that looks like a list", `{"response":"r","references":"[\"a\"]"}`, dataset.Source{}, refs("", `["a"]`)},
		{"answer beside a response", `{"output":"r","answer":"Oslo"}`, dataset.Source{}, refs("", "Oslo")},
		{"our own name wins", `{"response":"r","references":["a","b"],"answer":"c","gold":"d"}`, dataset.Source{}, refs("", "a", "b")},
		{"label is not a reference", `{"response":"r","label":"CORRECT"}`, dataset.Source{}, refs("")},

		// The other parts.
		{"category is a number", `{"response":"r","category":3}`, dataset.Source{}, func(it *deem.Item) { it.Category = "3" }},
		{"cluster", `{"response":"r","conv_id":"c7"}`, dataset.Source{}, func(it *deem.Item) { it.Cluster = "c7" }},
		{"id is a number", `{"response":"r","qid":7}`, dataset.Source{}, func(it *deem.Item) { it.ID = "7" }},
		{"null is missing", `{"response":"r","question":null,"category":null,"cluster":null,"weight":null,"id":null,"fields":null}`, dataset.Source{}, func(*deem.Item) {}},
		{"NaN is missing", `{"response":"r","question":NaN,"category":NaN,"score":[NaN,{"x":-Infinity}]}`, dataset.Source{}, func(*deem.Item) {}},
		{"an infinite response", `{"response":-Infinity,"x":"NaN, \"Infinity"}`, dataset.Source{}, func(it *deem.Item) { it.Response = "-inf" }},
		{"weight", `{"response":"r","weight":2.5}`, dataset.Source{}, func(it *deem.Item) { it.Weight = 2.5 }},
		{"weight in words", `{"response":"r","weight":" 2 "}`, dataset.Source{}, func(it *deem.Item) { it.Weight = 2 }},
		{"an empty response", `{"response":"","question":"q"}`, dataset.Source{}, func(it *deem.Item) { it.Response, it.Question = "", "q" }},
		{"a response that is a number", `{"response":15}`, dataset.Source{}, func(it *deem.Item) { it.Response = "15" }},
		{"a NUL", `{"response":"a\u0000b"}`, dataset.Source{}, func(it *deem.Item) { it.Response = "a\x00b" }},
		{"escapes", `{"\u0072esponse":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}`, dataset.Source{}, func(it *deem.Item) { it.Response = "\"\\/\b\f\n\r\té😀" }},
		{"half a surrogate pair", `{"response":"a\ud800b\udc00"}`, dataset.Source{}, func(it *deem.Item) { it.Response = "a\ufffdb\ufffd" }},

		// Fields.
		{"fields", `{"response":"r","fields":{"a":"x","b":[1,"y"],"c":null,"d":""}}`, dataset.Source{}, fields("a", "x", "b", "[1, 'y']", "d", "")},
		{"a dotted column", `{"response":"r","fields.a":"x"}`, dataset.Source{}, fields("a", "x")},
		{"a field the judge needs", `{"response":"r","evidence":["e1"],"other":"o"}`, dataset.Source{Fields: []string{"evidence", "absent", "response"}}, fields("evidence", "['e1']")},
		{"fields beat a column", `{"response":"r","evidence":"top","fields":{"evidence":"inner"}}`, dataset.Source{Fields: []string{"evidence"}}, fields("evidence", "inner")},
		{"a mapped field beats fields", `{"response":"r","ev":"mapped","fields":{"evidence":"inner"}}`, dataset.Source{Map: dataset.Mapping{"field.evidence": "ev"}}, fields("evidence", "mapped")},
		{"a ground truth of its own", `{"response":"r","references":["a"],"fields":{"ground_truth":"mine"}}`, dataset.Source{}, func(it *deem.Item) {
			refs("mine", "a")(it)
		}},
		{"the ground truth is the reference", `{"response":"r","ground_truth":"a"}`, dataset.Source{Fields: []string{"ground_truth"}}, refs("", "a")},

		// Mappings.
		{"a path", `{"meta":{"answers":["a","b"],"out":{"text":"r"}}}`, dataset.Source{Map: dataset.Mapping{"response": "meta.out.text", "references": "meta.answers.1"}}, refs("", "b")},
		{"a name with dots", `{"meta.out":"r","meta":{"out":"wrong"}}`, dataset.Source{Map: dataset.Mapping{"response": "meta.out"}}, func(*deem.Item) {}},
		{"a dotted key inside", `{"meta":{"a.b":"r"}}`, dataset.Source{Map: dataset.Mapping{"response": "meta.a.b"}}, func(*deem.Item) {}},
		{"a mapped column is taken", `{"answer":"r","gold":"g"}`, dataset.Source{Map: dataset.Mapping{"response": "answer"}}, refs("", "g")},
		{"a mapping beats our own name", `{"response":"x","out":"r"}`, dataset.Source{Map: dataset.Mapping{"response": "out"}}, func(*deem.Item) {}},
		{"reference in a mapping", `{"response":"r","key":"g"}`, dataset.Source{Map: dataset.Mapping{"reference": "key"}}, refs("", "g")},
		{"fields from an object", `{"response":"r","meta":{"a":1}}`, dataset.Source{Map: dataset.Mapping{"fields": "meta"}}, fields("a", "1")},

		// A single object with a response is an item, whatever lists it contains.
		{"an object with a list", "{\"response\":\n\"r\",\"sessions\":[{\"a\":1}]}", dataset.Source{}, func(*deem.Item) {}},
	}
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			want := []deem.Item{one(tt.want)}
			if diff := cmp.Diff(want, items(t, "a.json", tt.text, tt.src)); diff != "" {
				t.Errorf("items of %s (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestCells(t *testing.T) {
	tests := []struct {
		title, text string
		src         dataset.Source
		want        deem.Item
	}{
		{"a list in a cell", "response,answers\nr,\"[\"\"a\"\", 1]\"\n", dataset.Source{}, deem.Item{References: []string{"a", "1"}, Fields: map[string]string{"ground_truth": "['a', 1]"}}},
		{"not quite a list", "response,answers\nr,[a]\n", dataset.Source{}, deem.Item{References: []string{"[a]"}}},
		{"a list of objects is a text", "response,answers\nr,\"[{\"\"a\"\":1}]\"\n", dataset.Source{}, deem.Item{References: []string{`[{"a":1}]`}}},
		{"a number keeps its text", "response,answer\nr,2.50\n", dataset.Source{}, deem.Item{References: []string{"2.50"}}},
		{"empty cells", "response,references,category,weight,fields.a,fields\nr,,,,,\n", dataset.Source{}, deem.Item{}},
		{"fields", "response,fields.a,fields\nr,x,\"{\"\"b\"\":1}\"\n", dataset.Source{}, deem.Item{Fields: map[string]string{"a": "x", "b": "1"}}},
		{"a path into a cell", "response,meta\nr,\"{\"\"gold\"\":[\"\"x\"\",\"\"y\"\"]}\"\n", dataset.Source{Map: dataset.Mapping{"references": "meta.gold"}}, deem.Item{References: []string{"x", "y"}}},
		{"quotes inside a cell", "response,question\nr,5\" tall\n", dataset.Source{}, deem.Item{Question: `5" tall`}},
		{"spaces around names", " response , question \nr, q\n", dataset.Source{}, deem.Item{Question: " q"}},
		{"weight", "response,weight\nr,0.5\n", dataset.Source{}, deem.Item{Weight: 0.5}},
		{"control characters in a cell", "response,question\nr,\x7f\v\x01\x02\n", dataset.Source{}, deem.Item{Question: "\x7f\v\x01\x02"}},
		{"a NUL in a cell", "response,question\nr,a\x00b and more than enough text around it\n", dataset.Source{}, deem.Item{Question: "a\x00b and more than enough text around it"}},
	}
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			tt.want.ID, tt.want.Response = "1", "r"
			if diff := cmp.Diff([]deem.Item{tt.want}, items(t, "a.csv", tt.text, tt.src)); diff != "" {
				t.Errorf("items of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	tests := []struct {
		title, name, text string
		src               dataset.Source
		want              []string
	}{
		{"nothing to say", "a.jsonl", `{"id":1,"question":"q","references":"a","response":"r"}`, dataset.Source{}, nil},
		{
			"other names", "a.jsonl", `{"question_id":1,"question_type":"t","sample_id":"s","query":"q","answer":"a","hypothesis":"r"}`,
			dataset.Source{},
			[]string{
				`reading ids from column "question_id"`, `reading the category from column "question_type"`,
				`reading the cluster from column "sample_id"`, `reading the question from column "query"`,
				`reading references from column "answer"`, `reading the response from column "hypothesis"`,
			},
		},
		{
			"what the user mapped is not news", "a.jsonl", `{"i":1,"q":"q","a":"a","hypothesis":"r"}`,
			dataset.Source{Map: mapping(t, "id=i,question=q,references=a,response=hypothesis")},
			nil,
		},
		{
			"some without", "a.jsonl", `{"id":1,"question":"q","response":"r","references":"a"}` + "\n" + `{"id":2,"response":"r"}`,
			dataset.Source{},
			[]string{"1 of 2 items have no reference", "1 of 2 items have no question"},
		},
		{
			"a field that nobody has", "a.jsonl", `{"id":1,"question":"q","references":"a","response":"r","dialogue":"d"}`,
			dataset.Source{Fields: []string{"dialogue", "evidence"}},
			[]string{`no item has the field "evidence", which the judge asks for`},
		},
		{
			"oddities of JSON", "a.jsonl", `{"id":1,"question":"q\ud800","references":"a","response":"r","x":1}`,
			dataset.Source{},
			[]string{"1 row with half a surrogate pair: it is read as U+FFFD"},
		},
		{
			"as Python writes JSON", "a.jsonl", `{"id":1,"question":"q","references":"a","response":"r","x":[NaN,Infinity]}`,
			dataset.Source{},
			[]string{"1 row with NaN or Infinity, which Python writes and JSON does not know: NaN is read as null"},
		},
		{
			"lists as Python prints them", "a.csv", "id,question,references,response\n1,q,\"['a', 'b']\",r\n",
			dataset.Source{},
			[]string{"1 cell of references as Python prints lists: each is taken as one reference; write them as JSON lists"},
		},
		{
			"a column without a name", "a.csv", ",id,question,references,response\n0,1,q,a,r\n",
			dataset.Source{},
			[]string{"column 1 of FILE has no name and is not read"},
		},
		{
			"a list in an object", "a.json", `{"data":[{"id":1,"question":"q","references":"a","response":"r"}]}`,
			dataset.Source{},
			[]string{`reading the rows of FILE from its list "data"`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			tt.src.Names = []string{write(t, tt.name, tt.text)}
			got := open(t, tt.src).Notes()
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], tt.src.Names[0], "FILE")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithoutReferences(t *testing.T) {
	text := `{"response":"r","references":[]}` + "\n" + `{"response":"r","references":"a"}` + "\n" + `{"response":"r","references":null}` + "\n" + `{"response":"r"}`
	d := open(t, dataset.Source{Names: []string{write(t, "a.jsonl", text)}})
	if want := "3 of 4 items have no reference"; !slices.Contains(d.Notes(), want) {
		t.Errorf("Notes() = %q, want %q among them", d.Notes(), want)
	}
}

// A column that appears late counts from there on, and earlier rows lack it.
func TestLateColumn(t *testing.T) {
	text := `{"id":1,"response":"a"}` + "\n" + `{"id":2,"response":"b","answer":"x","question_type":"t"}` + "\n" + `{"id":3,"response":"c"}`
	want := []deem.Item{
		{ID: "1", Response: "a"},
		{ID: "2", Response: "b", References: []string{"x"}, Category: "t"},
		{ID: "3", Response: "c"},
	}
	if diff := cmp.Diff(want, items(t, "a.jsonl", text, dataset.Source{})); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

// TestSharedData reads files written by other programs.
func TestSharedData(t *testing.T) {
	tests := []struct {
		pattern   string
		src       dataset.Source
		len, refs int
	}{
		{"lme_cognitive_memory/longmemeval/results/cm_full_run.json", dataset.Source{}, 500, 500},
		{"lme_cognitive_memory/locomo/results/clean_run_a/results.json", dataset.Source{}, 1986, 1542},
		{"human_evouna/derived.jsonl.gz", dataset.Source{}, 15433, 15433},
		{"human_triviaqa_9judges/results/*.csv", dataset.Source{}, 3600, 3600},
		{"infinitebench_preds/results/gpt4/preds_longbook_qa_eng.jsonl", dataset.Source{}, 351, 351},
		{"human_evouna/EVOUNA/NQ.json", dataset.Source{Map: dataset.Mapping{"response": "answer_gpt4"}}, 3610, 3609},
	}
	for _, tt := range tests {
		names, err := filepath.Glob(filepath.Join("../../../shared/data", tt.pattern))
		if err != nil {
			t.Fatal(err)
		}
		if len(names) == 0 {
			t.Skipf("the published files are not here: %s", tt.pattern)
		}
		tt.src.Names = names
		d := open(t, tt.src)
		list, refs := all(t, d), 0
		for _, it := range list {
			if len(it.References) > 0 {
				refs++
			}
		}
		if d.Len() != tt.len || refs != tt.refs {
			t.Errorf("%s: %d items, %d with references, want %d and %d", tt.pattern, d.Len(), refs, tt.len, tt.refs)
		}
		if len(list) != d.Len() {
			t.Errorf("%s: Items gave %d, Len() = %d", tt.pattern, len(list), d.Len())
		}
	}
}
