package modeltest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// openAIFiles serves /v1/files: the upload of lines, and their results.
func (s *BatchServer) openAIFiles(w http.ResponseWriter, r *http.Request, rest string) {
	if rest == "" && r.Method == http.MethodPost {
		s.upload(w, r)
		return
	}
	name, content := strings.CutSuffix(rest, "/content")
	id, errored := strings.CutPrefix(name, "file-errors-")
	if !errored {
		id = strings.TrimPrefix(name, "file-output-")
	}
	s.batchMu.Lock()
	b := s.find(id)
	s.batchMu.Unlock()
	if !content || b == nil || r.Method != http.MethodGet {
		s.send(w, Fail(http.StatusNotFound, `{"error":{"message":"No such File object","type":"invalid_request_error","param":"id","code":null}}`))
		return
	}
	good, bad := s.openAIResults(b)
	if errored {
		good = bad
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	writeLines(w, good)
}

// upload stores a file of lines.
func (s *BatchServer) upload(w http.ResponseWriter, r *http.Request) {
	invalid := func(message string) {
		s.send(w, Fail(http.StatusBadRequest, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, message)))
	}
	if err := r.ParseMultipartForm(64 << 20); err != nil {
		invalid("Could not parse multipart form")
		return
	}
	file, header, err := r.FormFile("file")
	if err != nil || r.FormValue("purpose") != "batch" || !strings.HasSuffix(header.Filename, ".jsonl") {
		invalid("'file' and 'purpose' are required properties")
		return
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return // the caller went away
	}
	s.batchMu.Lock()
	id := fmt.Sprintf("file-%d", len(s.files))
	s.files[id] = text
	s.batchMu.Unlock()
	sendJSON(w, map[string]any{"id": id, "object": "file", "bytes": len(text), "purpose": "batch", "filename": header.Filename})
}

// openAIBatches serves /v1/batches.
func (s *BatchServer) openAIBatches(w http.ResponseWriter, r *http.Request, id string) {
	if id == "" && r.Method == http.MethodPost {
		s.createOpenAI(w, r)
		return
	}
	s.batchMu.Lock()
	defer s.batchMu.Unlock()
	b := s.find(id)
	switch {
	case r.Method != http.MethodGet:
		http.Error(w, "no such call", http.StatusMethodNotAllowed)
	case id == "":
		// A page has at most two batches, whatever limit is requested, so that clients have
		// to follow the pages.
		list := s.newest(r.URL.Query().Get("after"))
		page := []any{}
		for _, b := range list[:min(2, len(list))] {
			page = append(page, s.showOpenAI(b))
		}
		sendJSON(w, map[string]any{"object": "list", "data": page, "has_more": len(list) > 2})
	case b == nil || b.header.Get("Authorization") != r.Header.Get("Authorization"):
		s.send(w, Fail(http.StatusNotFound, `{"error":{"message":"No batch found with id '`+id+`'.","type":"invalid_request_error","param":null,"code":null}}`))
	default:
		s.polls++
		b.polls++
		sendJSON(w, s.showOpenAI(b))
	}
}

