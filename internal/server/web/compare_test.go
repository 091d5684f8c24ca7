package web_test

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/server"
	"deem/internal/store"
)

// plainItems returns items that differ only in their number. who is the name of the system
// that answered.
func plainItems(n int, who string) []deem.Item {
	items := make([]deem.Item, n)
	for i := range items {
		items[i] = deem.Item{
			ID: fmt.Sprintf("q%03d", i), Category: []string{"first", "second"}[i%2],
			Question: fmt.Sprintf("Where was it in year %d?", i), References: []string{"Porto"},
			Response: fmt.Sprintf("%s: in Porto %d", who, i),
		}
	}
	return items
}

// The words of the judge in these tests, which occur nowhere else on a page.
const (
	sayRight   = "ZEBRA-RIGHT"
	sayWrong   = "ZEBRA-WRONG"
	zebraWords = "zebra reasoning"
)

// A verdictOf returns the verdict on the i-th item: sayRight, sayWrong, or "" for unjudged.
type verdictOf func(i int) string

// keepRun stores a run of a judge with the given hash and verdicts.
func keepRun(t testing.TB, st store.Store, name, hash string, items []deem.Item, says verdictOf) store.Run {
	t.Helper()
	spec := store.Spec{
		Judge:   store.JudgeSpec{Name: "zebra", Hash: hash, Identity: []byte(fmt.Sprintf(`{"kind":"rule","rule":%q}`, hash)), Rule: true},
		Dataset: store.DatasetSpec{Names: []string{name}, Hash: "dataset-" + name, Items: len(items)}, Trials: 1,
	}
	run, _, err := st.Begin(t.Context(), spec, true)
	if err != nil {
		t.Fatal(err)
	}
	recs := make([]deem.Record, len(items))
	for i, it := range items {
		recs[i] = deem.Record{Item: it, Position: i, Judge: "zebra"}
		sure := 0.5 + float64(i%5)/10
		switch said := says(i); said {
		case sayRight:
			recs[i].Verdict = &deem.Verdict{Label: said, Score: 1, Reason: zebraWords, Confidence: &sure}
		case sayWrong:
			recs[i].Verdict = &deem.Verdict{Label: said, Reason: zebraWords, Confidence: &sure}
		default:
			recs[i].Failure = deem.Failf(deem.Unparseable, "zebra failure")
		}
	}
	if err := st.Append(t.Context(), run.ID, recs); err != nil {
		t.Fatal(err)
	}
	if err := st.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	if run, err = st.Run(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	return run
}

// every returns verdicts that are right except for every n-th item.
func every(n int) verdictOf {
	return func(i int) string {
		if i%n == 0 {
			return sayWrong
		}
		return sayRight
	}
}

// page returns a page. It checks the status and that the HTML is well formed.
func page(t testing.TB, s *server.Server, path string, headers ...string) string {
	t.Helper()
	answer := get(t, s, path, headers...)
	if answer.Code != http.StatusOK {
		t.Fatalf("GET %s = %d: %s", path, answer.Code, answer.Body)
	}
	body := answer.Body.String()
	elements(t, path, body)
	return body
}

// wantAll reports an error for each text that is not on the page.
func wantAll(t testing.TB, where, page string, texts ...string) {
	t.Helper()
	page = html.UnescapeString(page)
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("%s does not say %q", where, text)
		}
	}
}

// wantNone reports an error for each text that is on the page.
func wantNone(t testing.TB, where, page string, texts ...string) {
	t.Helper()
	page += html.UnescapeString(page)
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("%s says %q", where, text)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	a := keepRun(t, st, "rag.jsonl", "one", plainItems(60, "rag"), every(2))
	b := keepRun(t, st, "memory.jsonl", "one", plainItems(60, "memory"), every(5))
	c := keepRun(t, st, "third.jsonl", "one", plainItems(60, "third"), every(3))

	two := page(t, s, "/compare?runs="+a.ID+","+b.ID)
	// Of 60 items rag fails the 30 even ones and memory 12; both fail 6 (multiples of 10).
	wantAll(t, "a comparison of two", two, "same judge, same items", "memory is better than rag", "Items on which runs differ: 30",
		"<mark>rag</mark>: in Porto", "<mark>memory</mark>: in Porto", "p, adjusted", "first", "second", runItem(b.ID, "q002"))
	if n := countElements(elements(t, "two", two), "svg"); n < 2 {
		t.Errorf("a comparison of two has %d pictures, want one of the runs and one of the difference", n)
	}
	wantNone(t, "a comparison of two", two, "Ranking over", "Corrected")
	var list []store.Label
	for i := range 60 {
		if i%3 == 0 {
			list = append(list, labelled(plainItems(60, "rag")[i], "anna", i%2 == 0), labelled(plainItems(60, "memory")[i], "anna", i%4 == 0))
		}
	}
	putLabels(t, st, list...)
	wantAll(t, "a comparison of two with labels", page(t, s, "/compare?runs="+a.ID+","+b.ID),
		"Corrected by labels: ", `<th scope="row">corrected</th>`, "20 labelled of rag and 20 of memory")

	three := page(t, s, "/compare?run="+a.ID+"&run="+b.ID+"&run="+c.ID+"&base="+c.ID)
	wantAll(t, "a comparison of three", three, "over the 60 items that every run judged", "rag minus third", "memory minus third", "Cochran", "correction for 3 pairs")

	wantAll(t, "a baseline that is not ticked", page(t, s, "/compare?run="+b.ID+"&base="+a.ID), "memory versus rag")

	form := page(t, s, "/compare")
	for _, run := range []store.Run{a, b, c} {
		wantAll(t, "the form", form, `value="`+run.ID+`"`)
	}
	wantAll(t, "the form with one run", page(t, s, "/compare?runs="+a.ID), "Choose another", " checked")
}

