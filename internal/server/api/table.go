package api

import (
	"net/http"
	"slices"

	"deem/internal/server"
	"deem/report"
)

// The maximum sizes of request bodies, in bytes. Items sent as lines are not kept in
// memory, so there may be many more of them.
const (
	maxSubmission = 64 << 20
	maxStream     = 8 << 30
)

// The examples in the OpenAPI document. A test sends each of them to a server.
const (
	exampleItems = `[
    {"id": "q1", "question": "How long did the trip take?", "references": ["18 days"], "response": "It took 18 days.", "category": "temporal"},
    {"id": "q2", "question": "What is the dog called?", "references": ["Rex"], "response": "The dog is called Max.", "category": "facts"}
  ]`
	exampleSubmission = `{
  "judge": "match",
  "items": ` + exampleItems + `
}`
	exampleLines = `{"id": "q1", "question": "How long did the trip take?", "references": ["18 days"], "response": "It took 18 days."}
{"id": "q2", "question": "What is the dog called?", "references": ["Rex"], "response": "The dog is called Max."}
`
	exampleLabels = `{"annotator": "anna", "labels": [{"id": "q1", "label": "yes"}, {"id": "q2", "label": "no", "note": "Max is the cat"}]}`
)

// operations returns the operations of the API.
func (s *Server) operations() []operation {
	return slices.Concat(s.judgingOperations(), s.runOperations(), s.otherOperations())
}

// asJSON returns the content of an answer that is always JSON.
func asJSON(v any) []content { return []content{{media: "application/json", schema: v}} }

// answersJSON returns the answers of an operation whose only success is 200 with JSON.
func answersJSON(about string, v any) []answer {
	return []answer{{status: http.StatusOK, about: about, content: asJSON(v)}}
}

// runID returns the parameter that names a run.
func runID() parameter {
	return parameter{name: "id", in: "path", about: "The run: its id, a beginning of it that no other has, last, or last~1 for the one before.", schema: text(), example: "last"}
}

func withParameter() parameter {
	return parameter{name: "with", in: "query", about: "What records bring along: item, calls, or item,calls.", schema: text(), example: "calls"}
}

func limitParameter() parameter {
	return parameter{name: "limit", in: "query", about: "How many there are on a page at most; 50 without it.", schema: whole(1, maxPage), example: "10"}
}

// lineParameters returns the parameters that replace the fields of a submission if its body
// contains only items.
func lineParameters() []parameter {
	const only = " Only with a body of lines."
	return []parameter{
		{name: "judge", in: "query", about: abouts["Submission.judge"] + only, schema: text(), example: "match"},
		{name: "model", in: "query", about: abouts["Submission.model"] + only, schema: text()},
		{name: "reading", in: "query", about: abouts["Submission.reading"] + only, schema: text()},
		{name: "trials", in: "query", about: abouts["Submission.trials"] + only, schema: whole(1, maxTrials)},
		{name: "max_cost", in: "query", about: abouts["Submission.max_cost"] + only, schema: text()},
		{name: "dataset", in: "query", about: abouts["Submission.dataset"] + only, schema: text()},
		{name: "system", in: "query", about: abouts["Submission.system"] + only, schema: text()},
		{name: "system_model", in: "query", about: abouts["Submission.system_model"] + only, schema: text()},
		{name: "fresh", in: "query", about: abouts["Submission.fresh"] + only, schema: truth()},
		{name: "retry_unjudged", in: "query", about: abouts["Submission.retry_unjudged"] + only, schema: truth()},
	}
}

