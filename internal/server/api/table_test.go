package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"deem"
	_ "deem/benchmark" // registers benchmarks
	"deem/internal/server"
	"deem/internal/server/web"
	"deem/internal/store"
	"deem/internal/store/sqlite"
)

// judgingServer returns a server that judges, and its OpenAPI document as clients get it.
func judgingServer(t *testing.T) (*Server, *httptest.Server, map[string]any) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "deem.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	core, err := server.New(server.Options{Store: st, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(core, Options{Spool: t.TempDir(), Fakes: true, Report: web.New(core, web.Options{}).Report})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s)
	t.Cleanup(func() {
		ts.Close()
		s.Close()
		_ = st.Close()
	})
	_, _, text := send(t, ts, "GET", "/api/v1/openapi.json", "", "", "")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s, ts, doc.(map[string]any)
}

// send sends a request and returns the status, media type and body of the response.
func send(t *testing.T, ts *httptest.Server, method, path, media, body, accept string) (status int, got string, text []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, ts.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if text, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), text
}

// TestDocumentHasEveryRoute compares the document with the routes of the server.
func TestDocumentHasEveryRoute(t *testing.T) {
	s, _, doc := judgingServer(t)
	routes, described := []string{"GET /healthz", "GET /readyz"}, []string(nil)
	for _, rt := range s.routes() {
		pattern := strings.ReplaceAll(rt.Pattern, "...}", "}")
		method, path, _ := strings.Cut(pattern, " ")
		if path != "/api/" { // the fallback for unknown paths
			routes = append(routes, method+" "+path)
		}
	}
	for path, item := range doc["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(routes)
	slices.Sort(described)
	if !slices.Equal(routes, described) || len(routes) < 15 {
		t.Errorf("the server answers\n%s\nand the document describes\n%s", strings.Join(routes, "\n"), strings.Join(described, "\n"))
	}
}

// A structure checks a document against the rules of OpenAPI 3.1.
type structure struct {
	t   *testing.T
	doc map[string]any
	ids map[string]bool
}

// TestDocumentIsSound checks the document against the rules of OpenAPI 3.1.
func TestDocumentIsSound(t *testing.T) {
	_, _, doc := judgingServer(t)
	c := &structure{t: t, doc: doc, ids: map[string]bool{}}
	if doc["openapi"] != "3.1.0" {
		t.Errorf("openapi is %v", doc["openapi"])
	}
	c.keys("the document", doc, "openapi info jsonSchemaDialect servers paths webhooks components security tags externalDocs", "openapi info paths")
	c.keys("info", doc["info"], "title summary description termsOfService contact license version", "title version")
	for path, item := range doc["paths"].(map[string]any) {
		c.path(path, item.(map[string]any))
	}
	components := doc["components"].(map[string]any)
	c.keys("components", components, "schemas responses parameters examples requestBodies headers securitySchemes links callbacks pathItems", "schemas")
	for name := range components["schemas"].(map[string]any) {
		if !regexp.MustCompile(`^[a-zA-Z0-9._-]+$`).MatchString(name) {
			t.Errorf("a schema cannot be named %q", name)
		}
	}
	c.refs("", doc)
	c.schemas()
}

// keys reports members of an object that are not allowed, and required members that are
// missing.
func (c *structure) keys(what string, v any, allowed, required string) {
	c.t.Helper()
	m, ok := v.(map[string]any)
	if !ok {
		c.t.Errorf("%s is not an object", what)
		return
	}
	for key := range m {
		if !slices.Contains(strings.Fields(allowed), key) {
			c.t.Errorf("%s has %q", what, key)
		}
	}
	for _, key := range strings.Fields(required) {
		if m[key] == nil {
			c.t.Errorf("%s has no %q", what, key)
		}
	}
}

func (c *structure) path(path string, item map[string]any) {
	slots := regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1)
	for method, v := range item {
		what := method + " " + path
		op := v.(map[string]any)
		c.keys(what, op, "tags summary description externalDocs operationId parameters requestBody responses callbacks deprecated security servers", "operationId responses summary")
		id := fmt.Sprint(op["operationId"])
		if c.ids[id] {
			c.t.Errorf("two operations are called %s", id)
		}
		c.ids[id] = true
		var inPath []string
		params, _ := op["parameters"].([]any)
		for _, p := range params {
			pm := p.(map[string]any)
			c.keys(what+" parameter", pm, "name in description required deprecated schema example examples content style explode", "name in schema description")
			if pm["in"] == "path" {
				inPath = append(inPath, fmt.Sprint(pm["name"]))
				if pm["required"] != true {
					c.t.Errorf("%s: parameter %v stands in the path and must be required", what, pm["name"])
				}
			}
		}
		for _, s := range slots {
			if !slices.Contains(inPath, s[1]) {
				c.t.Errorf("%s: nothing is said of %s", what, s[1])
			}
		}
		if len(slots) != len(inPath) {
			c.t.Errorf("%s has %d slots and %d parameters for them", what, len(slots), len(inPath))
		}
		for status, r := range op["responses"].(map[string]any) {
			c.response(what+" "+status, status, r.(map[string]any))
		}
	}
}

