package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/dataset"
)

// TestTrouble opens invalid files. FILE is the name of the file in the expected message; an
// empty hint is not checked.
func TestTrouble(t *testing.T) {
	const ok = `{"id":"q1","response":"r"}` + "\n"
	tests := []struct {
		title, name, text string
		src               dataset.Source
		want, hint        string
	}{
		// Files that are not data.
		{"empty", "a.jsonl", "", dataset.Source{}, "no items in FILE", ""},
		{"blank", "a.json", " \n\n", dataset.Source{}, "no items in FILE", ""},
		{"an empty list", "a.json", "[]", dataset.Source{}, "no items in FILE", ""},
		{"an empty table", "a.csv", "", dataset.Source{}, "no items in FILE", ""},
		{"a header alone", "a.csv", "id,response\n", dataset.Source{}, "no items in FILE", ""},
		{"an empty gzip", "a.jsonl.gz", gzipped(t, ""), dataset.Source{}, "no items in FILE", ""},
		{"UTF-16 with a mark", "a.jsonl", "\xff\xfe{\x00}\x00", dataset.Source{}, "read FILE: it is text in UTF-16, not in UTF-8", "convert it, as with: iconv -f UTF-16 -t UTF-8 FILE > NEWFILE"},
		{"UTF-16 without a mark", "a.csv", "i\x00d\x00,\x00r\x00", dataset.Source{}, "read FILE: it is text in UTF-16LE, not in UTF-8", ""},
		{"UTF-16 big end first", "a.csv", "\x00i\x00d\x00,\x00r", dataset.Source{}, "read FILE: it is text in UTF-16BE, not in UTF-8", ""},
		{"UTF-32", "a.csv", "\xff\xfe\x00\x00i\x00\x00\x00", dataset.Source{}, "read FILE: it is text in UTF-32, not in UTF-8", ""},
		{"UTF-16 by order", "a.csv", "\xff\xfei\x00", dataset.Source{Format: "csv"}, "read FILE: it is text in UTF-16, not in UTF-8", ""},
		{"a spreadsheet", "a.csv", "PK\x03\x04....", dataset.Source{}, "read FILE: it is a ZIP archive or a spreadsheet", "unpack it, or save the sheet as CSV"},
		{"a pointer", "a.jsonl", "version https://git-lfs.github.com/spec/v1\noid", dataset.Source{}, "read FILE: it is a pointer of Git LFS, not the file itself", ""},
		{"garbage", "a.jsonl", strings.Repeat("\x01\x02\x80\x91\x05\x06", 100), dataset.Source{}, "read FILE: it is binary data, not text", "the formats that are read are jsonl, json, csv, tsv, parquet, also compressed with gzip or zstd"},
		{"prose", "a.txt", "Call me Ishmael.\n", dataset.Source{}, `read FILE: cannot tell the format from its beginning, "Call me Ishmael."`, "say which it is: --format jsonl, --format json, --format csv, --format tsv, --format parquet"},
		{"no such format", "a.txt", ok, dataset.Source{Format: "jsnol"}, `unknown format "jsnol"`, "did you mean jsonl? it may be jsonl, json, csv, tsv, parquet"},
		{"not Parquet", "a.parquet", "id,response\n1,r\n", dataset.Source{}, "read FILE: the name says Parquet, but it does not begin as one", ""},
		{"broken Parquet", "a.parquet", "PAR1 and no more", dataset.Source{}, "read FILE: ...", ""},
		{"gzip cut off", "a.jsonl.gz", gzipped(t, strings.Repeat(ok, 10))[:30], dataset.Source{}, "read FILE...: unpack: the compressed data ends too early", ""},
		{"gzip damaged", "a.jsonl.gz", damaged(gzipped(t, ok)), dataset.Source{}, "read FILE...: unpack: ...", ""},
		{"zstd cut off", "a.jsonl.zst", zstandard(t, ok)[:12], dataset.Source{}, "read FILE...: unpack: the compressed data ends too early", ""},
		{"packed twice", "a.jsonl.gz", gzipped(t, gzipped(t, ok)), dataset.Source{}, "read FILE: it is compressed twice", "unpack it once"},

		// JSON.
		{"garbage behind", "a.jsonl", ok + `{"id":2,"response":"r"} gi`, dataset.Source{}, `FILE:2: the object is followed by "gi"`, ""},
		{"two objects in a line", "a.jsonl", `{"response":"r"}{"response":"s"}`, dataset.Source{}, `FILE:1: the object is followed by "{\"response\":\"s\"}"`, ""},
		{"cut off", "a.jsonl", ok + `{"id":"q2","resp`, dataset.Source{}, `FILE:2: not JSON: a string is not closed (byte 17 of the line)`, "each row must be one complete JSON object"},
		{"cut off behind a colon", "a.jsonl", `{"id":`, dataset.Source{}, `FILE:1: not JSON: the text ends where a value should be (byte 7 of the line)`, ""},
		{"a comma too many", "a.jsonl", `{"id":1,}`, dataset.Source{}, `FILE:1: not JSON: found "}" where a key in double quotes should be (byte 9 of the line)`, ""},
		{"NaN for a response", "a.jsonl", `{"id":1,"response":NaN}`, dataset.Source{}, `FILE:1: the response is null`, ""},
		{"None", "a.jsonl", `{"response":None}`, dataset.Source{}, `FILE:1: not JSON: found "None}" where a value should be (byte 13 of the line)`, "None is a value in Python and none in JSON; write null instead"},
		{"behind NaN", "a.jsonl", `{"x":NaN,"y":[-Infinity,oops]}`, dataset.Source{}, `FILE:1: not JSON: found "oops]}" where a value should be (byte 25 of the line)`, ""},
		{"NaN that goes on", "a.jsonl", `{"x":NaNs}`, dataset.Source{}, `FILE:1: not JSON: found "s}" where a comma or the end of the object should be (byte 9 of the line)`, ""},
		{"printed by Python", "a.jsonl", `{'response': 'r'}`, dataset.Source{}, `FILE:1: not JSON: found "'response': 'r'}" where a key in double quotes should be (byte 2 of the line)`, "JSON wants double quotes; write the file with json.dumps rather than str"},
		{"a tab in a string", "a.jsonl", "{\"response\":\"a\tb\"}", dataset.Source{}, `FILE:1: not JSON: the control character U+0009 stands in a string; JSON wants it escaped (byte 15 of the line)`, ""},
		{"no escape", "a.jsonl", `{"response":"\x41"}`, dataset.Source{}, `FILE:1: not JSON: "\\x" is not an escape in JSON (byte 14 of the line)`, ""},
		{"half an escape", "a.jsonl", `{"response":"\u00"}`, dataset.Source{}, `FILE:1: not JSON: "\\u00\"}" is not an escape: \u wants four hexadecimal digits (byte 14 of the line)`, ""},
		{"a number with a leading zero", "a.jsonl", `{"response":01}`, dataset.Source{}, `FILE:1: not JSON: found "1}" where a comma or the end of the object should be (byte 14 of the line)`, ""},
		{"a key twice", "a.jsonl", ok + `{"id":2,"response":"r","response":"s"}`, dataset.Source{}, `FILE:2: the key "response" stands twice in one object`, "programs disagree about which of the two counts: keep one"},
		{"a key twice, spelled differently", "a.jsonl", `{"response":"r","r\u0065sponse":"s"}`, dataset.Source{}, `FILE:1: the key "response" stands twice in one object`, ""},
		{"a key twice in an object in a list", "a.json", "[{\"response\":\"r\",\n\"x\":[1,{\"a\":1,\n\"a\":2}]}]", dataset.Source{}, `FILE:3: the key "a" stands twice in one object`, ""},
		{"a key twice among many", "a.jsonl", `{"response":"r",` + keys(50) + `,"k17":0}`, dataset.Source{}, `FILE:1: the key "k17" stands twice in one object`, ""},
		{"too many keys", "a.jsonl", ok + `{"response":"r",` + keys(100_000) + `}`, dataset.Source{}, `FILE:2: an object has more than 100000 keys`, ""},
		{"a line that is a list", "a.jsonl", ok + `["q2","r"]`, dataset.Source{}, `FILE:2: a row must be an object, but this is "[\"q2\",\"r\"]"`, ""},
		{"a line that is a number", "a.jsonl", ok + `17`, dataset.Source{}, `FILE:2: a row must be an object, but this is "17"`, ""},
		{"deep", "a.jsonl", `{"response":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, dataset.Source{}, `FILE:1: not JSON: lists and objects lie more than 10000 deep (byte 10013 of the line)`, ""},
		{"not UTF-8", "a.jsonl", ok + "{\"id\":2,\"response\":\"Malm\xf6\"}\n", dataset.Source{}, "FILE:2: byte 25 of the line, 0xf6, is not UTF-8", "convert the file, as with: iconv -f ENCODING -t UTF-8 FILE > NEWFILE"},
		{"in a list, with its line", "a.json", "[\n{\"response\":\"r\"},\n{\"id\":\n  oops}\n]", dataset.Source{}, `FILE:4: not JSON: found "oops}" where a value should be (byte 3 of the line)`, ""},
		{"a list not closed", "a.json", "[\n" + ok, dataset.Source{}, "FILE:3: not JSON: the list that begins in line 1 is not closed", ""},
		{"a list cut off", "a.json", "[\n" + ok + ",{\"id\":\n3,\"res", dataset.Source{}, "FILE:4: not JSON: a string is not closed (byte 7 of the line)", ""},
		{"no comma", "a.json", "[" + ok + ok + "]", dataset.Source{}, `FILE:2: not JSON: found "{\"id\":\"q1\",\"response\":\"r"... where a comma or the end of the list should be`, ""},
		{"a comma before the end", "a.json", "[" + ok + ",]", dataset.Source{}, `FILE:2: not JSON: found "]" where an object should be`, ""},
		{"text behind a list", "a.json", "[" + ok + "]\nx", dataset.Source{}, `FILE:3: the list is followed by "x"`, ""},
		{"elements of one line", "a.json", `[{"response":"r"},{"id":1}]`, dataset.Source{}, "FILE:1 (element 2): no response (columns here: id)", ""},
		{"several lists of something", "a.json", `{"a":[{"x":"r"}],"b.c":[{"y":"r"}]}`, dataset.Source{}, "read FILE: the object has several lists of objects: a, b.c", "if they are the items, --map response=COLUMN names the column with the response; otherwise take the list with the items out of it: jq '.[\"a\"]' FILE > part.json"},
		{"several lists of answers", "a.json", `{"a":[{"question":"q","response":"r"}],"b":[{"question":"q","response":"s"}]}`, dataset.Source{}, "read FILE: several lists answer the same questions: a, b", "take one of them out of it: jq '.[\"a\"]' FILE > part.json"},
		{
			"nowhere a response", "a.json", `[{"q":{"text":"Who?"},"a":{"gold":"Ada","pred":"Bo"}},` + "\n" + `{"q":{"text":"When?"},"a":{"gold":"now","pred":"then"}}]`,
			dataset.Source{},
			"FILE:1: none of 2 rows has a response (columns here: q.text, a.gold, a.pred)", "every row has these columns: --map question=q.text,references=a.gold,response=a.pred",
		},
		{
			"nowhere a response, and not the same columns", "a.jsonl", `{"x":1,"pred_text":"a"}` + "\n" + `{"x":2}`,
			dataset.Source{},
			"FILE:1: none of 2 rows has a response (columns here: x, pred_text)", "say which column holds it: --map response=COLUMN",
		},
		{
			"nowhere a response, and one text without a known name", "a.jsonl", `{"id":"a","n":1,"reference":"x","mine":{"final":"x"}}` + "\n" + `{"id":"b","n":2,"reference":"y","mine":{"final":"y"}}`,
			dataset.Source{},
			"FILE:1: none of 2 rows has a response (columns here: id, n, reference, mine.final)", "every row has these columns: --map references=reference,response=mine.final",
		},
		{
			"nowhere a response, and two texts without a known name", "a.jsonl", `{"id":"a","mine":"x","yours":"y"}` + "\n" + `{"id":"b","mine":"x","yours":"y"}`,
			dataset.Source{},
			"FILE:1: none of 2 rows has a response (columns here: id, mine, yours)", "say which column holds it: --map response=COLUMN",
		},
		{"an open object", "a.json", "{\"data\": [\n{\"response\":\"r\"}", dataset.Source{}, "FILE:2: not JSON: the text ends where a comma or the end of the list should be (byte 17 of the line)", ""},

		// Tables.
		{"ragged", "a.csv", "id,response\n1,r\n2\n3,a,b\n", dataset.Source{}, "FILE:3: 1 cell, but the header has 2\nFILE:4: 3 cells, but the header has 2", "a cell with a separator or a line end in it must stand in double quotes"},
		{"lines are counted in cells", "a.csv", "id,response\n1,\"a\n\nb\"\n2\n", dataset.Source{}, "FILE:5: 1 cell, but the header has 2", ""},
		{"a column twice", "a.csv", "id,response,id\n1,r,2\n", dataset.Source{}, `FILE:1: the header has column "id" twice`, "give each column a name of its own"},
		{"no names", "a.csv", ",,\n1,2,3\n", dataset.Source{}, "FILE:1: the header names no column", ""},
		{"a quote not closed", "a.csv", "id,response\n1,r\n2,\"a\nb\n", dataset.Source{}, "FILE:3: a quoted cell that begins here is not closed", ""},
		{"text behind a quote", "a.csv", "id,response\n1,\"a\"b\n2,r\n", dataset.Source{}, `FILE:2: a closing quote is followed by "b"; a quote inside a quoted cell is written twice`, ""},
		{"a cell not UTF-8", "a.csv", "id,response\n1,Malm\xf6\n", dataset.Source{}, `FILE:2: byte 5 of column "response", 0xf6, is not UTF-8`, "convert the file, as with: iconv -f ENCODING -t UTF-8 FILE > NEWFILE"},
		{"a header not UTF-8", "a.csv", "id,r\xe9sponse\n1,x\n", dataset.Source{}, "FILE:1: byte 4 of the line, 0xe9, is not UTF-8", ""},
		{"the response column is missing", "a.tsv", "id\ttext\n1\tr\n", dataset.Source{}, "FILE:2: no response (columns here: id, text)", "say which column holds it: --map response=COLUMN"},

		// Parts of an item.
		{"no response", "a.jsonl", ok + `{"id":2,"answer":"a"}`, dataset.Source{}, "FILE:2: no response (columns here: id, answer)", `every row needs column "response", with the empty text when the system gave nothing`},
		{"a response by another name", "a.jsonl", `{"id":2,"references":"a","bot_output":"r"}`, dataset.Source{}, "FILE:1: no response (columns here: id, references, bot_output)", "say which column holds it: --map response=bot_output"},
		{"answer alone", "a.jsonl", `{"question":"q","answer":"a"}`, dataset.Source{}, "FILE:1: no response (columns here: question, answer)", `if column "answer" holds the reference: --map references=answer,response=COLUMN; if it holds the response: --map references=COLUMN,response=answer`},
		{"a message without a role", "a.jsonl", ok + `{"id":2,"response":"r","messages":[{"role":"user","content":"q"},{"content":"a"}]}`, dataset.Source{}, "FILE:2: message 2 of 2: it has no role", ""},
		{"nothing said", "a.jsonl", `{"messages":[{"role":"user","content":"q"}]}`, dataset.Source{}, "FILE:1: no response (columns here: messages)", "say which column holds it: --map response=COLUMN"},
		{"null response", "a.jsonl", `{"response":null}`, dataset.Source{}, "FILE:1: the response is null", "a system that gave nothing has the empty text as its response"},
		{"two responses", "a.jsonl", `{"pred":"a","output":"b"}`, dataset.Source{}, "FILE:1: cannot tell which column holds the response: pred or output", "say which: --map response=pred"},
		{"two references", "a.jsonl", `{"response":"r","gold":"a","answer":"b"}`, dataset.Source{}, "FILE:1: cannot tell which column holds the references: answer or gold", ""},
		{"same name in two cases", "a.jsonl", `{"response":"r","Response":"s"}`, dataset.Source{}, "FILE:1: cannot tell which column holds the response: response or Response", "say which: --map response=response"},
		{"same name in two cases later", "a.jsonl", `{"response":"r"}` + "\n" + `{"RESPONSE":"s","response":"r"}`, dataset.Source{}, "FILE:2: cannot tell which column holds the response: RESPONSE or response", ""},
		{"both of our names", "a.jsonl", `{"response":"r","references":["a"],"reference":"b"}`, dataset.Source{}, "FILE:1: cannot tell which column holds the references: references or reference", ""},
		{"another column later", "a.jsonl", `{"response":"r","gold":"a"}` + "\n" + `{"response":"r","answer":"b"}`, dataset.Source{}, `FILE:2: column "answer" holds the references here, but "gold" did before`, ""},
		{"our own name later", "a.jsonl", `{"response":"r","gold":"a"}` + "\n" + `{"response":"r","gold":"a","references":"b"}`, dataset.Source{}, `FILE:2: column "references" holds the references here, but "gold" did before`, ""},
		{"a column to be quoted", "a.jsonl", `{"bot's output, final":"r"}`, dataset.Source{}, "FILE:1: no response (columns here: bot's output, final)", `say which column holds it: --map 'response="bot'\''s output, final"'`},
		{"some ids", "a.jsonl", `{"response":"r"}` + "\n" + ok + `{"response":"r"}`, dataset.Source{}, "FILE:1: no id, but other rows have one; the same in 1 more place", "give every row an id, or none"},
		{"an empty id", "a.jsonl", `{"id":"","response":"r"}`, dataset.Source{}, "FILE:1: the id is empty", ""},
		{"an empty id in a table", "a.csv", "id,response\n,r\n", dataset.Source{}, "FILE:2: the id is empty", ""},
		{"ids twice", "a.jsonl", ok + `{"id":"q2","response":"r"}` + "\n" + ok, dataset.Source{}, `FILE:3: id "q1" again, first at FILE:1`, "ids must be unique: they tell which items a run has judged already"},
		{"ids that look the same", "a.jsonl", `{"id":1,"response":"r"}` + "\n" + `{"id":"1","response":"r"}`, dataset.Source{}, `FILE:2: id "1" again, first at FILE:1`, ""},
		{"weight nought", "a.jsonl", `{"response":"r","weight":0}`, dataset.Source{}, `FILE:1: the weight "0" is not a positive number`, ""},
		{"weight below", "a.jsonl", `{"response":"r","weight":-1.5}`, dataset.Source{}, `FILE:1: the weight "-1.5" is not a positive number`, ""},
		{"weight infinite", "a.jsonl", `{"response":"r","weight":1e999}`, dataset.Source{}, `FILE:1: the weight "inf" is not a positive number`, ""},
		{"weight in words", "a.csv", "response,weight\nr,heavy\n", dataset.Source{}, `FILE:2: the weight "heavy" is not a positive number`, ""},
		{"weight NaN", "a.csv", "response,weight\nr,NaN\n", dataset.Source{}, `FILE:2: the weight "NaN" is not a positive number`, ""},
		{"weight NaN in JSON", "a.jsonl", ok + `{"id":2,"response":"r","weight":NaN}`, dataset.Source{}, `FILE:2: the weight "NaN" is not a positive number`, ""},
		{"weight NaN in an object", "a.jsonl", `{"response":"r","m":{"x":NaN,"w":NaN}}`, dataset.Source{Map: dataset.Mapping{"weight": "m.w"}}, `FILE:1: the weight "NaN" is not a positive number`, ""},
		{"weight Infinity in JSON", "a.jsonl", ok + `{"id":2,"response":"r","weight":Infinity}`, dataset.Source{}, `FILE:2: the weight "inf" is not a positive number`, ""},
		{"weight -Infinity in JSON", "a.jsonl", `{"response":"r","weight":-Infinity}`, dataset.Source{}, `FILE:1: the weight "-inf" is not a positive number`, ""},
		{"weight true", "a.jsonl", `{"response":"r","weight":true}`, dataset.Source{}, `FILE:1: the weight "True" is not a positive number`, ""},
		{"fields that are none", "a.jsonl", `{"response":"r","fields":["a"]}`, dataset.Source{}, `FILE:1: fields must be an object, but it is "['a']"`, ""},

		// Mappings.
		{"a column that is not there", "a.jsonl", `{"id":1,"outptu":"r"}`, dataset.Source{Map: dataset.Mapping{"response": "output"}}, `no row has column "output", which is mapped to response`, "did you mean outptu? the columns are id, outptu"},
		{"a path that is not there", "a.jsonl", `{"response":"r","meta":{"a":1}}`, dataset.Source{Map: dataset.Mapping{"references": "meta.gold"}}, `no row has column "meta.gold", which is mapped to references`, "the columns are response, meta"},
		{"no such part", "a.jsonl", ok, dataset.Source{Map: dataset.Mapping{"resposne": "r"}}, `mapping: an item has no part "resposne"`, "did you mean response? the parts are id, category, cluster, question, references, response, messages, weight, fields, field.NAME"},
	}
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			tt.src.Names = []string{write(t, tt.name, tt.text)}
			d, err := dataset.Open(t.Context(), tt.src)
			if err == nil {
				t.Fatalf("Open gave %d items, want %q", d.Len(), tt.want)
			}
			if got := strings.ReplaceAll(err.Error(), tt.src.Names[0], "FILE"); !like(got, tt.want) {
				t.Errorf("Open = %s\nwant %s", got, tt.want)
			}
			if got := strings.ReplaceAll(deem.HintOf(err), tt.src.Names[0], "FILE"); tt.hint != "" && got != tt.hint {
				t.Errorf("hint = %s\nwant %s", got, tt.hint)
			}
		})
	}
}

