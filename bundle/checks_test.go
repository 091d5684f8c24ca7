package bundle_test

import (
	"strings"
	"testing"

	"deem/bundle"
)

// Every check is listed, whatever the file is, and a check that was not made is not called ok.
func TestChecks(t *testing.T) {
	t.Parallel()
	signed := asked(t, 10, 2).write(t, options{Key: newKey(t)})
	cut := unpack(t, signed)
	changed := unpack(t, signed)
	i := nth(t, changed, "record", 2)
	changed[i] = strings.Replace(changed[i], `"label":"`, `"label":"IN`, 1)
	for _, tt := range []struct {
		name string
		file []byte
		want string // the checks that are not ok
	}{
		{"signed", signed, "wire=not checked"},
		{"not signed", ruled(t, 3).write(t, options{}), "signature=not checked"},
		{"redacted", asked(t, 10, 1).write(t, options{Redact: true}), "item=ok in part prompt=not checked wire=not checked verdict=not checked signature=not checked"},
		{"a label", pack(t, changed), "chain=failed wire=not checked verdict=failed numbers=failed"},
		{"cut", pack(t, cut[:len(cut)-2]), "file=failed form=not checked chain=not checked order=not checked item=not checked judge=not checked record=not checked " +
			"prompt=not checked wire=not checked verdict=not checked numbers=not checked signature=not checked"},
		{"another file", []byte("hello"), "file=failed form=not checked chain=not checked order=not checked item=not checked judge=not checked record=not checked " +
			"prompt=not checked wire=not checked verdict=not checked numbers=not checked signature=not checked"},
	} {
		v := verify(t, tt.file, full)
		if len(v.Checks) != 12 {
			t.Errorf("%s: %d checks, want 12", tt.name, len(v.Checks))
		}
		var got []string
		for _, c := range v.Checks {
			if c.Outcome != bundle.Passed {
				got = append(got, c.Name+"="+string(c.Outcome))
			}
			if (c.Outcome == bundle.Passed) != (c.Detail == "") || (c.Outcome == bundle.Failed) != (c.Findings > 0) {
				t.Errorf("%s: check %+v", tt.name, c)
			}
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%s: not ok are\n%s\nwant\n%s", tt.name, g, tt.want)
		}
	}
}
