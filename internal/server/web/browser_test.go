package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"deem"
	"deem/internal/dataset"
	"deem/internal/server"
	"deem/internal/store"
	"deem/judge/match"
)

// patience is how long a test waits for a page. It is long because other tests may slow the
// machine down.
const patience = 90 * time.Second

// A browser is a Chromium window and the test that uses it.
type browser struct {
	t   *testing.T
	ctx context.Context
	url string // of the server

	mu   sync.Mutex
	said []string // errors and warnings on the console
}

// chromium returns the path of the browser, found in the same way as in scripts/need.sh.
func chromium(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a short run starts no browser")
	}
	if path := os.Getenv("DEEM_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium; make test installs one")
	return ""
}

// openBrowser starts a browser for the pages of the server.
func openBrowser(t *testing.T, s *server.Server, width, height int) *browser {
	t.Helper()
	path := chromium(t)
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	ctx, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()),
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-dev-shm-usage", true),
	)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, overdue := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(overdue)
	b := &browser{t: t, ctx: ctx, url: ts.URL}
	// A window has a minimum width; an emulated viewport does not.
	b.do(chromedp.EmulateViewport(int64(width), int64(height)), chromedp.Navigate("about:blank"))
	b.listen()
	return b
}

// listen records the errors and warnings on the console of the page.
func (b *browser) listen() {
	messages := chromedp.Console(b.ctx)
	done := make(chan struct{})
	b.t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				return // the browser has exited
			}
			if m.IsException() || m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning {
				b.mu.Lock()
				b.said = append(b.said, m.String())
				b.mu.Unlock()
			}
		}
	}()
	b.t.Cleanup(func() { _ = chromedp.Cancel(b.ctx) })
}

// quiet checks that nothing was recorded from the console.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.said {
		b.t.Errorf("the console says: %s", text)
	}
	b.said = nil
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("%v", err)
	}
}

// open loads a page of the server and waits until it is complete.
func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url + path))
	b.until("document.readyState === 'complete'")
}

// text returns the value of a JavaScript expression as text.
func (b *browser) text(expression string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true. It retries errors, which occur during
// navigation.
func (b *browser) until(expression string) {
	b.t.Helper()
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && ok {
			return
		}
		last = err
	}
	b.t.Fatalf("%s: never true at %s (%v):\n%s", expression, b.text("location.href"), last, b.text("document.body.innerText"))
}

// follow clicks the element of a selector and waits for the next page.
func (b *browser) follow(selector string) {
	b.t.Helper()
	b.leave(func() { b.text(fmt.Sprintf("document.querySelector(%q).click()", selector)) }, selector)
}

// press presses a key and waits for the next page.
func (b *browser) press(key string) {
	b.t.Helper()
	b.leave(func() { b.do(chromedp.KeyEvent(key)) }, "key "+key)
}

// leave calls how, which navigates, and waits for the next page. It sets a variable on the
// old page to tell them apart.
func (b *browser) leave(how func(), what string) {
	b.t.Helper()
	b.text("window.before = true")
	how()
	b.t.Logf("%s", what)
	b.until("document.readyState === 'complete' && !window.before")
}

// accessible checks that axe finds no serious accessibility problem on the page.
func (b *browser) accessible() {
	b.t.Helper()
	axe, err := os.ReadFile(filepath.Join("..", "..", "..", ".tools", "axe", "axe.min.js"))
	if os.IsNotExist(err) {
		if os.Getenv("CI") != "" {
			b.t.Error("there is no axe-core; make test fetches it")
		}
		return
	}
	if err != nil {
		b.t.Fatal(err)
	}
	type finding struct {
		ID, Impact, Help string
		Nodes            []string
	}
	b.text("(() => {" + string(axe) + "; return 1})()")
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => (
		{id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200) + " | " + n.failureSummary)}))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	var found []finding
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		b.t.Fatal(err)
	}
	for _, f := range found {
		if f.Impact == "serious" || f.Impact == "critical" {
			b.t.Errorf("%s: axe finds %s (%s, %s):\n%s", b.text("location.pathname"), f.ID, f.Help, f.Impact, strings.Join(f.Nodes, "\n"))
		}
	}
}

