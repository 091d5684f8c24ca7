package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"deem/internal/catalog"
	"deem/internal/server"
	"deem/model"
	"deem/report"
)

// openAPIVersion is the OpenAPI version of the document. Its schemas are JSON Schema 2020-12.
const openAPIVersion = "3.1.0"

// openAPIAbout is the description of the API in the document.
const openAPIAbout = "Submit what a system answered, get verdicts. A record holds a verdict or a failure: an item that could " +
	"not be judged is unjudged, which is not the same as wrong.\n\n" +
	"The same items, judge, model and number of trials are the same run: sending them again costs nothing, and resumes " +
	"where an earlier request stopped.\n\n" +
	"Errors are application/problem+json (RFC 9457) with a hint where there is advice. Where the server has a token, send " +
	"it as Authorization: Bearer TOKEN."

// A node is an object of the document. Its members are written in order of name.
type node = map[string]any

// getOpenAPI writes the OpenAPI document, generated from the table of operations.
func (s *Server) getOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	b := &schemas{named: node{}, names: map[reflect.Type]string{}}
	paths := node{}
	tags := []node{}
	seen := map[string]bool{}
	for _, op := range s.operations() {
		at := server.APIRoot + strings.ReplaceAll(op.path, "...}", "}")
		if paths[at] == nil {
			paths[at] = node{}
		}
		paths[at].(node)[strings.ToLower(op.method)] = op.node(b)
		if !seen[op.tag] {
			seen[op.tag] = true
			tags = append(tags, node{"name": op.tag})
		}
	}
	for path, about := range map[string]string{
		"/healthz": "The server is there.", "/readyz": "The database can be reached.", "/metrics": "Counters as Prometheus reads them.",
	} {
		paths[path] = node{"get": node{
			"operationId": strings.TrimPrefix(path, "/"), "summary": about, "tags": []string{"server"},
			"responses": node{
				"200":     node{"description": about, "content": node{"text/plain": node{"schema": node{"type": "string"}}}},
				"default": node{"description": "It is not so."},
			},
		}}
	}
	return writeAnswer(w, http.StatusOK, node{
		"openapi": openAPIVersion,
		"info":    node{"title": "deem", "version": "1", "summary": "Judge what a system answered.", "description": openAPIAbout},
		"servers": []node{{"url": "/"}},
		"tags":    tags,
		"paths":   paths,
		"security": []node{
			{}, {"token": []string{}},
		},
		"components": node{
			"schemas":         b.named,
			"securitySchemes": node{"token": node{"type": "http", "scheme": "bearer", "description": "The token that the server was started with, if it has one."}},
			"responses":       node{"Problem": node{"description": "Something is wrong.", "content": node{problemType: node{"schema": b.node(problem{})}}}},
		},
	})
}

// problemType is the media type of an error.
const problemType = "application/problem+json"

// node returns the description of an operation.
func (op operation) node(b *schemas) node {
	responses := node{"default": node{"$ref": "#/components/responses/Problem"}}
	for _, a := range op.answers {
		n := node{"description": a.about, "content": contents(b, a.content)}
		if a.status == http.StatusAccepted {
			n["headers"] = node{
				"Location":    node{"description": "Where the run is.", "schema": node{"type": "string"}},
				"Retry-After": node{"description": "Seconds until it is worth asking again.", "schema": node{"type": "integer"}},
			}
		}
		responses[strconv.Itoa(a.status)] = n
	}
	n := node{"operationId": op.id, "summary": op.summary, "tags": []string{op.tag}, "responses": responses}
	if op.about != "" {
		n["description"] = op.about
	}
	var params []node
	for _, p := range op.params {
		n := node{"name": p.name, "in": p.in, "description": p.about, "schema": p.schema}
		if p.example != "" {
			n["example"] = p.example
		}
		if p.repeats {
			n["schema"], n["style"], n["explode"] = node{"type": "array", "items": p.schema}, "form", true
			n["example"] = []string{p.example}
		}
		if p.in == "path" || p.required {
			n["required"] = true
		}
		params = append(params, n)
	}
	if params != nil {
		n["parameters"] = params
	}
	if len(op.body) > 0 {
		n["requestBody"] = node{"required": !op.optionalBody(), "content": contents(b, op.body)}
	}
	return n
}

// contents describes the media types of a body.
func contents(b *schemas, list []content) node {
	n := node{}
	for _, c := range list {
		m := node{"schema": b.node(c.schema)}
		switch {
		case c.example == "":
		case c.media == "application/json":
			m["example"] = json.RawMessage(c.example)
		default:
			m["example"] = c.example
		}
		n[c.media] = m
	}
	return n
}

// A judgesOut is the list of judges that can be named.
type judgesOut struct {
	Judges  []catalog.Listed `json:"judges"`
	Default string           `json:"default"`
}

func (s *Server) getJudges(w http.ResponseWriter, _ *http.Request) error {
	return writeAnswer(w, http.StatusOK, judgesOut{catalog.Judges(), defaultJudge})
}

type benchmarksOut struct {
	Benchmarks []catalog.ListedBenchmark `json:"benchmarks"`
}

func (s *Server) getBenchmarks(w http.ResponseWriter, _ *http.Request) error {
	return writeAnswer(w, http.StatusOK, benchmarksOut{catalog.Benchmarks()})
}

// A modelOut is a model that clients may use.
type modelOut struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Default bool   `json:"default,omitempty"`
}

type modelsOut struct {
	Models []modelOut `json:"models"`
}

// getModels lists the models that clients may use.
func (s *Server) getModels(w http.ResponseWriter, _ *http.Request) error {
	out := modelsOut{Models: []modelOut{}}
	for i, name := range s.models.names {
		about := ""
		if v, _, err := s.options.Env.VendorOf(name); err == nil {
			about = v.About
		}
		out.Models = append(out.Models, modelOut{Name: name, About: about, Default: i == 0})
	}
	return writeAnswer(w, http.StatusOK, out)
}

// A versionOut is the versions of the server.
type versionOut struct {
	Version string `json:"version"`
	API     string `json:"api"`
	Go      string `json:"go"`
	Report  string `json:"report"`
	Prices  string `json:"prices"`
}

func (s *Server) getVersion(w http.ResponseWriter, _ *http.Request) error {
	return writeAnswer(w, http.StatusOK, versionOut{
		Version: s.Version, API: "v1", Go: runtime.Version(), Report: report.Version, Prices: model.BuiltinPrices().Date,
	})
}
