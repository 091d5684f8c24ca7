package judge

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A realReply is one line of the collection of real judge replies.
type realReply struct {
	ID       string `json:"id"`
	Protocol string `json:"protocol"`
	Reply    string `json:"raw_reply"`
	Expected string `json:"expected"`
}

// understood maps replies that we read differently from the original run to the reason. It
// contains ids only; the texts are not ours.
var understood = map[string]string{}

// shared finds a file of the shared data in the parent folders of the test. It returns ""
// if there is none.
func shared(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		path := filepath.Join(dir, "shared", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// readReal reads one reply as its protocol requires.
func readReal(r realReply) (got string, trusted bool, err error) {
	proto, menu, _ := strings.Cut(r.Protocol, ":")
	var f Found
	switch proto {
	case "label_json":
		f, err = FindLabel(r.Reply, "label", strings.Split(menu, "|"))
		return f.Label, true, err
	case "verdict_json":
		f, err = FindLabel(r.Reply, "verdict", strings.Split(menu, "|"))
		return f.Label, true, err
	case "yes_no":
		f, err = FindLabel(r.Reply, "", []string{"yes", "no"})
		return f.Label, true, err
	case "rating":
		x, err := findRating(r.Reply, Aspect{Min: 1, Max: 10, Integer: true})
		return strconv.FormatFloat(x, 'f', -1, 64), true, err
	case "pairwise":
		if strings.HasPrefix(menu, "[[") {
			f, err = FindLabel(r.Reply, "", []string{"A>>B", "A>B", "A=B", "B>A", "B>>A"})
			return strings.Replace(f.Label, ">>", ">", 1), true, err
		}
		f, err = FindLabel(r.Reply, "", []string{"Output (a)", "Output (b)"})
		return strings.Trim(strings.TrimPrefix(f.Label, "Output "), "()"), false, err
	case "letter":
		f, err = FindLabel(r.Reply, "", []string{"A", "B", "C"})
		return f.Label, true, err
	case "equivalent_different":
		f, err = FindLabel(r.Reply, "", []string{"EQUIVALENT", "DIFFERENT"})
		return f.Label, true, err
	}
	return "", false, errors.ErrUnsupported
}

// A tally compares our readings of a protocol with the recorded ones.
type tally struct{ agree, differ, none, fail int }

// TestRealReplies reads a collection of real replies if it is available. A failure to read
// is acceptable; a label that the run did not record is not.
func TestRealReplies(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	path := shared(t, "data/replies/replies.jsonl")
	if path == "" {
		t.Skip("the real replies are not here: shared/data/replies/replies.jsonl")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tallies := map[string]*tally{}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		var r realReply
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		compareReal(t, r, tallies)
		cutReal(t, r)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	for _, p := range slices.Sorted(maps.Keys(tallies)) {
		c := tallies[p]
		t.Logf("%-30s agree %3d  differ %2d  recorded none %2d  failure %2d", p, c.agree, c.differ, c.none, c.fail)
	}
}

// compareReal reads one reply and counts it.
func compareReal(t *testing.T, r realReply, tallies map[string]*tally) {
	t.Helper()
	got, trusted, err := readReal(r)
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	c := tallies[r.Protocol]
	if c == nil {
		c = &tally{}
		tallies[r.Protocol] = c
	}
	switch {
	case err != nil:
		c.fail++
		if kindOf(err) == "" {
			t.Errorf("%s: error is a %T, want a *deem.Failure", r.ID, err)
		}
		if testing.Verbose() && r.Expected != "none" {
			t.Logf("%s (%s): %v; recorded %s", r.ID, r.Protocol, err, r.Expected)
		}
	case got == r.Expected:
		c.agree++
	case r.Expected == "none":
		c.none++
	default:
		c.differ++
		msg := fmt.Sprintf("%s (%s): read %q, recorded %q", r.ID, r.Protocol, got, r.Expected)
		if _, ok := understood[r.ID]; trusted && !ok {
			t.Error(msg)
		} else {
			t.Log(msg, understood[r.ID])
		}
	}
}

// cutReal checks that a JSON reply cut off anywhere gives the same result as the whole, or
// none.
func cutReal(t *testing.T, r realReply) {
	t.Helper()
	if !strings.Contains(r.Protocol, "_json:") {
		return
	}
	for n := 0; n < len(r.Reply); n += slowdown {
		part := r
		part.Reply = r.Reply[:n]
		if got, _, err := readReal(part); err == nil && got != r.Expected {
			t.Errorf("%s cut at byte %d: read %q, recorded %q", r.ID, n, got, r.Expected)
			return
		}
	}
}
