package benchmark_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/benchmark"
	"deem/judge"
)

// field returns the path of a prompt or vector file that deem does not ship.
func field(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "field", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the published file is not here: %v", err)
	}
	return path
}

// A vendorPrompt is a prompt that a vendor published: its file, and the names of its slots
// for Python's str.format.
type vendorPrompt struct {
	judge  string
	file   string // of the prompt
	system string // the file of the system text, or ""
	slots  map[string]string
}

var vendorPrompts = []vendorPrompt{
	{"locomo/mem0-2025", "locomo-vendors/prompts/mem0_2025_accuracy_prompt.fmt.txt", "", gold("gold_answer", "generated_answer")},
	{"locomo/mem0-2026-04-03", "mem0-harness/prompts/locomo_judge_user_2026-04-03_bd063ee.fmt.txt", "mem0-harness/prompts/locomo_judge_system.txt", gold("answer", "response")},
	{"locomo/mem0-2026-04-09", "mem0-harness/prompts/locomo_judge_user.fmt.txt", "mem0-harness/prompts/locomo_judge_system.txt", gold("answer", "response")},
	{"locomo/mem0-2026-04-09-evidence", "mem0-harness/prompts/locomo_judge_user_with_evidence.EVIDENCE.fmt.txt", "mem0-harness/prompts/locomo_judge_system.txt", gold("answer", "response")},
	{"locomo/memobase", "locomo-vendors/prompts/memobase_accuracy_prompt.fmt.txt", "", gold("gold_answer", "generated_answer")},
	{"locomo/memmachine", "locomo-vendors/prompts/memmachine_accuracy_prompt.fmt.txt", "", gold("gold_answer", "generated_answer")},
	{"locomo/memos", "locomo-vendors/prompts/memos_locomo_grader_accuracy_prompt.fmt.txt", "locomo-vendors/prompts/memos_locomo_grader_system_prompt.txt", gold("gold_answer", "response")},
	{"locomo/evermemos", "locomo-vendors/prompts/evermemos_llm_judge_user.fmt.txt", "locomo-vendors/prompts/evermemos_llm_judge_system.txt", gold("golden_answer", "generated_answer")},
	{"locomo/omnimemeval", "omnimemeval/prompts/judge_prompt.fmt.txt", "omnimemeval/prompts/judge_system_prompt.txt", gold("golden_answer", "response")},
	{"longmemeval/mem0", "mem0-harness/prompts/longmemeval_judge_user.fmt.txt", "", gold("answer", "response")},
	{"halumem/omnimemeval", "omnimemeval/prompts/hm_judge_prompt.fmt.txt", "omnimemeval/prompts/judge_system_prompt.txt", gold("golden_answer", "response")},
}

func gold(reference, response string) map[string]string {
	return map[string]string{"question": "question", reference: "reference", response: "response"}
}

