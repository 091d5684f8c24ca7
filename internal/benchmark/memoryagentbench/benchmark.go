package memoryagentbench

import (
	"context"
	"io"
	"slices"
	"strings"

	"deem/internal/benchmark"
	"deem/judge"
)

// Benchmark returns the entry for the list of benchmarks. Its chats are judged by
// LongMemEval's protocol.
func Benchmark(longMemEval func(reading string) (judge.Readable, error)) benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: About, Where: Where, Licence: Licence, Kind: benchmark.KindMemory,
		Readings: benchmark.Readings(), // as upstream's programs read, and with whole words and replies in range
		Judges:   []string{RulesName, UpstreamName},
		Judge: func(name string, o benchmark.Options) (benchmark.Judge, error) {
			if name == RulesName {
				return benchmark.Ruled(Rules(o.Reading))
			}
			chats, err := longMemEval(judge.Upstream)
			if err != nil {
				return benchmark.Judge{}, err
			}
			return benchmark.Asked(Protocol(o.Reading, chats))
		},
		Origin: func(name string) benchmark.Origin {
			if name == RulesName {
				return benchmark.Origin{About: "parts with a metric of their own, as contained answers and recall; what a model judges stays out"}
			}
			return benchmark.Origin{
				About: "summaries with three prompts, chats with those of LongMemEval, the rest by rule", Vendor: "MemoryAgentBench", Date: "2025",
				Source: "github.com/HUST-AI-HYZ/MemoryAgentBench at 455306d, llm_based_eval", Licence: Licence,
			}
		},
		Open:    Open,
		Metrics: func(context.Context, benchmark.Options) (benchmark.Metrics, error) { return NewMetrics(), nil },
		ResultsName: func(f benchmark.Finished) string {
			return strings.TrimSuffix(slices.Concat(f.Options.Responses, f.Options.Data)[0], ".json") + "-gpt4eval_o.json"
		},
		WriteResults: func(_ context.Context, w io.Writer, f benchmark.Finished) (int, error) {
			return WriteResults(w, f.Model, f.Records)
		},
	}
}
