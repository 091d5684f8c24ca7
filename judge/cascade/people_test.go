package cascade_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/judge/cascade"
	"deem/judge/match"
	"deem/stat"
)

var splits = flag.Int("splits", 200, "fit so many times on other labels")

// readPeople returns human-labelled answers with the verdict of match. It skips the test if
// they are missing, because deem may not redistribute them. It uses every third answer;
// docs/cascade.md shows the results for all of them.
func readPeople(t *testing.T) []cascade.Labelled {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "human_evouna", "derived.jsonl.gz"))
	if err != nil {
		t.Skipf("the published labels are not here: %v", err)
	}
	defer f.Close() //nolint:errcheck // It was only read.
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	match := match.New()
	dec := json.NewDecoder(z)
	var list []cascade.Labelled
	for i := 0; ; i++ {
		var row struct {
			Question, Response string
			Reference          []string
			Human              *bool `json:"human_label"`
			Improper           bool
		}
		if err := dec.Decode(&row); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		if row.Human == nil || row.Improper || i%3 != 0 {
			continue
		}
		it := deem.Item{ID: fmt.Sprint("e", i), Question: row.Question, References: row.Reference, Response: row.Response}
		l := cascade.Labelled{ID: it.ID, Yes: *row.Human, Verdicts: []*deem.Verdict{nil}}
		if v, err := match.Judge(t.Context(), it); err == nil {
			l.Verdicts[0] = &v
		}
		list = append(list, l)
	}
}

// TestPromiseToPeople repeatedly fits match on a thousand human labels, and measures on the
// others how often people agree with its decisions. People decide the rest.
func TestPromiseToPeople(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	all := readPeople(t)
	const alpha, delta, labels = 0.05, 0.05, 1000
	r := rand.New(rand.NewPCG(11, 5))
	var coverage, agreement stat.Moments
	kept, refused := 0, 0
	for range *splits {
		r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		fitted, err := cascade.Fit([]string{"match"}, all[:labels], alpha, delta)
		if err != nil {
			refused++
			continue
		}
		took, agreed := 0, 0
		for _, it := range all[labels:] {
			if v := it.Verdicts[0]; v != nil && *v.Confidence >= fitted[0].Threshold {
				took++
				if v.Yes() == it.Yes {
					agreed++
				}
			}
		}
		share := float64(agreed) / float64(took)
		if share >= 1-alpha {
			kept++
		}
		coverage.Add(float64(took)/float64(len(all)-labels), 1)
		agreement.Add(share, 1)
	}
	made := *splits - refused
	t.Logf("%d answers, %d splits: %d refused, promise kept in %d of %d; decided %.1f%% on average, with which people agree %.1f%%",
		len(all), *splits, refused, kept, made, 100*coverage.Mean(), 100*agreement.Mean())
	if float64(kept) < (1-delta)*float64(made) {
		t.Errorf("the promise was kept in %d of %d splits, want at least %.0f%%", kept, made, 100*(1-delta))
	}
	if refused > *splits/4 || coverage.Mean() < 0.3 {
		t.Errorf("%d of %d fits refused, %.2f decided on average, want few and at least 0.3: a promise about nothing is easily kept", refused, *splits, coverage.Mean())
	}
}
