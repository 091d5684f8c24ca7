package benchmark_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/words"
)

// files writes files into a new folder and returns it.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ids returns the ids of items, and the error that ended them.
func ids(items iter.Seq2[deem.Item, error]) ([]string, error) {
	var list []string
	for it, err := range items {
		if err != nil {
			return list, err
		}
		list = append(list, it.ID)
	}
	return list, nil
}

func TestWords(t *testing.T) {
	many := strings.Split("abcdefghijkl", "")
	for _, c := range []struct{ got, want string }{
		{words.Count(0, "item"), "0 items"},
		{words.Count(1, "item"), "1 item"},
		{words.Count(12, "memory point"), "12 memory points"},
		{benchmark.FirstTen(nil), ""},
		{benchmark.FirstTen(many[:10]), "a, b, c, d, e, f, g, h, i, j"},
		{benchmark.FirstTen(many), "a, b, c, d, e, f, g, h, i, j, ..."},
		{words.Clip("äöü", 3), "äöü"},
		{words.Clip("äöüß", 3), "äöü..."},
		{strings.Join(benchmark.Note([]string{"x"}, nil, "item", "lost"), "|"), "x"},
		{strings.Join(benchmark.Note([]string{"x"}, []string{"a"}, "item", "lost"), "|"), "x|1 item lost: a"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestCheckNames(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"", "no file to read"},
		{"- x -", "only once"},
		{"- x", ""},
	} {
		err := benchmark.CheckNames(strings.Fields(c.names))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("CheckNames(%q) = %v, want %q", c.names, err, c.want)
		}
	}
}

func TestProblems(t *testing.T) {
	var ps benchmark.Problems
	if err := ps.Err("advice"); err != nil {
		t.Errorf("no problems: %v", err)
	}
	if ps.Take(context.Canceled) || ps.Err("") != nil {
		t.Errorf("Take(canceled) took it: it is about no row")
	}
	a := deem.Problem{File: "f", Line: 1, Message: "a"}
	if !ps.Take(a) {
		t.Error("Take did not take a problem")
	}
	if got := deem.HintOf(ps.Err("")); got != "" {
		t.Errorf("hint %q, want none", got)
	}
	if got := deem.HintOf(ps.Err("otherwise")); got != "otherwise" {
		t.Errorf("hint %q, want otherwise", got)
	}
	ps.Take(deem.WithHint(a, "first"))
	ps.Take(deem.WithHint(a, "second"))
	err := ps.Err("otherwise")
	all, ok := errors.AsType[*deem.Problems](err)
	if !ok || all.Total != 3 || deem.HintOf(err) != "first" {
		t.Errorf("Err = %v with hint %q, want three problems and the first hint", err, deem.HintOf(err))
	}
}

// TestVisit checks that an error about one row does not end the reading, and that any other
// error does.
func TestVisit(t *testing.T) {
	name := filepath.Join(files(t, map[string]string{"a.jsonl": "{\"id\":1}\nno JSON\n{\"id\":2}\n{\"id\":3}\n"}), "a.jsonl")
	in := benchmark.Input{Names: []string{name}}
	var ps benchmark.Problems
	var seen []string
	_, err := benchmark.Visit(t.Context(), in, &ps, func(row *benchmark.Row) error {
		seen = append(seen, row.Get("id").Str())
		if len(seen) == 2 {
			return benchmark.At(row, "%s is bad", row.Get("id").Str())
		}
		return nil
	})
	all, ok := errors.AsType[*deem.Problems](ps.Err(""))
	if err != nil || !ok || len(all.List) != 2 || all.List[0].Line != 2 || all.List[1].Message != "2 is bad" || len(seen) != 3 {
		t.Errorf("Visit = %v, saw %q, problems %v, want three rows and the problems of lines 2 and 3", err, seen, ps.Err(""))
	}
	stop := errors.New("stop")
	if _, err := benchmark.Visit(t.Context(), in, &ps, func(*benchmark.Row) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Visit = %v, want %v", err, stop)
	}
}

