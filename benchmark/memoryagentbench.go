package benchmark

import (
	"context"
	"io"
	"slices"
	"strings"

	"deem/internal/benchmark/longmemeval"
	"deem/internal/benchmark/memoryagentbench"
)

func memoryAgentBench() Benchmark {
	return Benchmark{
		Name: memoryagentbench.Name, About: memoryagentbench.About, Where: memoryagentbench.Where, Licence: memoryagentbench.Licence,
		Readings: memoryagentbench.Readings(),
		Judges:   []string{memoryagentbench.RulesName, memoryagentbench.UpstreamName},
		Judge: func(name string, o Options) (Judge, error) {
			if name == memoryagentbench.RulesName {
				return ruled(memoryagentbench.Rules(o.Reading))
			}
			chats, err := longmemeval.Protocol(longmemeval.Upstream)
			if err != nil {
				return Judge{}, err
			}
			return asked(memoryagentbench.Protocol(o.Reading, chats))
		},
		Origin: func(name string) Origin {
			if name == memoryagentbench.RulesName {
				return Origin{About: "parts with a metric of their own, as contained answers and recall; what a model judges stays out"}
			}
			return Origin{
				"summaries with three prompts, chats with those of LongMemEval, the rest by rule", "MemoryAgentBench", "2025",
				"github.com/HUST-AI-HYZ/MemoryAgentBench at 455306d, llm_based_eval", memoryagentbench.Licence,
			}
		},
		Open: func(ctx context.Context, o Options) (Set, error) {
			return opened(memoryagentbench.Open(ctx, memoryagentbench.Options{
				Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, Limit: o.Limit,
				Rules: !slices.ContainsFunc(o.Judges, func(name string) bool { return name != memoryagentbench.RulesName }),
			}))
		},
		Metrics: func(context.Context, Options) (Metrics, error) { return memoryagentbench.NewMetrics(), nil },
		ResultsName: func(f Finished) string {
			return strings.TrimSuffix(slices.Concat(f.Options.Responses, f.Options.Data)[0], ".json") + "-gpt4eval_o.json"
		},
		WriteResults: func(_ context.Context, w io.Writer, f Finished) (int, error) {
			return memoryagentbench.WriteResults(w, f.Model, f.Records)
		},
	}
}