// keys returns the members of an object with n keys, k0 and so on.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	return b.String()[1:]
}

// TestManyKeys reads rows with the maximum number of keys, and checks that one with a
// million is rejected: each within two seconds, which a reader that compares all keys
// pairwise would exceed many times over.
func TestManyKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	for _, tt := range []struct {
		name, text string
		fails      bool
	}{
		{"a.jsonl", `{"response":"r",` + keys(99_999) + `}`, false},
		{"a.jsonl", `{"response":"r","meta":{` + keys(99_999) + `}}`, false},
		{"a.json", `{"response":"r",` + keys(1_000_000) + `}`, true},
		{"a.jsonl", `{"response":"r","meta":{` + keys(1_000_000) + `}}`, true},
		{"a.csv", "response," + strings.ReplaceAll(keys(99_999), `"`, "") + "\nr" + strings.Repeat(",", 99_999) + "\n", false},
	} {
		name := write(t, tt.name, tt.text)
		start := time.Now()
		d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{name}})
		took := time.Since(start)
		if d != nil {
			for _, itemErr := range d.Items() {
				if itemErr != nil {
					t.Error(itemErr)
				}
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		if (err != nil) != tt.fails {
			t.Errorf("a row of %d bytes: %v", len(tt.text), err)
		}
		t.Logf("%s of %d bytes: %v", tt.name, len(tt.text), took)
		if took > 20*time.Second {
			t.Errorf("opening a row of %d bytes took %v, want less than 2s", len(tt.text), took)
		}
	}
}

