package web_test

import (
	"database/sql"
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/server"
	"deem/internal/store/sqlite"
	"deem/internal/test/storetest"
)

// Every link on every page works, every page is well-formed, and texts from items are
// escaped.
func TestCrawl(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	w := newWorld(t)
	s := newServer(t, server.Options{Store: w.store, Version: evil})
	seen := map[string]bool{}
	queue := []string{"/"}
	items := 0
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		answer := get(t, s, at)
		if answer.Code != http.StatusOK {
			t.Errorf("GET %s = %d: %s", at, answer.Code, answer.Body)
			continue
		}
		if answer.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("GET %s has no policy", at)
		}
		if !strings.HasPrefix(answer.Header().Get("Content-Type"), "text/html") {
			continue
		}
		body := answer.Body.String()
		if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img") {
			t.Errorf("GET %s shows what was judged as HTML", at)
		}
		if strings.HasSuffix(at, "/score") {
			body = "<p>" + body + "</p>"
		}
		if strings.Contains(at, "/items/") {
			items++
		}
		queue = append(queue, links(t, at, elements(t, at, body))...)
	}
	if items < len(oddIDs) {
		t.Errorf("%d pages of items were found among %d pages, want at least %d", items, len(seen), len(oddIDs))
	}
	t.Logf("%d pages", len(seen))
}

// links returns the links of a page to this server, resolved as in a browser.
func links(t *testing.T, at string, list []element) []string {
	t.Helper()
	base, err := url.Parse("http://localhost" + at)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range list {
		for _, name := range []string{"href", "src", "data-late"} {
			ref := e.attrs[name]
			if ref == "" || strings.HasPrefix(ref, "#") {
				continue
			}
			u, err := base.Parse(ref)
			if err != nil || u.Host != "localhost" {
				t.Errorf("%s leads to %q: %v", at, ref, err)
				continue
			}
			u.Fragment = ""
			found = append(found, u.RequestURI())
		}
	}
	return found
}

// Ids can be any text. Each item has a page, and its raw texts can be downloaded.
func TestOddIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newServer(t, server.Options{Store: w.store})
	list := elements(t, "items", get(t, s, "/runs/"+w.next.ID+"/items").Body.String())
	var found []string
	for _, e := range list {
		if strings.HasPrefix(e.attrs["href"], "/runs/"+w.next.ID+"/items/") {
			found = append(found, e.attrs["href"])
		}
	}
	if len(found) != len(oddIDs) {
		t.Fatalf("the list has %d items, want %d", len(found), len(oddIDs))
	}
	for i, id := range oddIDs {
		page := get(t, s, found[i])
		if want := "<h2 class=\"flat\">Item <span class=\"mono\">" + html.EscapeString(strings.Join(strings.Fields(id), " ")); page.Code != http.StatusOK || !strings.Contains(unescapeQuotes(page.Body.String()), unescapeQuotes(want)) {
			t.Errorf("the page of %q at %s = %d, and does not name it", id, found[i], page.Code)
		}
		raw := get(t, s, strings.Replace(found[i], "/items/", "/raw/", 1)+more(found[i])+"part=response")
		if want := oddItems()[i].Response; raw.Body.String() != want {
			t.Errorf("the response of %q is %q, want %q", id, raw.Body, want)
		}
		if got := raw.Header().Get("Content-Type"); got != "text/plain; charset=utf-8" {
			t.Errorf("the response of %q is %s", id, got)
		}
	}
}

