package cli_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark/longmemeval"
	"deem/internal/test/modeltest"
	"deem/internal/text"
)

// writeLines writes a file of JSON lines.
func writeLines[T any](t *testing.T, name string, rows []T) {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A publishedRow is the verdict of a published judge on a published answer.
type publishedRow struct {
	Run      string          `json:"run"`
	ID       string          `json:"question_id"`
	Type     string          `json:"question_type"`
	Question string          `json:"question"`
	Answer   json.RawMessage `json:"reference"`
	Response string          `json:"response"`
	Reply    string          `json:"raw_reply"`
}

// readPublished reads real rows that we do not ship, by run. It skips the test if they are
// missing.
func readPublished(t *testing.T, set string) map[string][]publishedRow {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", set, "derived.jsonl.gz"))
	if err != nil {
		t.Skipf("the published rows are not here: %v", err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string][]publishedRow{}
	for dec := json.NewDecoder(z); ; {
		var r publishedRow
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			return runs
		} else if err != nil {
			t.Fatal(err)
		}
		runs[r.Run] = append(runs[r.Run], r)
	}
}

// Real published runs reproduce their published numbers from their recorded replies, all
// the way from files to report, without calling a model.
func TestPublishedLongMemEvalRuns(t *testing.T) {
	notQuick(t)
	t.Parallel()
	for _, c := range []struct {
		set, run string
		want     []string
	}{
		{"lme_cognitive_memory", "cm_full_run", []string{"72.6%", "Overall Accuracy: 0.726\n", "Task-averaged Accuracy: 0.7229\n", "Abstention Accuracy: 0.8667 (30)"}},
		{"lme_cognitive_memory", "naive_rag_results", []string{"70.0%", "Overall Accuracy: 0.7\n", "Task-averaged Accuracy: 0.7065\n", "Abstention Accuracy: 0.8333 (30)"}},
		{"lme_gemini_image_text", "", []string{"88.6%", "Overall Accuracy: 0.886\n"}},
	} {
		runs := readPublished(t, c.set)
		found := 0
		for name, rows := range runs {
			if c.run != "" && !strings.HasPrefix(name, c.run) && !strings.HasPrefix(c.run, name) {
				continue
			}
			found++
			dir := t.TempDir()
			writePublished(t, dir, rows)
			p := run(t, dir, 0, "run", "longmemeval", "--data", "questions.jsonl", "--responses", "hyp.jsonl", "--model", "replay:replies.jsonl")
			for _, want := range c.want {
				if !strings.Contains(p.out.String(), want) {
					t.Errorf("%s: no %q in\n%s", name, want, p.out.String())
				}
			}
		}
		if found != 1 {
			t.Errorf("%s has %d runs named %q, want 1", c.set, found, c.run)
		}
	}
}

// writePublished writes the rows as the files of the benchmark and of a replay.
func writePublished(t *testing.T, dir string, rows []publishedRow) {
	t.Helper()
	p, err := longmemeval.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	var questions, responses, replies []map[string]any
	for _, r := range rows {
		questions = append(questions, map[string]any{"question_id": r.ID, "question_type": r.Type, "question": r.Question, "answer": r.Answer})
		responses = append(responses, map[string]any{"question_id": r.ID, "hypothesis": r.Response})
		req, err := p.Request(deem.Item{ID: r.ID, Category: r.Type, Question: r.Question, References: []string{text.Str(r.Answer)}, Response: r.Response})
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, map[string]any{"request": req.Hash(), "reply": deem.Reply{Text: r.Reply, Stop: deem.StopEnd}})
	}
	writeLines(t, filepath.Join(dir, "questions.jsonl"), questions)
	writeLines(t, filepath.Join(dir, "hyp.jsonl"), responses)
	writeLines(t, filepath.Join(dir, "replies.jsonl"), replies)
}

// For a HaluMem user with many sessions, dialogues are stored once and not for each call,
// and each distinct request is sent once.
func TestHaluMemUserStaysSmall(t *testing.T) {
	notQuick(t)
	t.Parallel()
	srv := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer {
		switch p := a.Prompt(); {
		case strings.Contains(p, "accuracy_score"):
			return modeltest.Say("```json\n{\"accuracy_score\": \"2\", \"is_included_in_golden_memories\": \"true\", \"reason\": \"ok\"}\n```")
		case strings.Contains(p, "evaluation_result"):
			return modeltest.Say("```json\n{\"reasoning\": \"ok\", \"evaluation_result\": \"Correct\"}\n```")
		default:
			return modeltest.Say("```json\n{\"reasoning\": \"ok\", \"score\": \"2\"}\n```")
		}
	})
	dir := t.TempDir()
	size := writeHaluMemUser(t, filepath.Join(dir, "frame_eval_results.jsonl"), 65)
	run(t, dir, 0, "run", "halumem", "--data", "frame_eval_results.jsonl", "--model", "openai:any", "--base-url", srv.URL, "-j", "16")
	for hash, n := range srv.Counts() {
		if n != 1 {
			t.Errorf("request %s was sent %d times", hash, n)
		}
	}
	var stored int64
	for _, name := range []string{"deem.db", "deem.db-wal"} {
		if info, err := os.Stat(filepath.Join(dir, ".deem", name)); err == nil {
			stored += info.Size()
		}
	}
	t.Logf("%d requests; input %d KB, store %d KB, %.2f times", srv.Requests(), size>>10, stored>>10, float64(stored)/float64(size))
	if stored > 3*size {
		t.Errorf("the store has %.2f times the size of the input, want at most 3", float64(stored)/float64(size))
	}
}

// writeHaluMemUser writes one invented user in the format of HaluMem's evaluation files,
// and returns the size.
func writeHaluMemUser(t *testing.T, name string, sessions int) int64 {
	t.Helper()
	type m = map[string]any
	var list []m
	for s := range sessions {
		var dialogue, points, questions []m
		var extracted []string
		for i := range 40 {
			role := []string{"user", "assistant"}[i%2]
			dialogue = append(dialogue, m{
				"role": role, "timestamp": "Sep 04, 2025, 18:42:18", "dialogue_turn": i,
				"content": fmt.Sprintf("In session %d, turn %d, %s", s, i, strings.Repeat(fmt.Sprintf("we speak of thing %d; ", s*100+i), 18)),
			})
		}
		for i := range 11 {
			points = append(points, m{
				"index": i, "memory_content": fmt.Sprintf("fact %d of session %d", i, s), "memory_type": "Event Memory",
				"memory_source": "secondary", "is_update": "False", "original_memories": []string{}, "importance": 0.75, "timestamp": "Sep 04, 2025",
			})
			extracted = append(extracted, fmt.Sprintf("the user did thing %d in session %d", i, s))
		}
		for i := range 3 {
			questions = append(questions, m{
				"question": fmt.Sprintf("what about %d in %d?", i, s), "answer": "this", "system_response": "this", "context": "c",
				"evidence":   []m{{"memory_content": fmt.Sprintf("fact %d of session %d", i, s), "memory_type": "Event Memory"}},
				"difficulty": "easy", "question_type": "Basic Fact Recall", "search_duration_ms": 1.5, "response_duration_ms": 2.5,
			})
		}
		list = append(list, m{"memory_points": points, "dialogue": dialogue, "extracted_memories": extracted, "add_dialogue_duration_ms": 3.5, "questions": questions})
	}
	writeLines(t, name, []m{{"uuid": "u-1", "user_name": "Nobody", "sessions": list}})
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
