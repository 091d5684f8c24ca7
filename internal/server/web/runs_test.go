package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"deem/internal/server"
)

// post submits a form from the page at from.
func post(t *testing.T, s *server.Server, from, path string, form url.Values) string {
	t.Helper()
	found := regexp.MustCompile(`<meta name="csrf" content="([^"]*)"`).FindStringSubmatch(get(t, s, from).Body.String())
	if found == nil {
		t.Fatalf("%s has no token", from)
	}
	form.Set("csrf", found[1])
	answer := do(t, s, http.MethodPost, path, strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded")
	if answer.Code != http.StatusSeeOther {
		t.Fatalf("POST %s = %d: %s", path, answer.Code, answer.Body)
	}
	return answer.Header().Get("Location")
}

// listedRuns returns the names of the runs on a page, in order.
func listedRuns(t *testing.T, s *server.Server, path string) []string {
	t.Helper()
	var names []string
	for _, m := range regexp.MustCompile(`title="20[0-9]{6}-[0-9a-f]+">([^<]*)</a>`).FindAllStringSubmatch(get(t, s, path).Body.String(), -1) {
		names = append(names, m[1])
	}
	return names
}

// Runs can be searched by words and by property, sorted, and listed separately by kind.
func TestRunsList(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	s := newServer(t, server.Options{Store: g.store})
	spec := specOf(t, galleryJudge(t), "nothing.jsonl", 3, 1)
	run, _, err := g.store.Begin(t.Context(), spec, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.store.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/?q=atlas+RETRIEVER":              "atlas 1.3",
		"/?tag=release":                    "atlas 1.3",
		"/?system=borealis":                "borealis 0.9,borealis 0.8,borealis 0.7",
		"/?system=borealis&sort=score":     "borealis 0.8,borealis 0.9,borealis 0.7",
		"/?dataset=household-sample.jsonl": "atlas rule",
		"/?judge=match":                    "atlas rule",
		"/?system=atlas&sort=name&q=1.":    "atlas 1.0,atlas 1.1,atlas 1.2,atlas 1.3,atlas 1.4,atlas 1.5",
		"/?sort=items&group=none&q=sample": "atlas rule",
		"/?kind=empty":                     run.ID,
		"/?q=no+such+run":                  "",
	} {
		if got := strings.Join(listedRuns(t, s, path), ","); got != want {
			t.Errorf("GET %s lists %q, want %q", path, got, want)
		}
	}
	if n := len(listedRuns(t, s, "/")); n != 12 {
		t.Errorf("the page lists %d runs, want 12 without the empty one", n)
	}
	for _, path := range []string{"/?sort=colour", "/?kind=odd"} {
		if code := get(t, s, path).Code; code != http.StatusBadRequest {
			t.Errorf("GET %s = %d, want 400", path, code)
		}
	}
}

// Runs can be named, tagged, deleted and restored from the list, and permanently removed
// from the list of deleted runs.
func TestRunsEdit(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	first, second := demoRuns(t, st)
	s := newServer(t, server.Options{Store: st})
	both := url.Values{"run": {first.ID, second.ID}}
	post(t, s, "/", "/runs/edit?do=tag", url.Values{"run": both["run"], "tag": {"baseline, night ly"}})
	post(t, s, "/", "/runs/edit?do=note", url.Values{"run": {first.ID}, "name": {"the first"}, "tag": {"kept"}, "note": {"looks odd"}})
	if got := listedRuns(t, s, "/?tag=kept"); len(got) != 1 || got[0] != "the first" {
		t.Errorf("the tag kept has %v", got)
	}
	if got := listedRuns(t, s, "/?tag=baseline"); len(got) != 1 {
		t.Errorf("the tag baseline has %v, want the second run alone", got)
	}
	if page := get(t, s, "/runs/The%20First/items").Body.String(); !strings.Contains(page, first.ID) {
		t.Error("the run is not found by its name")
	}
	post(t, s, "/", "/runs/edit?do=note", url.Values{"run": {second.ID}, "name": {"the first"}})
	if answer := get(t, s, "/runs/the%20first"); answer.Code == http.StatusOK {
		t.Error("a name that two runs have means one of them")
	}
	post(t, s, "/", "/runs/edit?do=note", url.Values{"run": {second.ID}, "name": {""}})
	to := post(t, s, "/", "/runs/edit?do=delete", both)
	page := get(t, s, to).Body.String()
	if !strings.Contains(page, "2 runs deleted.") || len(listedRuns(t, s, "/")) != 0 {
		t.Errorf("after the deletion %s lists %v", to, listedRuns(t, s, to))
	}
	if code := get(t, s, "/runs/"+first.ID).Code; code != http.StatusNotFound {
		t.Errorf("the page of a deleted run = %d, want 404", code)
	}
	post(t, s, to, "/runs/edit?do=restore", url.Values{"run": {first.ID}})
	if got := listedRuns(t, s, "/"); len(got) != 1 || got[0] != "the first" {
		t.Errorf("after it was undone the list has %v", got)
	}
	post(t, s, "/?kind=deleted", "/runs/edit?do=purge", url.Values{"run": {second.ID}})
	if page := get(t, s, "/?kind=deleted").Body.String(); strings.Contains(page, second.ID) {
		t.Error("a run that was removed for good is still listed")
	}
	for name, form := range map[string]url.Values{"no run": {}, "unknown run": {"run": {"20200101-000000"}}} {
		form.Set("csrf", "wrong")
		if code := do(t, s, http.MethodPost, "/runs/edit?do=delete", strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded").Code; code != http.StatusForbidden {
			t.Errorf("%s with a wrong token: %d, want 403", name, code)
		}
	}
}

// A read-only server offers no changes.
func TestRunsReadOnly(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	first, _ := demoRuns(t, st)
	s := newServer(t, server.Options{Store: st, ReadOnly: true})
	for _, path := range []string{"/", "/runs/" + first.ID} {
		if page := get(t, s, path).Body.String(); strings.Contains(page, "/runs/edit") {
			t.Errorf("%s offers to change runs", path)
		}
	}
}

// The trend marks exactly the changes whose interval excludes 0.
func TestTrend(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	s := newServer(t, server.Options{Store: g.store})
	page := get(t, s, "/trend?system=atlas&judge=universal").Body.String()
	elements(t, "/trend", page)
	if got := strings.Count(page, `class="ring good"`); got != 1 {
		t.Errorf("%d changes are marked as good, want the one of atlas 1.3:\n%s", got, page)
	}
	if got := strings.Count(page, `class="ring bad"`); got != 0 {
		t.Errorf("%d changes are marked as bad, want none", got)
	}
	for _, run := range []string{"atlas 1.0", "atlas 1.5"} {
		if !strings.Contains(page, fmt.Sprintf(`href="/runs/%s"`, g.runs[run].ID)) {
			t.Errorf("the trend does not show %s", run)
		}
	}
	if page := get(t, s, "/trend?q=nothing+like+this").Body.String(); !strings.Contains(page, "No run with a score") {
		t.Error("a trend of nothing does not say so")
	}
}

// The first screen shows each number once: the score, suggestions, and the categories that
// differ first.
func TestGlance(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	s := newServer(t, server.Options{Store: g.store})
	run := g.runs["borealis 0.7"]
	page := get(t, s, "/runs/"+run.ID).Body.String()
	interval := regexp.MustCompile(`95% interval </span>([^<]+)`).FindStringSubmatch(page)
	if interval == nil || strings.Count(page, interval[1]) != 1 {
		t.Errorf("the interval of the score %q is not on the page once", interval)
	}
	order := regexp.MustCompile(`(?s)<table class="bartable">(.*?)</table>`).FindString(page)
	var names []string
	for _, m := range regexp.MustCompile(`category=([a-z]+)`).FindAllStringSubmatch(order, -1) {
		names = append(names, m[1])
	}
	if got := strings.Join(names, " "); got != "dates changes places amounts preferences people" {
		t.Errorf("the categories are in the order %s, want those that differ first, then the lowest", got)
	}
	for _, want := range []string{"What is wrong in dates", "The least sure verdicts", `class="bad"><th`, `class="good"><th`, "How this was made"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// The page of a run has charts of its course and of the distribution of its numbers, with
// the numbers behind each chart.
func TestRunCharts(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	s := newServer(t, server.Options{Store: g.store})
	plain := page(t, s, "/runs/"+g.runs["atlas 1.5"].ID)
	wantAll(t, "the page of a run with yes and no", plain, "Latency over time", "Cost over time", "$0.0164 spent in 2m58s", `<th scope="col">replies</th>`)
	wantNone(t, "the page of a run with yes and no", plain, "Scores by aspect and category")
	scored := page(t, s, "/runs/"+g.scored(t).ID)
	wantAll(t, "the page of a run with numbers", scored,
		"Scores by aspect and category", "240 verdicts, mean 0.5", `aria-label="Distribution of accuracy"`, "1 to 5</span>", "mean 3.5", `aria-label="Distribution of dates"`,
		"$0.0504 spent in 3m59s", "until 3m59s: $0.0504", "<td>3m59s</td><td>$0.0504</td>")
	if n := strings.Count(scored, "<summary>As a table</summary>"); n != 4 {
		t.Errorf("%d charts have a table, want those of scores, latency, latency over time and cost over time", n)
	}
}

// Several runs are compared in a matrix of wins, and two runs by the changes in each
// category.
func TestCompareWins(t *testing.T) {
	t.Parallel()
	g := newGallery(t)
	s := newServer(t, server.Options{Store: g.store})
	g.label(t, g.runs["atlas 1.5"])
	three := get(t, s, fmt.Sprintf("/compare?runs=%s,%s,%s", g.runs["atlas 1.5"].ID, g.runs["compass"].ID, g.runs["notepad baseline"].ID)).Body.String()
	found := regexp.MustCompile(`(?s)<section[^>]* id="wins">(.*?)</section>`).FindStringSubmatch(three)
	if found == nil {
		t.Fatal("there is no matrix of wins")
	}
	var cells []string
	for _, m := range regexp.MustCompile(`<td class="n ([a-z]+)" data-label="[^"]+">([^<]*)</td>`).FindAllStringSubmatch(found[1], -1) {
		cells = append(cells, m[1]+" "+m[2])
	}
	if len(cells) != 9 || cells[0] != "dim –" || !strings.HasPrefix(cells[1], "good ") || !strings.HasPrefix(cells[3], "bad ") {
		t.Errorf("the matrix of wins is %v", cells)
	}
	two := get(t, s, fmt.Sprintf("/compare?runs=%s,%s", g.runs["atlas 1.2"].ID, g.runs["atlas 1.3"].ID)).Body.String()
	if !strings.Contains(two, "What changed, by category") || !strings.Contains(two, "became wrong") {
		t.Error("the comparison of two runs does not say what changed in which category")
	}
}