// judgingOperations returns the operations that judge items.
func (s *Server) judgingOperations() []operation {
	run := asJSON(runOut{})
	submitted := content{media: "application/json", schema: submissionIn{}, example: exampleSubmission}
	asLines := content{media: ndjson, schema: node{"type": "string", "description": "An item in each line, of at most 16 MiB."}, example: exampleLines}
	return []operation{
		{
			method: "POST", path: "/verdicts", id: "postVerdicts", tag: "judging", summary: "Judge up to 100 items and wait for the verdicts.",
			about: "The answer comes when all items are judged, after a minute, or after as many seconds as the header Prefer: wait=N says (600 at most). " +
				"If the run is not done by then it continues in the background: the answer is 202 with the run. " +
				"With Accept: application/x-ndjson, records come as they are judged.",
			params: append([]parameter{
				withParameter(),
				{name: "Prefer", in: "header", about: "wait=N for the seconds to wait at most, or respond-async.", schema: text()},
			}, lineParameters()...),
			body: []content{submitted, asLines}, maxBody: maxSubmission,
			answers: []answer{
				{status: http.StatusOK, about: "All items were judged, or could not be.", content: []content{
					{media: "application/json", schema: verdictsOut{}},
					{media: ndjson, schema: verdictLine{}},
				}},
				{status: http.StatusAccepted, about: "The run continues in the background.", content: run},
			},
			handle: s.postVerdicts,
		},
		{
			method: "POST", path: "/runs", id: "postRuns", tag: "judging", summary: "Judge items in the background.",
			about: "For up to a million items. JSON may have 64 MiB; with more of them, send lines. " +
				"The run continues when the client disconnects. If the server is stopped, POST /api/v1/runs/{id}/resume resumes the run.",
			params: lineParameters(),
			body:   []content{submitted, asLines}, maxBody: maxStream,
			answers: []answer{{status: http.StatusAccepted, about: "The run was begun, or is there already.", content: run}},
			handle:  s.postRuns,
		},
		{
			method: "POST", path: "/runs/{id}/cancel", id: "cancelRun", tag: "judging", summary: "Stop a run that this server or workers judge.",
			about:  "No new item is taken; calls in flight finish and are kept. The run stays open and can be resumed.",
			params: []parameter{runID()}, answers: []answer{{status: http.StatusAccepted, about: "The run was told to stop.", content: run}},
			handle: s.OfRun(s.cancelRun),
		},
		{
			method: "POST", path: "/runs/{id}/resume", id: "resumeRun", tag: "judging", summary: "Go on with a run that was begun over this API, or left to workers, and is not done.",
			about:  "Only what is missing is asked. The body may be left out.",
			params: []parameter{runID()}, body: []content{{media: "application/json", schema: resumption{}, example: `{"max_cost": "1.50"}`}},
			answers: []answer{{status: http.StatusAccepted, about: "The run is resumed.", content: run}},
			handle:  s.OfRun(s.resumeRun),
		},
	}
}

// runOperations returns the operations on runs and their labels.
func (s *Server) runOperations() []operation {
	var files []content
	for _, f := range forms() {
		file := text()
		if f.media == "application/json" {
			file = node{"type": "object"}
		}
		files = append(files, content{media: f.media, schema: file})
	}
	return []operation{
		{
			method: "GET", path: "/runs", id: "getRuns", tag: "runs", summary: "List runs, newest first.",
			params: []parameter{
				limitParameter(),
				{name: "after", in: "query", about: "The id of the last run on the page before.", schema: text()},
				{name: "judge", in: "query", about: "Only runs of the judge with this name.", schema: text(), example: "match"},
			},
			answers: answersJSON("A page of runs.", runsOut{}), handle: s.getRuns,
		},
		{
			method: "GET", path: "/runs/{id}", id: "getRun", tag: "runs", summary: "Say what a run is and how far.",
			params: []parameter{runID()}, answers: answersJSON("The run.", runOut{}), handle: s.OfRun(s.getRun),
		},
		{
			method: "GET", path: "/runs/{id}/report", id: "getReport", tag: "runs", summary: "Say what a run found.",
			about: "The same as deem report --json prints, with what the errata that the run was told of do to its numbers. The report of a run in progress may be a few seconds old. " +
				"A gate that fails does not change the status: its outcome stands under gates, with those that were promised when the run was locked.",
			params: []parameter{runID(), {
				name: "gate", in: "query", repeats: true, about: "A condition to hold against the report, as deem report --gate takes it; it may be given again.",
				schema: text(), example: "overall.lo >= 65%",
			}},
			answers: answersJSON("The report.", report.Report{}), handle: s.OfRun(s.getReport),
		},
		{
			method: "GET", path: "/runs/{id}/export", id: "getExport", tag: "runs", summary: "Write a run as a file.",
			about: "As deem export does, but for a benchmark's own files.",
			params: []parameter{
				runID(),
				{name: "format", in: "query", required: true, about: "What the file is.", schema: text(formNames()...), example: "csv"},
			},
			answers: []answer{{status: http.StatusOK, about: "The file.", content: files}}, handle: s.OfRun(s.getExport),
		},
		{
			method: "GET", path: "/runs/{id}/labels", id: "getLabels", tag: "labels", summary: "List the human labels of a run's items.",
			params: []parameter{runID()}, answers: answersJSON("The labels.", labelsOut{}), handle: s.OfRun(s.getLabels),
		},
		{
			method: "POST", path: "/runs/{id}/labels", id: "postLabels", tag: "labels", summary: "Add human labels.",
			about: "All labels are kept, or none. A label belongs to the item with its response, and not to the run: later judges of the same item are compared with it. " +
				"A second label of the same annotator takes the place of the first.",
			params: []parameter{runID()}, body: []content{{media: "application/json", schema: sentLabels{}, example: exampleLabels}},
			maxBody: maxSubmission, answers: answersJSON("The labels are kept.", keptLabels{}), handle: s.OfRun(s.postLabels),
		},
	}
}

