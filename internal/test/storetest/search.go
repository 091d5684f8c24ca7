package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/store"
)

// finds returns the ids of the records that a text selects, in order.
func finds(t *testing.T, st store.Database, runID, text string) []string {
	t.Helper()
	recs := mustView(t, st, runID, store.View{Text: text, Query: store.Query{Limit: 1000, Brief: true}})
	ids := make([]string, len(recs))
	for i, rec := range recs {
		ids[i] = rec.Item.ID
	}
	return ids
}

// searched are the records to search, with descriptive ids.
func searched() []deem.Record {
	judged := func(id, question, reference, response, reason string) deem.Record {
		return deem.Record{
			Item:    deem.Item{ID: id, Question: question, References: []string{"first", reference}, Response: response},
			Verdict: &deem.Verdict{Label: "yes", Reason: reason},
		}
	}
	recs := []deem.Record{
		judged("en", "Which tower did they climb?", "the Eiffel Tower", "They climbed a well-known tower (in Paris).", "It names the right place."),
		judged("accents", "Où est le café?", "à côté de l'école", "Près de l’ÉGLISE Sainte-Thérèse", "naïve, mais juste"),
		judged("apart", "cafe\u0301 et the\u0301", "", "", ""),
		judged("zh", "他们去了哪里？", "北京的長城", "我们昨天参观了故宫博物院，然后去吃烤鸭。", "答案说的是故宫，不是长城。"),
		judged("ja", "どこへ行きましたか", "東京タワー", "昨日は友達と東京タワーに登った。", "ラーメンの話はない"),
		judged("th", "ไปไหนมา", "เชียงใหม่", "เมื่อวานไปวัดพระธาตุดอยสุเทพ", ""),
		judged("ko", "어디에 갔습니까", "경복궁", "어제 경복궁에 갔습니다", ""),
		judged("hi", "वे कहाँ गए", "ताजमहल", "वे कल ताजमहल गए थे", ""),
		judged("ru", "Куда они ходили?", "Эрмитаж", "Вчера они ходили в ЭРМИТАЖ", ""),
		judged("signs", `a "quoted" word`, "100%", "x := y AND NOT z; NEAR(a, b) OR c* -d ^e {f}:g", "back\\slash under_score semi;colon"),
		judged("numbers", "How much is 3.14 * 2?", "6.28", "about 6,28 or 1e3", "v2.0-rc1"),
		judged("nul", "before\x00after", "", "", ""),
		judged("q/17#a@b.c", "", "", "", ""),
		judged("phrases", "the end", "beginning of", "the story", "of the end"),
	}
	recs = append(recs, deem.Record{Item: deem.Item{ID: "failed", Response: "sunset"}, Failure: deem.Failf(deem.OutOfRange, "the score 11 is too high")})
	for i := range recs {
		recs[i].Position = i
	}
	return recs
}

