package api

import (
	"strings"

	"deem/internal/server"
)

// The maximum sizes of request bodies, in bytes. Items sent as lines are not kept in
// memory, so there may be many more of them.
const (
	maxSubmission = 64 << 20
	maxStream     = 8 << 30
)

// operations returns the operations of the API, with what the document says about them.
func (s *Server) operations() []operation {
	described, _ := readOpenAPI()
	var list []operation
	add := func(id string, maxBody int64, handle server.HandleFunc) {
		op, ok := described[id]
		if !ok {
			panic("api: openapi.yaml has no operation " + id)
		}
		// The id of an item may have slashes, which OpenAPI cannot say.
		op.path = strings.Replace(op.path, "{item}", "{item...}", 1)
		op.handle, op.maxBody = handle, maxBody
		list = append(list, op)
	}
	add("postVerdicts", maxSubmission, s.postVerdicts)
	add("postRuns", maxStream, s.postRuns)
	add("cancelRun", 0, s.OfRun(s.cancelRun))
	add("resumeRun", 0, s.OfRun(s.resumeRun))

	add("getRuns", 0, s.getRuns)
	add("getRun", 0, s.OfRun(s.getRun))
	add("getReport", 0, s.OfRun(s.getReport))
	add("getExport", 0, s.OfRun(s.getExport))
	add("getLabels", 0, s.OfRun(s.getLabels))
	add("postLabels", maxSubmission, s.OfRun(s.postLabels))
	add("getRecords", 0, s.getRecords)
	add("getRecord", 0, s.OfRun(s.getRecord))

	add("getJudges", 0, s.getJudges)
	add("getModels", 0, s.getModels)
	add("getBenchmarks", 0, s.getBenchmarks)
	add("getVersion", 0, s.getVersion)
	add("getOpenAPI", 0, s.getOpenAPI)
	return list
}