func (c *structure) response(what, status string, r map[string]any) {
	if !regexp.MustCompile(`^([1-5][0-9][0-9]|default)$`).MatchString(status) {
		c.t.Errorf("%s is not a status", what)
	}
	if r["$ref"] != nil {
		return
	}
	c.keys(what, r, "description headers content links", "description")
	list, _ := r["content"].(map[string]any)
	for media, v := range list {
		c.keys(what+" "+media, v, "schema example examples encoding", "schema")
	}
}

// refs reports unresolved references.
func (c *structure) refs(at string, v any) {
	switch x := v.(type) {
	case map[string]any:
		if ref, ok := x["$ref"].(string); ok {
			var target any = c.doc
			for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
				m, _ := target.(map[string]any)
				target = m[part]
			}
			if target == nil {
				c.t.Errorf("%s: %s leads nowhere", at, ref)
			}
		}
		for key, w := range x {
			c.refs(at+"/"+key, w)
		}
	case []any:
		for i, w := range x {
			c.refs(fmt.Sprint(at, "/", i), w)
		}
	}
}

// schemas compiles every schema of the document as JSON Schema 2020-12.
func (c *structure) schemas() {
	all := compiler(c.t, c.doc)
	for name := range c.doc["components"].(map[string]any)["schemas"].(map[string]any) {
		if _, err := all.Compile(docURL + "#/components/schemas/" + name); err != nil {
			c.t.Errorf("schema %s: %v", name, err)
		}
	}
}

const docURL = "http://localhost/openapi.json"

func compiler(t *testing.T, doc map[string]any) *jsonschema.Compiler {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(docURL, doc); err != nil {
		t.Fatal(err)
	}
	return c
}

// strict forbids additional properties in all schemas that do not allow them in so many words,
// so that undocumented members of a response fail the test. Clients should accept them.
func strict(v any) {
	switch x := v.(type) {
	case map[string]any:
		if _, ok := x["properties"].(map[string]any); ok && x["type"] == "object" && x["additionalProperties"] != true {
			x["additionalProperties"] = false
		}
		for _, w := range x {
			strict(w)
		}
	case []any:
		for _, w := range x {
			strict(w)
		}
	}
}

// TestExamples sends every example of the document to a server, and checks the response
// against the document.
func TestExamples(t *testing.T) {
	s, ts, doc := judgingServer(t)
	strict(doc)
	schemas := compiler(t, doc)
	// The first operation judges, so that later ones have a run. Operations that are invalid
	// for that run, for example resuming it, return a problem.
	sent := 0
	for _, op := range s.operations() {
		for _, c := range examplesOf(t, op) {
			t.Run(op.ID+" "+c.media, func(t *testing.T) {
				status, media, text := send(t, ts, op.method, addressOf(op, c), c.media, c.example, c.accept)
				checkAnswer(t, schemas, op, status, media, text)
				if refusing := op.ID == "cancelRun" || op.ID == "resumeRun"; status >= 300 && !refusing {
					t.Errorf("%s %s = %d: %s", op.method, addressOf(op, c), status, text)
				}
				if c.example != "" {
					checkBody(t, schemas, op, c)
				}
			})
			sent++
		}
	}
	if sent < len(s.operations()) {
		t.Errorf("%d requests for %d operations", sent, len(s.operations()))
	}
}

