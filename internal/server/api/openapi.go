package api

import (
	_ "embed" // for the document
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"deem/internal/catalog"
	"deem/internal/model"
	"deem/internal/server"
	"deem/report"
)

//go:embed openapi.yaml
var openAPI []byte

// OpenAPI returns the OpenAPI document, which is YAML.
func OpenAPI() []byte { return openAPI }

// problemType is the media type of an error.
const problemType = "application/problem+json"

// An operation is an operation of the document, and what the server does about it.
type operation struct {
	ID         string      `yaml:"operationId"`
	Parameters []parameter `yaml:"parameters"`
	Body       struct {
		Required bool               `yaml:"required"`
		Content  map[string]content `yaml:"content"`
	} `yaml:"requestBody"`
	Responses map[string]struct {
		Content map[string]content `yaml:"content"`
	} `yaml:"responses"`

	method, path string
	handle       server.HandleFunc
	maxBody      int64 // 0 means 1 MiB
}

// A parameter is a parameter of an operation.
type parameter struct {
	Name    string `yaml:"name"`
	In      string `yaml:"in"`      // "path", "query" or "header"
	Explode bool   `yaml:"explode"` // it may be given more than once
	Example any    `yaml:"example"`
}

// A content is a body of one media type.
type content struct {
	Example any `yaml:"example"`
}

// readOpenAPI returns the operations of the document by their ids, and the document as JSON.
var readOpenAPI = sync.OnceValues(func() (map[string]operation, json.RawMessage) {
	var doc struct {
		Paths map[string]map[string]operation `yaml:"paths"`
	}
	var whole any
	if err := errors.Join(yaml.Unmarshal(openAPI, &doc), yaml.Unmarshal(openAPI, &whole)); err != nil {
		panic(err) // Cannot happen: tests read it.
	}
	text, err := json.Marshal(whole)
	if err != nil {
		panic(err) // Cannot happen: it is JSON in YAML.
	}
	byID := map[string]operation{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), path
			byID[op.ID] = op
		}
	}
	return byID, text
})

// getOpenAPI writes the OpenAPI document.
func (s *Server) getOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	_, text := readOpenAPI()
	return writeAnswer(w, http.StatusOK, text)
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