// protocolOf returns the protocol of a benchmark's judge.
func protocolOf(t *testing.T, name, reading string) judge.Readable {
	t.Helper()
	b, ok := benchmark.All().OfJudge(name)
	if !ok {
		t.Fatalf("no benchmark has the judge %s", name)
	}
	j, err := b.Judge(name, benchmark.Options{Reading: reading})
	if err != nil {
		t.Fatal(err)
	}
	return j.Protocol
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// TestVendorPrompts compares the prompts with the published bytes: with the checksums in
// NOTICE, and with the files themselves if they are present.
func TestVendorPrompts(t *testing.T) {
	notice, err := os.ReadFile(filepath.Join("..", "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, v := range vendorPrompts {
		seen[v.judge] = true
		d := protocolOf(t, v.judge, "").Spec().Declaration
		if !strings.Contains(string(notice), sum([]byte(d.Prompt))) {
			t.Errorf("%s: NOTICE does not have the sum %s of its prompt", v.judge, sum([]byte(d.Prompt)))
		}
		for file, text := range map[string]string{v.file: d.Prompt, v.system: d.System} {
			if file == "" {
				continue
			}
			want, err := os.ReadFile(field(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if sum([]byte(text)) != sum(want) {
				t.Errorf("%s: the embedded bytes of %s have the sum %s, want %s", v.judge, file, sum([]byte(text)), sum(want))
			}
		}
	}
	for _, b := range benchmark.All() {
		for _, name := range b.Judges {
			if b.Origin == nil || b.Origin(name).Licence != "Apache-2.0" || seen[name] {
				continue
			}
			if b.Name == "locomo" || b.Name == "longmemeval" || b.Name == "halumem" {
				t.Errorf("the prompt of %s is held to no published file", name)
			}
		}
	}
}

// formatPrompts does what the published programs do: str.format of the prompt.
const formatPrompts = `
import json, sys
job = json.load(sys.stdin)
out = []
for it in job["items"]:
    values = dict(it)
    if job["cut"] and values["category"] == "3" and ";" in values["reference"]:
        values["reference"] = values["reference"].split(";")[0].strip()
    prompt = open(job["file"], encoding="utf-8", newline="").read()
    if "<<EVIDENCE>>" in prompt:
        prompt = prompt.replace("<<EVIDENCE>>", values["evidence"].replace("{", "{{").replace("}", "}}"))
    out.append(prompt.format(**{slot: values[name] for slot, name in job["slots"].items()}))
json.dump(out, sys.stdout)
`

// oddTexts are difficult values for a prompt.
var oddTexts = []string{
	"plain", "", "with {question} in it", "{{twice}}", "a } alone", "quotes \" and '", "ünïcödé 東京 🦭", "line\nline\r\nline\t", "<<EVIDENCE>>",
	"50% off; or so", "back\\slash \\n", "  spaces  ", "null", "{0}", "{answer!r:>10}", "a\u2028b", "yes; because {x}",
}

// TestVendorRendering renders each prompt for 200 items and compares with Python.
func TestVendorRendering(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here")
	}
	type values struct {
		Question  string `json:"question"`
		Reference string `json:"reference"`
		Response  string `json:"response"`
		Category  string `json:"category"`
		Evidence  string `json:"evidence"`
	}
	items := make([]values, 200)
	for i := range items {
		odd := func(n int) string { return oddTexts[(i*n+i/7)%len(oddTexts)] }
		items[i] = values{"Q" + odd(1), odd(3), odd(5), fmt.Sprint(i%4 + 1), fmt.Sprintf("[D1:%d] A: %q", i, odd(7))}
	}
	for _, v := range vendorPrompts {
		input, err := json.Marshal(map[string]any{
			"items": items, "file": field(t, v.file), "slots": v.slots, "cut": strings.HasPrefix(v.judge, "locomo/mem0-2026"),
		})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), python, "-c", formatPrompts)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
		output, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", v.judge, err)
		}
		var want []string
		if err := json.Unmarshal(output, &want); err != nil {
			t.Fatal(err)
		}
		p := protocolOf(t, v.judge, "")
		for i, it := range items {
			item := deem.Item{
				ID: fmt.Sprint(i), Category: it.Category, Question: it.Question, References: []string{it.Reference}, Response: it.Response,
				Fields: map[string]string{"evidence_text": it.Evidence},
			}
			if v.judge == "halumem/omnimemeval" {
				item.Category = "qa"
			}
			req, err := p.Request(item)
			if err != nil {
				t.Fatalf("%s: item %d: %v", v.judge, i, err)
			}
			if got := req.Messages[len(req.Messages)-1].Content; got != want[i] {
				t.Fatalf("%s: item %d is rendered as\n%s\nand Python gives\n%s", v.judge, i, got, want[i])
			}
		}
	}
	t.Logf("%d prompts, %d items each, as Python renders them", len(vendorPrompts), len(items))
}

// TestVendorEvidence checks that an item without evidence gets the prompt without evidence.
func TestVendorEvidence(t *testing.T) {
	it := deem.Item{ID: "1", Category: "4", Question: "Q", References: []string{"R"}, Response: "A"}
	with, err := protocolOf(t, "locomo/mem0-2026-04-09-evidence", "").Request(it)
	if err != nil {
		t.Fatal(err)
	}
	without, err := protocolOf(t, "locomo/mem0-2026-04-09", "").Request(it)
	if err != nil {
		t.Fatal(err)
	}
	if with.Hash() != without.Hash() {
		t.Error("an item without evidence is asked about with another prompt")
	}
}

func reply(text string) deem.Reply { return deem.Reply{Text: text, Stop: deem.StopEnd} }