// TestDevices checks that a device, which may be endless, is rejected, and so is a folder
// without data.
func TestDevices(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"/dev/zero", "open /dev/zero: it is a device, not a file"},
		{"/dev/random", "open /dev/random: it is a device, not a file"},
		{t.TempDir(), "open ...: there are no data files in this folder"},
	} {
		if _, err := os.Stat(tt.name); err != nil {
			t.Skip("no such device here:", err)
		}
		// If it is read nevertheless, the test ends before the disk is full.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := dataset.Open(ctx, dataset.Source{Names: []string{tt.name}})
		cancel()
		if err == nil || !like(err.Error(), tt.want) {
			t.Errorf("Open(%s) = %v, want %s", tt.name, err, tt.want)
		}
	}
}

// like compares a message with a pattern in which "..." matches anything.
func like(got, want string) bool {
	parts := strings.Split(want, "...")
	if len(parts) == 1 || strings.Contains(got, want) {
		return got == want
	}
	if !strings.HasPrefix(got, parts[0]) {
		return false
	}
	for _, part := range parts[1:] {
		_, after, ok := strings.Cut(got, part)
		if !ok {
			return false
		}
		got = after
	}
	return true
}

// damaged flips a byte in the checksum of a gzip file.
func damaged(packed string) string {
	b := []byte(packed)
	b[len(b)-6] ^= 0xff
	return string(b)
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "items.jsonl")
	if err := os.WriteFile(name, []byte(twoLines), 0o600); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(folder, "closed.jsonl")
	if err := os.WriteFile(closed, []byte(twoLines), 0); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, want, hint string }{
		{folder + "/*.csv", "open " + folder + "/*.csv: no file fits this pattern", "see what is there: ls " + folder},
		{folder + "/itmes.jsonl", "open " + folder + "/itmes.jsonl: no such file", "did you mean " + name + "?"},
		{folder + "/x/y.jsonl", "open " + folder + "/x/y.jsonl: no such file", "there is no folder " + folder + "/x; a path begins in the current folder, which pwd prints"},
		{folder + "/elsewhere.parquet", "open " + folder + "/elsewhere.parquet: no such file", "see what is there: ls " + folder},
		{closed, "read " + closed + ": open " + closed + ": no permission to read it", "see who may: ls -l " + closed},
	}
	for _, tt := range tests {
		if tt.name == closed && os.Getuid() == 0 {
			t.Log("running as root, who may read everything: no permission is not tested")
			continue
		}
		_, err := dataset.Open(t.Context(), dataset.Source{Names: []string{name, tt.name}})
		if err == nil || err.Error() != tt.want {
			t.Errorf("Open(%s) = %v\nwant %s", tt.name, err, tt.want)
		}
		if got := deem.HintOf(err); got != tt.hint {
			t.Errorf("hint for %s = %s\nwant %s", tt.name, got, tt.hint)
		}
	}
	if _, err := dataset.Open(t.Context(), dataset.Source{}); err == nil {
		t.Error("Open without files gave no error")
	}
}