// An exampleOf is an example request of the document.
type exampleOf struct {
	media, example, accept string
}

// examplesOf returns the requests of an operation: one for each body and each media type of
// the response that a client can choose.
func examplesOf(t *testing.T, op operation) []exampleOf {
	t.Helper()
	bodies := []exampleOf{{}}
	if len(op.Body.Content) > 0 {
		bodies = nil
	}
	for _, media := range slices.Sorted(maps.Keys(op.Body.Content)) {
		example, ok := op.Body.Content[media].Example.(string)
		if !ok {
			text, err := json.Marshal(op.Body.Content[media].Example)
			if err != nil {
				t.Fatal(err)
			}
			example = string(text)
		}
		bodies = append(bodies, exampleOf{media: media, example: example})
	}
	list := slices.Clone(bodies)
	if _, ok := op.Responses["200"].Content[ndjson]; ok && op.ID != "getExport" {
		for _, b := range bodies {
			b.accept = ndjson
			list = append(list, b)
		}
	}
	return list
}

// addressOf returns the URL of an example. It includes the parameters of a submission only
// if the body is not JSON.
func addressOf(op operation, c exampleOf) string {
	path, q := strings.ReplaceAll(op.path, "...}", "}"), url.Values{}
	for _, p := range op.Parameters {
		example := fmt.Sprint(p.Example)
		if list, ok := p.Example.([]any); ok {
			example = fmt.Sprint(list[0])
		}
		switch {
		case p.Example == nil:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(example))
		case p.In == "query" && (c.media != "application/json" || p.Name == "with"):
			q.Set(p.Name, example)
		}
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return path
}

// checkAnswer checks a response against its schema in the document.
func checkAnswer(t *testing.T, schemas *jsonschema.Compiler, op operation, status int, media string, text []byte) {
	t.Helper()
	plain, _, _ := strings.Cut(media, ";")
	pointer := fmt.Sprintf("#/paths/%s/%s/responses/%d/content/%s/schema",
		escape(strings.ReplaceAll(op.path, "...}", "}")), strings.ToLower(op.method), status, escape(media))
	if plain == problemType {
		pointer = "#/components/schemas/Problem"
	}
	sch, err := schemas.Compile(docURL + pointer)
	if err != nil {
		t.Fatalf("the document does not have the answer %d of type %s: %v", status, media, err)
	}
	switch {
	case plain == ndjson && op.ID != "getExport":
		for line := range bytes.Lines(text) {
			validate(t, sch, line)
		}
	case strings.HasSuffix(plain, "json"):
		validate(t, sch, text)
	}
}

// checkBody checks an example against the schema of its body.
func checkBody(t *testing.T, schemas *jsonschema.Compiler, op operation, c exampleOf) {
	t.Helper()
	if c.media != "application/json" {
		return
	}
	pointer := fmt.Sprintf("#/paths/%s/%s/requestBody/content/%s/schema", escape(op.path), strings.ToLower(op.method), escape(c.media))
	sch, err := schemas.Compile(docURL + pointer)
	if err != nil {
		t.Fatal(err)
	}
	validate(t, sch, []byte(c.example))
}

func validate(t *testing.T, sch *jsonschema.Schema, text []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if err := sch.Validate(v); err != nil {
		t.Errorf("%v\nin %s", err, text)
	}
}

