package beam

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/internal/words"
)

// Options says what to read. Data are the questions: upstream's folder chats or files
// probing_questions.json in it, each an object with a list for each ability; or rows with
// size, chat, ability, index, question and rubric. Responses are upstream's files, each an
// object with a list for each ability, or rows with size, chat, ability, index and
// llm_response. Without them the rows of Data contain the responses.
type Options = benchmark.Options

// A key identifies a question: a chat of a size, an ability, and an index in its list.
type key struct {
	size, chat, ability string
	index               int
}

// String returns the id of the item, for example 1M/3/event_ordering/0.
func (k key) String() string {
	id := fmt.Sprintf("%s/%s/%d", k.chat, k.ability, k.index)
	if k.size != "" {
		id = k.size + "/" + id
	}
	return id
}

// A join collects questions, responses and errors.
type join struct {
	items     map[key]*deem.Item
	order     []key
	answered  map[key]bool
	problems  benchmark.Problems
	notes     []string
	lone      key // the chat of the only file of questions
	loneFiles int
}

// Open joins questions and responses into items, in the order of the questions. It reads and checks everything before any
// call is made; if rows are invalid, the error is a [*deem.Problems].
func Open(ctx context.Context, o Options) (benchmark.Set, error) {
	if err := benchmark.CheckNames(slices.Concat(o.Data, o.Responses)); err != nil {
		return nil, err
	}
	if len(o.Data) == 0 {
		return nil, deem.WithHint(fmt.Errorf("%s: no file with the questions and their rubrics", strings.Join(o.Responses, ", ")), "name upstream's folder of chats: --data chats")
	}
	j := &join{items: map[key]*deem.Item{}, answered: map[key]bool{}}
	if err := j.rows(ctx, o.Data, o.Stdin, j.question); err != nil {
		return nil, err
	}
	if err := j.rows(ctx, o.Responses, o.Stdin, j.response); err != nil {
		return nil, err
	}
	var items []deem.Item
	missing := 0
	for _, k := range j.order {
		if j.answered[k] {
			items = append(items, *j.items[k])
			continue
		}
		if missing++; o.RequireAll {
			j.problems.Add(deem.Problem{Message: fmt.Sprintf("question %s has no response", k)}, "leave --require-all out, and the others are judged")
		}
	}
	if missing > 0 {
		j.notes = append(j.notes, words.Count(missing, "question")+" without a response, in no number")
	}
	if err := j.problems.Err(""); err != nil {
		return nil, err
	}
	names := slices.Concat(o.Data, o.Responses)
	if len(items) == 0 {
		return nil, deem.WithHint(fmt.Errorf("%s: no question has a response", strings.Join(names, ", ")), "name the files with the system's answers: --responses FILE")
	}
	items, j.notes = benchmark.Limit(items, o.Limit, j.notes)
	return benchmark.Hold(items, names, j.notes)
}

// rows reads files, and the files in folders. A row is about a whole chat or one question.
func (j *join) rows(ctx context.Context, names []string, stdin io.Reader, visit func(row *benchmark.Row, k key, entry map[string]json.RawMessage) error) error {
	var files []string
	for _, name := range names {
		inside, err := filesIn(name)
		if err != nil {
			return err
		}
		files = append(files, inside...)
	}
	if len(files) == 0 {
		return nil
	}
	in := benchmark.Input{Names: files, Stdin: stdin, Want: func(string) bool { return true }, Whole: isChat}
	notes, err := benchmark.Visit(ctx, in, &j.problems, func(row *benchmark.Row) error {
		if isChat(row.Names()) {
			return visitChat(row, visit)
		}
		entry := map[string]json.RawMessage{}
		for _, name := range row.Names() {
			if v := row.Get(name); !v.Missing() {
				entry[name] = v.JSON()
			}
		}
		k := key{size: row.Get("size").Str(), chat: row.Get("chat").Str(), ability: row.Get("ability").Str()}
		if k.chat == "" {
			return benchmark.At(row, "the row has no chat")
		}
		if err := checkAbility(row, k.ability); err != nil {
			return err
		}
		n, ok := text.Int(entry["index"])
		if !ok || n < 0 {
			return benchmark.At(row, "the row has no index, the place of the question among those of its ability, from 0")
		}
		k.index = int(n)
		return visit(row, k, entry)
	})
	j.notes = append(j.notes, notes...)
	return err
}

// filesIn returns the JSON files in a folder, or the file itself.
func filesIn(name string) ([]string, error) {
	info, err := os.Stat(name)
	if name == "-" || err != nil || !info.IsDir() {
		return []string{name}, nil //nolint:nilerr // Opening the file reports the error.
	}
	var files []string
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".json" {
			files = append(files, path)
		}
		return err
	})
	if asked := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return filepath.Base(f) != "probing_questions.json" }); len(asked) > 0 {
		files = asked // Upstream's folder also contains the chats.
	}
	slices.SortFunc(files, func(a, b string) int {
		sizeA, chatA := chatOf(a)
		sizeB, chatB := chatOf(b)
		nA, _ := strconv.Atoi(chatA)
		nB, _ := strconv.Atoi(chatB)
		return cmp.Or(slices.Index(Sizes(), sizeA)-slices.Index(Sizes(), sizeB), nA-nB, strings.Compare(a, b))
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("folder %s has no file probing_questions.json", name)
	}
	return files, err
}