// more returns the separator for another query parameter of a path.
func more(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

// unescapeQuotes unescapes quotes and plus signs, which templates escape differently.
func unescapeQuotes(s string) string {
	return strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&#43;", "+").Replace(s)
}

// Pages contain the expected texts.
func TestPagesSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newServer(t, server.Options{Store: w.store, Version: "v1.2.3"})
	first := "/runs/" + w.first.ID
	for _, tt := range []struct {
		path string
		want []string
	}{
		{"/", []string{w.first.ID, w.next.ID, w.going.ID, "universal", deem.ShortHash(w.first.Judge.Hash), "v1.2.3", "<progress"}},
		{first, []string{
			"The score is withheld", "counted as wrong", "confidence intervals", "<svg", "kind=provider",
			"Latency of replies", "Confidence", "labelled items", w.first.Judge.Hash, "http://localhost:9/v1", ">trial<",
		}},
		{first + "/items", []string{"36 records", "unjudged: provider", "Disagrees with", w.next.ID, "items.csv", "<kbd>j</kbd>"}},
		{first + "/items/plain", []string{"equal to what was sent", "All verdicts on this item", "trial 1", w.next.ID, `<span class="dim small">person</span>`, "300 ms, 1 attempt, $0.0012", "The label CORRECT was found", "<strong>met</strong>, score 0.5", `<li class="un">the second<br><strong>unjudged</strong>: refused`, `<span class="found">Lisbon</span>`, `<span class="slot">`}},
		{first + "/items/..%2Fup?t=1", []string{"unjudged: ", "NOT equal"}[:1]},
		{"/runs/" + w.going.ID, []string{`data-events="/runs/` + w.going.ID + `/events"`, "0 of 40 records"}},
		{"/runs/last", []string{w.next.ID}},
	} {
		answer := get(t, s, tt.path)
		for _, want := range tt.want {
			if !strings.Contains(answer.Body.String(), want) {
				t.Errorf("GET %s = %d does not say %q", tt.path, answer.Code, want)
			}
		}
	}
}