// escape escapes a key for a JSON pointer in a URL.
func escape(key string) string {
	return url.PathEscape(strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1"))
}

// TestLists compares the lists of the document with those of the code.
func TestLists(t *testing.T) {
	_, _, doc := judgingServer(t)
	at := func(keys ...string) string {
		var v any = doc
		for _, key := range keys {
			v = v.(map[string]any)[key]
		}
		return fmt.Sprint(v)
	}
	if got, want := at("components", "schemas", "Failure", "properties", "kind", "enum"), fmt.Sprint(append(deem.Kinds(), store.Unfinished)); got != want {
		t.Errorf("kinds of failures: %s, want %s", got, want)
	}
	export := doc["paths"].(map[string]any)["/api/v1/runs/{id}/export"].(map[string]any)["get"].(map[string]any)
	for _, p := range export["parameters"].([]any) {
		if p := p.(map[string]any); p["name"] == "format" {
			if got, want := fmt.Sprint(p["schema"].(map[string]any)["enum"]), fmt.Sprint(formNames()); got != want {
				t.Errorf("formats: %s, want %s", got, want)
			}
		}
	}
	for _, f := range forms() {
		if got := at("paths", "/api/v1/runs/{id}/export", "get", "responses", "200", "content", f.media); got == "<nil>" {
			t.Errorf("no content of type %s", f.media)
		}
	}
}

// TestAnswersOfAskedRuns checks responses about runs with calls, failures, trials and a
// benchmark's judge against the document.
func TestAnswersOfAskedRuns(t *testing.T) {
	s, ts, doc := judgingServer(t)
	strict(doc)
	schemas := compiler(t, doc)
	byID := map[string]operation{}
	for _, op := range s.operations() {
		byID[op.ID] = op
	}
	var items []string
	for i := range 40 {
		items = append(items, fmt.Sprintf(`{"id":"q%d","category":"c%d","cluster":"k%d","question":"Q%d?","references":["r%d"],"response":"r%d","weight":2,"fields":{"x":"y"}}`, i, i%2, i%7, i, i, i))
	}
	list := "[" + strings.Join(items, ",") + "]"
	for _, body := range []string{
		`{"judge":"universal","model":"fake:mixed=CORRECT|INCORRECT","trials":2,"items":` + list + `}`,
		`{"judge":"rubric","model":"fake:say={\"reasoning\":\"x\",\"correctness\":9,\"relevance\":7}","items":` + list + `}`,
		`{"judge":"longmemeval","model":"fake:labels=yes|no","items":` + list + `}`,
		`{"judge":"f1+rougeL","items":` + list + `}`,
	} {
		status, media, text := send(t, ts, "POST", "/api/v1/verdicts?with=item,calls", "application/json", body, "")
		if status != http.StatusOK {
			t.Fatalf("%.60s: %d %s", body, status, text)
		}
		checkAnswer(t, schemas, byID["postVerdicts"], status, media, text)
		for _, c := range []struct{ id, path string }{
			{"getRun", ""},
			{"getReport", "/report"},
			{"getRecords", "/records?with=item,calls&verdict=unjudged"},
			{"getRecord", "/records/q3"},
			{"getExport", "/export?format=langfuse"},
		} {
			status, media, text := send(t, ts, "GET", "/api/v1/runs/last"+c.path, "", "", "")
			checkAnswer(t, schemas, byID[c.id], status, media, text)
		}
	}
}

// TestSweep checks that sweep removes the files of a killed server, and none that are
// needed or new.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * stale)
	for name, at := range map[string]time.Time{
		"incoming-1.jsonl": old, "incoming-2.jsonl": time.Now(), "done.jsonl": old, "wanted.jsonl": old, "new.jsonl": time.Now(), "notes.txt": old,
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	newSpool(dir).sweep(func(hash string) bool { return hash == "wanted" })
	files, err := os.ReadDir(dir)
	var left []string
	for _, f := range files {
		left = append(left, f.Name())
	}
	if want := []string{"incoming-2.jsonl", "new.jsonl", "notes.txt", "wanted.jsonl"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("the folder has %v, error %v, want %v", left, err, want)
	}
}
