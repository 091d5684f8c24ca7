package web_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/server"
	"deem/internal/store"
)

// labelled returns a person's label of an item.
func labelled(it deem.Item, who string, yes bool) store.Label {
	l := store.Label{Item: it.Hash(), ID: it.ID, Dataset: "dataset-rag.jsonl", Annotator: who, Yes: yes, Label: "no", Labelled: time.Unix(1, 0)}
	if yes {
		l.Label, l.Score = "yes", 1
	}
	return l
}

func putLabels(t testing.TB, st store.Labels, list ...store.Label) {
	t.Helper()
	if err := st.PutLabels(t.Context(), list); err != nil {
		t.Fatal(err)
	}
}

// cells returns the numbers of the confusion matrix of a page, and their links.
func cells(t testing.TB, body string) (n [4]int, urls [4]string) {
	t.Helper()
	found := regexp.MustCompile(`<td class="n[^"]*" data-label="(?:people|truth) (?:yes|no)">(?:<a href="([^"]+)"[^>]*>)?([\d,]+)`).FindAllStringSubmatch(body, -1)
	if len(found) != 4 {
		t.Fatalf("the matrix has %d cells, want 4", len(found))
	}
	for i, m := range found {
		n[i], _ = strconv.Atoi(strings.ReplaceAll(m[2], ",", ""))
		urls[i] = strings.ReplaceAll(m[1], "&amp;", "&")
	}
	return n, urls
}

var rowID = regexp.MustCompile(`<th scope="row" class="id"><a href="[^"]+">([^<]+)</a>`)

// The cells of the matrix add up to the items with a verdict and a label, and each links to
// its items, on one or more pages.
func TestAgreement(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	items := plainItems(300, "rag")
	run := keepRun(t, st, "rag.jsonl", "one", items, every(3))
	var list []store.Label
	want := [4]int{}
	for i, it := range items[:240] {
		yes := i%3 != 0 // like the judge
		if i%10 == 0 {
			yes = !yes
		}
		switch judge := i%3 != 0; {
		case judge && yes:
			want[0]++
		case judge:
			want[1]++
		case yes:
			want[2]++
		default:
			want[3]++
		}
		list = append(list, labelled(it, "anna", yes))
	}
	putLabels(t, st, list...)
	at := "/runs/" + run.ID + "/agreement"
	body := page(t, s, at+"?width=2")
	got, urls := cells(t, body)
	if got != want {
		t.Errorf("the cells are %v, want %v", got, want)
	}
	wantAll(t, "the page", body, "90.0%", "Rogan-Gladen", "PPI++", "stratified", "labels alone", "Krippendorff", "Gwet", "base rate, judge",
		"Confidence, and how often", "Who says yes, by category", "The judge says yes and people no: ", "The interval of PPI++ is", "quote this")
	all := map[string]bool{}
	for i, next := range urls {
		n := 0
		for range 20 {
			cell := page(t, s, next)
			for _, m := range rowID.FindAllStringSubmatch(cell, -1) {
				n++
				all[m[1]] = true
			}
			if next = rel(elements(t, next, cell), "next"); next == "" {
				break
			}
		}
		if n != want[i] {
			t.Errorf("cell %d opens %d items, want %d", i, n, want[i])
		}
	}
	if len(all) != 240 {
		t.Errorf("the cells open %d different items, want 240", len(all))
	}
	for _, bad := range []string{at + "?width=0", at + "?width=x", at + "/items?judge=maybe", at + "?with=" + run.ID} {
		if code := get(t, s, bad).Code; code != http.StatusBadRequest {
			t.Errorf("GET %s = %d, want 400", bad, code)
		}
	}
}

