package halumem_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark/halumem"
)

// TestPromptBytes pins the prompts to those in eval_tools.py of
// github.com/MemTensor/HaluMem at commit 59402b9.
func TestPromptBytes(t *testing.T) {
	for name, want := range map[string]string{
		"memory_accuracy":  "6d213f20db1eac7d2f6837b6b1801de2dcc5b9d242abc6128773e871c563986e",
		"memory_integrity": "ff25d77b5ed119180e9604c6717a12140476e79cfaf15ed18dc2cf2ef5595ceb",
		"question":         "95e3648135b580ff0a266b65fb025e68c16a6900d587113e60a3d02a361feadf",
		"update_memory":    "76f3ed47ec8194d4558a562b7dcd99f7d4c0611acd7cb5c908864655825c6fb3",
	} {
		data, err := os.ReadFile("prompts/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if got := sha(string(data)); got != want {
			t.Errorf("prompts/%s.txt has the SHA-256 %s, want %s", name, got, want)
		}
	}
}

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// A vector is a prompt rendered by upstream's program.
type vector struct {
	Judge  string `json:"judge"`
	SHA256 string `json:"sha256"`
	Prompt string `json:"prompt"`
}

// TestVectors extracts the values from prompts rendered by upstream's program, writes them
// to a results file, and checks that the same prompts result, byte for byte.
func TestVectors(t *testing.T) {
	data := reference(t, "vectors/halumem_rendered_prompts.json")
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil || len(vectors) != 4 {
		t.Fatalf("%d vectors, error %v, want 4", len(vectors), err)
	}
	for _, v := range vectors {
		stage, _, _ := strings.Cut(v.Judge, "(")
		var it deem.Item
		switch stage {
		case "integrity":
			it = find(t, integrityUser(t, v.Prompt), "u/0/integrity/1")
		case "accuracy":
			it = find(t, accuracyUser(t, v.Prompt), "u/0/accuracy/0")
		case "update":
			it = find(t, updateUser(t, v.Prompt), "u/0/update/1")
		case "question":
			it = find(t, questionUser(t, v.Prompt), "u/0/qa/0")
		default:
			t.Fatalf("a vector of the unknown judge %s", v.Judge)
		}
		req, err := protocol(t, halumem.Upstream).Request(it)
		if err != nil {
			t.Fatal(err)
		}
		if got := req.Messages[0].Content; sha(got) != v.SHA256 {
			t.Errorf("%s: %s", v.Judge, cmp.Diff(v.Prompt, got))
		}
	}
}

// TestRequest checks that the request equals that of llms.py.
func TestRequest(t *testing.T) {
	req, err := protocol(t, "").Request(deem.Item{
		Category: halumem.QA, Question: "{response} {{x}}?", References: []string{"{question}"}, Response: "{memories}",
		Fields: map[string]string{"evidence": "a\nb"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(req.Messages) != 1 || req.Messages[0].Role != "user" || req.Temperature == nil || *req.Temperature != 0 || req.MaxTokens != 16384 {
		t.Errorf("request %+v, want one user message, temperature 0 and 16384 tokens", req)
	}
	for _, want := range []string{"\n  {response} {{x}}?\n", "\n  {question}\n", "\n  {memories}\n", "\n  a\nb\n", "```json\n{\n  \"reasoning\""} {
		if !strings.Contains(req.Messages[0].Content, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, req.Messages[0].Content)
		}
	}
}

// values extracts the slot values from a rendered prompt.
func values(t *testing.T, file, rendered string) map[string]string {
	t.Helper()
	data, err := os.ReadFile("prompts/" + file + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.QuoteMeta(string(data))
	pattern = strings.NewReplacer(`\{\{`, `\{`, `\}\}`, `\}`).Replace(pattern)
	pattern = regexp.MustCompile(`\\\{(\w+)\\\}`).ReplaceAllString(pattern, `(?P<$1>.*)`)
	re := regexp.MustCompile("(?s)^" + pattern + "$")
	m := re.FindStringSubmatch(rendered)
	if m == nil {
		t.Fatalf("the rendered prompt is not one of %s", file)
	}
	found := map[string]string{}
	for i, name := range re.SubexpNames() {
		found[name] = m[i]
	}
	return found
}

type dict = map[string]any

// userWith returns a results file with one session of one user.
func userWith(t *testing.T, session dict) string {
	t.Helper()
	full := dict{"memory_points": []any{}, "dialogue": []any{}, "extracted_memories": []any{}}
	for key, value := range session {
		full[key] = value
	}
	return line(t, dict{"uuid": "u", "user_name": "n", "sessions": []any{full}})
}

func line(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

func aPoint(content string, more dict) dict {
	p := dict{
		"index": 1, "memory_content": content, "memory_type": "Persona Memory", "memory_source": "secondary",
		"is_update": "False", "original_memories": []any{}, "importance": 0.75,
	}
	for key, value := range more {
		p[key] = value
	}
	return p
}

func integrityUser(t *testing.T, prompt string) string {
	v := values(t, "memory_integrity", prompt)
	return userWith(t, dict{
		"memory_points":      []any{aPoint(v["expected_memory_point"], nil)},
		"extracted_memories": strings.Split(v["memories"], "\n"),
	})
}

func accuracyUser(t *testing.T, prompt string) string {
	v := values(t, "memory_accuracy", prompt)
	var turns, points []any
	for _, m := range regexp.MustCompile(`(?m)^\[(.*?)\](user|assistant): (.*)$`).FindAllStringSubmatch(v["dialogue"], -1) {
		turns = append(turns, dict{"timestamp": m[1], "role": m[2], "content": m[3]})
	}
	for i, content := range strings.Split(v["golden_memories"], "\n") {
		points = append(points, aPoint(content, dict{"index": i + 1}))
	}
	points = append(points, aPoint("nobody said so", dict{"index": 99, "memory_source": "interference"}))
	return userWith(t, dict{"dialogue": turns, "memory_points": points, "extracted_memories": []any{v["candidate_memory"]}})
}

func updateUser(t *testing.T, prompt string) string {
	v := values(t, "update_memory", prompt)
	return userWith(t, dict{"memory_points": []any{aPoint(v["updated_memory"], dict{
		"is_update": "True", "original_memories": strings.Split(v["original_memory"], "\n"),
		"memories_from_system": strings.Split(v["memories"], "\n"),
	})}})
}

func questionUser(t *testing.T, prompt string) string {
	v := values(t, "question", prompt)
	evidence := []any{}
	for content := range strings.SplitSeq(v["key_memory_points"], "\n") {
		if content != "" {
			evidence = append(evidence, dict{"memory_content": content})
		}
	}
	return userWith(t, dict{"questions": []any{dict{
		"question": v["question"], "answer": v["reference_answer"], "evidence": evidence, "system_response": v["response"],
	}}})
}
