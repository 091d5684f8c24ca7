package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"deem/internal/dataset"
	"deem/report"
)

// flags declares what "deem run" and "deem plan" can be told.
func (o *runOptions) flags(f *pflag.FlagSet) {
	o.maxUnjudged = report.DefaultMaxUnjudged
	f.SortFlags = false
	f.StringArrayVar(&o.data, "data", nil, "read items from this `file`, folder, pattern, https:// or hf:// address, - for standard input; may be given again")
	f.StringArrayVar(&o.responses, "responses", nil, "read the system's responses from this `file`, where a benchmark keeps them apart; may be given again")
	f.BoolVar(&o.requireAll, "require-all", false, "a question of the benchmark without a response is an error")
	f.StringToStringVar(&o.judge.With, "with", nil, "an option of the benchmark's own, as `name=value` (deem list benchmarks); may be given again")
	f.StringVar(&o.format, "format", "", "what the file is: "+strings.Join(dataset.Formats(), ", ")+" (default: by its name and first bytes)")
	f.StringVar(&o.mapping, "map", "", "which `columns` hold what, as question=q,response=output")
	f.StringArrayVar(&o.exclude, "exclude", nil, excludeUsage)
	o.errata.flags(f)
	o.system.flags(f)
	f.Var(countFlag(&o.limit), "limit", "judge only the first `n` items")
	f.StringArrayVar(&o.judges, "judge", nil, "who judges: a `name` (deem list judges) or a YAML file; given again, several judge the same items and are compared; f1+bleu are several rules in one run (default: the benchmark's own, universal with --model, else match)")
	f.IntVar(&o.repeat, "repeat", 0, "ask the judge `k` times about each item and let the answers vote (docs/panel.md)")
	f.StringVar(&o.tie, "tie", "", "what a panel or --repeat says when it is evenly split: unsure, first, yes or no (default unsure: the item is unjudged)")
	f.StringVar(&o.queue, "queue", "", "write what a cascade leaves to people to this `file`, to be labelled (docs/cascade.md)")
	f.StringArrayVar(&o.other, "other", nil, "read the responses to compare with from this `file`, by id, for --judge pairwise; may be given again")
	f.StringVar(&o.model.Name, "model", "", "the `model` that the judge asks, as openai:gpt-4o-mini")
	f.StringVar(&o.embeddings, "embeddings", "", "what the judge semantic compares by: a `folder` with a sentence model's files, openai:NAME or ollama:NAME")
	f.StringVar(&o.wordnet, "wordnet", "", "a `folder` with the database files of WordNet 3.0, from which the judge meteor knows synonyms")
	f.StringVar(&o.judge.Reading, "reading", "", "how replies are read: upstream or strict (default: upstream where there is one)")
	f.Var(numberFlag(&o.judge.Pass), "pass", "the score from which a verdict passes, from 0 to 1 (default: the judge's)")
	f.Var(numberFlag(&o.judge.Temperature), "temperature", "sampling temperature (default: the judge's)")
	f.Var(countFlag(&o.judge.MaxTokens), "max-tokens", "tokens in an answer at most (default: the judge's); a model that thinks has more for that")
	f.StringVar(&o.model.Thinking, "thinking", "", "how much a reasoning model thinks: low, medium, high, off, or a number of `tokens` (default: the vendor's; docs/judges.md)")
	f.IntVarP(&o.Concurrency, "concurrency", "j", 8, "judge `n` items at once")
	f.IntVar(&o.Trials, "trials", 1, "judge each item `n` times")
	f.StringVar(&o.model.BaseURL, "base-url", "", "`address` of the model's server (default: OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL, OLLAMA_HOST, or the vendor's own)")
	f.StringArrayVar(&o.model.Headers, "header", nil, "send `NAME=value` or NAME=env:VARIABLE with each call; may be given again")
	f.StringToStringVar(&o.model.Options, "model-option", nil, "an option of the vendor's own, as `name=value` (deem list models); may be given again")
	f.StringVar(&o.model.Proxy, "proxy", "", "reach the server through this proxy, a `URL` or env:VARIABLE (default: HTTPS_PROXY)")
	f.StringVar(&o.model.CAFile, "ca-file", "", "trust the authorities in this PEM `file` too")
	f.Var(timeFlag(&o.model.Timeout), "timeout", "give up a call after this `time` (default 2m, longer for models that think)")
	f.Var(timeFlag(&o.runTimeout), "run-timeout", "stop after this `time`, as Ctrl-C does: what was judged is kept")
	o.Retries = 5
	f.Var(countFlag(&o.Retries), "retries", "make a call `n` more times when the error may pass; one more when it timed out")
	f.Var(countFlag(&o.RPM), "rpm", "requests per minute at most")
	f.Var(countFlag(&o.TPM), "tpm", "tokens per minute at most")
	f.Var(moneyFlag(&o.maxCost), "max-cost", "spend this many US `dollars` at most, earlier parts of the run included; no call begins that could exceed it")
	f.Var(moneyFlag(&o.askAbove), "ask-above", "ask before a run that may cost more than this many US `dollars`, and refuse it where nobody can be asked")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	f.StringVar(&o.pricesFile, "prices", "", "take prices from this `file` before the built-in ones")
	f.BoolVar(&o.batch.on, "batch", false, "ask through the vendor's batches, which answer within a day at a lower price (openai, anthropic); a killed command goes on with the batch that it left")
	f.BoolVar(&o.batch.only, "batch-only", false, "with --batch: what expires or fails in a batch is unjudged, and is not asked again in the ordinary way")
	f.IntVar(&o.batch.size, "batch-size", 0, "with --batch: `requests` in one batch at most (default: as many as the vendor takes)")
	f.DurationVar(&o.batch.poll, "batch-poll", 0, "with --batch: look every so much `time` how far the batches are (default: from 5s to 1m)")
	f.StringVar(&o.record, "record", "", "append every reply to this `file`, for --model replay:FILE")
	f.BoolVar(&o.Fresh, "fresh", false, "start over: do not go on with an earlier run, and ask again what was asked before")
	f.BoolVar(&o.RetryUnjudged, "retry-unjudged", false, "judge again what an earlier run could not judge")
	f.Var(shareFlag(&o.maxUnjudged), "max-unjudged", "withhold the score when more items than this `share` are unjudged")
	f.StringArrayVar(&o.gates, "gate", nil, gateUsage)
	f.BoolVar(&o.dryRun, "dry-run", false, "print the first prompt and what would be asked, and call nothing")
}