// A reply is shown with marks for what its parser found.
func TestItemTrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newServer(t, server.Options{Store: w.store})
	body := get(t, s, "/runs/"+w.first.ID+"/items/..").Body.String() // The path is cleaned.
	if strings.Contains(body, "thought") {
		t.Error("a path that goes up led to an item")
	}
	body = get(t, s, "/runs/"+w.first.ID+"/items/?id=..").Body.String()
	for _, want := range []string{`<span class="thought">&lt;think&gt;`, "<mark>CORRECT</mark>", "thinking was taken away", "The label CORRECT was found"} {
		if !strings.Contains(body, want) {
			t.Errorf("the trace does not hold %q", want)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newServer(t, server.Options{Store: w.store})
	run := "/runs/" + w.first.ID
	for _, tt := range []struct {
		path string
		want int
	}{
		{"/nowhere", 404},
		{"/runs/nobody", 404},
		{"/runs/nobody/items", 404},
		{"/runs/nobody/events", 404},
		{run + "/items/nobody", 404},
		{run + "/raw/plain?part=reference.9", 404},
		{run + "/raw/plain?part=reference.-1", 404},
		{run + "/raw/plain?part=reply.7", 404},
		{run + "/raw/plain?part=prompt.x", 404},
		{run + "/raw/plain", 404},
		{run + "/items?sort=beauty", 400},
		{run + "/items?verdict=maybe", 400},
		{run + "/items?trial=-1", 400},
		{run + "/items?after=%21%21", 400},
		{run + "/items?before=bnVsbGw", 400},
		{run + "/items?against=nobody", 404},
		{"/static/app.css", 404},
		{"/static/..%2Fserver.go", 404},
		{"/static/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 404},
		{"/choose?run=a", 400},
	} {
		answer := get(t, s, tt.path)
		if answer.Code != tt.want {
			t.Errorf("GET %s = %d, want %d", tt.path, answer.Code, tt.want)
		}
		elements(t, tt.path, answer.Body.String())
	}
}

// Filters select items, links preserve filters, and odd values are harmless.
func TestFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newServer(t, server.Options{Store: w.store})
	items := "/runs/" + w.first.ID + "/items"
	for _, tt := range []struct {
		query string
		want  string // number of records
	}{
		{"", "36 records"},
		{"?trial=0", "18 records"},
		{"?verdict=unjudged", "4 records"},
		{"?verdict=no&trial=0", "1 record"},
		{"?kind=provider", "2 records"},
		{"?label=INCORRECT", "2 records"},
		{"?category=first&trial=1", "6 records"},
		{"?category=%28none%29&trial=1", "6 records"},
		{"?category=" + url.QueryEscape(evil) + "&trial=0", "6 records"},
		{"?trial=0&against=" + w.next.ID, "17 records"},
		{"?label=nothing", "0 records"},
	} {
		body := get(t, s, items+tt.query).Body.String()
		if !strings.Contains(body, "<b>"+tt.want+"</b>") {
			at := strings.Index(body, "<b>")
			t.Errorf("%s says %.40q, want %q", tt.query, body[max(at, 0):], tt.want)
		}
	}
	body := get(t, s, items+"?trial=0&sort=score&desc=1").Body.String()
	if !strings.Contains(body, "plain?desc=1&amp;sort=score&amp;trial=0") {
		t.Error("the links of items do not carry the filter")
	}
	page := get(t, s, items+"/plain?trial=0&category=first").Body.String()
	if !strings.Contains(page, `rel="next" href="/runs/`+w.first.ID+`/items/a%2F%2Fb?category=first&amp;trial=0"`) {
		t.Error("the next item is not the next one within the filter")
	}
	if strings.Contains(page, `rel="prev"`) {
		t.Error("the first item has one before it")
	}
}

// Following the links visits every record once, forwards and backwards, in each order.
func TestPaging(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	const n = 173
	var items []deem.Item
	for i := range n {
		items = append(items, deem.Item{ID: fmt.Sprint("q", i), Response: fmt.Sprint("Lisbon ", i)})
	}
	run := judged(t, st, universal(t, "fake:x", func(p string) (string, error) {
		if strings.Contains(p, "7") {
			return "INCORRECT", nil
		}
		return "CORRECT", nil
	}), "many.jsonl", items, 1, nil)
	s := newServer(t, server.Options{Store: st})
	for _, query := range []string{"", "?sort=score", "?sort=score&desc=1", "?sort=confidence", "?desc=1"} {
		path, pages := "/runs/"+run.ID+"/items"+query, []string{}
		var forward, backward []string
		for path != "" {
			pages = append(pages, path)
			forward, path = visit(t, s, forward, path, "next")
		}
		if want := (n + 49) / 50; len(pages) != want {
			t.Errorf("%q has %d pages, want %d", query, len(pages), want)
		}
		if got := len(slices.Compact(slices.Sorted(slices.Values(forward)))); got != n || len(forward) != n {
			t.Errorf("%q leads to %d records, %d of them different, want %d", query, len(forward), got, n)
		}
		for path = pages[len(pages)-1]; path != ""; {
			var one []string
			one, path = visit(t, s, nil, path, "prev")
			backward = append(one, backward...)
		}
		if !slices.Equal(forward, backward) {
			t.Errorf("%q: the way back passes other records than the way there", query)
		}
	}
}

// visit appends the items of a page to seen, and returns the target of the link rel.
func visit(t *testing.T, s *server.Server, seen []string, path, rel string) ([]string, string) {
	t.Helper()
	next := ""
	for _, e := range elements(t, path, get(t, s, path).Body.String()) {
		if e.attrs["rel"] == rel {
			next = e.attrs["href"]
		}
		if at, ok := strings.CutPrefix(e.attrs["href"], "/runs/"); ok && strings.Contains(at, "/items/q") {
			id, _, _ := strings.Cut(at, "?")
			seen = append(seen, id)
		}
	}
	return seen, next
}

// A CSV file contains all items that a filter selects, and no formulas.
func TestCSV(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	var items []deem.Item
	for i := range 1203 {
		items = append(items, deem.Item{ID: fmt.Sprint("q", i), Category: fmt.Sprint("c", i%3), Response: "=HYPERLINK(1)"})
	}
	run := judged(t, st, universal(t, "fake:x", func(string) (string, error) { return "CORRECT", nil }), "many.jsonl", items, 1, nil)
	s := newServer(t, server.Options{Store: st})
	answer := get(t, s, "/runs/"+run.ID+"/items.csv?category=c1")
	rows, err := csv.NewReader(answer.Body).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 402 {
		t.Errorf("the file has %d lines, want 402", len(rows))
	}
	at := slices.Index(rows[0], "response")
	if got := rows[1][at]; got != "'=HYPERLINK(1)" {
		t.Errorf("the response is %q, want it behind an apostrophe", got)
	}
	if got := answer.Header().Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") {
		t.Errorf("Content-Disposition = %q", got)
	}
}

