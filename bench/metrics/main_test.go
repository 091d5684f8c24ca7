package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/judge/rule"
)

// TestMeasure holds that every rule is measured once, over items of its sort, except
// those that need more than deem brings.
func TestMeasure(t *testing.T) {
	it := deem.Item{ID: "a", Question: "When?", References: []string{"on 3 May 2023"}, Response: "It was on May 3, 2023."}
	zh := deem.Item{ID: "b", Question: "?", References: []string{"我们昨天"}, Response: "我们昨天在公园里"}
	sorts := map[string][]deem.Item{"prose": {it, it}, "short": {it, it}, "chinese": {zh, zh}}
	list, err := measure(t.Context(), sorts, 1, time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range list {
		names = append(names, m.Rule)
		if m.Judged != 2 || m.Took <= 0 || m.Bare <= 0 {
			t.Errorf("%s: %+v, want two items and some time", m.Rule, m)
		}
	}
	want := slices.DeleteFunc(rule.Names(), func(name string) bool { return name == "meteor" || name == "semantic" })
	if !slices.Equal(names, want) {
		t.Errorf("measured %v, want %v", names, want)
	}
}

func TestCommon(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"a b b c", "b b b x", 2}, {"a b", "c d", 0}, {"我们昨天", "昨天", 2}} {
		if got := common(tt.a, tt.b); got != tt.want {
			t.Errorf("common(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "items.jsonl")
	for text, want := range map[string]string{
		"":    "no items",
		"{\n": "unexpected end",
		`{"id":"a","category":"short","reference":"1","response":"2"}`: "",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sorts, err := read(name)
		if want == "" && (err != nil || len(sorts["short"]) != 1 || sorts["short"][0].References[0] != "1") {
			t.Errorf("read(%s) = %v, %v", text, sorts, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("read(%q) = %v, want %q", text, err, want)
		}
	}
	if err := run(context.Background(), []string{"-data", filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a file that is not there was read")
	}
}