// Several people are selected by name and compared with each other.
func TestAgreementOfPeople(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	items := plainItems(60, "rag")
	run := keepRun(t, st, "rag.jsonl", "one", items, every(2))
	for i, it := range items {
		putLabels(t, st, labelled(it, "anna", i%2 != 0))
		if i < 20 {
			putLabels(t, st, labelled(it, "bert", i%2 == 0)) // bert says the opposite
		}
	}
	at := "/runs/" + run.ID + "/agreement"
	both := page(t, s, at)
	wantAll(t, "both", both, "20 of them evenly split", `<b id="both">40</b>`, "Agreement among annotators", "20 items labelled by two or more", "(60)", "(20)")
	bert := page(t, s, at+"?annotator=bert")
	if got, _ := cells(t, bert); got != [4]int{0, 10, 10, 0} {
		t.Errorf("beside bert the cells are %v, want [0 10 10 0]", got)
	}
	wantNone(t, "bert alone", bert, "Agreement among annotators")
	wantAll(t, "bert alone", bert, `value="anna">`, `value="bert" checked>`, "only 20 items have both"[1:])
}

// If a run is compared with another run, the judge of the other run is treated as right.
func TestAgreementOfRuns(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	items := plainItems(60, "rag")
	run := keepRun(t, st, "rag.jsonl", "one", items, every(2))
	other := keepRun(t, st, "rag.jsonl", "two", items, every(3))
	elsewhere := keepRun(t, st, "memory.jsonl", "one", plainItems(60, "memory"), every(3))
	at := "/runs/" + run.ID + "/agreement?with="
	body := page(t, s, at+other.ID)
	// Of 60: both right 20, judge alone 10, other alone 20, both wrong 10.
	if got, _ := cells(t, body); got != [4]int{20, 10, 20, 10} {
		t.Errorf("the cells are %v, want [20 10 20 10]", got)
	}
	wantAll(t, "beside a run", body, "counts as the truth here", "truth alone")
	_, urls := cells(t, body)
	wantAll(t, "a cell beside a run", page(t, s, urls[1]), sayRight, sayWrong, "q003")
	if code := get(t, s, at+elsewhere.ID).Code; code != http.StatusBadRequest {
		t.Errorf("a run over other items is answered with %d, want 400", code)
	}
}

// Without labels the page says what to do. With labels it shows the corrected score, which
// changes as labels are added.
func TestCorrectedScore(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	items := plainItems(200, "rag")
	run := keepRun(t, st, "rag.jsonl", "one", items, every(4))
	at := "/runs/" + run.ID + "/agreement"
	none := page(t, s, at)
	wantAll(t, "no labels", none, "the agreement is not known yet", "/runs/"+run.ID+"/label")
	wantNone(t, "no labels", none, "corrected score")
	score := func() string {
		m := regexp.MustCompile(`corrected score</div><div class="value">([\d.]+%)`).FindStringSubmatch(page(t, s, at))
		if m == nil {
			t.Fatal("there is no corrected score")
		}
		return m[1]
	}
	seen := map[string]bool{}
	for i, it := range items[:60] {
		putLabels(t, st, labelled(it, "anna", i%4 != 0 && i >= 15)) // stricter than the judge, at first
		if i == 19 || i == 39 || i == 59 {
			seen[score()] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("as labels come the corrected score is %v, want three different ones", seen)
	}
	wantAll(t, "sixty labels", page(t, s, at+"?width=20"), "more, drawn at random")
	before := score()
	if err := st.DropLabel(t.Context(), items[17].Hash(), "anna"); err != nil {
		t.Fatal(err)
	}
	putLabels(t, st, labelled(items[17], "anna", false)) // as many labels as before
	if after := score(); after == before {
		t.Errorf("after a change of mind the corrected score is still %s", after)
	}
}

// If too many items are unjudged, the score is withheld but not the agreement.
func TestAgreementWithheld(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	items := plainItems(50, "rag")
	run := keepRun(t, st, "rag.jsonl", "one", items, func(i int) string {
		if i < 5 {
			return ""
		}
		return sayRight
	})
	for _, it := range items {
		putLabels(t, st, labelled(it, "anna", true))
	}
	body := page(t, s, "/runs/"+run.ID+"/agreement")
	wantAll(t, "the page", body, "5 of 50 items are unjudged", "100.0%", fmt.Sprintf(`<b id="both">%d</b>`, 45))
	wantNone(t, "the page", body, "corrected score")
}
