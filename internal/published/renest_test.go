package published_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deem/internal/published"
)

// sharedFiles returns the result files of other people, which are not part of this
// repository.
func sharedFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, folder := range []string{"../../../shared/field", "../../../shared/data"} {
		if _, err := os.Stat(folder); err != nil {
			t.Skipf("there is no %s", folder)
		}
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if name := strings.TrimSuffix(path, ".gz"); err == nil && (strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl")) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// listIn returns the rows of a file by another rule than that of the package: its lines, its
// list, or the largest list of objects in it.
func listIn(t *testing.T, name string) []json.RawMessage {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(strings.TrimSuffix(name, ".gz"), "l") {
		return largest(text)
	}
	var list []json.RawMessage
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			list = append(list, json.RawMessage(line))
		}
	}
	return list
}

func largest(text json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil {
		if len(list) == 0 || !bytes.HasPrefix(bytes.TrimSpace(list[0]), []byte("{")) {
			return nil
		}
		var inside []json.RawMessage // of a list of conversations
		for _, e := range list {
			var conversation struct {
				QA        []json.RawMessage `json:"qa"`
				Questions []json.RawMessage `json:"questions"`
				Results   []json.RawMessage `json:"results"`
				Metrics   struct {
					Results []json.RawMessage `json:"detailed_results"`
				} `json:"metrics"`
			}
			if json.Unmarshal(e, &conversation) == nil {
				inside = slices.Concat(inside, conversation.QA, conversation.Questions, conversation.Results, conversation.Metrics.Results)
			}
		}
		if len(inside) > len(list) {
			return inside
		}
		return list
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return nil
	}
	var most []json.RawMessage
	for _, v := range members {
		if inner := largest(v); len(inner) > len(most) {
			most = inner
		}
	}
	return most
}

// sum is what a set counts: items, and the sum of its scores.
func sum(s *published.Set) string {
	score := 0.0
	for rec := range s.Records() {
		if rec.Verdict != nil {
			score += rec.Verdict.Score
		}
	}
	return fmt.Sprintf("%d items, score %.6f", s.Len(), score)
}

// openText opens rows that were put together by a test. The user is asked about benchmarks
// and systems, so the test answers.
func openText(t *testing.T, name string, value any, src published.Source) (*published.Set, error) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	src.Names, src.Benchmark = []string{name}, published.NoBenchmark
	return published.Open(t.Context(), src)
}

// Every file of other people has as many items as rows, less those that the set says are
// left out. The rows of each give the same numbers however they are nested.
func TestConservation(t *testing.T) {
	times := 20 // TestSoakConservation has more.
	if testing.Short() {
		times = 2
	}
	conserve(t, times)
}

// conserve counts the rows of every file, and nests them again so many times.
func conserve(t *testing.T, times int) {
	t.Helper()
	left := regexp.MustCompile(`^(\d+) (?:rows?|objects?) .*left out`)
	rng := rand.New(rand.NewPCG(39, 17))
	file := filepath.Join(t.TempDir(), "renested.json")
	files, flat := 0, 0
	for _, name := range sharedFiles(t) {
		if info, err := os.Stat(name); err != nil || testing.Short() && info.Size() > 200<<10 {
			continue
		}
		s, err := published.Open(t.Context(), published.Source{Names: []string{name}, Pick: ""})
		if several, ok := errors.AsType[*published.SeveralError](err); ok && len(several.Systems) > 0 {
			s, err = published.Open(t.Context(), published.Source{Names: []string{name}, Pick: published.All})
		}
		if err != nil {
			continue // a file of something else
		}
		files++
		list := listIn(t, name)
		counted := s.Len()
		for _, sentence := range s.LeftOut {
			if m := left.FindStringSubmatch(sentence); m != nil && !strings.Contains(sentence, "other lists") {
				n, _ := strconv.Atoi(m[1])
				counted += n
			}
		}
		if !strings.Contains(s.Shape, "HaluMem") && !strings.Contains(s.Shape, "BEAM") && !strings.Contains(s.Shape, "EVOUNA") && !byConversation(s) && counted != len(list) {
			t.Errorf("%s: %d items and rows left out, and %d rows", name, counted, len(list))
		}
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = unique(list[:min(len(list), 12)])
		all, err := openText(t, file, list, published.Source{Pick: published.All})
		if err != nil {
			all, err = openText(t, file, list, published.Source{})
		}
		if err != nil || all.Len() != len(list) || special(all.Shape) || len(list) == 1 {
			continue // rows with a shape of their own, such as pairs; one row is not a list
		}
		flat++
		want, asks := sum(all), asksOrAnswers(all)
		for range times {
			value, how := renest(rng, list, asks)
			s, err := openText(t, file, value, published.Source{Pick: published.All})
			if err != nil {
				s, err = openText(t, file, value, published.Source{})
			}
			if err != nil {
				t.Errorf("%s as %s: %v", name, how, err)
				break
			}
			if got := sum(s); got != want {
				t.Errorf("%s as %s: %s, want %s; left out: %q", name, how, got, want, s.LeftOut)
				break
			}
		}
	}
	t.Logf("%d files, %d nested again", files, flat)
	if files < 80 || flat < 60 {
		t.Errorf("%d files are read, and the rows of %d of them nested again, want 80 and 60", files, flat)
	}
}

