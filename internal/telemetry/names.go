package telemetry

// scope is the name of the instrumentation scope.
const scope = "deem"

// Attributes of the OpenTelemetry conventions for generative AI. They are written out
// because the conventions are still changing: a name changes when we decide so, not when a
// library does.
//
//nolint:gosec // tokens of text are not credentials
const (
	attrOperation     = "gen_ai.operation.name"
	attrProvider      = "gen_ai.provider.name"
	attrSystem        = "gen_ai.system" // the former name of attrProvider; many dashboards still read it
	attrRequestModel  = "gen_ai.request.model"
	attrMaxTokens     = "gen_ai.request.max_tokens"
	attrTemperature   = "gen_ai.request.temperature"
	attrTopP          = "gen_ai.request.top_p"
	attrSeed          = "gen_ai.request.seed"
	attrOutputType    = "gen_ai.output.type"
	attrResponseModel = "gen_ai.response.model"
	attrResponseID    = "gen_ai.response.id"
	attrFinish        = "gen_ai.response.finish_reasons"
	attrInputTokens   = "gen_ai.usage.input_tokens"
	attrOutputTokens  = "gen_ai.usage.output_tokens"
	attrTokenType     = "gen_ai.token.type"
	attrInput         = "gen_ai.input.messages"
	attrOutput        = "gen_ai.output.messages"
	attrInstructions  = "gen_ai.system_instructions"

	attrErrorType = "error.type"
	attrStatus    = "http.response.status_code"
	attrAddress   = "server.address"
	attrPort      = "server.port"
)

// Attributes defined by deem.
const (
	attrRun        = "deem.run.id"
	attrRunEnd     = "deem.run.outcome"
	attrJudge      = "deem.judge"
	attrJudgeHash  = "deem.judge.hash"
	attrItems      = "deem.items"
	attrTrials     = "deem.trials"
	attrRecords    = "deem.records"
	attrUnjudged   = "deem.unjudged"
	attrItem       = "deem.item.id"
	attrCategory   = "deem.item.category"
	attrTrial      = "deem.trial"
	attrLabel      = "deem.verdict.label"
	attrScore      = "deem.verdict.score"
	attrDetail     = "deem.failure.detail"
	attrKind       = "kind"
	attrOutcome    = "outcome"
	attrAttempt    = "deem.attempt"
	attrAttempts   = "deem.attempts"
	attrCached     = "deem.cached"
	attrCostMicros = "deem.cost_micros"
	attrRetryAfter = "deem.retry_after_ms"
)

// Operation names of the conventions.
const (
	operationChat       = "chat"
	operationEmbeddings = "embeddings"
)

// providers maps vendors to their names in the conventions, if these differ.
var providers = map[string]string{"google": "gcp.gemini"}

// OpenTelemetry names of the instruments.
//
//nolint:gosec // tokens of text are not credentials
const (
	metricDuration = "gen_ai.client.operation.duration"
	metricTokens   = "gen_ai.client.token.usage"
	metricCalls    = "deem.calls"
	metricUnpriced = "deem.calls.unpriced"
	metricRetries  = "deem.retries"
	metricCost     = "deem.cost"
	metricRecords  = "deem.records"
	metricFailures = "deem.failures"
	metricInFlight = "deem.concurrency"
	metricAllowed  = "deem.concurrency.limit"
)

// An instrument describes one instrument.
type instrument struct {
	unit string // in UCUM notation
	prom string // the Prometheus name, which includes the unit
	help string
}

// instruments lists all instruments. Prometheus wants units in names and a suffix for
// counters, so its names are written out.
var instruments = map[string]instrument{
	metricDuration: {"s", "gen_ai_client_operation_duration_seconds", "How long the model took to answer, attempt by attempt."},
	metricTokens:   {"{token}", "gen_ai_client_token_usage", "Tokens of a call, as the vendor counts them."},
	metricCalls:    {"{call}", "deem_calls_total", "Calls that ended: replied, cached, batched, failed or interrupted."},
	metricUnpriced: {"{call}", "deem_calls_unpriced_total", "Calls whose price is not known, and which deem_cost lacks."},
	metricRetries:  {"{attempt}", "deem_retries_total", "Attempts beyond the first of a call, by the error before."},
	metricCost:     {"{microdollar}", "deem_cost_microdollars_total", "What calls cost, in millionths of a US dollar."},
	metricRecords:  {"{record}", "deem_records_total", "Items that are done, judged or unjudged."},
	metricFailures: {"{record}", "deem_failures_total", "Items that are unjudged, by the kind of failure."},
	metricInFlight: {"{call}", "deem_concurrency", "Calls being made now."},
	metricAllowed:  {"{call}", "deem_concurrency_limit", "Calls that may be made at once now."},
}

// Bucket boundaries of the histograms, as recommended by the conventions.
var (
	durationBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBounds    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// Outcomes of a call.
const (
	outcomeReplied     = "replied"
	outcomeCached      = "cached"
	outcomeBatched     = "batched" // from a vendor's batch
	outcomeFailed      = "failed"
	outcomeInterrupted = "interrupted"
)
