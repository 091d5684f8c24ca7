package claims_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/claims"
)

// The same claims in every form that is read.
var forms = []struct{ name, text string }{
	{"header.md", "# Results\n\nAs of May.\n\n| System | alpha (n=40) | beta (n = 60) | Overall |\n|:--|--:|--:|--:|\n| **Ours** | **95.0** | 90.0% | 92.0 |\n| Theirs | 92.5 | - | 91.0 |\n\nThat is all.\n"},
	{"row.csv", "system,alpha,beta,overall\nn,40,60,100\nOurs,95.0,90.0,92.0\nTheirs,92.5,,91.0\n"},
	{"column.tsv", "category\tn\tOurs\tTheirs\nalpha\t40\t95.0\t92.5\nbeta\t60\t90.0\t\noverall\t100\t92.0\t91.0\n"},
	{"semicolons.csv", "system;alpha [40 questions];beta [60 items];total\nOurs;95.0;90.0;92.0\nTheirs;92.5;n/a;91.0\n"},
	{"rows.yaml", "sizes: {alpha: 40, beta: 60}\nrows:\n  Ours: {alpha: 95.0, beta: 90.0, overall: 92.0}\n  Theirs: {alpha: 92.5, overall: 91.0}\n"},
	{"list.json", `{"sizes": {"alpha": 40, "beta": 60}, "total": 100, "rows": [{"system": "Ours", "alpha": 95.0, "beta": "90.0", "overall": 92.0}, {"name": "Theirs", "alpha": 92.5, "beta": null, "overall": 91.0}]}`},
	{"columns.json", `{"columns": ["alpha", "beta", "overall"], "sizes": [40, 60], "rows": {"Ours": ["95.0", "90.0", "92.0"], "Theirs": [92.5, null, 91.0]}}`},
	{"shares.csv", "system,alpha (n=40),beta (n=60),overall\nOurs,0.950,0.900,0.920\nTheirs,0.925,,0.910\n"},
	{"-", "| system | alpha, n=40 | beta, n=60 | avg |\n|---|---|---|---|\n| Ours | 95.0 | 90.0 | 92.0 |\n| Theirs | 92.5 | — | 91.0 ± 0.4 |\n"},
}

func TestForms(t *testing.T) {
	type number struct {
		System, Printed string
		Size, Lo, Hi    int64
	}
	want := []number{{"Ours", "95.0%", 40, 38, 38}, {"Ours", "90.0%", 60, 54, 54}, {"Ours", "92.0%", 100, 92, 92}, {"Theirs", "92.5%", 40, 37, 37}, {"Theirs", "91.0%", 100, 91, 91}}
	for _, form := range forms {
		table, err := claims.Read(form.name, []byte(form.text), claims.Options{})
		if err != nil {
			t.Errorf("%s: %v", form.name, err)
			continue
		}
		var got []number
		for _, n := range table.Audit(1).Numbers {
			got = append(got, number{n.System, "", n.Size, n.Lo, n.Hi})
		}
		printed := 0
		for _, row := range table.Rows {
			for _, c := range append(row.Cells, row.Overall) {
				if c.Percent != nil {
					got[printed].Printed = c.Percent.String()
					printed++
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", form.name, diff)
		}
	}
}

// What is wrong with a table is told with its line.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name, text string
		line       int
		want       string
	}{
		{"a.md", "no table\nhere\n", 3, "no Markdown table"},
		{"a.md", "| s | a (n=10) |\n|---|---|\n| x | 50 |\n| y | many |\n", 4, `"many" is not a percentage`},
		{"a.md", "| s | a (n=10) |\n|---|---|\n| x | 50 | 60 |\n", 3, "the row has 3 fields and the header 2"},
		{"a.md", "| s | a (n=0) |\n|---|---|\n| x | 50 |\n", 1, "is not a number of questions"},
		{"a.csv", "s,a\nx,50\n", 1, "no column has a size"},
		{"a.csv", "s,a,b\nn,10,none\nx,50,50\n", 2, `"none" is not a number of questions`},
		{"a.csv", "s,\"a\nb\" (n=3)\nx,50\n", 2, `extraneous or missing " in quoted-field`},
		{"a.csv", "s,a (n=10),A (n=10)\nx,50,50\n", 1, "two columns"},
		{"a.csv", "s,a (n=10)\nx,11/10\n", 2, "more right answers than questions: 11 of 10"},
		{"a.csv", "s,a (n=10)\nx,\n", 1, "no number"},
		{"a.csv", "", 1, "needs a header"},
		{"a.yaml", "rows:\n  x: {a: [1]}\n", 2, "a number or a text must stand here"},
		{"a.yaml", "rows:\n  x: [1]\n", 2, "needs columns"},
		{"a.yaml", "size: 3\n", 1, `unknown key "size"`},
		{"a.yaml", "benchmark: nosuch\nrows: {x: {a: 50}}\n", 1, `no benchmark "nosuch"`},
		{"a.yaml", "rows: [\n", 1, "did not find expected node content"},
		{"a.yaml", "", 1, "empty"},
		{"a.json", "{\"rows\":\n [1,}", 2, "invalid character"},
		{"a.json", "{\"rows\":", 1, "unexpected EOF"},
		{"a.json", "{}\n{}", 2, "more after the end"},
		{"a.json", "{\"rows\": {\"x\": 3}}", 1, "a row is a list"},
	} {
		_, err := claims.Read(c.name, []byte(c.text), claims.Options{Known: known})
		ps, ok := errors.AsType[*deem.Problems](err)
		if !ok || len(ps.List) != 1 || ps.List[0].Line != c.line || ps.List[0].File != c.name || !strings.Contains(ps.List[0].Message, c.want) {
			t.Errorf("%q: error %v, want one in line %d with %q", c.text, err, c.line, c.want)
		}
	}
}

// FuzzRead reads anything: nothing panics, every problem has a file and a line that is there,
// and what was read can be audited.
func FuzzRead(f *testing.F) {
	for _, form := range forms {
		f.Add(form.name, form.text)
	}
	f.Add("x.yaml", "a: &a [*a]\nrows: *a")
	f.Add("x.yaml", "rows: {S: &s {1: 94.0, 2: 311/325, overall: 104}, T: *s}\nbenchmark: locomo\ntotal: 1540")
	f.Add("x.json", `{"columns":["1",{"a":1}],"rows":{"x":[1,2]}}`)
	f.Add("x", "system,1,2,overall\nS,91.99999999999999,100,0")
	f.Add("x.md", "a|n\n-|-\nb\\|c|9")
	f.Fuzz(func(t *testing.T, name, text string) {
		table, err := claims.Read(name, []byte(text), claims.Options{Known: known})
		if err != nil {
			ps, ok := errors.AsType[*deem.Problems](err)
			if !ok || ps.Total == 0 {
				t.Fatalf("%v has no place", err)
			}
			for _, p := range ps.List {
				// YAML has line ends of its own, and may name the line after the last.
				if lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029"); p.File != name || p.Line < 1 || p.Line > lines+2 {
					t.Fatalf("%v in a text of %d lines", p, lines+1)
				}
			}
			return
		}
		r := table.Audit(claims.DefaultRuns)
		for _, n := range r.Numbers {
			if n.Runs > 0 && (n.Lo > n.Hi || n.Lo < 0 || n.Hi > int64(n.Runs)*n.Size && n.Size > 0) {
				t.Fatalf("%+v", n)
			}
		}
		if err := r.Text(&strings.Builder{}); err != nil {
			t.Fatal(err)
		}
	})
}
