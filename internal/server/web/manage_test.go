package web_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"deem"
	"deem/internal/server"
	"deem/internal/store"
	"deem/judge"
	"deem/judge/match"
	"deem/model/fake"
)

// TestBrowserManagesRuns works with many runs: it finds one among 500, tags it, compares
// four, opens an item and its evidence, deletes a run and restores it.
func TestBrowserManagesRuns(t *testing.T) {
	chromium(t)
	st := openStore(t)
	items := []deem.Item{{ID: "q1", Question: "When?", References: []string{"12 March 2019"}, Response: "On 21 March 2019."}}
	for i := range 500 {
		spec := specOf(t, match.New(), fmt.Sprintf("set-%d.jsonl", i%5), 1, 1)
		spec.Dataset.Hash, spec.Settings = fmt.Sprint("hash ", i), fmt.Appendf(nil, `{"system":"system-%d"}`, i)
		run := keep(t, st, spec, match.New(), items, nil)
		if i == 77 {
			if _, err := st.Edit(t.Context(), run.ID, func(a *store.About) { a.Note = "the needle" }); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := openBrowser(t, newServer(t, server.Options{Store: st}), 1280, 800)
	b.open("/")
	b.text("document.querySelector('#q').value = 'needle'")
	b.follow("form.filter button.primary")
	if got := b.text("document.querySelectorAll('.runs .pick input').length"); got != "1" {
		t.Fatalf("%s runs are found, want 1", got)
	}
	b.text("document.querySelector('.runs .pick input').click()")
	b.text("document.querySelector('#tagname').value = 'found-it'")
	b.follow("button[formaction$='do=tag']")
	b.open("/?tag=found-it")
	if got := b.text("document.querySelector('.runs tbody th a').innerText"); got != "system-77" {
		t.Errorf("the tag is on %q, want system-77", got)
	}
	b.fits("found")
	b.accessible()

	b.open("/?q=system-49")
	b.text("[...document.querySelectorAll('.runs .pick input')].slice(0, 4).forEach(e => e.click())")
	if got := b.text("document.querySelector('#compare').innerText"); got != "Compare 4" {
		t.Errorf("the button says %q, want Compare 4", got)
	}
	b.follow("#compare")
	b.until("document.body.innerText.includes('system-49')")
	b.accessible()

	b.open("/?q=system-77&group=none")
	b.follow(".runs tbody th a")
	b.follow(".tabs a:nth-child(2)")
	b.follow("table.items tbody a")
	if got := b.text("document.querySelector('.triple .missing').innerText"); got != "12 March 2019" {
		t.Errorf("what the response lacks is %q", got)
	}
	if got := b.text("document.querySelector('.triple .against').innerText"); got != "21 March 2019" {
		t.Errorf("what contradicts is %q, want the other day", got)
	}
	b.accessible()

	b.open("/?q=system-77&group=none")
	b.text("document.querySelector('.runs .pick input').click()")
	b.follow("button[formaction$='do=delete']")
	b.until("document.body.innerText.includes('1 run deleted')")
	b.accessible()
	b.follow("#undo")
	b.open("/?tag=found-it")
	if got := b.text("document.querySelectorAll('.runs .pick input').length"); got != "1" {
		t.Errorf("after undo %s runs are there, want 1", got)
	}
	b.quiet()
}

// TestBrowserLabelsThree has two people label ten items with three labels by keyboard, and
// resolve their disagreements.
func TestBrowserLabelsThree(t *testing.T) {
	chromium(t)
	d, err := judge.Load("../../../examples/judges/politeness.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Protocol(judge.Strict)
	if err != nil {
		t.Fatal(err)
	}
	model := fake.Func("fake:polite", func(context.Context, deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: "POLITE", Stop: deem.StopEnd, Attempts: 1}, nil
	})
	st := openStore(t)
	var items []deem.Item
	for i := range 10 {
		items = append(items, deem.Item{ID: fmt.Sprint("r", i), Question: "Where is my order?", Response: fmt.Sprintf("It is on its way, number %d.", i)})
	}
	run := judged(t, st, judge.New(p, model), "replies.jsonl", items, 1, nil)
	b := openBrowser(t, newServer(t, server.Options{Store: st}), 1280, 800)
	path := "/runs/" + run.ID + "/label"
	for who, keys := range map[string]string{"anna": "1231231231", "bert": "1231231232"} {
		b.open(path + "?who=")
		b.do(chromedp.KeyEvent(who))
		b.press("\r")
		b.accessible()
		for _, key := range strings.Split(keys, "") {
			b.press(key)
		}
		b.until("document.querySelector('#finished')")
	}
	b.open(path)
	if got := b.text("document.querySelector('#disputes').innerText"); got != "1 disagreement to resolve" {
		t.Errorf("the page says %q", got)
	}
	b.fits("label-done")
	b.follow("#disputes")
	if got := b.text("document.querySelectorAll('.say .tag').length"); got != "2" {
		t.Errorf("%s opinions are shown, want those of two people", got)
	}
	b.accessible()
	b.press("2")
	b.until("document.body.innerText.includes('No disagreement is left')")
	b.quiet()
	said := map[string]int{}
	for l, err := range st.Labels(t.Context(), store.LabelQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		said[l.Annotator+" "+l.Label]++
		if l.Drawn == "" {
			t.Errorf("the label of %s has no sampling design", l.ID)
		}
	}
	if said["anna POLITE"] != 4 || said["bert NEUTRAL"] != 4 || said["resolved NEUTRAL"] != 1 {
		t.Errorf("the labels are %v", said)
	}
}

// TestBrowserLabelsNumbers has a person enter numbers for two aspects, and one of twelve
// labels, using only the keyboard.
func TestBrowserLabelsNumbers(t *testing.T) {
	chromium(t)
	st := openStore(t)
	numbers := judged(t, st, judgeOf(t, "name: two\nprompt: \"Rate {response}.\"\naspects: {accuracy: {min: 1, max: 5, integer: true}, style: {min: 0, max: 10, integer: true}}\n"), "a.jsonl", plainItems(2, "a"), 1, verdicts)
	kinds := "name: many\nprompt: \"Which kind is {response}?\"\nlabels: {"
	for i := range 12 {
		kinds += fmt.Sprintf("KIND%d: %d, ", i, i%2)
	}
	many := judged(t, st, judgeOf(t, kinds+"}\n"), "b.jsonl", plainItems(2, "b"), 1, verdicts)
	b := openBrowser(t, newServer(t, server.Options{Store: st}), 1280, 800)
	for _, tt := range []struct {
		run  store.Run
		keys []string
		want string
	}{
		{numbers, []string{"2", "\b", "4", "7", "\r", "5", "a", "\r"}, "accuracy 4, style 7; accuracy 5, style 10"},
		{many, []string{"3", "c"}, "KIND2; KIND11"},
	} {
		b.open("/runs/" + tt.run.ID + "/label?who=")
		b.do(chromedp.KeyEvent("anna"))
		b.press("\r")
		b.fits("label-numbers")
		b.accessible()
		for _, key := range tt.keys {
			if key == "\r" || tt.run.ID == many.ID {
				b.press(key) // It leads to the next page.
			} else {
				b.do(chromedp.KeyEvent(key))
			}
		}
		b.until("document.querySelector('#finished')")
		var said []string
		for l, err := range st.Labels(t.Context(), store.LabelQuery{Dataset: tt.run.Dataset.Hash}) {
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, l.Label)
		}
		slices.Sort(said)
		want := strings.Split(tt.want, "; ")
		slices.Sort(want)
		if !slices.Equal(said, want) {
			t.Errorf("the labels are %q, want %q", said, want)
		}
	}
	b.quiet()
}

// small reduces a picture to its 256 most frequent colours, which halves its size.
func small(t *testing.T, shot []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	count := map[color.Color]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			count[full.At(x, y)]++
		}
	}
	palette := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return count[b] - count[a] })
	out := image.NewPaletted(full.Bounds(), palette[:min(256, len(palette))])
	draw.Draw(out, out.Bounds(), full, image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// heaviest is the maximum size of a page and its resources, in bytes.
const heaviest = 150 << 10

// TestScreens opens every kind of page in wide and narrow windows and in the dark theme. No
// page is wider than its window or larger than heaviest, pages are complete without scripts,
// axe and the console report nothing, and texts in charts do not grow with the window. With
// DEEM_SCREENSHOTS=docs/images it writes the pictures of the documentation.
func TestScreens(t *testing.T) {
	chromium(t)
	g := newGallery(t)
	run, rule := g.runs["atlas 1.5"], g.runs["atlas rule"]
	g.label(t, run)
	s := newServer(t, server.Options{Store: g.store})
	base := "/runs/" + run.ID
	others := []string{g.runs["borealis 0.9"].ID, run.ID, g.runs["compass"].ID, g.runs["notepad baseline"].ID}
	screens := []struct {
		name, path string
		kept       bool // as a picture of the documentation
	}{
		{"runs", "/?judge=universal&tag=weekly", true},
		{"run", base, true},
		{"item", base + "/items/" + g.wrong(t, run, "dates"), true},
		{"rule-item", "/runs/" + rule.ID + "/items/" + g.wrong(t, rule, "dates"), true},
		{"compare", "/compare?runs=" + strings.Join(others, ","), true},
		{"label", base + "/label?who=anna", true},
		{"agreement", base + "/agreement", true},
		{"trend", "/trend?judge=universal&tag=weekly", true},
		{"card", "/runs/" + g.probes(t).ID + "/card", true},
		{"scores", "/runs/" + g.scored(t).ID, false},
	}
	for _, view := range []struct {
		name          string
		width, height int
		dark          bool
	}{{"", 1280, 800, false}, {"-360", 360, 740, false}, {"-dark", 1280, 800, true}, {"-2560", 2560, 1300, false}} {
		b := openBrowser(t, s, view.width, view.height)
		for _, screen := range screens {
			b.open(screen.path)
			b.until("!document.querySelector('[data-late] a')")
			if view.dark {
				b.text("document.documentElement.dataset.theme === 'dark' || document.getElementById('theme').click()")
			}
			b.fits("")
			b.accessible()
			b.quiet()
			loaded := "performance.getEntriesByType('resource').reduce((n, e) => n + e.decodedBodySize, performance.getEntriesByType('navigation')[0].decodedBodySize)"
			var size int
			if _, err := fmt.Sscan(b.text(loaded), &size); err != nil || size > heaviest || size == 0 {
				t.Errorf("%s%s loads %d bytes, want at most %d", screen.name, view.name, size, heaviest)
			}
			var high int // the largest text in a chart
			text := "Math.round(Math.max(0, ...[...document.querySelectorAll('svg text')].map(e => e.getBoundingClientRect().height)))"
			if _, err := fmt.Sscan(b.text(text), &high); err != nil || high > 17 {
				t.Errorf("%s%s has a chart with text %d pixels high, want at most 17", screen.name, view.name, high)
			}
			if dir := os.Getenv("DEEM_SCREENSHOTS"); dir != "" && view.width < 2000 && screen.kept {
				shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, screen.name+view.name+".png"), small(t, shot), 0o644) //nolint:gosec // A picture of the documentation.
				}
				if err != nil {
					t.Error(err)
				}
			}
		}
	}
	for _, screen := range screens {
		page := get(t, s, screen.path).Body.String()
		if !strings.Contains(page, "<h1") || strings.Contains(page, "<noscript") {
			t.Errorf("%s is not all there without scripts", screen.name)
		}
	}
}
