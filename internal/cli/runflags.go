package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"deem/internal/dataset"
	"deem/report"
)

// flags declares the flags of "deem run" and "deem plan".
func (o *runOptions) flags(f *pflag.FlagSet) {
	o.maxUnjudged = report.DefaultMaxUnjudged
	f.SortFlags = false
	f.StringArrayVar(&o.data, "data", nil, "read items from this `file`, folder, pattern, https:// or hf:// address, - for standard input; repeatable")
	f.StringArrayVar(&o.responses, "responses", nil, "read the system's responses from this `file`, if they are not in the data; repeatable")
	f.BoolVar(&o.requireAll, "require-all", false, "treat a benchmark question without a response as an error")
	f.StringToStringVar(&o.judge.With, "with", nil, "a benchmark-specific option, `name=value` (deem list benchmarks); repeatable")
	f.StringVar(&o.format, "format", "", "the file's format: "+strings.Join(dataset.Formats(), ", ")+" (default: by its name and first bytes)")
	f.StringVar(&o.mapping, "map", "", "which `columns` hold what, for example question=q,response=output")
	f.StringArrayVar(&o.exclude, "exclude", nil, excludeUsage)
	f.StringVar(&o.errata.file, "errata", "", "show how the known errors of the answer key in this `file` change the score; later reports show it too")
	f.BoolVar(&o.errata.corrected, "corrected", false, "with --errata: judge the items with corrected references, as a run of its own")
	f.StringVar(&o.system.name, "system", "", "the `name` of the system under test, for reports")
	f.StringVar(&o.system.model, "system-model", "", "the `model` behind the system under test, for example openai:gpt-4o: reports point out a judge of the same family")
	f.Var(countFlag(&o.limit), "limit", "judge only the first `n` items")
	f.StringArrayVar(&o.judges, "judge", nil, "the judge: a `name` (deem list judges) or a YAML file; repeatable: all judge the same items and are compared; f1+bleu are several rules in one run (default: the benchmark's own, universal with --model, else match)")
	f.IntVar(&o.repeat, "repeat", 0, "ask the judge `k` times about each item, and decide by vote (docs/panel.md)")
	f.StringVar(&o.tie, "tie", "", "the verdict of a panel or --repeat on a tie: unsure, first, yes or no (default unsure: the item is unjudged)")
	f.StringVar(&o.queue, "queue", "", "write items that a cascade leaves to people to this `file`, for labelling (docs/cascade.md)")
	f.StringArrayVar(&o.other, "other", nil, "read the other system's responses from this `file`, matched by id, for --judge pairwise; repeatable")
	f.StringVar(&o.model.Name, "model", "", "the `model` that the judge asks, for example openai:gpt-4o-mini")
	f.StringVar(&o.embeddings, "embeddings", "", "embeddings for the judge semantic: a `folder` with a sentence model's files, openai:NAME or ollama:NAME")
	f.StringVar(&o.wordnet, "wordnet", "", "a `folder` with the database files of WordNet 3.0, from which the judge meteor knows synonyms")
	f.StringVar(&o.judge.Reading, "reading", "", "how replies are parsed: upstream (as the published code does) or strict (default: upstream where there is one)")
	f.Var(numberFlag(&o.judge.Pass), "pass", "the lowest score that passes, from 0 to 1 (default: the judge's)")
	f.Var(numberFlag(&o.judge.Temperature), "temperature", "sampling temperature (default: the judge's)")
	f.Var(countFlag(&o.judge.MaxTokens), "max-tokens", "maximum tokens of an answer (default: the judge's); a reasoning model gets more for its reasoning")
	f.StringVar(&o.model.Thinking, "thinking", "", "how much a reasoning model thinks: low, medium, high, off, or a number of `tokens` (default: the vendor's; docs/judges.md)")
	f.IntVarP(&o.Concurrency, "concurrency", "j", 8, "judge `n` items at once")
	f.IntVar(&o.Trials, "trials", 1, "judge each item `n` times")
	f.StringVar(&o.model.BaseURL, "base-url", "", "`address` of the model's server (default: OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL, OLLAMA_HOST, or the vendor's own)")
	f.StringArrayVar(&o.model.Headers, "header", nil, "send `NAME=value` or NAME=env:VARIABLE with each call; repeatable")
	f.StringToStringVar(&o.model.Options, "model-option", nil, "a vendor-specific option, `name=value` (deem list models); repeatable")
	f.StringVar(&o.model.Proxy, "proxy", "", "reach the server through this proxy, a `URL` or env:VARIABLE (default: HTTPS_PROXY)")
	f.StringVar(&o.model.CAFile, "ca-file", "", "also trust the certificate authorities in this PEM `file`")
	f.Var(timeFlag(&o.model.Timeout), "timeout", "give up a call after this `time` (default 2m, longer for reasoning models)")
	f.Var(timeFlag(&o.runTimeout), "run-timeout", "stop after this `time`, like Ctrl-C: finished items are kept")
	o.Retries = 5
	f.Var(countFlag(&o.Retries), "retries", "retry a call up to `n` times after a transient error; once after a timeout")
	f.Var(countFlag(&o.RPM), "rpm", "maximum requests per minute")
	f.Var(countFlag(&o.TPM), "tpm", "maximum tokens per minute")
	f.Var(moneyFlag(&o.maxCost), "max-cost", "spend at most this many US `dollars`, including earlier parts of the run; no call starts that could exceed it")
	f.Var(moneyFlag(&o.askAbove), "ask-above", "ask for confirmation if a run may cost more than this many US `dollars`; without a terminal, refuse it")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	f.StringVar(&o.pricesFile, "prices", "", "use the prices in this `file` before the built-in ones")
	f.BoolVar(&o.batch.on, "batch", false, "use the vendor's batch API, which answers within a day at a lower price (openai, anthropic); a killed command resumes its batch")
	f.BoolVar(&o.batch.only, "batch-only", false, "with --batch: requests that expire or fail in a batch stay unjudged, and are not sent again one by one")
	f.IntVar(&o.batch.size, "batch-size", 0, "with --batch: maximum number of `requests` in a batch (default: the vendor's limit)")
	f.DurationVar(&o.batch.poll, "batch-poll", 0, "with --batch: `time` between checks of the batches (default: from 5s to 1m)")
	f.StringVar(&o.record, "record", "", "append every reply to this `file`, for --model replay:FILE")
	f.BoolVar(&o.Fresh, "fresh", false, "start over: do not resume an earlier run, and do not use cached replies")
	f.BoolVar(&o.RetryUnjudged, "retry-unjudged", false, "judge again the items that an earlier run could not judge")
	f.Var(shareFlag(&o.maxUnjudged), "max-unjudged", "withhold the score if more than this `share` of items is unjudged")
	f.StringArrayVar(&o.gates, "gate", nil, gateUsage)
	f.BoolVar(&o.dryRun, "dry-run", false, "print the first prompt and what would be sent, and call nothing")
}

// sampleFlags declares the flags for drawing items. Other commands that judge have their
// own seeds.
func (o *runOptions) sampleFlags(f *pflag.FlagSet) {
	f.Var(countFlag(&o.sample), "sample", "judge only `n` items, drawn at random with --seed")
	f.Uint64Var(&o.seed, "seed", 1, "random seed (a `number`) for --sample and the order of --until")
}