// createOpenAI creates a batch from a file. Errors in the lines are reported after it was
// accepted.
func (s *BatchServer) createOpenAI(w http.ResponseWriter, r *http.Request) {
	var in struct {
		File     string            `json:"input_file_id"`
		Endpoint string            `json:"endpoint"`
		Window   string            `json:"completion_window"`
		Metadata map[string]string `json:"metadata"`
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	s.batchMu.Lock()
	text, ok := s.files[in.File]
	s.batchMu.Unlock()
	if err != nil || !ok || in.Window != "24h" || in.Endpoint != "/v1/chat/completions" {
		s.send(w, Fail(http.StatusBadRequest, `{"error":{"message":"Invalid batch","type":"invalid_request_error","param":null,"code":null}}`))
		return
	}
	b := &servedBatch{metadata: in.Metadata}
	b.lines, b.refused = readOpenAILines(text, in.Endpoint)
	s.take(w, r, b, s.showOpenAI)
}

// readOpenAILines parses the lines of a file, and returns their errors.
func readOpenAILines(text []byte, endpoint string) (lines []servedLine, wrong []batchError) {
	seen := map[string]bool{}
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Buffer(nil, 64<<20)
	for n := 1; scanner.Scan(); n++ {
		var l struct {
			ID     string          `json:"custom_id"`
			Method string          `json:"method"`
			URL    string          `json:"url"`
			Body   json.RawMessage `json:"body"`
		}
		code := ""
		switch err := json.Unmarshal(scanner.Bytes(), &l); {
		case err != nil:
			code = "invalid_json_line"
		case l.ID == "" || len(l.ID) > 64:
			code = "missing_required_parameter"
		case seen[l.ID]:
			code = "duplicate_custom_id"
		case l.URL != endpoint || l.Method != http.MethodPost:
			code = "url_mismatch"
		}
		if code != "" {
			wrong = append(wrong, batchError{Code: code, Line: &n, Message: "This line is not what it should be: " + code})
		}
		seen[l.ID] = true
		lines = append(lines, servedLine{l.ID, l.Body})
	}
	if len(lines) == 0 || len(lines) > 50_000 || len(text) > 200_000_000 {
		wrong = append(wrong, batchError{Code: "invalid_file", Message: "The file is empty or too large."})
	}
	return lines, wrong
}

// showOpenAI returns a batch in the API's format. The caller holds the lock.
func (s *BatchServer) showOpenAI(b *servedBatch) any {
	show := map[string]any{
		"id": b.id, "object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h",
		"created_at": b.created.Unix(), "metadata": b.metadata, "status": "in_progress", "errors": nil,
		"output_file_id": nil, "error_file_id": nil,
		"request_counts": map[string]int{"total": len(b.lines), "completed": 0, "failed": 0},
	}
	switch {
	case len(b.refused) > 0:
		show["status"], show["errors"] = "failed", map[string]any{"object": "list", "data": b.refused}
	case b.polls == 0:
		show["status"] = "validating"
	case s.ended(b):
		good, bad := s.openAIResults(b)
		show["status"] = "completed"
		if slices.ContainsFunc(bad, func(l any) bool { return l.(map[string]any)["response"] == nil }) {
			show["status"] = "expired"
		}
		if len(good) > 0 {
			show["output_file_id"] = "file-output-" + b.id
		}
		if len(bad) > 0 {
			show["error_file_id"] = "file-errors-" + b.id
		}
		show["request_counts"] = map[string]int{"total": len(b.lines), "completed": len(good), "failed": len(bad)}
	}
	return show
}

// openAIResults returns the lines of the two result files of a batch, last line first,
// since their order is not that of the requests.
func (s *BatchServer) openAIResults(b *servedBatch) (good, bad []any) {
	for i, l := range slices.Backward(b.lines) {
		show := map[string]any{"id": fmt.Sprintf("batch_req_%d", i), "custom_id": l.id, "response": nil, "error": nil}
		outcome, a := s.askLine(b, l)
		switch {
		case outcome == "missing":
			continue
		case outcome == "expired":
			show["error"] = map[string]any{"code": "batch_expired", "message": "This request could not be executed before the completion window expired."}
			bad = append(bad, show)
		case outcome != "":
			show["error"] = map[string]any{"code": "batch_cancelled", "message": "This request was cancelled."}
			bad = append(bad, show)
		case a.Raw != nil && a.Raw.Status >= 300:
			show["response"] = map[string]any{"status_code": a.Raw.Status, "request_id": "req_1", "body": bodyOf(a.Raw.Body)}
			bad = append(bad, show)
		default:
			raw := s.Server.wire.Reply(a.Reply)
			show["response"] = map[string]any{"status_code": 200, "request_id": raw.Header["X-Request-Id"], "body": bodyOf(raw.Body)}
			good = append(good, show)
		}
	}
	return good, bad
}

// bodyOf returns a body as JSON, or as a string if it is not JSON.
func bodyOf(body string) any {
	if json.Valid([]byte(body)) {
		return json.RawMessage(body)
	}
	return body
}