func TestHeld(t *testing.T) {
	items := []deem.Item{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	names, notes := []string{"data", "responses"}, []string{"a note"}
	two, letters := benchmark.Limit(items, 2, nil)
	if want := "the first 2 of 3 items; --sample 2 takes a random sample"; len(letters) != 1 || letters[0] != want {
		t.Errorf("notes = %q, want %q", letters, want)
	}
	h, err := benchmark.Hold(two, names, notes)
	if err != nil {
		t.Fatal(err)
	}
	every, letters := benchmark.Limit(items, 0, nil)
	if letters != nil {
		t.Errorf("notes without a limit = %q", letters)
	}
	all, err := benchmark.Hold(every, names, notes)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // it can be read more than once
		if got, err := ids(h.Items()); err != nil || !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("Items = %q, %v, want a and b", got, err)
		}
	}
	if h.Len() != 2 || all.Len() != 3 || h.Hash() == all.Hash() || len(h.Hash()) != 64 {
		t.Errorf("Len = %d and %d, Hash = %s and %s", h.Len(), all.Len(), h.Hash(), all.Hash())
	}
	h.Names()[0], h.Notes()[0] = "changed", "changed"
	if h.Names()[0] != "data" || h.Notes()[0] != "a note" || h.Close() != nil {
		t.Errorf("Names = %q, Notes = %q: want copies", h.Names(), h.Notes())
	}
}

// reread returns a set of the rows of one file, with their ids as the ids of items.
func reread(t *testing.T, name string, limit int) (benchmark.Reread, error) {
	t.Helper()
	in, err := benchmark.NewReader(t.Context(), benchmark.Input{Names: []string{name}, Format: "jsonl"}, []string{name}, limit)
	if err != nil {
		t.Fatal(err)
	}
	read := func(ctx context.Context) iter.Seq2[deem.Item, error] {
		return benchmark.Made(in.Rows(ctx), func(row *benchmark.Row) (deem.Item, error) {
			if !benchmark.Has(row, "id") {
				return deem.Item{}, benchmark.At(row, "no id")
			}
			return deem.Item{ID: row.Get("id").Str()}, nil
		})
	}
	in.Note(in.Files.Notes()...)
	in.Note("a note")
	s, err := in.Settle(read(t.Context()), read)
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, err
}

func TestReread(t *testing.T) {
	name := filepath.Join(files(t, map[string]string{"a.jsonl": "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"c\"}\n"}), "a.jsonl")
	for _, c := range []struct {
		limit int
		want  string
	}{{0, "a b c"}, {2, "a b"}, {3, "a b c"}, {9, "a b c"}} {
		s, err := reread(t, name, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		first, letters := benchmark.Limit([]deem.Item{{ID: "a"}, {ID: "b"}, {ID: "c"}}, c.limit, nil)
		if want := append([]string{"a note"}, letters...); !slices.Equal(s.Notes(), want) {
			t.Errorf("limit %d: Notes = %q, want %q", c.limit, s.Notes(), want)
		}
		h, err := benchmark.Hold(first, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := ids(s.Items()); err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("limit %d: Items = %q, %v, want %s", c.limit, got, err, c.want)
			}
		}
		if s.Hash() != h.Hash() || s.Len() != h.Len() {
			t.Errorf("limit %d: %d items %s, want the %d of %s: the way of keeping must not matter", c.limit, s.Len(), s.Hash(), h.Len(), h.Hash())
		}
		if !slices.Equal(s.Names(), []string{name}) {
			t.Errorf("Names = %q, want %q", s.Names(), name)
		}
	}
}