// otherOperations returns the operations that show records and describe the server.
func (s *Server) otherOperations() []operation {
	return []operation{
		{
			method: "GET", path: "/runs/{id}/records", id: "getRecords", tag: "runs", summary: "List the records of a run.",
			about: "A page of them as JSON or, with Accept: application/x-ndjson, all of them as lines.",
			params: []parameter{
				runID(), withParameter(), limitParameter(),
				{name: "after", in: "query", about: "What the page before calls next.", schema: text()},
				{name: "category", in: "query", about: "Only items of this category; (none) for those without one.", schema: text(), example: "temporal"},
				{name: "label", in: "query", about: "Only verdicts with this label.", schema: text()},
				{name: "kind", in: "query", about: "Only failures of this kind.", schema: text()},
				{name: "verdict", in: "query", about: "Only what the judge says yes or no to, or could not judge.", schema: text(server.SaysYes, server.SaysNo, server.Unjudged), example: server.SaysYes},
				{name: "trial", in: "query", about: "Only this trial, from 0.", schema: text()},
				{name: "q", in: "query", about: "Only items in which these words occur.", schema: text()},
				{name: "against", in: "query", about: "Only items of which this run says something else.", schema: text()},
				{name: "sort", in: "query", about: "In which order.", schema: text("position", "score", "confidence")},
				{name: "desc", in: "query", about: "1 turns the order round.", schema: text("1")},
			},
			answers: []answer{{status: http.StatusOK, about: "Records.", content: []content{
				{media: "application/json", schema: recordsOut{}},
				{media: ndjson, schema: recordOut{}},
			}}},
			handle: s.getRecords,
		},
		{
			method: "GET", path: "/runs/{id}/records/{item...}", id: "getRecord", tag: "runs", summary: "Show every trial of one item.",
			about: "With the prompt rendered again, the replies, and what the judge's other reading makes of them.",
			params: []parameter{
				runID(),
				{name: "item", in: "path", about: "The id of the item; what is special in an address is escaped.", schema: text(), example: "q1"},
			},
			answers: answersJSON("The trials.", itemOut{}), handle: s.OfRun(s.getRecord),
		},
		{method: "GET", path: "/judges", id: "getJudges", tag: "server", summary: "List the judges that can be named.", answers: answersJSON("The judges.", judgesOut{}), handle: s.getJudges},
		{method: "GET", path: "/models", id: "getModels", tag: "server", summary: "List the models that clients may ask.", answers: answersJSON("The models, the default first.", modelsOut{}), handle: s.getModels},
		{method: "GET", path: "/benchmarks", id: "getBenchmarks", tag: "server", summary: "List the benchmarks that deem knows.", answers: answersJSON("The benchmarks.", benchmarksOut{}), handle: s.getBenchmarks},
		{method: "GET", path: "/version", id: "getVersion", tag: "server", summary: "Say which deem this is.", answers: answersJSON("The versions.", versionOut{}), handle: s.getVersion},
		{
			method: "GET", path: "/openapi.json", id: "getOpenAPI", tag: "server", summary: "This document.",
			answers: []answer{{status: http.StatusOK, about: "An OpenAPI document.", content: asJSON(node{"type": "object"})}},
			handle:  s.getOpenAPI,
		},
	}
}