// TestMem0Replies rereads the replies of a published run.
func TestMem0Replies(t *testing.T) {
	f, err := os.Open(field(t, "mem0-harness/vectors/longmemeval_replies.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	upstream, strict := protocolOf(t, "longmemeval/mem0", ""), protocolOf(t, "longmemeval/mem0", "strict")
	n, same, strictly := 0, 0, 0
	for dec := json.NewDecoder(unpacked); ; n++ {
		var row struct {
			ID    string `json:"question_id"`
			Reply string `json:"reply"`
			Label string `json:"label"`
		}
		if err := dec.Decode(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"PASS": "yes", "FAIL": "no"}[row.Label]
		v, err := judge.Read(upstream, deem.Item{}, reply(row.Reply))
		if err != nil || v.Label != want {
			t.Errorf("%s: %q is read as %q (%v), and the file has %s", row.ID, row.Reply, v.Label, err, row.Label)
			continue
		}
		same++
		if v, err := judge.Read(strict, deem.Item{}, reply(row.Reply)); err == nil && v.Label == want {
			strictly++
		}
	}
	if n != 1000 {
		t.Errorf("%d replies, want 1000", n)
	}
	t.Logf("upstream confirms %d of %d stored labels, strict %d", same, n, strictly)
}

// TestMem0YesNo compares the parser with the published function. For an empty reply that
// function returns no, and deem returns a failure.
func TestMem0YesNo(t *testing.T) {
	data, err := os.ReadFile(field(t, "mem0-harness/vectors/parsers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		YesNo []struct {
			Reply string `json:"reply"`
			Label bool   `json:"label"`
		} `json:"yes_no"`
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	p := protocolOf(t, "longmemeval/mem0", "")
	for _, v := range vectors.YesNo {
		got, err := judge.Read(p, deem.Item{}, reply(v.Reply))
		if v.Reply == "" {
			if f, ok := errors.AsType[*deem.Failure](err); !ok || f.Kind != deem.Empty {
				t.Errorf("an empty reply: %v, want a failure", err)
			}
			continue
		}
		if err != nil || (got.Score == 1) != v.Label {
			t.Errorf("%q: %q (%v), want %v", v.Reply, got.Label, err, v.Label)
		}
	}
}

// TestVendorReadings checks how each published program reads a reply; "-" is a failure.
func TestVendorReadings(t *testing.T) {
	for _, tt := range []struct{ judge, reply, want, strict string }{
		{"locomo/mem0-2025", `{"label": "CORRECT"}`, "CORRECT", "CORRECT"},
		{"locomo/mem0-2025", "```json\n{\"label\": \"CORRECT\"}\n```", "CORRECT", "CORRECT"},
		{"locomo/mem0-2025", `{"label": "correct"}`, "WRONG", "CORRECT"},
		{"locomo/mem0-2025", `{"label": "PARTIAL"}`, "WRONG", "-"},
		{"locomo/mem0-2025", `{"label": true}`, "WRONG", "-"},
		{"locomo/mem0-2025", `The answer is right. {"label": "CORRECT"}`, "-", "-"},
		{"locomo/mem0-2025", `{"verdict": "CORRECT"}`, "-", "-"},
		{"locomo/memobase", "```json\n{\"label\": \"CORRECT\"}\n```", "-", "CORRECT"},
		{"locomo/memmachine", `{'label': 'CORRECT',}`, "CORRECT", "-"},
		{"locomo/memos", `It is. {"label": " Correct "}`, "CORRECT", "CORRECT"},
		{"locomo/memos", `{"label": "CORRECT", "reasoning": "x"}`, "-", "CORRECT"},
		{"locomo/memos", `{"label": 'CORRECT'}`, "-", "-"},
		{"locomo/omnimemeval", `{"label": "WRONG"}`, "WRONG", "WRONG"},
		{"locomo/evermemos", `Because. {"reason": "x", "label": "correct"}`, "CORRECT", "CORRECT"},
		{"locomo/evermemos", `CORRECT`, "-", "-"},
		{"locomo/mem0-2026-04-09", `{"reasoning": "r", "label": "correct"}`, "CORRECT", "CORRECT"},
		{"locomo/mem0-2026-04-09", `{"label": "CORRECT "}`, "WRONG", "CORRECT"},
		{"locomo/mem0-2026-04-09", `{"final": {"label": "CORRECT"}}`, "CORRECT", "-"},
		{"locomo/mem0-2026-04-09", `{"final": "{\"label\": \"CORRECT\"}"}`, "CORRECT", "-"},
		{"locomo/mem0-2026-04-09", "```json\n{\"label\": \"CORRECT\"}\n```", "-", "CORRECT"},
		{"halumem/omnimemeval", `{"label": "CORRECT"}`, "CORRECT", "CORRECT"},
		{"longmemeval/mem0", "<judge_thinking>no, hardly</judge_thinking>\nyes", "yes", "yes"},
	} {
		for reading, want := range map[string]string{"upstream": tt.want, "strict": tt.strict} {
			v, err := judge.Read(protocolOf(t, tt.judge, reading), deem.Item{Category: "qa"}, reply(tt.reply))
			got := v.Label
			if _, ok := errors.AsType[*deem.Failure](err); ok {
				got = "-"
			}
			if got != want {
				t.Errorf("%s, %s: %s gives %q (%v), want %q", tt.judge, reading, tt.reply, got, err, want)
			}
		}
	}
}
