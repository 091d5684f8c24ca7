package modeltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// anthropicBatches serves /v1/messages/batches: it creates a batch, or shows a batch, its
// results, or the list of batches in pages of at most two.
func (s *BatchServer) anthropicBatches(w http.ResponseWriter, r *http.Request, rest string) {
	if r.Header.Get("Anthropic-Version") == "" {
		s.send(w, Fail(http.StatusBadRequest, anthropicError("invalid_request_error", "anthropic-version: header is required")))
		return
	}
	id, results := strings.CutSuffix(rest, "/results")
	if id == "" && r.Method == http.MethodPost {
		s.createAnthropic(w, r)
		return
	}
	s.batchMu.Lock()
	defer s.batchMu.Unlock()
	b := s.find(id)
	switch {
	case r.Method != http.MethodGet:
		http.Error(w, "no such call", http.StatusMethodNotAllowed)
	case id == "":
		list := s.newest(r.URL.Query().Get("after_id"))
		page, last := []any{}, any(nil)
		for _, b := range list[:min(2, len(list))] {
			page, last = append(page, s.showAnthropic(b)), b.id
		}
		sendJSON(w, map[string]any{"data": page, "has_more": len(list) > 2, "last_id": last})
	case b == nil:
		s.send(w, Fail(http.StatusNotFound, anthropicError("not_found_error", "Batch not found")))
	case results && !s.ended(b):
		s.send(w, Fail(http.StatusNotFound, anthropicError("not_found_error", "Results are not available yet")))
	case results:
		w.Header().Set("Content-Type", "application/x-jsonl")
		lines, _ := s.anthropicResults(b)
		writeLines(w, lines)
	default:
		s.polls++
		b.polls++
		sendJSON(w, s.showAnthropic(b))
	}
}

// validID matches valid request ids of the API.
var validID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// createAnthropic creates a batch. Invalid ids are reported at once, and errors of a
// request in its result.
func (s *BatchServer) createAnthropic(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Requests []struct {
			ID     string          `json:"custom_id"`
			Params json.RawMessage `json:"params"`
		} `json:"requests"`
	}
	invalid := func(message string) {
		s.send(w, Fail(http.StatusBadRequest, anthropicError("invalid_request_error", message)))
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Header.Get("Content-Type") != "application/json" {
		invalid("The request body is not valid JSON")
		return
	}
	b, seen := &servedBatch{}, map[string]bool{}
	for i, l := range in.Requests {
		if !validID.MatchString(l.ID) || seen[l.ID] {
			invalid(fmt.Sprintf("requests.%d.custom_id: String should match pattern and be unique", i))
			return
		}
		seen[l.ID] = true
		b.lines = append(b.lines, servedLine{l.ID, l.Params})
	}
	if len(b.lines) == 0 || len(b.lines) > 100_000 {
		invalid("requests: List should have at least 1 item and at most 100000")
		return
	}
	s.take(w, r, b, s.showAnthropic)
}

// showAnthropic returns a batch in the API's format: all requests are being processed until
// the batch has ended. The caller holds the lock.
func (s *BatchServer) showAnthropic(b *servedBatch) any {
	counts := map[string]int{"processing": len(b.lines), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
	show := map[string]any{
		"id": b.id, "type": "message_batch", "processing_status": "in_progress", "request_counts": counts,
		"created_at": b.created.UTC().Format(time.RFC3339Nano), "ended_at": nil, "results_url": nil,
	}
	if s.ended(b) {
		_, over := s.anthropicResults(b)
		counts["processing"] = 0
		maps.Copy(counts, over)
		show["processing_status"] = "ended"
		show["results_url"] = s.URL + "/v1/messages/batches/" + b.id + "/results"
	}
	return show
}

// anthropicResults returns the results of a batch, last request first, and the number of
// each kind.
func (s *BatchServer) anthropicResults(b *servedBatch) (lines []any, counts map[string]int) {
	counts = map[string]int{}
	for _, l := range slices.Backward(b.lines) {
		var result map[string]any
		outcome, a := s.askLine(b, l)
		switch {
		case outcome == "missing":
			counts["errored"]++
			continue
		case outcome != "":
			result = map[string]any{"type": outcome}
		case a.Raw != nil && a.Raw.Status >= 300:
			result = map[string]any{"type": "errored", "error": bodyOf(a.Raw.Body)}
		default:
			result = map[string]any{"type": "succeeded", "message": bodyOf(s.Server.wire.Reply(a.Reply).Body)}
		}
		kind, _ := result["type"].(string)
		counts[kind]++
		lines = append(lines, map[string]any{"custom_id": l.id, "result": result})
	}
	return lines, counts
}