// byConversation reports whether the rows are in several lists.
func byConversation(s *published.Set) bool {
	clusters := map[string]bool{}
	for it := range s.Items() {
		clusters[it.Cluster] = true
	}
	return len(clusters) > 1
}

// asksOrAnswers reports whether the rows have questions or responses. Rows with only an id
// and a decision cannot be told from decisions about documents.
func asksOrAnswers(s *published.Set) bool {
	for it := range s.Items() {
		if it.Question != "" || it.Response != "" {
			return true
		}
	}
	return false
}

func special(shape string) bool {
	i := slices.IndexFunc(published.Shapes(), func(s published.Shape) bool { return s.Name == shape })
	return i < slices.IndexFunc(published.Shapes(), func(s published.Shape) bool { return strings.HasPrefix(s.Name, "LongMemEval") })
}

// unique returns rows that ask different questions.
func unique(list []json.RawMessage) []json.RawMessage {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(row json.RawMessage) bool {
		key := string(row)
		var members map[string]json.RawMessage
		if json.Unmarshal(row, &members) == nil {
			for _, name := range []string{"question", "query", "prompt", "input", "question_id", "id"} {
				if q := members[name]; len(q) > 2 {
					key = string(q)
					break
				}
			}
		}
		again := seen[key]
		seen[key] = true
		return again
	})
}

// renest puts rows into a structure that a program could have written: a list, a list for
// each type or conversation, or an object with a member for each id; with a section that
// repeats rows, with settings, or with decisions about documents next to them.
func renest(rng *rand.Rand, list []json.RawMessage, documents bool) (any, string) {
	var value any
	var how string
	parts := 1 + rng.IntN(3)
	split := make([][]json.RawMessage, parts)
	for i, row := range list {
		split[i%parts] = append(split[i%parts], row)
	}
	switch rng.IntN(6) {
	case 0:
		value, how = map[string]any{"results": list}, "a list"
	case 1, 2:
		types := map[string]any{}
		for i, some := range split {
			if rng.IntN(2) == 0 {
				types[fmt.Sprintf("kind %c", 'a'+i)] = some
			} else {
				types[fmt.Sprintf("kind %c", 'a'+i)] = map[string]any{"responses": some}
			}
		}
		value, how = map[string]any{"by_type": types}, "lists by type"
	case 3:
		conversations := map[string]any{}
		for i, some := range split {
			conversations[strconv.Itoa(i)] = some
		}
		value, how = conversations, "lists by number"
	case 4:
		ids := map[string]any{}
		for i, row := range list {
			ids[fmt.Sprintf("item-%d", i)] = row
		}
		value, how = map[string]any{"items": ids}, "a dictionary"
	default:
		var conversations []any
		for i, some := range split {
			conversations = append(conversations, map[string]any{"conversation_id": fmt.Sprintf("conv-%d", i), "qa": some})
		}
		value, how = map[string]any{"conversations": conversations}, "conversations"
	}
	members := value.(map[string]any)
	if rng.IntN(2) == 0 {
		again := slices.Clone(list)
		rng.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		members["all_rows"] = again[:1+rng.IntN(len(again))]
		how += " with a section again"
	}
	if rng.IntN(2) == 0 {
		members["answer_model"], members["judge_model"], members["answer_temperature"], members["judge_temperature"] = "m", "j", 0, 0
		members["settings"] = map[string]any{"model": "m", "prompt": "Answer briefly.", "top_k": 10, "output": "run.json"}
		how += " next to settings"
	}
	if documents && rng.IntN(2) == 0 {
		members["retrieved"] = []any{map[string]any{"id": "s1", "score": 0.25}, map[string]any{"id": "s2", "score": 1}}
		how += " next to documents"
	}
	return value, how
}