func TestPipe(t *testing.T) {
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Log("no /dev/fd here: pipes are not tested")
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString(twoLines); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d := open(t, dataset.Source{Names: []string{fmt.Sprintf("/dev/fd/%d", r.Fd())}})
	for range 2 {
		if diff := cmp.Diff(two, all(t, d)); diff != "" {
			t.Errorf("items (-want +got):\n%s", diff)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{"-"}, Stdin: strings.NewReader(twoLines)})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for _, err := range d.Items() {
		if err == nil || err.Error() != "the files are closed" {
			t.Errorf("Items after Close gave %v", err)
		}
	}
	if err := d.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestManyProblems(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "{\"id\":%d}\n{\"id\":\"ok-%d\",\"response\":\"r\"}\n", i, i%40)
	}
	_, err := dataset.Open(t.Context(), dataset.Source{Names: []string{write(t, "a.jsonl", b.String())}})
	ps, ok := errors.AsType[*deem.Problems](err)
	if !ok {
		t.Fatalf("Open = %v, want *Problems", err)
	}
	if len(ps.List) != 20 || ps.Total != 160 { // 100 without response, 60 with an id of another
		t.Errorf("%d of %d problems listed, want 20 of 160", len(ps.List), ps.Total)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 21 || lines[20] != "and 41 more" || !strings.HasSuffix(lines[0], "a.jsonl:1: no response (columns here: id); the same in 99 more places") {
		t.Errorf("Error() = %s", err)
	}
}

// One invalid row does not hide the next.
func TestProblemsGoOn(t *testing.T) {
	text := "{\"id\":1,\"response\":\"r\"}\n{oops\n{\"id\":3,\"response\":\"r\"}\n\xff\n{\"id\":5}\n"
	name := write(t, "a.jsonl", text)
	_, err := dataset.Open(t.Context(), dataset.Source{Names: []string{name}})
	ps, ok := errors.AsType[*deem.Problems](err)
	if !ok {
		t.Fatalf("Open = %v, want *Problems", err)
	}
	var lines []int
	for _, p := range ps.List {
		if p.File != name {
			t.Errorf("File = %s, want %s", p.File, name)
		}
		lines = append(lines, p.Line)
	}
	if diff := cmp.Diff([]int{2, 4, 5}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