// testBrowseText checks the results of searches, for anything that users may type.
func testBrowseText(t *testing.T, s suite) {
	st, run := s.begin(t)
	recs := searched()
	mustAppend(t, st, run.ID, recs...)
	everything := make([]string, len(recs))
	for i, rec := range recs {
		everything[i] = rec.Item.ID
	}
	for text, want := range map[string][]string{
		"tower": {"en"}, "TOWER": {"en"}, "Eiffel": {"en"}, "tow": nil, "tow*": {"en"}, "owe*": nil,
		"en": {"en"}, "right": {"en"}, "climb right": {"en"}, "right tower zzz": nil, "Paris)": {"en"},
		`"eiffel tower"`: {"en"}, `"tower eiffel"`: nil, `"eiffel tow"*`: {"en"}, `"the eiffel`: {"en"}, `"the eif`: nil, `“eiffel tower”`: {"en"},
		"well-known": {"en"}, "well_known": {"en"}, "known-well": nil, "wellknown": nil, `tower"eiffel"`: {"en"},
		// A phrase does not span two texts.
		`"the end"`: {"phrases"}, `"end beginning"`: nil, `"of the"`: {"phrases"}, `"story of"`: nil, `"first beginning"`: nil,
		// Accents, as one character or two, and case.
		"cafe": {"accents", "apart"}, "CAFÉ": {"accents", "apart"}, "cafe\u0301": {"accents", "apart"}, "eglise": {"accents"},
		"sainte-therese": {"accents"}, "naive": {"accents"}, "the": {"en", "apart", "phrases", "failed"}, "thé": {"en", "apart", "phrases", "failed"},
		// Scripts without spaces.
		"故宫": {"zh"}, "故宫博物院": {"zh"}, "宫故": nil, "長城": {"zh"}, "长城": {"zh"}, "参观 烤鸭": {"zh"}, "参观烤鸭": nil, "城": {"zh"},
		`"不是长城"`: {"zh"}, "東京": {"ja"}, "タワー": {"ja"}, "ワタ": nil, "東京タワーに": {"ja"}, "ラーメン": {"ja"}, "友達 東京": {"ja"},
		"พระธาตุ": {"th"}, "ดอยสุเทพ": {"th"}, "เชียงราย": nil,
		"경복궁": {"ko"}, "경복궁*": {"ko"}, "어제": {"ko"}, "ताजमहल": {"hi"}, "कल": {"hi"}, "эрмитаж": {"ru"}, "ХОДИЛИ": {"ru"},
		// Operators are treated as words and punctuation.
		"AND": {"signs"}, "a AND zzz": nil, "tower OR zzz": nil, "NOT tower": nil, "NEAR(a, b)": {"signs"}, "NOT": {"signs"},
		"quoted": {"signs"}, `"quoted`: {"signs"}, `""quoted""`: {"signs"}, `\"quoted\"`: {"signs"}, "response:tower": nil,
		"words:quoted": nil, "^quoted": {"signs"}, "-quoted": {"signs"}, "+quoted": {"signs"}, "{quoted}": {"signs"}, "quoted)": {"signs"},
		"(quoted": {"signs"}, "100%": {"signs"}, "_score": {"signs", "failed"}, `back\slash`: {"signs"}, "'quoted'": {"signs"}, "quoted;--": {"signs"},
		"3.14": {"numbers"}, "6.28": {"numbers"}, "6,28": {"numbers"}, "14": {"numbers"}, "v2.0-rc1": {"numbers"}, "1e3": {"numbers"},
		"after": {"nul"}, "before\x00after": {"nul"}, "q/17#a@b.c": {"q/17#a@b.c"}, "17": {"q/17#a@b.c"}, "quoted\xff": {"signs"},
		// Failures.
		"out_of_range": {"failed"}, "range 11": {"failed"}, "sunset high": {"failed"}, "sunset low": nil,
		// No words at all.
		"": everything, " ": everything, `"`: everything, `""`: everything, `"*`: everything, "*": everything, "( ) : ^ - + * \" ?": everything,
		"\x00": everything, "🙂": everything, `"""`: everything,
		strings.Repeat("tower ", 500): {"en"}, strings.Repeat("tower", 5000): nil,
	} {
		diff(t, fmt.Sprintf("what %.60q finds", text), finds(t, st, run.ID, text), append([]string{}, want...))
	}
}

// testBrowseTyped checks that no text is an error.
func testBrowseTyped(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustAppend(t, st, run.ID, searched()...)
	signs := rapid.StringOfN(rapid.SampledFrom([]rune(`aé "*()^:-+{}.,;'\%_&|!~故タ`+"\x00")), 0, 12, -1)
	for i := range 40 { // A rapid property would run a hundred times, which takes too long.
		text := rapid.OneOf(rapid.String(), signs, signs).Example(i)
		mustView(t, st, run.ID, store.View{Text: text})
	}
}

