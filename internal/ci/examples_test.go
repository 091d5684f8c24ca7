package ci_test

import (
	"errors"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/store"
	"deem/judge"
)

// item has everything that the examples ask for.
var item = deem.Item{
	ID:         "q1",
	Question:   "May I bring my parcel back after three weeks?",
	References: []string{"yes, within 30 days", "the receipt is needed"},
	Response:   "Of course! Thirty days, and {question} is a fine question.",
	Fields:     map[string]string{"policy": "Returns within 30 days.", "checklist": "- names the 30 days"},
}

// reads is a reply and what an example must make of it.
type reads struct {
	reply  string
	label  string
	score  float64
	reason string
	kind   deem.Kind // of the failure, "" for a verdict
}

var judges = map[string][]reads{
	"politeness.yaml": {
		{reply: "POLITE", label: "POLITE", score: 1},
		{reply: "**Neutral**", label: "NEUTRAL", score: 0.5},
		{reply: "It cannot be told from this.", kind: deem.Unparseable},
		{reply: "The tone is NEUTRAL.", kind: deem.Unparseable},
	},
	"support-rubric.yaml": {
		{
			reply: "```json\n{\"reason\": \"Leaves out the receipt.\", \"accuracy\": 10, \"completeness\": 5, \"tone\": 5}\n```",
			label: "pass", score: 3.5 / 4, reason: "Leaves out the receipt.",
		},
		{reply: `{"reason": "Wrong.", "accuracy": 2, "completeness": 5, "tone": 3}`, label: "fail", score: 1.4 / 4, reason: "Wrong."},
		{reply: `{"reason": "Top!", "accuracy": 11, "completeness": 10, "tone": 5}`, kind: deem.OutOfRange},
	},
	"yes-no-json.yaml": {
		{reply: `{"reason": "Same period.", "same": "Yes"}`, label: "yes", score: 1, reason: "Same period."},
		{reply: `{"reason": "No receipt.", "same": "no"}`, label: "no", score: 0, reason: "No receipt."},
		{reply: `{"reason": "Hmm.", "same": "maybe"}`, kind: deem.Unparseable},
		{reply: `Here it is: {"reason": "No receipt.", "same": "no"}`, kind: deem.Unparseable},
	},
}

func TestJudges(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "examples", "judges", "*.yaml"))
	if err != nil || len(files) != len(judges) {
		t.Fatalf("%d judges in the folder, %d in the table, error %v", len(files), len(judges), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			d, err := judge.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			p := protocol(t, d)
			checkPrompt(t, p)
			if d.About == "" {
				t.Error("the judge does not say what it is about")
			}
			for _, r := range judges[filepath.Base(file)] {
				checkRead(t, p, r)
			}
		})
	}
}

func protocol(t *testing.T, d *judge.Declaration) judge.Readable {
	t.Helper()
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkPrompt renders the prompt and looks whether the response stands in it, as
// it is and between tags.
func checkPrompt(t *testing.T, p judge.Readable) {
	t.Helper()
	req, err := p.Request(item)
	if err != nil {
		t.Fatal(err)
	}
	user := req.Messages[len(req.Messages)-1].Content
	fenced := regexp.MustCompile(`<\w+-[0-9a-f]{16}>\n` + regexp.QuoteMeta(item.Response) + `\n</\w+-[0-9a-f]{16}>`)
	if !fenced.MatchString(user) {
		t.Errorf("the prompt does not hold the response between tags:\n%s", user)
	}
	if rest := strings.Replace(user, item.Response, "", 1); strings.Contains(rest, "{question}") || strings.Contains(rest, "{{") {
		t.Errorf("the prompt has a slot left:\n%s", rest)
	}
}

func checkRead(t *testing.T, p judge.Readable, want reads) {
	t.Helper()
	v, err := judge.Read(p, item, deem.Reply{Text: want.reply, Stop: deem.StopEnd})
	if want.kind != "" {
		if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != want.kind {
			t.Errorf("reply %q: verdict %+v, error %v, want a failure of kind %s", want.reply, v, err, want.kind)
		}
		return
	}
	if err != nil || v.Label != want.label || math.Abs(v.Score-want.score) > 1e-12 || v.Reason != want.reason {
		t.Errorf("reply %q: verdict %+v, error %v, want label %q, score %v, reason %q", want.reply, v, err, want.label, want.score, want.reason)
	}
}

// block is a fenced block of YAML in a document.
var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestDocumentedJudges loads the judges in the document about them. Blocks that
// show a few keys only are put into a judge that has the rest.
func TestDocumentedJudges(t *testing.T) {
	whole, parts := 0, 0
	for _, m := range block.FindAllStringSubmatch(read(t, "docs/judges.md"), -1) {
		text := m[1]
		if strings.HasPrefix(text, "name:") {
			whole++
			checkPrompt(t, protocol(t, parse(t, text)))
			continue
		}
		parts++
		parse(t, complete(text))
	}
	if whole != 4 || parts < 4 {
		t.Errorf("the document has %d whole judges and %d parts, want 4 and at least 4", whole, parts)
	}
}

func parse(t *testing.T, text string) *judge.Declaration {
	t.Helper()
	d, err := judge.Parse("docs/judges.md", []byte(text), nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return d
}

// complete adds what a part of a judge lacks to be one.
func complete(part string) string {
	prompt := "{response}"
	for _, slot := range regexp.MustCompile(`(?m)^  (\w+):`).FindAllStringSubmatch(part, -1) {
		if strings.HasPrefix(part, "slots:") {
			prompt += " {" + slot[1] + "}"
		}
	}
	if strings.HasPrefix(part, "criteria:") {
		prompt += " {criterion}"
	}
	text := "name: part\nprompt: \"" + prompt + "\"\n" + part
	if !strings.Contains(part, "aspects:") {
		text += "labels: {CORRECT: 1, INCORRECT: 0}\n"
	}
	return text
}

// TestDocumentedFailures holds the table of failures to the kinds there are.
func TestDocumentedFailures(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "docs/judges.md"), "## Failures\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var kinds []deem.Kind
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)`").FindAllStringSubmatch(section, -1) {
		kinds = append(kinds, deem.Kind(m[1]))
	}
	slices.Sort(kinds)
	if want := slices.Sorted(slices.Values(append(deem.Kinds(), store.Unfinished))); !slices.Equal(kinds, want) {
		t.Errorf("the document lists the kinds %v, want %v", kinds, want)
	}
}

// TestLibrary runs the example program as a reader would.
func TestLibrary(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "run", "./examples/library")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := "q1  CORRECT     score 1\n" +
		"q2  INCORRECT   score 0\n" +
		"q3  unjudged    unparseable: the last line of the reply is not \"VERDICT: {label}\": Hard to say.\n"
	if string(out) != want {
		t.Errorf("it prints\n%swant\n%s", out, want)
	}
}