// chatOf finds size and chat in the path of a file, such as
// chats/1M/3/probing_questions/x.json.
func chatOf(file string) (size, chat string) {
	parts := strings.Split(filepath.ToSlash(file), "/")
	for i := len(parts) - 2; i >= 0; i-- {
		if slices.Contains(Sizes(), parts[i]) {
			return parts[i], strings.TrimSuffix(parts[i+1], filepath.Ext(parts[i+1]))
		}
	}
	name, _, _ := strings.Cut(parts[len(parts)-1], ".")
	return "", name
}

// isChat reports whether an object has a list for each ability.
func isChat(keys []string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(Abilities(), k) })
}

// visitChat visits the entries of a file about one chat.
func visitChat(row *benchmark.Row, visit func(*benchmark.Row, key, map[string]json.RawMessage) error) error {
	k := key{}
	k.size, k.chat = chatOf(row.File)
	for _, k.ability = range row.Names() {
		if err := checkAbility(row, k.ability); err != nil {
			return err
		}
		var list []map[string]json.RawMessage
		if err := json.Unmarshal(row.Get(k.ability).JSON(), &list); err != nil {
			return benchmark.At(row, "%s is not a list of objects", k.ability)
		}
		for i, entry := range list {
			k.index = i
			if err := visit(row, k, entry); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkAbility(row *benchmark.Row, name string) error {
	if slices.Contains(Abilities(), name) {
		return nil
	}
	if near := text.Closest(name, Abilities()); near != "" {
		return benchmark.At(row, "unknown ability %q; did you mean %s?", name, near)
	}
	return benchmark.At(row, "unknown ability %q; there are %s", name, strings.Join(Abilities(), ", "))
}

// textOf returns the string under the first of the names that an entry has.
func textOf(entry map[string]json.RawMessage, names ...string) (string, bool) {
	for _, name := range names {
		var s *string
		if json.Unmarshal(entry[name], &s) == nil && s != nil {
			return *s, true
		}
	}
	return "", false
}

// The keys of the reference answer in questions, and of the response in a system's files.
var (
	answerNames   = []string{"ideal_response", "ideal_answer", "answer", "ideal_summary", "expected_compliance", "ideal"}
	responseNames = []string{"llm_response", "response"}
)

// question adds a question with its rubric and, if the row has one, the response.
func (j *join) question(row *benchmark.Row, k key, entry map[string]json.RawMessage) error {
	if _, twice := j.items[k]; twice {
		return benchmark.At(row, "question %s was given before", k)
	}
	asked, ok := textOf(entry, "question")
	if !ok || asked == "" {
		return benchmark.At(row, "question %s has no text", k)
	}
	var rubric []string
	if json.Unmarshal(entry["rubric"], &rubric) != nil || len(rubric) == 0 {
		return benchmark.At(row, "question %s has no rubric: a list of texts", k)
	}
	raw, err := deem.Canonical(rubric)
	if err != nil {
		return benchmark.At(row, "question %s: %v", k, err)
	}
	it := deem.Item{ID: k.String(), Category: k.ability, Cluster: strings.TrimPrefix(k.size+"/"+k.chat, "/"), Question: asked, Fields: map[string]string{fieldRubric: string(raw)}}
	if k.size != "" {
		it.Fields[fieldSize] = k.size
	}
	if ideal, ok := textOf(entry, answerNames...); ok {
		it.References = []string{ideal}
	}
	j.items[k] = &it
	j.order = append(j.order, k)
	if j.lone != (key{size: k.size, chat: k.chat}) {
		j.lone = key{size: k.size, chat: k.chat}
		j.loneFiles++
	}
	if _, ok := textOf(entry, responseNames...); ok {
		return j.response(row, k, entry)
	}
	return nil
}

// response adds a system's answer. If all questions are about one chat, the file need not
// name it.
func (j *join) response(row *benchmark.Row, k key, entry map[string]json.RawMessage) error {
	it := j.items[k]
	if it == nil && j.loneFiles == 1 && k.size == "" {
		k.size, k.chat = j.lone.size, j.lone.chat
		it = j.items[k]
	}
	said, ok := textOf(entry, responseNames...)
	asked, hasQuestion := textOf(entry, "question")
	switch {
	case it == nil:
		return deem.WithHint(benchmark.At(row, "there is no question %s", k), "the path of a file of responses says which chat it is about, as 1M/3/answers.json")
	case !ok:
		return deem.WithHint(benchmark.At(row, "question %s has no llm_response", k), "if the system gave nothing, write an empty string")
	case j.answered[k]:
		return benchmark.At(row, "question %s was answered before", k)
	case hasQuestion && asked != it.Question:
		return benchmark.At(row, "question %s is another one here: %q", k, words.Clip(asked, 60))
	}
	it.Response, j.answered[k] = said, true
	benchmark.SetSystemFields(it, row.Get)
	return nil
}