func runItem(run, id string) string { return "/runs/" + run + "/items/" + id }

var flipID = regexp.MustCompile(`<h3><span class="mono">(q\d+)</span>`)

// Paging through the items on which runs differ shows each item once, with any filter, and
// the file contains all of them.
func TestFlips(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	a := keepRun(t, st, "rag.jsonl", "one", plainItems(150, "rag"), every(2))
	b := keepRun(t, st, "memory.jsonl", "one", plainItems(150, "memory"), func(i int) string {
		switch {
		case i == 7:
			return "" // An item that is unjudged in one run is not a difference.
		case i%2 == 0 || i%15 == 0:
			return sayRight
		case i%3 == 0:
			return sayWrong
		}
		return sayRight
	})
	want := map[string][]string{}
	for i := range 150 {
		id := fmt.Sprintf("q%03d", i)
		switch first, second := i%2 != 0, i%2 == 0 || i%15 == 0 || i%3 != 0; {
		case i == 7:
		case second && !first:
			want["won"] = append(want["won"], id)
		case first && !second:
			want["lost"] = append(want["lost"], id)
		}
	}
	want[""] = append(slices.Clone(want["won"]), want["lost"]...)
	slices.Sort(want[""])
	for change, ids := range want {
		var got []string
		next := "/compare?runs=" + a.ID + "," + b.ID + "&change=" + change
		for range 20 {
			body := page(t, s, next)
			for _, m := range flipID.FindAllStringSubmatch(body, -1) {
				got = append(got, m[1])
			}
			if next = rel(elements(t, next, body), "next"); next == "" {
				break
			}
		}
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Errorf("items that %q (-want +got):\n%s", change, diff)
		}
		file := get(t, s, "/compare/flips.csv?runs="+a.ID+","+b.ID+"&change="+change)
		rows, err := csv.NewReader(file.Body).ReadAll()
		if err != nil || len(rows) != len(ids)+1 {
			t.Errorf("the file of items that %q has %d rows, want %d and a head: %v", change, len(rows), len(ids), err)
		}
	}
}

// rel returns the target of the link with a relation, "" if there is none.
func rel(list []element, name string) string {
	for _, e := range list {
		if e.name == "a" && e.attrs["rel"] == name {
			at, _, _ := strings.Cut(e.attrs["href"], "#")
			return at
		}
	}
	return ""
}

// Runs that differ in more than their systems are not compared, and the page says why.
func TestCompareRefused(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	items := plainItems(40, "rag")
	a := keepRun(t, st, "rag.jsonl", "one", items, every(2))
	b := keepRun(t, st, "rag.jsonl", "two", items, every(3))
	runs := "?runs=" + a.ID + "," + b.ID
	refused := page(t, s, "/compare"+runs)
	wantAll(t, "a refusal", refused, "error: ", "The runs are not compared", "anyway=1", "/runs/"+a.ID+"/agreement?with="+b.ID)
	wantNone(t, "a refusal", refused, "Items on which runs differ", "p, adjusted")
	if answer := get(t, s, "/compare/flips.csv"+runs); answer.Code != http.StatusConflict {
		t.Errorf("the file of a refused comparison is answered with %d, want %d", answer.Code, http.StatusConflict)
	}
	anyway := page(t, s, "/compare"+runs+"&anyway=1")
	wantAll(t, "a comparison anyway", anyway, "Items on which runs differ", "the runs differ in more than their systems"[1:], "p, adjusted")
	for _, path := range []string{"/compare?runs=" + a.ID + ",nobody", "/compare?runs=" + a.ID + ",last~1,last"} {
		if code := get(t, s, path).Code; code != http.StatusNotFound && code != http.StatusBadRequest {
			t.Errorf("GET %s = %d, want 400 or 404", path, code)
		}
	}
}

// The difference is withheld if too many items are unjudged.
func TestCompareWithheld(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	a := keepRun(t, st, "rag.jsonl", "one", plainItems(40, "rag"), every(2))
	b := keepRun(t, st, "memory.jsonl", "one", plainItems(40, "memory"), func(i int) string {
		if i < 10 {
			return ""
		}
		return sayRight
	})
	body := page(t, s, "/compare?runs="+a.ID+","+b.ID)
	wantAll(t, "a comparison with failures", body, "The differences are withheld", "10 of 40 items", "withheld", "unjudged")
	wantNone(t, "a comparison with failures", body, "is better than")
}
