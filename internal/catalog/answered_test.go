package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/catalog"
	"deem/internal/reader"
	"deem/judge"
)

// TestContextsStayWithReader renders the prompts of every judge for an answered item. None
// shows the contexts of the reader, whose ids may tell the key, unless its own file asks.
func TestContextsStayWithReader(t *testing.T) {
	const id, passage = "answer_session_9", "Mara moved to Porto in June."
	contexts, err := reader.EncodeContexts([]reader.Context{{ID: id, Text: passage}})
	if err != nil {
		t.Fatal(err)
	}
	it := deem.Item{
		ID: "q1", Question: "Where does Mara live?", References: []string{"Porto"}, Response: "in Porto",
		Fields: map[string]string{reader.FieldContexts: contexts},
	}
	prompts := func(name string) string {
		c, err := catalog.Choose(name, catalog.JudgeOptions{}, false)
		if err != nil || c.Spec.Kind != judge.KindModel {
			return "" // A rule, or a judge that needs more than its name.
		}
		var text strings.Builder
		for _, leaf := range c.Leaves() {
			for _, req := range leaf.Requests(it) {
				for _, m := range req.Messages {
					text.WriteString(m.Content)
				}
			}
		}
		return text.String()
	}
	rendered := 0
	for _, name := range catalog.JudgeNames() {
		text := prompts(name)
		if text != "" {
			rendered++
		}
		if strings.Contains(text, id) || strings.Contains(text, passage) {
			t.Errorf("judge %s shows the contexts of the reader:\n%s", name, text)
		}
	}
	if rendered < 5 {
		t.Errorf("%d judges made a prompt, want at least 5", rendered)
	}
	asking := filepath.Join(t.TempDir(), "asking.yaml")
	yaml := "name: asking\nprompt: '{found} {response}'\nslots:\n  found: {from: fields." + reader.FieldContexts + "}\nlabels: {YES: 1, NO: 0}\n"
	if err := os.WriteFile(asking, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := prompts(asking); !strings.Contains(text, passage) {
		t.Errorf("a judge that asks for the contexts does not show them:\n%s", text)
	}
}
