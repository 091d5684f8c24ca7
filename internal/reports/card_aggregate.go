package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"deem/internal/doc"
	"deem/judge"
	"deem/report"
	"deem/stat"
)

// AggregateVersion is the version of the schema of Every Eval Ever that [Aggregate]
// follows (evaleval/every_eval_ever, every_eval_ever/schemas/eval.schema.json).
const AggregateVersion = "0.2.2"

// ErrNoScore is returned if a report has no score to publish.
var ErrNoScore = errors.New("no item was asked about, so there is no score")

// A AggregateSource identifies the publisher of the numbers. The schema requires it, and a run does
// not contain it.
type AggregateSource struct {
	Organization string    // "" means "unknown"
	Relationship string    // to the system: one of [Relationships]; "" means "other"
	Retrieved    time.Time // when the aggregate is made
}

// Relationships returns the relationships of evaluator and system that the schema allows.
func Relationships() []string {
	return []string{"first_party", "third_party", "collaborative", "other"}
}

// The names follow the schema.
type (
	aggregate struct {
		Schema    string       `json:"schema_version"`
		ID        string       `json:"evaluation_id"`
		Timestamp string       `json:"evaluation_timestamp,omitempty"`
		Retrieved string       `json:"retrieved_timestamp"`
		Source    sourceMeta   `json:"source_metadata"`
		Library   library      `json:"eval_library"`
		Model     modelInfo    `json:"model_info"`
		Results   []evalResult `json:"evaluation_results"`
	}
	sourceMeta struct {
		Name         string            `json:"source_name"`
		Type         string            `json:"source_type"`
		Organization string            `json:"source_organization_name"`
		Relationship string            `json:"evaluator_relationship"`
		Details      map[string]string `json:"additional_details,omitempty"`
	}
	library struct {
		Name    string            `json:"name"`
		Version string            `json:"version"`
		Details map[string]string `json:"additional_details,omitempty"`
	}
	modelInfo struct {
		Name      string            `json:"name"`
		ID        string            `json:"id"`
		Developer string            `json:"developer,omitempty"`
		Details   map[string]string `json:"additional_details,omitempty"`
	}
	evalResult struct {
		ID      string       `json:"evaluation_result_id"`
		Name    string       `json:"evaluation_name"`
		Data    sourceData   `json:"source_data"`
		Metric  metricConfig `json:"metric_config"`
		Details scoreDetails `json:"score_details"`
	}
	sourceData struct {
		Name    string            `json:"dataset_name"`
		Type    string            `json:"source_type"`
		Details map[string]string `json:"additional_details,omitempty"`
	}
	metricConfig struct {
		Description   string            `json:"evaluation_description"`
		ID            string            `json:"metric_id"`
		Name          string            `json:"metric_name"`
		Kind          string            `json:"metric_kind"`
		Unit          string            `json:"metric_unit"`
		LowerIsBetter bool              `json:"lower_is_better"`
		ScoreType     string            `json:"score_type"`
		Min           float64           `json:"min_score"`
		Max           float64           `json:"max_score"`
		LLM           *llmScoring       `json:"llm_scoring,omitempty"`
		Details       map[string]string `json:"additional_details,omitempty"`
	}
	llmScoring struct {
		Judges []judgeConfig `json:"judges"`
		Prompt string        `json:"input_prompt"`
	}
	judgeConfig struct {
		Model       modelInfo         `json:"model_info"`
		Temperature *float64          `json:"temperature,omitempty"`
		Details     map[string]string `json:"additional_details,omitempty"`
	}
	scoreDetails struct {
		Score       float64           `json:"score"`
		Details     map[string]string `json:"details,omitempty"`
		Uncertainty uncertainty       `json:"uncertainty"`
	}
	uncertainty struct {
		SE        *standardError `json:"standard_error,omitempty"`
		Interval  *confInterval  `json:"confidence_interval,omitempty"`
		N         int            `json:"num_samples"`
		Bootstrap int            `json:"num_bootstrap_samples,omitempty"`
	}
	standardError struct {
		Value  float64 `json:"value"`
		Method string  `json:"method"`
	}
	confInterval struct {
		Lower  float64 `json:"lower"`
		Upper  float64 `json:"upper"`
		Level  float64 `json:"confidence_level"`
		Method string  `json:"method"`
	}
)

