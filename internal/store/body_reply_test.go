package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/store"
	"deem/internal/test/storetest"
)

// TestReply checks that the shared part of a reply is restored, and nothing of its call.
func TestReply(t *testing.T) {
	want := storetest.Full[deem.Reply]()
	text, err := store.EncodeReply(want)
	if err != nil {
		t.Fatal(err)
	}
	want.Latency, want.Attempts, want.CostMicros, want.Unpriced, want.Cached, want.Key = 0, 0, 0, false, false, ""
	got, err := (&store.ReplyColumns{Body: &text}).Reply("", false)
	if d := cmp.Diff(&want, got); err != nil || d != "" {
		t.Errorf("%s is read as (-want +got), %v:\n%s", text, err, d)
	}
}