// A conversation is shown as a transcript with escaped markup.
func TestTranscript(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	c := deem.Conversation{
		{Role: "user", Name: "Ada", Content: evil},
		{Role: "assistant", ToolCalls: []deem.ToolCall{{ID: "c1", Function: deem.Function{Name: "find", Arguments: "{}"}}}},
		{Role: "tool", ToolCallID: "c1", Content: "found"},
	}
	run := judged(t, st, universal(t, "fake:x", func(string) (string, error) { return "CORRECT", nil }), "chats.jsonl",
		[]deem.Item{{ID: "c", Question: "q", Response: "r", References: []string{"x"}, Messages: c}}, 1, nil)
	s := newServer(t, server.Options{Store: st})
	body := get(t, s, "/runs/"+run.ID+"/items/c").Body.String()
	elements(t, "/items/c", body)
	for _, want := range []string{"Conversation of 3 turns", "[1] user (Ada)\n", "[2] assistant calls find, c1\n    {}\n[3] tool, result of c1\n    found"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	if got := get(t, s, "/runs/"+run.ID+"/raw/c?part=conversation").Body.String(); got != c.Text(0, 3) {
		t.Errorf("the raw conversation is %q, want %q", got, c.Text(0, 3))
	}
}

// A response of 5 MB is truncated on pages.
func TestLongResponse(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	st := openStore(t)
	long := strings.Repeat(evil+"\n", 5<<20/len(evil))
	run := judged(t, st, universal(t, "fake:x", func(string) (string, error) { return evil + "\nAnswer: CORRECT", nil }), "long.jsonl",
		[]deem.Item{{ID: "long", Question: long, Response: long, References: []string{"x"}}}, 1, nil)
	s := newServer(t, server.Options{Store: st})
	for _, path := range []string{"/items", "/items/long", ""} {
		answer := get(t, s, "/runs/"+run.ID+path)
		if answer.Code != http.StatusOK || answer.Body.Len() > 1<<20 {
			t.Errorf("GET %s = %d with %d bytes", path, answer.Code, answer.Body.Len())
		}
		elements(t, path, answer.Body.String())
	}
	if got := get(t, s, "/runs/"+run.ID+"/raw/long?part=response").Body.String(); got != long {
		t.Errorf("the raw response has %d bytes, want %d", len(got), len(long))
	}
	prompt := get(t, s, "/runs/"+run.ID+"/raw/long?part=prompt.0").Body.String()
	if !strings.Contains(prompt, long) {
		t.Errorf("the raw prompt has %d bytes, and not the response in it", len(prompt))
	}
}

// The run of an unknown judge has pages too.
func TestUnknownJudge(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	run, _, err := st.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Append(t.Context(), run.ID, []deem.Record{storetest.Record(1), storetest.Failed(2, deem.Empty)}); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, server.Options{Store: st})
	if body := get(t, s, "/runs/"+run.ID).Body.String(); !strings.Contains(body, "There is no report: ") {
		t.Error("the page does not say that there is no report")
	}
	if body := get(t, s, "/runs/"+run.ID+"/items/q00000001").Body.String(); !strings.Contains(body, "cannot be rendered again") {
		t.Error("the page does not say that the prompt cannot be rendered")
	}
}

func TestNoRuns(t *testing.T) {
	t.Parallel()
	s := newServer(t, server.Options{Store: openStore(t)})
	if body := get(t, s, "/").Body.String(); !strings.Contains(body, "deem demo") {
		t.Error("a page without runs does not say how to make one")
	} else if !strings.Contains(body, "deem run --data items.jsonl") {
		t.Error("the command on a page without runs is none of deem's")
	}
}

// A page number beyond the end of the list is a 404, not an empty list.
func TestRunsPageTooFar(t *testing.T) {
	t.Parallel()
	s := newServer(t, server.Options{Store: newWorld(t).store})
	for _, at := range []string{"2", "184467440737095517", "9223372036854775807", "99999999999999999999"} {
		rec := get(t, s, "/?page="+at)
		if rec.Code != 404 || strings.Contains(rec.Body.String(), "no runs yet") {
			t.Errorf("page %s: %d %s, want 404", at, rec.Code, rec.Body)
		}
	}
}

// A corrupted record is an error on the page of its run and in every list that shows it.
// Only the counts above a list, which the database computes, do not check records.
func TestDamagedRecordOnPages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deem.db")
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close() //nolint:errcheck // The test is over.
	items := []deem.Item{
		{ID: "a", Question: "Where?", References: []string{"Lisbon"}, Response: "Lisbon"},
		{ID: "b", Question: "Where?", References: []string{"Lisbon"}, Response: "Porto"},
	}
	run := judged(t, st, universal(t, "m", func(string) (string, error) { return "CORRECT", nil }), "damaged", items, 1, nil)
	s := newServer(t, server.Options{Store: st})
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // The test is over.
	if _, err := db.ExecContext(t.Context(), `UPDATE records SET score = 0 WHERE item_id = 'b'`); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"/runs/" + run.ID, "/runs/" + run.ID + "/items", "/api/v1/runs/" + run.ID + "/report"} {
		answer := get(t, s, page)
		if !strings.Contains(answer.Body.String(), "is not what was written") {
			t.Errorf("GET %s = %d: %.2000s", page, answer.Code, answer.Body)
		}
	}
}
