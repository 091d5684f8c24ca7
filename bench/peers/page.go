package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"deem/bench/internal/hardware"
)

// findings are what was measured.
type findings struct {
	options
	began   time.Time
	version string // what deem says that it is
	node    string // what Node says that it is
	start   spent  // promptfoo that only says its version
	costs   []cost
	reruns  []rerun
}

// least is how many times the CPU of deem promptfoo needs, by our promise.
const least = 50

// A promise is something that we say of deem, with what was measured.
type promise struct {
	text string
	kept bool
}

func (p promise) String() string {
	if p.kept {
		return "kept: " + p.text
	}
	return "NOT KEPT: " + p.text
}

// promises holds deem to what we say of it.
func promises(f findings) []promise {
	times := f.times(f.cpu(promptfoo))
	list := []promise{{
		text: fmt.Sprintf("at least %d times less CPU per verdict than promptfoo: %.0f times", least, times),
		kept: times >= least,
	}}
	for _, r := range f.reruns {
		if r.contestant.name == ours && r.latency == f.latency {
			list = append(list, promise{
				text: fmt.Sprintf("no more items asked again after a kill than calls in flight, at a server that takes %s: %d, with %d in flight", latencyOf(r), r.twice, f.calls),
				kept: r.twice <= f.calls && r.never == 0,
			})
		}
	}
	return list
}

// cpu returns the median CPU of a contestant.
func (f findings) cpu(name string) time.Duration {
	for _, c := range f.costs {
		if c.contestant.name == name {
			return c.median().cpu
		}
	}
	return 0
}

// times returns how many times the CPU of deem that is.
func (f findings) times(cpu time.Duration) float64 {
	return float64(cpu) / float64(max(1, f.cpu(ours)))
}

// page returns the findings as Markdown.
func page(f findings) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# deem beside other tools\n\n")
	fmt.Fprintf(&b, "Made by `make bench-peers` on %s, on %s. %s; promptfoo %s and autoevals %s from npm, on Node %s.\n\n",
		f.began.UTC().Format(time.DateOnly), machine(), f.version, promptfooVersion, autoevalsVersion, f.node)
	fmt.Fprintf(&b, "These are tools with other aims, and this page measures two things alone. What else they do, and deem does not, is in [peers.md](../docs/peers.md). "+
		"If something here is unfair or out of date, say so and we change it.\n\n")
	f.writeCosts(&b)
	f.writeReruns(&b)
	fmt.Fprintf(&b, "## What we say of deem\n\n")
	for _, p := range promises(f) {
		fmt.Fprintf(&b, "- %s.\n", p)
	}
	fmt.Fprintf(&b, "\n`make bench-peers` fails when one of them does not hold. Nothing is said of a server without latency.\n\n")
	f.writeCommands(&b)
	f.writeLimits(&b)
	return b.String()
}

// writeCosts writes what a verdict cost.
func (f findings) writeCosts(b *strings.Builder) {
	fmt.Fprintf(b, "## What a verdict costs\n\n")
	fmt.Fprintf(b, "%s items, %d calls at once, a server that answers at once; %s, in turns. CPU is of user and system, with all child processes, from the start of "+
		"the program to its end; the run in the middle counts.\n\n", thousands(f.n), f.calls, plural(f.runs, "run"))
	fmt.Fprintf(b, "| | CPU | least to most | CPU per verdict | beside deem | on the clock | peak memory |\n|---|---|---|---|---|---|---|\n")
	for _, c := range f.costs {
		m := c.median()
		low, high := c.spread()
		fmt.Fprintf(b, "| %s | %.2f s | %.2f to %.2f s | %.2f ms | %s | %.2f s | %.0f MB |\n", c.contestant.name, m.cpu.Seconds(), low.Seconds(), high.Seconds(),
			1000*m.cpu.Seconds()/float64(f.n), ratio(f.times(m.cpu)), m.wall.Seconds(), megabytes(m.rss))
	}
	fmt.Fprintf(b, "\nEach made exactly %s requests, one for each item, and reported %s verdicts; otherwise there would be no number.\n\n", thousands(f.n), thousands(f.n))
}

// writeReruns writes what was asked again.
func (f findings) writeReruns(b *strings.Builder) {
	fmt.Fprintf(b, "## What is asked again after `kill -9`\n\n")
	fmt.Fprintf(b, "The whole process group is killed by the answer that makes it half of the items, and started again in the same folder, against the same server. "+
		"An item is asked again when the server had answered it before the kill; calls that were still under way are not counted, since nobody could have kept their answer. "+
		"For deem the worst of %s is shown, for the others there was one.\n\n", plural(f.kills, "kill"))
	fmt.Fprintf(b, "| | started again by | latency of the server | answered before the kill | asked again | answered in the end |\n|---|---|---|---|---|---|\n")
	for _, r := range f.reruns {
		fmt.Fprintf(b, "| %s | %s | %s | %d | **%d** | %s |\n", r.contestant.name, r.restart.name, latencyOf(r), r.answered, r.twice, thousands(f.n-r.never))
	}
	fmt.Fprintf(b, "\ndeem commits records in groups: 10 ms after the first of a group came, or at 128 of them, and it takes up to 128 more while a commit is on its way. "+
		"What a kill costs is what was answered and not committed. While a call takes longer than a commit, that is at most one answer for each call in flight. "+
		"A server that answers at once, as no vendor does, answers several times before a commit; there more is asked again than was in flight, and the bound is that of "+
		"the writer, two groups.\n\n")
}

