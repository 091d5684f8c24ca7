package judge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"deem"
	"deem/judge"
	"deem/model/fake"
)

// Judges are restored from files that others send. An unusable spec is an error at that
// point, not a panic at the first reply.
func TestRestoreUnsound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ judge, old, now, want string }{
		{"universal", "", "", ""},
		{"rubric", "", "", ""},
		{"universal", `"how":"exact"`, `"how":"guess"`, "no known way"},
		{"universal", `"how":"exact"`, `"how":"ladder"`, "no known way"},
		{"rubric", `"how":"ladder"`, `"how":"exact"`, "no known way"},
		{"universal", `"labels":[`, `"labels":[],"unlabelled":[`, "neither labels nor aspects"},
		{"rubric", `"max":10`, `"max":0`, "has no scale"},
	} {
		text := identityOf(t, tt.judge)
		if !strings.Contains(text, tt.old) {
			t.Fatalf("the identity of %s does not hold %s", tt.judge, tt.old)
		}
		_, err := restore([]byte(strings.Replace(text, tt.old, tt.now, 1)))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("Restore(%s with %s): error = %v, want %q", tt.judge, tt.now, err, tt.want)
		}
	}
}

// restore returns the protocol of a declared judge from its spec.
func restore(text []byte) (judge.Readable, error) {
	s, err := judge.ParseSpec(text)
	if err != nil {
		return nil, err
	}
	return s.Protocol()
}

func identityOf(t *testing.T, name string) string {
	t.Helper()
	d, ok := judge.Builtin(name)
	if !ok {
		t.Fatalf("there is no judge %s", name)
	}
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	m, err := fake.New("say=CORRECT")
	if err != nil {
		t.Fatal(err)
	}
	text, err := deem.Canonical(judge.SpecOf(judge.New(p, m)))
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) {
		t.Fatalf("the identity is not JSON: %s", text)
	}
	return string(text)
}
