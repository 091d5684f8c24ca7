package telemetry

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Labels of metrics. Those of calls are named after the OpenTelemetry conventions for
// generative AI, which many dashboards know.
const (
	labelOperation     = "gen_ai_operation_name"
	labelProvider      = "gen_ai_provider_name"
	labelRequestModel  = "gen_ai_request_model"
	labelResponseModel = "gen_ai_response_model"
	labelTokenType     = "gen_ai_token_type" //nolint:gosec // tokens of text are not credentials
	labelErrorType     = "error_type"
	labelJudge         = "deem_judge"
	labelKind          = "kind"
	labelOutcome       = "outcome"
)

const (
	operationChat       = "chat"
	operationEmbeddings = "embeddings"
)

// providers maps vendors to their names in the conventions, if these differ.
var providers = map[string]string{"google": "gcp.gemini"}

// Outcomes of a call.
const (
	outcomeReplied     = "replied"
	outcomeCached      = "cached"
	outcomeBatched     = "batched" // from a vendor's batch
	outcomeFailed      = "failed"
	outcomeInterrupted = "interrupted"
)

// A metric is a family of series, one for each combination of labels.
type metric struct {
	name, help string
	bounds     []float64 // upper bounds of the buckets of a histogram; nil for a counter
}

// The metrics of a run, with bucket boundaries as recommended by the conventions.
var (
	metricDuration = &metric{
		"gen_ai_client_operation_duration_seconds", "How long the model took to answer, attempt by attempt.",
		[]float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92},
	}
	metricTokens = &metric{
		"gen_ai_client_token_usage", "Tokens of a call, as the vendor counts them.",
		[]float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864},
	}
	metricCalls    = &metric{"deem_calls_total", "Calls that ended: replied, cached, batched, failed or interrupted.", nil}
	metricUnpriced = &metric{"deem_calls_unpriced_total", "Calls whose price is not known, and which deem_cost lacks.", nil}
	metricRetries  = &metric{"deem_retries_total", "Attempts beyond the first of a call, by the error before.", nil}
	metricCost     = &metric{"deem_cost_microdollars_total", "What calls cost, in millionths of a US dollar.", nil}
	metricRecords  = &metric{"deem_records_total", "Items that are done, judged or unjudged.", nil}
	metricFailures = &metric{"deem_failures_total", "Items that are unjudged, by the kind of failure.", nil}
)

// allMetrics lists the metrics in the order of the page.
var allMetrics = []*metric{
	metricDuration, metricTokens, metricCalls, metricUnpriced, metricRetries, metricCost, metricRecords, metricFailures,
}

// A series holds the values of a metric for one combination of labels.
type series struct {
	count   uint64   // values added to a histogram
	sum     float64  // of all values; what a counter shows
	buckets []uint64 // values up to each bound, but above the one before
}

// meters hold all series, and the limiters of the runs that are being observed. The zero
// value is empty and ready for use.
type meters struct {
	mu     sync.Mutex
	series map[*metric]map[string]*series // by labels in the form of the page
	limits map[*Run]bool
}

// add adds a value to a counter or a histogram.
func (m *meters) add(to *metric, value float64, labels labels) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.series == nil {
		m.series = map[*metric]map[string]*series{}
	}
	family := m.series[to]
	if family == nil {
		family = map[string]*series{}
		m.series[to] = family
	}
	key := labels.String()
	s := family[key]
	if s == nil {
		s = &series{buckets: make([]uint64, len(to.bounds))}
		family[key] = s
	}
	s.count++
	s.sum += value
	if i, _ := slices.BinarySearch(to.bounds, value); i < len(to.bounds) {
		s.buckets[i]++
	}
}

// watch shows the concurrent calls of a run until unwatch.
func (m *meters) watch(r *Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limits == nil {
		m.limits = map[*Run]bool{}
	}
	m.limits[r] = true
}

func (m *meters) unwatch(r *Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.limits, r)
}

// labels are the names and values that tell the series of a metric apart.
type labels map[string]string

func (l labels) with(name, value string) labels {
	more := maps.Clone(l)
	more[name] = value
	return more
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// String returns the labels as Prometheus reads them, sorted by name. Values are arbitrary
// text, and are escaped.
func (l labels) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name + `="` + labelEscapes.Replace(strings.ToValidUTF8(l[name], "\uFFFD")) + `"`)
	}
	return b.String()
}
