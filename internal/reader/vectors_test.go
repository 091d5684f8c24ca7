package reader_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/reader"
)

// A vector is one rendered case of a published answering program.
type vector struct {
	Name          string
	Question      string
	Date          string
	QuestionDate  string `json:"question_date"`
	ReferenceDate string `json:"reference_date"`
	Speakers      []string
	Contexts      []struct {
		ID, Text, TS, Speaker string
		Score                 *float64
	}
	Context         *string
	SearchContext   *string `json:"search_context"`
	RawRecall       *string `json:"raw_recall"`
	Speaker1        *string `json:"speaker_1_memories"`
	Speaker2        *string `json:"speaker_2_memories"`
	QuestionAsSent  string  `json:"question_as_sent"`
	ContextSent     *string `json:"context_sent"`
	UserProfile     any     `json:"user_profile"`
	Results         []json.RawMessage
	SearchResults   []searchResult `json:"search_results"`
	Messages        []deem.Message
	Error           string
	Reply           string
	AnswerRead      string `json:"answer_read"`
	Input           longMemEvalRow
	Options         map[string]any
	Parameters      map[string]any
	ReflectedAnswer string `json:"reflect_answer"`
}

type searchResult struct {
	Memory    string
	CreatedAt string `json:"created_at"`
	Score     *float64
}

type longMemEvalRow struct {
	Question         string
	QuestionDate     string                             `json:"question_date"`
	HaystackDates    []string                           `json:"haystack_dates"`
	HaystackSessions [][]struct{ Role, Content string } `json:"haystack_sessions"`
}

// shared returns the folder of published prompts and vectors.
func shared(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "field", "readers")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no published vectors: ", err)
	}
	return dir
}

// question returns the question of a vector, as a file of contexts would give it.
func (v vector) question() reader.Question {
	q := reader.Question{Text: v.Question, Date: v.Date + v.QuestionDate + v.ReferenceDate, Speakers: v.Speakers}
	joined := func(text *string) bool {
		if text == nil {
			return false
		}
		q.Contexts = []reader.Context{{Text: *text, Joined: true}}
		return true
	}
	switch {
	case v.Speaker1 != nil:
		for i, text := range []*string{v.Speaker1, v.Speaker2} {
			if *text != "" {
				q.Contexts = append(q.Contexts, reader.Context{Text: *text, Speaker: v.Speakers[i]})
			}
		}
	case joined(v.Context), joined(v.SearchContext), joined(v.RawRecall):
	case v.SearchResults != nil:
		for _, r := range v.SearchResults {
			q.Contexts = append(q.Contexts, reader.Context{Text: r.Memory, Time: r.CreatedAt, Score: r.Score})
		}
	case v.Results != nil:
		for _, raw := range v.Results {
			var r struct {
				Memory   string
				Metadata struct{ Timestamp string }
			}
			_ = json.Unmarshal(raw, &r)
			q.Contexts = append(q.Contexts, reader.Context{Text: r.Memory, Time: r.Metadata.Timestamp, Raw: raw})
		}
	case v.Input.Question != "":
		q.Text, q.Date = v.Input.Question, v.Input.QuestionDate
		for i, session := range v.Input.HaystackSessions {
			c := reader.Context{Time: v.Input.HaystackDates[i]}
			for _, turn := range session {
				if v.Options["useronly"] != true || turn.Role == "user" {
					c.Turns = append(c.Turns, reader.Turn{Role: turn.Role, Text: turn.Content})
				}
			}
			q.Contexts = append(q.Contexts, c)
		}
	default:
		for _, c := range v.Contexts {
			q.Contexts = append(q.Contexts, reader.Context{ID: c.ID, Text: c.Text, Time: c.TS, Speaker: c.Speaker, Score: c.Score})
		}
	}
	return q
}

// leftOut says why a vector does not apply to a file of contexts.
func (v vector) leftOut() string {
	switch {
	case v.Error != "":
		return "the published program crashes; deem answers without contexts"
	case v.UserProfile != nil:
		return "a profile of the user is not a context"
	case v.Options["max_retrieval_length"] != nil, v.Options["topk_context"] == 1.0:
		return "the budget is deem's own"
	case len(v.Messages) == 0:
		return "the reader is not asked"
	}
	return ""
}