// fits checks that the page is not wider than its window. It saves a screenshot if
// DEEM_SCREENSHOTS is set.
func (b *browser) fits(name string) {
	b.t.Helper()
	if over := b.text("Math.max(0, document.documentElement.scrollWidth - window.innerWidth)"); over != "0" {
		b.t.Errorf("%s at %s is %s pixels wider than its window", name, b.text("location.pathname"), over)
	}
	dir := os.Getenv("DEEM_SCREENSHOTS")
	if dir == "" || name == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// demoItems returns the bundled example.
func demoItems(t *testing.T) []deem.Item {
	t.Helper()
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{"../../cli/demo/items.jsonl"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	var items []deem.Item
	for it, err := range d.Items() {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	return items
}

// demoRuns stores two runs: the bundled example, and the same items with the responses of a
// system that is wrong more often.
func demoRuns(t *testing.T, st store.Store) (first, second store.Run) {
	t.Helper()
	items := demoItems(t)
	first = judged(t, st, match.New(), "good.jsonl", items, 1, nil)
	for i := range items {
		if i%4 == 0 {
			items[i].Response = "It was Zanzibar."
		}
	}
	return first, judged(t, st, match.New(), "poor.jsonl", items, 1, nil)
}

// TestBrowser follows a typical user: open a run, filter to failures, open an item, label
// some with the keyboard, see the corrected score change, compare with another run.
func TestBrowser(t *testing.T) {
	st := openStore(t)
	first, second := demoRuns(t, st)
	b := openBrowser(t, newServer(t, server.Options{Store: st}), 1280, 900)
	check := func(name string) {
		t.Helper()
		b.fits(name)
		b.accessible()
		b.quiet()
	}

	b.open("/")
	b.until(fmt.Sprintf("document.querySelector('a[href=\"/runs/%s\"]')", first.ID))
	check("runs")
	b.follow(fmt.Sprintf("a[href='/runs/%s']", first.ID))
	b.until("document.body.innerText.includes('69.9%')")
	check("run")

	// Filter to failures: one item is unsure.
	b.open("/runs/" + first.ID + "/items")
	check("items")
	b.text("document.querySelector('#verdict').value = 'unjudged'")
	b.follow("form.filter button.primary")
	if rows := b.text("document.querySelectorAll('table.items tbody tr').length"); rows != "1" {
		t.Errorf("the filter shows %s failures, want 1", rows)
	}
	check("failures")
	b.follow("table.items tbody a")
	b.until("document.body.innerText.includes('unsure')")
	check("item")

	// Within all items, j goes to the next item.
	b.open("/runs/" + first.ID + "/items")
	b.follow("table.items tbody a")
	before := b.text("location.pathname")
	b.press("j")
	if after := b.text("location.pathname"); after == before {
		t.Errorf("j leads from %s to itself", before)
	}

	// There are no labels yet.
	agreement := "/runs/" + first.ID + "/agreement"
	b.open(agreement)
	check("agreement-empty")
	if b.text("document.querySelector('#corrected') !== null") != "false" {
		t.Error("there is a corrected score without a label")
	}

	// Label with the keyboard: the name, then yes and no.
	b.open("/runs/" + first.ID + "/label")
	b.do(chromedp.KeyEvent("anna"))
	b.press("\r")
	label := func(keys string) {
		t.Helper()
		for _, key := range strings.Split(keys, "") {
			if b.text("[...document.querySelectorAll('summary')].some(s => s.innerText.startsWith('human'))") == "true" {
				t.Error("the labelling page shows what others said of the answer")
			}
			b.press(key)
		}
	}
	check("label")
	label("yynyn")
	b.open(agreement)
	if got := b.text("document.querySelector('#both').innerText"); got != "5" {
		t.Errorf("%s items have a label, want 5", got)
	}
	b.until("document.querySelector('#corrected')")
	early := b.text("document.querySelector('#corrected').parentElement.innerText")
	check("agreement")

	// Undo removes a label, and further labels change the corrected score.
	b.open("/runs/" + first.ID + "/label")
	label("u")
	b.open(agreement)
	if got := b.text("document.querySelector('#both').innerText"); got != "4" {
		t.Errorf("after undo %s items have a label, want 4", got)
	}
	b.open("/runs/" + first.ID + "/label")
	label("nnnn")
	b.open(agreement)
	if late := b.text("document.querySelector('#corrected').parentElement.innerText"); late == early {
		t.Errorf("the corrected score is the same after four more labels:\n%s", late)
	}

	// Compare two runs.
	b.open("/compare?runs=" + first.ID + "," + second.ID)
	b.until("document.body.innerText.includes('Zanzibar')")
	check("compare")

	labels := 0
	for _, err := range st.Labels(t.Context(), store.LabelQuery{Annotators: []string{"anna"}}) {
		if err != nil {
			t.Fatal(err)
		}
		labels++
	}
	if labels != 8 {
		t.Errorf("the store has %d labels of anna, want 8", labels)
	}
}

// TestBrowserShowsEvilHarmlessly opens items that try to run a script, and one of 5 MB, in
// a window as narrow as a phone.
func TestBrowserShowsEvilHarmlessly(t *testing.T) {
	st := openStore(t)
	huge := strings.Repeat("five megabytes <b>of text</b> ", 5<<20/30)
	run := judged(t, st, match.New(), "evil.jsonl", []deem.Item{
		{ID: "script", Question: evil, References: []string{evil}, Response: `<script>window.ran = 1</script><img src=x onerror="window.ran = 1">` + evil, Category: evil},
		{ID: "huge", Question: "How long?", References: []string{"long"}, Response: huge},
		{ID: "turned\u202eround", Question: "\u05e9\u05dc\u05d5\u05dd.", References: []string{"x"}, Response: strings.Repeat("W", 5000), Category: "behind"},
	}, 1, nil)
	if err := st.PutLabels(t.Context(), []store.Label{{Item: "h", ID: "huge", Dataset: run.Dataset.Hash, Annotator: strings.Repeat("W", 500), Label: "yes", Yes: true}}); err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t, newServer(t, server.Options{Store: st}), 360, 800)
	for name, path := range map[string]string{
		"narrow-runs": "/", "narrow-run": "/runs/" + run.ID, "narrow-items": "/runs/" + run.ID + "/items",
		"narrow-script": "/runs/" + run.ID + "/items/script", "narrow-huge": "/runs/" + run.ID + "/items/huge",
		"narrow-agreement": "/runs/" + run.ID + "/agreement", "narrow-label": "/runs/" + run.ID + "/label",
	} {
		b.open(path)
		if b.text("window.ran") != "undefined" || b.text("document.querySelectorAll('img[src=x]').length") != "0" {
			t.Errorf("%s: what a response says was run", path)
		}
		b.fits(name)
		b.accessible()
		b.quiet()
	}
	// A right-to-left override in an id does not affect the text after it.
	b.open("/runs/" + run.ID + "/items/turned%E2%80%AEround")
	if b.text("document.querySelector('h2 .tag').getBoundingClientRect().left >= document.querySelector('h2 .mono').getBoundingClientRect().right") != "true" {
		t.Error("the category stands within the id")
	}
	b.open("/runs/" + run.ID + "/items/huge")
	if size := len(b.text("document.documentElement.outerHTML")); size > 1<<20 {
		t.Errorf("the page of an item of 5 MB has %d bytes", size)
	}
}