// testBrowseReplaced checks that replaced records are found by their current text, and that
// runs that share items do not share reasons.
func testBrowseReplaced(t *testing.T, s suite) {
	st, run := s.begin(t)
	other, _ := mustBegin(t, st, Spec("other"), false)
	said := func(i, trial int, response, reason string) deem.Record {
		rec := Record(i)
		rec.Item.Response, rec.Verdict.Reason, rec.Trial, rec.Calls = response, reason, trial, nil
		return rec
	}
	var recs []deem.Record
	for i := range 30 {
		recs = append(recs, said(i, 0, "sunrise", "plain"))
	}
	mustAppend(t, st, run.ID, recs...)
	failed := recs[3]
	failed.Verdict, failed.Failure = nil, deem.Failf(deem.Refused, "velvet")
	mustAppend(t, st, run.ID, failed)
	mustAppend(t, st, other.ID, said(3, 0, "sunrise", "walnut"), said(4, 1, "sunrise", "maple"))
	check := func(runID, text string, want ...string) {
		t.Helper()
		diff(t, fmt.Sprintf("what %q finds", text), finds(t, st, runID, text), append([]string{}, want...))
	}
	check(run.ID, "velvet", "q00000003")
	check(run.ID, "walnut")
	diff(t, "how many records plain finds", len(finds(t, st, run.ID, "plain")), 29)
	check(other.ID, "walnut sunrise", "q00000003")
	check(other.ID, "maple", "q00000004")
	check(other.ID, "velvet")

	mustAppend(t, st, run.ID, said(3, 0, "sunrise", "granite"), said(5, 0, "moonlight", "plain"), said(40, 0, "sunrise", "late"))
	check(run.ID, "velvet")
	check(run.ID, "refused")
	check(run.ID, "granite", "q00000003")
	check(run.ID, "moonlight", "q00000005")
	check(run.ID, "late", "q00000040")
	if got := finds(t, st, run.ID, "sunrise"); len(got) != 30 || slices.Contains(got, "q00000005") {
		t.Errorf("sunrise finds %d records %v, want 30 without q00000005", len(got), got)
	}
	check(other.ID, "sunrise", "q00000003", "q00000004")
	mustAppend(t, st, run.ID, failed)
	again := s.open(t)
	diff(t, "what velvet finds when it is back", finds(t, again, run.ID, "velvet"), []string{"q00000003"})
	check(run.ID, "granite")
}

// testBrowseLong checks that all of long texts is searched, and that fields
// and conversations are not.
func testBrowseLong(t *testing.T, s suite) {
	st, run := s.begin(t)
	var recs []deem.Record
	for place, put := range places {
		rec := deem.Record{Item: deem.Item{ID: place}, Position: len(recs), Verdict: &deem.Verdict{}}
		put(&rec.Item, Text("someone", 200_000)+" needle "+strings.Repeat("héy ", 40_000))
		recs = append(recs, rec)
	}
	mustAppend(t, st, run.ID, recs...)
	got := finds(t, st, run.ID, "needle")
	for place := range places {
		if want := !strings.Contains(place, "field") && place != "conversation"; slices.Contains(got, place) != want {
			t.Errorf("a needle in the place %q is found: %v, want %v", place, !want, want)
		}
	}
}

// testBrowseAtOnce checks that stores that search one run concurrently, while it is being
// judged, find everything in the end.
func testBrowseAtOnce(t *testing.T, s suite) {
	st := s.open(t)
	run, _ := mustBegin(t, st, Spec(""), false)
	mustAppend(t, st, run.ID, Record(0))
	judging := make(chan struct{})
	var wg sync.WaitGroup
	for _, each := range []store.Database{st, s.open(t), s.open(t)} {
		wg.Go(func() {
			for {
				if _, err := each.View(t.Context(), run.ID, store.View{Text: "lighthouse"}); err != nil {
					t.Errorf("View: %v", err)
					return
				}
				select {
				case <-judging:
					return
				default:
				}
			}
		})
	}
	for i := range 10 {
		var recs []deem.Record
		for k := range 30 {
			recs = append(recs, Record(i*30+k))
		}
		mustAppend(t, st, run.ID, recs...)
	}
	close(judging)
	wg.Wait()
	last := s.open(t)
	diff(t, "how many records lighthouse finds", len(finds(t, last, run.ID, "lighthouse")), 300)
}