// Aggregate writes the card and scores of a report in the aggregate schema of Every Eval
// Ever. It omits a withheld score and writes the strict one.
func Aggregate(w io.Writer, r report.Report, src AggregateSource) error {
	if r.Items == 0 {
		return ErrNoScore
	}
	b := aggregator{r: r}
	if r.Head.Harness != nil {
		b.harness = *r.Head.Harness
	}
	h, k := r.Head, b.harness

	// Folders are private, and a slash would change the id of the aggregate.
	names := strings.Split(h.Dataset, ", ")
	for i, name := range names {
		names[i] = name[strings.LastIndexAny(name, `/\`)+1:]
	}
	b.dataset = orUnknown(strings.Join(names, ", "))

	system := modelOf(h.SystemModel)
	if h.System != "" {
		system.Name = h.System
		if h.SystemModel == "" {
			system.ID = h.System
		}
	}
	system.Details = nonEmpty("system", h.System, "system_model", h.SystemModel)
	d := nonEmpty("judge", h.Judge, "judge_hash", h.JudgeHash, "judge_kind", h.JudgeKind, "judge_note", h.JudgeNote, "reading", h.Reading,
		"model", h.Model, "seen", strings.Join(r.Seen(), ", "), "counts", r.Counts(), "trials", strconv.Itoa(max(h.Trials, 1)),
		"params", strings.Join(k.ParamList(), ", "), "not_sent", strings.Join(k.DroppedList(), "; "), "excluded", strings.Join(k.Excluded, ", "))
	for _, p := range k.Prompts {
		d["prompt_sha256 "+p.Name] = p.SHA256
	}
	for _, f := range r.Failures {
		d["unjudged "+string(f.Kind)] = strconv.Itoa(f.N)
	}
	if k.Lock != nil {
		d["lock"] = k.Lock.Hash + ", " + k.Lock.Words()
	}
	if k.Errata != nil {
		d["errata"] = k.Errata.File + ", sha256 " + k.Errata.Hash
	}
	b.scoring, b.details = b.llmScoring(), d
	var results []evalResult
	for _, f := range r.Metrics {
		results = append(results, b.figures("", f)...)
	}
	for _, category := range r.Categories {
		results = append(results, b.figures(category.Name, category.Figures)...)
	}
	return doc.JSON(w, aggregate{
		Schema:    AggregateVersion,
		ID:        strings.Join([]string{b.dataset, system.ID, epoch(src.Retrieved)}, "/"),
		Timestamp: epoch(r.Head.Started), Retrieved: epoch(src.Retrieved),
		Source: sourceMeta{
			Name: "deem", Type: "evaluation_run", Organization: orUnknown(src.Organization), Relationship: cmp.Or(src.Relationship, "other"),
			Details: nonEmpty("run", h.Run),
		},
		Library: library{Name: "deem", Version: orUnknown(k.Deem), Details: nonEmpty("report_version", r.Version)},
		Model:   system,
		Results: results,
	})
}

// An aggregator converts a report to results.
type aggregator struct {
	r       report.Report
	harness doc.Harness
	dataset string // without folders
	scoring *llmScoring
	details map[string]string // of every metric
}

// modelOf returns the model with the given name in deem.
func modelOf(name string) modelInfo {
	if name == "" {
		return modelInfo{Name: "unknown", ID: "unknown"}
	}
	vendor, rest, ok := strings.Cut(name, ":")
	if !ok {
		return modelInfo{Name: name, ID: name}
	}
	return modelInfo{Name: name, ID: vendor + "/" + rest, Developer: vendor}
}

// figures returns a metric over judged items and strict.
func (b aggregator) figures(category string, f report.Figures) []evalResult {
	var list []evalResult
	if f.Judged != nil {
		list = append(list, b.result(category, f, *f.Judged, ""))
	}
	if f.Items > 0 {
		list = append(list, b.result(category, f, f.Strict, "strict"))
	}
	return list
}

// metricIDs are the names that the schema recommends, if any.
var metricIDs = map[string]string{doc.PassRate: "pass_rate", doc.Score: "accuracy", doc.MeanScore: "mean_score"}

// result returns one number. how says which of a metric's numbers it is.
func (b aggregator) result(category string, f report.Figures, est stat.Estimate, how string) evalResult {
	id := cmp.Or(metricIDs[f.Metric], strings.ReplaceAll(f.Metric, " ", "_"))
	words := "share of judged items; items without a verdict are left out"
	if how != "" {
		words = "share of all items; items without a verdict count as wrong"
	}
	held := ""
	if b.r.Hold != nil {
		held = b.r.Hold.Reason
	}
	u := uncertainty{N: est.N}
	if est.Method != stat.MethodNone {
		u.Interval = &confInterval{est.Lo, est.Hi, est.Level, est.Method}
	}
	if est.SE > 0 {
		u.SE = &standardError{est.SE, est.Method}
	}
	// Too few items are not resampled, so their interval has a different method.
	if boot := b.r.Head.Bootstrap; boot != nil && strings.Contains(est.Method, "bootstrap") {
		u.Bootstrap = boot.Draws
	}
	return evalResult{
		ID:   doc.Join("/", category, id, how),
		Name: doc.Join(", ", b.dataset, category, how),
		Data: sourceData{Name: b.dataset, Type: "other", Details: nonEmpty("sha256", b.r.Head.DatasetHash, "items", strconv.Itoa(max(b.r.Head.Items, b.r.Items)))},
		Metric: metricConfig{
			Description: fmt.Sprintf("%s by judge %s: %s", f.Metric, b.r.Head.Judge, words),
			ID:          doc.Join("_", id, how), Name: doc.Join(", ", f.Metric, how), Kind: id, Unit: "proportion",
			ScoreType: "continuous", Max: 1, LLM: b.scoring, Details: b.details,
		},
		Details: scoreDetails{
			Score: est.Value, Uncertainty: u,
			Details: nonEmpty("category", category, "items", strconv.Itoa(f.Items), "unjudged", strconv.Itoa(f.Unjudged),
				"band_lower", exact(f.Band.Lo), "band_upper", exact(f.Band.Hi), "withheld", held, "warnings", strings.Join(est.Warnings, "; ")),
		},
	}
}

// llmScoring returns the judge if it uses a model, with the text of its prompt, or of several
// in sequence with their names.
func (b aggregator) llmScoring() *llmScoring {
	if b.r.Head.JudgeKind == judge.KindRule || b.r.Head.Model == "" || len(b.harness.Prompts) == 0 {
		return nil
	}
	var temperature *float64
	if t, err := strconv.ParseFloat(b.harness.Params["temperature"], 64); err == nil {
		temperature = &t
	}
	scoring := &llmScoring{Prompt: b.harness.Prompts[0].Text}
	if len(b.harness.Prompts) > 1 {
		var texts []string
		for _, p := range b.harness.Prompts {
			texts = append(texts, "["+p.Name+"]\n"+p.Text)
		}
		scoring.Prompt = strings.Join(texts, "\n\n")
	}
	for name := range strings.SplitSeq(b.r.Head.Model, " + ") { // a panel uses several
		scoring.Judges = append(scoring.Judges, judgeConfig{
			Model: modelOf(name), Temperature: temperature,
			Details: nonEmpty("judge", b.r.Head.Judge, "judge_hash", b.r.Head.JudgeHash, "reading", b.r.Head.Reading),
		})
	}
	return scoring
}

// nonEmpty returns the pairs whose value is not empty.
func nonEmpty(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m[pairs[i]] = pairs[i+1]
		}
	}
	return m
}

func orUnknown(s string) string { return cmp.Or(s, "unknown") }

func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// epoch returns a time as seconds since 1970, as the schema requires, or "".
func epoch(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.Unix(), 10)
}