// TestRereadChanged checks that items that have changed since they were checked are
// detected.
func TestRereadChanged(t *testing.T) {
	name := filepath.Join(files(t, map[string]string{"a.jsonl": "{\"id\":\"a\"}\n{\"id\":\"b\"}\n"}), "a.jsonl")
	for _, c := range []struct {
		name   string
		later  int // number of items on the second reading
		broken bool
		want   string
	}{
		{"shorter", 1, false, "it had 2 items, now it has 1"},
		{"longer", 3, false, "it had 2 items, now it has 3"},
		{"wrong now", 1, true, "the data are not what was checked: a.jsonl:7: no id"},
	} {
		in, err := benchmark.NewReader(t.Context(), benchmark.Input{Names: []string{name}}, []string{name}, 0)
		if err != nil {
			t.Fatal(err)
		}
		s, err := in.Settle(made(2, false), func(context.Context) iter.Seq2[deem.Item, error] { return made(c.later, c.broken) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ids(s.Items()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// made yields n items and then, if broken, an invalid row.
func made(n int, broken bool) iter.Seq2[deem.Item, error] {
	rows := func(yield func(*benchmark.Row, error) bool) {
		for i := range n {
			if !yield(&benchmark.Row{File: "a.jsonl", Line: i}, nil) {
				return
			}
		}
		if broken {
			yield(&benchmark.Row{File: "a.jsonl", Line: 7}, nil)
		}
	}
	return benchmark.Made(rows, func(row *benchmark.Row) (deem.Item, error) {
		if row.Line == 7 {
			return deem.Item{}, benchmark.At(row, "no id")
		}
		return deem.Item{ID: string(rune('a' + row.Line))}, nil
	})
}

// TestMadeOther checks that an error that is not about a row is returned unchanged.
func TestMadeOther(t *testing.T) {
	rows := func(yield func(*benchmark.Row, error) bool) { yield(nil, context.Canceled) }
	_, err := ids(benchmark.Made(rows, func(*benchmark.Row) (deem.Item, error) { return deem.Item{}, nil }))
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "checked") {
		t.Errorf("Made = %v, want context.Canceled alone", err)
	}
}

func TestRereadWrongAtOnce(t *testing.T) {
	name := filepath.Join(files(t, map[string]string{"a.jsonl": "{\"xx\":1}\n"}), "a.jsonl")
	if _, err := reread(t, name, 0); err == nil {
		t.Error("Settle took an item that could not be made")
	}
}

var layout = benchmark.Folder{
	Prefix: "p_", Is: func(name string) bool { return strings.HasSuffix(name, ".jsonl") },
	Rank:    func(task string) int { return slices.Index([]string{"z", "a"}, task) },
	Example: "that somebody wrote", Usage: "--data FOLDER",
}

func TestFolder(t *testing.T) {
	dir := files(t, map[string]string{"one/p_a.jsonl": "", "one/p_z.jsonl": "", "one/notes.txt": "", "two/p_a.jsonl": "", "empty/x.txt": ""})
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, c := range []struct {
		names, want []string
		err, hint   string
	}{
		{names: []string{in("one")}, want: []string{in("one/p_z.jsonl"), in("one/p_a.jsonl")}},
		{names: []string{"-", in("none.jsonl")}, want: []string{"-", in("none.jsonl")}},
		{names: nil, err: "no file to read", hint: "--data FOLDER"},
		{names: []string{in("one"), in("two")}, err: "task a is in", hint: "one system"},
		{names: []string{dir}, err: "no file p_TASK.jsonl", hint: "did you mean " + in("empty")},
		{names: []string{in("empty")}, err: "no file p_TASK.jsonl", hint: "the folder that somebody wrote"},
	} {
		got, err := layout.Files(c.names)
		switch {
		case c.err == "":
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("Files(%q): %v (-want +got):\n%s", c.names, err, diff)
			}
		case err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(deem.HintOf(err), c.hint):
			t.Errorf("Files(%q): %v, hint %q, want %q and %q", c.names, err, deem.HintOf(err), c.err, c.hint)
		}
	}
	if got := layout.Task("x/p_some_task.v2.jsonl"); got != "some_task" {
		t.Errorf("Task = %q, want some_task", got)
	}
}

func TestNoResponses(t *testing.T) {
	if err := benchmark.NoResponses("bench", nil); err != nil {
		t.Error(err)
	}
	if err := benchmark.NoResponses("bench", []string{"x"}); err == nil || !strings.Contains(deem.HintOf(err), "--data") {
		t.Errorf("NoResponses = %v, hint %q", err, deem.HintOf(err))
	}
}

func TestLack(t *testing.T) {
	var l benchmark.Lack
	l.Size("a", 3, 3)
	if l.Whole("x") != nil || l.Notes() != nil {
		t.Errorf("nothing lacks: %v, %q", l.Whole("x"), l.Notes())
	}
	l.Size("a", 2, 3)
	l.Missing = []string{"b", "c"}
	if err := l.Whole("x"); err == nil || err.Error() != "read x: the benchmark is not whole: b, c, a has 2 of 3" {
		t.Errorf("Whole = %v", err)
	}
	want := []string{
		"2 tasks without an item, in no number: b, c",
		"fewer or more items than published, so that scores are not comparable: a has 2 of 3",
	}
	if diff := cmp.Diff(want, l.Notes()); diff != "" {
		t.Errorf("Notes (-want +got):\n%s", diff)
	}
}

func TestEmptyFiles(t *testing.T) {
	got := benchmark.EmptyFiles([]string{"-", "a", "b"}, func(file string) bool { return file == "b" })
	if diff := cmp.Diff([]string{"a has no line; upstream would stop at it"}, got); diff != "" {
		t.Errorf("EmptyFiles (-want +got):\n%s", diff)
	}
}
