package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// fields is a short name for the fields of an object.
type fields = map[string]any

func num(s string) json.Number { return json.Number(s) }

func TestObjects(t *testing.T) {
	for _, c := range []struct {
		text string
		want []fields
	}{
		{"no braces", nil},
		{`{}`, []fields{{}}},
		{`{"a": 1}`, []fields{{"a": num("1")}}},
		{`x {"a": 1} y {"b": "c"} z`, []fields{{"a": num("1")}, {"b": "c"}}},
		{`{"a": {"b": [1, "x", null, true]}}`, []fields{{"a": fields{"b": []any{num("1"), "x", nil, true}}}}},
		{"```json\n{\"a\": 1}\n```", []fields{{"a": num("1")}}},
		{"```json\n{\"a\": 1\n```\n", []fields{{"a": num("1")}}},
		{`{'a': 'it's', "b": True, c: None,}`, []fields{{"a": "it's", "b": true, "c": nil}}},
		{"{\"a\": \"x\ny\"}", []fields{{"a": "x\ny"}}},
		{"{\"a\": 1, // one\n /* two */ \"b\": 2 # three\n}", []fields{{"a": num("1"), "b": num("2")}}},
		{"{“a”：“b”，“c”：1}", []fields{{"a": "b", "c": num("1")}}},
		{`{"a": "he said "hi", then left", "b": 2}`, []fields{{"a": `he said "hi", then left`, "b": num("2")}}},
		{`{"a": "x" "b": 2}`, []fields{{"a": "x", "b": num("2")}}},
		{`{"score": 8/10}`, []fields{{"score": "8/10"}}},
		{`{"score": 08}`, []fields{{"score": "08"}}},
		{`{"score": }`, []fields{{}}},
		{`{"a": "\u00e9\ud83d\ude00\q\'"}`, []fields{{"a": `é😀\q'`}}},
		{`{"a": 1, ...}`, []fields{{"a": num("1")}}},
		{`{"a": "b"`, []fields{{"a": "b"}}},
		{`{"a": "b", "c": "d`, []fields{{"a": "b"}}},
		{`{"a": 1`, []fields{{}}},
		{`{"a": 1,`, []fields{{"a": num("1")}}},
		{`{"a": tru`, []fields{{}}},
		{`{"a": [1, 2`, []fields{{"a": []any{num("1")}}}},
		{`the set {1, 2, 3} and \frac{a}{b}`, nil},
		{`{question} {0} {{name}}`, nil},
	} {
		if d := cmp.Diff(c.want, objectsOf(c.text)); d != "" {
			t.Errorf("scanObjects(%q) (-want +got):\n%s", c.text, d)
		}
	}
}

func TestRepair(t *testing.T) {
	const spaced = "A " // a key with a careless space
	const text = `{"a": 1, "b": 2} {"A ": 3, "c": {"d e": 4, "f": 5}} {"z": 6}`
	for key, want := range map[string]fields{
		"a":   {spaced: num("3"), "c": fields{"d e": num("4"), "f": num("5")}},
		"b":   {"a": num("1"), "b": num("2")},
		"D_E": {"d e": num("4"), "f": num("5")},
		"y":   nil,
	} {
		got, ok := Repair(text, key)
		if d := cmp.Diff(want, got); ok != (want != nil) || d != "" {
			t.Errorf("Repair(%q) = %v, %v:\n%s", key, got, ok, d)
		}
	}
	if got := repairedText(`{"Label": "x", "reason": "half a rea`, "label"); got != "x" {
		t.Errorf("the label is %q, want x", got)
	}
	if got := repairedText(`{"Label": "x", "reason": "half a rea`, "reason"); got != "" {
		t.Errorf("half a reason is read as %q", got)
	}
}

// objectsOf returns the objects in a text.
func objectsOf(text string) []fields {
	var list []fields
	for o := range scanObjects(text) {
		list = append(list, o.plain())
	}
	return list
}

// genValue generates a JSON value.
func genValue(deep int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 5+min(deep, 1)*2).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.Int64().Draw(t, "int")
		case 6:
			return rapid.SliceOfN(genValue(deep-1), 0, 3).Draw(t, "list")
		case 7:
			return genObject(deep-1).Draw(t, "object")
		}
		return rapid.String().Draw(t, "string")
	})
}

// genObject generates a JSON object.
func genObject(deep int) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.String(), genValue(deep), 0, 4)
}

// TestValidJSON checks that valid JSON is read as encoding/json reads it, and that the
// values read after a cut at any byte were there before the cut.
func TestValidJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(genObject(3).Draw(t, "object"))
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]fields{want}, objectsOf("Here: "+string(data)+" done")); d != "" {
			t.Fatalf("scanObjects(%s) (-want +got):\n%s", data, d)
		}
		cut := rapid.IntRange(1, len(data)-1).Draw(t, "cut")
		for _, o := range objectsOf(string(data[:cut])) {
			for k, v := range o {
				if !scalar(v) {
					continue
				}
				if d := cmp.Diff(want[k], v); d != "" {
					t.Fatalf("cut at %d of %s: %q (-want +got):\n%s", cut, data, k, d)
				}
			}
		}
	})
}

// scalar reports whether v is neither a list nor an object.
func scalar(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}
