package ci_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// batches are those of the vendor whose Batch API the documents use. A batch is done as
// soon as it is made.
type batches struct {
	vendors
	mu    sync.Mutex
	files map[string][]byte
	made  map[string]map[string]any
}

// serve adds the calls of the Batch API to a server.
func (b *batches) serve(mux *http.ServeMux) {
	b.files, b.made = map[string][]byte{}, map[string]map[string]any{}
	mux.HandleFunc("POST /openai/v1/files", b.upload)
	mux.HandleFunc("GET /openai/v1/files/{id}/content", b.content)
	mux.HandleFunc("POST /openai/v1/batches", b.make)
	mux.HandleFunc("GET /openai/v1/batches/{id}", b.status)
}

func (b *batches) upload(w http.ResponseWriter, req *http.Request) {
	file, _, err := req.FormFile("file")
	if err != nil || req.FormValue("purpose") != "batch" || req.Header.Get("Authorization") != "Bearer "+key {
		http.Error(w, fmt.Sprint("no file for a batch, or no key: ", err), http.StatusBadRequest)
		return
	}
	text, err := io.ReadAll(file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id := fmt.Sprint("file-", len(b.files))
	b.files[id] = text
	writeJSON(w, map[string]string{"id": id})
}

func (b *batches) content(w http.ResponseWriter, req *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, ok := b.files[req.PathValue("id")]
	if !ok {
		http.NotFound(w, req)
		return
	}
	_, _ = w.Write(text)
}

func (b *batches) make(w http.ResponseWriter, req *http.Request) {
	var asked struct {
		File     string            `json:"input_file_id"`
		Metadata map[string]string `json:"metadata"`
	}
	err := json.NewDecoder(req.Body).Decode(&asked)
	b.mu.Lock()
	defer b.mu.Unlock()
	lines, ok := b.files[asked.File]
	if err != nil || !ok {
		http.Error(w, fmt.Sprintf("no file %q: %v", asked.File, err), http.StatusBadRequest)
		return
	}
	id := fmt.Sprint("batch-", len(b.made))
	b.files[id+"-out"] = b.answers(lines)
	b.made[id] = map[string]any{"id": id, "status": "completed", "output_file_id": id + "-out", "metadata": asked.Metadata}
	writeJSON(w, b.made[id])
}

// answers returns what comes of the lines of a batch.
func (b *batches) answers(lines []byte) (out []byte) {
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var line struct {
			ID   string `json:"custom_id"`
			Body any    `json:"body"`
		}
		if json.Unmarshal(scanner.Bytes(), &line) != nil {
			continue // which deem then says has no answer
		}
		text, _ := json.Marshal(map[string]any{
			"custom_id": line.ID,
			"response":  map[string]any{"status_code": http.StatusOK, "body": openaiReply(b.say(textsIn(line.Body)))},
		})
		out = append(append(out, text...), '\n')
	}
	return out
}

func (b *batches) status(w http.ResponseWriter, req *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	made, ok := b.made[req.PathValue("id")]
	if !ok {
		http.NotFound(w, req)
		return
	}
	writeJSON(w, made)
}
