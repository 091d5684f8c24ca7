package storetest

import "testing"

// TestRequired checks when a missing Postgres is a failure, and when the test is skipped.
func TestRequired(t *testing.T) {
	for _, tt := range []struct {
		ci, postgres string
		want         bool
	}{
		{"", "", false},
		{"false", "", false},
		{"0", "", false},
		{"true", "", true},
		{"1", "", true},
		{"", "required", true},
		{"", "no", false},
		{"false", "required", true},
	} {
		t.Setenv("CI", tt.ci)
		t.Setenv("DEEM_POSTGRES", tt.postgres)
		if got := required(); got != tt.want {
			t.Errorf("required() with CI=%q and DEEM_POSTGRES=%q = %v, want %v", tt.ci, tt.postgres, got, tt.want)
		}
	}
	if got := release("/usr/lib/postgresql/15/bin/initdb"); got != 15 {
		t.Errorf("release = %d, want 15", got)
	}
}