// writeCommands writes what was typed, from the functions that typed it.
func (f findings) writeCommands(b *strings.Builder) {
	l := &lab{options: f.options, dir: "LAB", peers: installation{dir: "PEERS"}}
	l.deem = "deem"
	fmt.Fprintf(b, "## What was run\n\n")
	fmt.Fprintf(b, "`make bench-peers BENCHFLAGS=\"-keep PEERS\"` does all of this. By hand, in a folder PEERS:\n\n```sh\n%s\n```\n\n",
		"npm install --ignore-scripts "+strings.Join(packages(), " "))
	for _, c := range f.costs {
		cmd := c.contestant.command(l, "FOLDER", "URL")
		cmd.args = slices.Concat(cmd.args, c.contestant.measured)
		fmt.Fprintf(b, "**%s**: %s.\n\n```sh\n%s\n```\n\n", c.contestant.name, c.contestant.note, typed(cmd))
	}
	fmt.Fprintf(b, "LAB has the items, written by `items.go`: %s questions of our own making, with a reference and a response of some 400 bytes. FOLDER is new and empty for each "+
		"measurement. URL is a server in the measuring process (`server.go`) that speaks OpenAI's wire on the loopback address and gives each contestant the one "+
		"reply it can read as a verdict (`contestants.go`). The scripts are in `scripts/`. When deem and promptfoo are killed and started again, the arguments are "+
		"these with what the table above says; promptfoo's time is taken without its cache, which has nothing to give for items that are new.\n\n", thousands(f.n))
}

// packages are what npm is asked for, in order.
func packages() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(wanted())) {
		list = append(list, name+"@"+wanted()[name])
	}
	return list
}

// typed returns a command as it is typed, with its environment.
func typed(c command) string {
	var lines []string
	for _, v := range c.env {
		lines = append(lines, v+" \\\n")
	}
	return strings.Join(lines, "") + c.String()
}

// writeLimits writes what must not be read into the numbers.
func (f findings) writeLimits(b *strings.Builder) {
	fmt.Fprintf(b, `## What cannot be compared

- **The prompts differ.** Each tool asks in its own words: deem's judge universal for CORRECT or INCORRECT, the others for one of five letters. The text of items is
  the same. Whose verdicts are better is not measured here; the server says yes to all.
- **The work differs.** promptfoo renders templates, counts tokens, and keeps every result with its prompt in a database for its viewer; deem keeps records, calls and
  replies, and computes intervals; autoevals is a library that returns a score and leaves the rest to the program around it. The loop shows what Node needs
  for the calls alone.
- **Starting is part of it.** `+"`promptfoo --version`"+` alone took %.1f s of CPU here, which weighs less with more items.
- **A vendor is slower.** With a model that takes a second to answer, all of these wait most of the time, and the time on the clock is the vendor's. CPU matters where many
  items are judged at once, on small machines and in CI, and where replies come from a cache.
- **Going on is not the aim of a library.** autoevals keeps nothing, so a script around it starts over unless its author writes more. promptfoo has two ways to go on, its
  cache and `+"`--resume`"+`, and both are in the table beside the start without them.
- **One machine, one day.** Server and contestant share its processors, so times on the clock are worth less than CPU.
`, f.start.cpu.Seconds())
}

// latencyOf writes how long the server took.
func latencyOf(r rerun) string {
	if r.latency == 0 {
		return "none"
	}
	return fmt.Sprintf("%d ms", r.latency.Milliseconds())
}

// ratio writes how many times as much something is.
func ratio(times float64) string {
	if times < 10 {
		return fmt.Sprintf("%.1f times", times)
	}
	return fmt.Sprintf("%.0f times", times)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// thousands writes a count with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// versionOf returns what a program says that it is.
func versionOf(ctx context.Context, program, arg string) (string, error) {
	s, err := command{dir: ".", program: program, args: []string{arg}}.run(ctx)
	return strings.TrimSpace(s.out), err
}

// machine says on what the measurements were made.
func machine() string {
	return fmt.Sprintf("%d processors (%s), %s/%s", runtime.NumCPU(), hardware.Processor(), runtime.GOOS, runtime.GOARCH)
}
