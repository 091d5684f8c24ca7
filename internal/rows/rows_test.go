package rows_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem/internal/rows"
)

// parse parses the JSON of a test.
func parse(t *testing.T, text string) rows.Node {
	t.Helper()
	n, err := rows.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Objects know their lines, members their order, and NaN is a missing value.
func TestParse(t *testing.T) {
	n := parse(t, "{\"b\": NaN,\n \"a\": [\n  {\"x\": 1.50},\n\n  {\"x\": \"é\"}]}")
	if a := n.Member("a"); n.Line != 1 || a.Vals[0].Line != 3 || a.Vals[1].Line != 5 {
		t.Errorf("lines %d, %d, %d, want 1, 3, 5", n.Line, a.Vals[0].Line, a.Vals[1].Line)
	}
	if got := string(n.AppendJSON(nil)); got != `{"b":null,"a":[{"x":1.50},{"x":"é"}]}` {
		t.Errorf("written again: %s", got)
	}
	if got := n.At("a.1.x").Str(); got != "é" {
		t.Errorf("At(a.1.x) = %q", got)
	}
	for _, broken := range []string{`{"a":1`, `{"a":1} x`, strings.Repeat("[", 300), ``} {
		if _, err := rows.Parse([]byte(broken)); err == nil {
			t.Errorf("Parse(%.20q) gives no error", broken)
		}
	}
}

// finder takes objects with q and r as rows, and those with an id as weak ones.
var finder = rows.Finder{
	Grade: func(o rows.Node, keyed bool) rows.Grade {
		switch {
		case o.Has("r") && (o.Has("q") || keyed):
			return rows.Strong
		case o.Has("id"):
			return rows.Weak
		case o.Has("q"):
			return rows.Opaque
		}
		return rows.None
	},
	Same:     func(o rows.Node) string { return string(o.AppendJSON(nil)) },
	Question: func(o rows.Node) string { return o.Member("q").Str() },
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []string
		want   string // the paths of the rows with their keys, groups and categories
		left   string
		rivals string
	}{
		{name: "values", values: []string{`{"q":1,"r":1}`, `{"q":2,"r":1}`}, want: " "},
		{name: "a list", values: []string{`{"n":2,"results":[{"q":1,"r":1},{"q":2,"r":1}]}`}, want: "results[0] results[1]"},
		{name: "conversations", values: []string{`{"c1":[{"q":1,"r":1}],"c2":[{"q":1,"r":2}]}`}, want: "c1[0]@c1 c2[0]@c2", rivals: "c1 c2"},
		{name: "numbered conversations", values: []string{`{"0":[{"q":1,"r":1}],"1":[{"q":1,"r":2}]}`}, want: "0[0]@0 1[0]@1"},
		{name: "a conversation that names itself", values: []string{`[{"conv_id":"x","qa":[{"q":1,"r":1}]}]`}, want: "[0].qa[0]@x"},
		{name: "types", values: []string{`{"by_type":{"a":[{"q":1,"r":1}],"b":{"list":[{"q":2,"r":1}]}}}`}, want: "by_type.a[0]#a by_type.b.list[0]@list#b"},
		{name: "a dictionary", values: []string{`{"x":{"r":1},"y":{"r":2},"config":{"k":1}}`}, want: "x=x y=y"},
		{name: "one object is not a dictionary", values: []string{`{"x":{"r":1}}`}, want: ""},
		{name: "weak rows", values: []string{`{"judgments":[{"id":1},{"id":2}]}`}, want: "judgments[0]@judgments judgments[1]@judgments"},
		{
			name: "weak rows next to rows", values: []string{`{"judgments":[{"id":1}],"results":[{"q":1,"r":1},{"id":2}]}`}, want: "results[0] results[1]",
			left: "1 object of judgments left out for having neither a question nor a response",
		},
		{name: "details of a question", values: []string{`{"cases":[{"q":1,"documents":[{"id":1}]}]}`}, want: ""},
		{
			name: "what stands twice", values: []string{`{"all":[{"q":1,"r":1},{"q":2,"r":1}],"first":[{"q":1,"r":1}]}`}, want: "all[0] all[1]",
			left: "1 row of first left out because other lists of the file have the same rows",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var values []rows.Value
			for i, text := range tt.values {
				values = append(values, rows.Value{Node: parse(t, text), File: "f", Line: i + 1})
			}
			found := finder.Find(values)
			var got []string
			for _, r := range found.Rows {
				path := r.Path
				for _, part := range [][2]string{{"=", r.Key}, {"@", r.Group}, {"#", r.Category}} {
					if part[1] != "" {
						path += part[0] + part[1]
					}
				}
				got = append(got, path)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("rows: -want +got:\n%s", diff)
			}
			if got := strings.Join(found.LeftOut, "; "); got != tt.left {
				t.Errorf("left out: %q, want %q", got, tt.left)
			}
			if got := strings.Join(found.Rivals, " "); got != tt.rivals {
				t.Errorf("rivals: %q, want %q", got, tt.rivals)
			}
		})
	}
}

// The table has each name for one part only, apart from those that are for two on purpose.
func TestNames(t *testing.T) {
	of := map[string]string{}
	for _, c := range rows.Columns() {
		for _, name := range rows.Names(c.Target) {
			plain := rows.Plain(name)
			if other, ok := of[plain]; ok && plain != "evaluationreasoning" {
				t.Errorf("%q is a name of %s and of %s", name, other, c.Target)
			}
			of[plain] = c.Target
		}
	}
	if got := rows.Plain("Gold Answer"); got != rows.Plain("goldAnswer") || got != rows.Plain("gold_answer") {
		t.Errorf("Plain(Gold Answer) = %q", got)
	}
}
