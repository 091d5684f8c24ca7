package export

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"deem"
)

// ErrChanged is returned if a run changed while it was written.
var ErrChanged = errors.New("the run changed while it was written")

// JUnit writes trial 0 of a run as JUnit XML, which CI servers show as tests: a test case
// for each item, a failure for each verdict that does not pass, and an error for each
// unjudged item. It reads the records twice, because the counts precede the cases; if the
// second pass differs, the error is [ErrChanged].
func JUnit(w io.Writer, run Run, records func() iter.Seq2[deem.Record, error]) error {
	var want, got cases
	for rec, err := range records() {
		if err != nil {
			return err
		}
		if rec.Trial == 0 {
			want.add(rec)
		}
	}
	x := &junit{w: bufio.NewWriter(w), run: run}
	counts := fmt.Sprintf(` tests="%d" failures="%d" errors="%d" skipped="0"`, want.tests, want.failures, want.errors) + attr("time", seconds(want.time))
	created := ""
	if !run.Created.IsZero() {
		created = run.Created.UTC().Format("2006-01-02T15:04:05")
	}
	x.printf(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	x.printf("<testsuites%s%s>\n", attr("name", "deem"), counts)
	x.printf("  <testsuite%s%s%s>\n    <properties>\n", attr("name", run.Dataset+" judged by "+run.Judge), counts, attr("timestamp", created))
	for _, p := range [][2]string{
		{"run", run.ID},
		{"judge", run.Judge},
		{"judge_hash", run.JudgeHash},
		{"model", run.Model},
		{"dataset", run.Dataset},
		{"dataset_hash", run.DatasetHash},
		{"trials", strconv.Itoa(max(run.Trials, 1))},
		{"software", run.Software},
		{"passes", "by the judge's pass mark, else with a score of 0.5 or more"},
		{"errors", "an error is an item without a verdict: it is unjudged and not wrong"},
	} {
		if p[1] != "" {
			x.printf("      <property%s%s/>\n", attr("name", p[0]), attr("value", p[1]))
		}
	}
	x.printf("    </properties>\n")
	for rec, err := range records() {
		if err != nil {
			return err
		}
		if rec.Trial == 0 {
			got.add(rec)
			x.testcase(rec)
		}
	}
	x.printf("  </testsuite>\n</testsuites>\n")
	if got != want {
		return deem.WithHint(ErrChanged, "write it again when the run is done")
	}
	return errors.Join(x.err, x.w.Flush())
}

// cases are the counts in the head of the file.
type cases struct {
	tests, failures, errors int
	time                    time.Duration
}

func (c *cases) add(rec deem.Record) {
	c.tests++
	c.time += took(rec)
	switch {
	case rec.Verdict == nil || rec.Failure != nil:
		c.errors++
	case !rec.Verdict.Yes():
		c.failures++
	}
}

// took returns the total time of the replies of a record.
func took(rec deem.Record) time.Duration {
	var sum time.Duration
	for _, c := range rec.Calls {
		if c.Reply != nil && !c.Reply.Cached {
			sum += c.Reply.Latency
		}
	}
	return sum
}

// A junit writes XML. It keeps the first error.
type junit struct {
	w   *bufio.Writer
	run Run
	err error
}

func (x *junit) printf(format string, args ...any) {
	if x.err == nil {
		_, x.err = fmt.Fprintf(x.w, format, args...)
	}
}

// attr returns an attribute, or "" if it has no value.
func attr(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + escaped(value) + `"`
}

// escaped returns text escaped for XML. A character that XML does not allow becomes U+FFFD.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder never fails
	return b.String()
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

// testcase writes one item. Its text says what is wrong, because people see that first.
func (x *junit) testcase(rec deem.Record) {
	x.printf("    <testcase%s%s%s", attr("classname", cmp.Or(rec.Item.Category, x.run.Judge)), attr("name", rec.Item.ID), attr("time", seconds(took(rec))))
	switch v := rec.Verdict; {
	case v == nil || rec.Failure != nil:
		kind, message := "no_verdict", "the record has no verdict"
		if f := rec.Failure; f != nil {
			kind, message = string(f.Kind), f.Error()
		}
		x.outcome("error", kind, "unjudged: "+message, rec)
	case !v.Yes():
		x.outcome("failure", "not_passed", fmt.Sprintf("%s, score %s", v.Label, number(&v.Score)), rec)
	default:
		x.printf("/>\n")
	}
}

// outcome ends a test case that did not pass, with the question, the answer, and the reason.
func (x *junit) outcome(tag, kind, message string, rec deem.Record) {
	it := rec.Item
	var lines []string
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, name+": "+text)
		}
	}
	add("question", it.Question)
	for _, ref := range it.References {
		add("reference", ref)
	}
	lines = append(lines, "response: "+it.Response)
	if rec.Verdict != nil {
		add("reason", rec.Verdict.Reason)
	}
	x.printf(">\n      <%s%s%s>%s</%s>\n    </testcase>\n", tag, attr("type", kind), attr("message", message), escaped(strings.Join(lines, "\n")), tag)
}