// notReaders are the files of vectors without a built-in reader, with the reason.
var notReaders = map[string]string{
	"amb_default": "no licence", "amb_locomo": "no licence", "amb_longmemeval": "no licence", "beam_rag": "no licence",
	"halumem_memzero":   "the licence forbids derived works",
	"locomo_rag":        "the licence forbids commercial use",
	"zep_papers_locomo": "the licence forbids commercial use", "locomo_full_context": "the licence forbids commercial use",
	"longmemeval_con_separate": "it asks once for each session, and then once more for the answer; a reader asks once",
	"longmemeval_no_retrieval": "the prompt is the bare question; --arm none asks any reader without contexts",
	"longmemeval_retrieved":    "the vectors test the choice of sessions before the prompt, which is that of longmemeval-direct",
	"longmemeval_turns":        "it sends has_answer, which gives the evidence away",
	"mem0_2025_graph":          "it shows relations of a graph next to the memories, which a context does not have",
	"memorybench_supermemory":  "it shows fields of one provider's results, which other systems do not have",
	"memorybench_zep":          "it shows fields of one provider's results, which other systems do not have",
}

// TestVectors compares every request of the published readers with what their own programs
// send, to the byte.
func TestVectors(t *testing.T) {
	dir := shared(t)
	of := map[string]string{
		"longmemeval_direct_json": "longmemeval-direct", "longmemeval_direct_nl": "longmemeval-direct-text",
		"longmemeval_cot_json": "longmemeval-cot", "longmemeval_cot_nl": "longmemeval-cot-text",
		"mem0_2025": "mem0-2025", "mem0_2025_full_context": "mem0-2025-full-context", "memobase": "memobase",
		"mem0_2026_locomo": "mem0-2026-locomo", "mem0_2026_longmemeval": "mem0-2026-longmemeval", "mem0_2026_beam": "mem0-2026-beam",
		"memos_locomo": "memos-locomo", "memos_longmemeval": "memos-longmemeval",
		"omnimemeval_locomo": "omnimemeval-locomo", "omnimemeval_longmemeval": "omnimemeval-longmemeval",
		"evermemos": "evermemos", "benchd": "benchd", "memorybench_default": "memorybench", "memorybench_mem0": "memorybench-mem0",
		"zep_locomo": "zep-2025-locomo", "zep_longmemeval": "zep-2025-longmemeval",
	}
	files, err := filepath.Glob(filepath.Join(dir, "vectors", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no vectors: ", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if (of[name] == "") == (notReaders[name] == "") {
			t.Errorf("%s needs a reader, or a reason why there is none", name)
		}
	}
	compared, left := 0, map[string]int{}
	for file, name := range of {
		data, err := os.ReadFile(filepath.Join(dir, "vectors", file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var set struct{ Cases []vector }
		if err := json.Unmarshal(data, &set); err != nil {
			t.Fatal(file, ": ", err)
		}
		d, err := reader.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range set.Cases {
			if why := v.leftOut(); why != "" {
				left[why]++
				continue
			}
			req, err := d.Request(v.question())
			if err != nil {
				t.Errorf("%s, %s: %v", file, v.Name, err)
				continue
			}
			if diff := cmp.Diff(v.Messages, req.Messages); diff != "" {
				t.Errorf("%s, %s: messages differ (-published +deem):\n%s", file, v.Name, diff)
			}
			if strings.Contains(req.Messages[len(req.Messages)-1].Content, "GOLD-NEVER-SHOW") {
				t.Errorf("%s, %s: the key is in the prompt", file, v.Name)
			}
			if v.Reply != "" {
				if got, err := d.Read(deem.Reply{Text: v.Reply, Stop: deem.StopEnd}); err != nil || got != v.AnswerRead {
					t.Errorf("%s, %s: Read(%q) = %q, %v; want %q", file, v.Name, v.Reply, got, err, v.AnswerRead)
				}
			}
			compared++
		}
	}
	t.Logf("%d requests are equal; left out: %v", compared, left)
	if compared < 90 {
		t.Errorf("%d vectors were compared, want at least 90", compared)
	}
}
