package api

import (
	"net/http"
	"runtime"

	"deem/internal/catalog"
	"deem/model"
	"deem/report"
)

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
