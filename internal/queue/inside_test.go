package queue

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
)

// Whoever asks for how many places and when, no minute has more of them than the user
// allows, and no minute more tokens.
func TestPaceKeepsTheMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rpm := rapid.IntRange(1, 6000).Draw(t, "rpm")
		tpm := rapid.IntRange(100, 1_000_000).Draw(t, "tpm")
		var p pace
		now := origin
		var places []time.Time
		var tokens []struct {
			at time.Time
			n  int
		}
		for range rapid.IntRange(1, 300).Draw(t, "wishes") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "pause")) * time.Millisecond)
			g := p.take(now, wish{
				requests: rapid.IntRange(1, 500).Draw(t, "requests"), tokens: rapid.IntRange(1, tpm/60+1).Draw(t, "tokens"), rpm: rpm, tpm: tpm,
				refused: max(0, rapid.IntRange(-9, 3).Draw(t, "refused")), retryAfter: time.Duration(rapid.IntRange(0, 3).Draw(t, "after")) * time.Second,
			})
			if g.requests == 0 {
				continue // The line is long.
			}
			for i := range g.requests {
				places = append(places, g.from.Add(time.Duration(i)*g.gap))
			}
			tokens = append(tokens, struct {
				at time.Time
				n  int
			}{g.tokensAt, g.tokens})
			if g.from.Before(now) || g.from.Before(g.paused) || g.tokensAt.Before(now) {
				t.Fatalf("at %v places were granted from %v, with a pause until %v", now, g.from, g.paused)
			}
		}
		from := 0
		for to, at := range places {
			for at.Sub(places[from]) >= time.Minute {
				from++
			}
			if n := to - from + 1; n > rpm+1 {
				t.Fatalf("%d places in a minute, want at most %d", n, rpm)
			}
		}
		for i, first := range tokens {
			n := 0
			for _, other := range tokens[i:] {
				if other.at.Sub(first.at) < time.Minute {
					n += other.n
				}
			}
			if n > tpm+tpm/60+1 { // The last grant reaches beyond the minute.
				t.Fatalf("%d tokens in a minute, want at most %d", n, tpm)
			}
		}
	})
}

// A refusal lowers the rate for all, refusals of the same trouble do not lower it again,
// and it comes back by and by.
func TestPaceLearns(t *testing.T) {
	var p pace
	now := origin
	for range 20 { // A hundred requests a second, unbounded.
		now = now.Add(time.Second)
		if g := p.take(now, wish{requests: 1, sent: 100}); !g.free {
			t.Fatal("without bounds and refusals a place was granted")
		}
	}
	g := p.take(now.Add(time.Second), wish{requests: 50, sent: 100, refused: 80, retryAfter: 4 * time.Second})
	if p.Rate < 65 || p.Rate > 85 {
		t.Fatalf("after refusals at 100 a second the rate is %.1f, want 80", p.Rate)
	}
	if want := now.Add(5 * time.Second); g.from.Before(want) {
		t.Errorf("the first place is at %v, want after the pause at %v", g.from, want)
	}
	before := p.Rate
	p.take(now.Add(1500*time.Millisecond), wish{requests: 1, refused: 1})
	if p.Rate != before {
		t.Errorf("a second refusal at once changes the rate to %.1f, want %.1f", p.Rate, before)
	}
	now = now.Add(3 * time.Second)
	p.take(now, wish{requests: 1, sent: 70, refused: 20})
	if p.Rate >= before {
		t.Errorf("a refusal later leaves the rate at %.1f", p.Rate)
	}
	low := p.Rate
	for range 10 {
		now = now.Add(time.Second)
		p.take(now, wish{requests: 1})
	}
	if p.Rate <= low {
		t.Errorf("after ten quiet seconds the rate is %.1f, want more than %.1f", p.Rate, low)
	}
	for range 600 {
		now = now.Add(time.Second)
		p.take(now, wish{requests: 1})
	}
	if p.Rate != 0 {
		t.Errorf("after ten quiet minutes the rate is %.1f, want none", p.Rate)
	}
}

// Workers that were refused in the same second and tell of it one after the other, each
// when it next needs a place, lower the rate once; a refusal since then lowers it again.
func TestPaceLateNews(t *testing.T) {
	var p pace
	now := origin
	for range 20 {
		now = now.Add(time.Second)
		p.take(now, wish{requests: 1, sent: 10})
	}
	bad := now.Add(time.Second)
	p.take(bad, wish{requests: 1, sent: 10, refused: 1, retryAfter: time.Second})
	cut := p.Rate
	for i := range 6 {
		now = bad.Add(time.Duration(i+1) * 3 * time.Second)
		g := p.take(now, wish{requests: 1, sent: 20, refused: 1, retryAfter: time.Second, ago: now.Sub(bad)})
		if p.Rate < cut {
			t.Fatalf("news of the same refusal %v later lowers the rate from %.1f to %.1f", now.Sub(bad), cut, p.Rate)
		}
		if g.paused.After(now) {
			t.Errorf("news of a refusal %v ago stops everybody until %v", now.Sub(bad), g.paused)
		}
	}
	before := p.Rate
	p.take(now.Add(time.Second), wish{requests: 1, sent: 10, refused: 1, ago: 100 * time.Millisecond})
	if p.Rate >= before {
		t.Errorf("a new refusal leaves the rate at %.1f, which was %.1f", p.Rate, before)
	}
}

func TestPart(t *testing.T) {
	for _, c := range []struct {
		bound, others, taken, short, used, wanted, want int
	}{
		{bound: 10, wanted: 4, want: 4},
		{bound: 10, wanted: 40, want: 10},
		{bound: 10, others: 1, taken: 8, used: 0, wanted: 5, want: 2},
		{bound: 10, others: 1, taken: 2, short: 1, used: 8, wanted: 9, want: 8}, // Calls in flight cannot be taken back.
		{bound: 10, others: 1, taken: 2, short: 1, used: 3, wanted: 9, want: 5},
		{bound: 1, others: 3, taken: 1, short: 2, wanted: 4, want: 0},
	} {
		if got := part(c.bound, c.others, c.taken, c.short, c.used, c.wanted); got != c.want {
			t.Errorf("part(%+v) = %d, want %d", c, got, c.want)
		}
	}
}

// However items are cut into chunks, they come out as they went in, and a chunk keeps to
// its bounds.
func TestChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		size := newSizer(rapid.IntRange(1, 100_000).Draw(t, "of"), 1, rapid.Bool().Draw(t, "rule"), 1, rapid.IntRange(0, 100).Draw(t, "rpm"))
		var want, got []placed
		for i := range n {
			want = append(want, placed{i, deem.Item{
				ID: fmt.Sprint(i), Question: rapid.StringN(0, 50, 200).Draw(t, "question"), Response: "x",
				Fields: map[string]string{"a<b": rapid.StringN(0, 10, 40).Draw(t, "field")},
			}})
		}
		place := int64(0)
		for ch, err := range cut(all(want), size) {
			if err != nil {
				t.Fatal(err)
			}
			if ch.items == 0 || ch.items > size.maxItems || ch.work < 1 || ch.place != place {
				t.Fatalf("a chunk has %d items and %d work at %d, want 1 to %d, some, and %d", ch.items, ch.work, ch.place, size.maxItems, place)
			}
			place += ch.work
			list, err := unpack(ch.body)
			if err != nil || len(list) != ch.items {
				t.Fatalf("unpack: %d items, %v, want %d", len(list), err, ch.items)
			}
			got = append(got, list...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("items (-in +out):\n%s", diff)
		}
	})
}

func all(list []placed) func(func(placed, error) bool) {
	return func(yield func(placed, error) bool) {
		for _, it := range list {
			if !yield(it, nil) {
				return
			}
		}
	}
}

func TestSizer(t *testing.T) {
	for _, c := range []struct {
		name                      string
		items, trials, calls, rpm int
		rule                      bool
		want                      int
	}{
		{"a large run", 1_000_000, 1, 1, 0, false, 500},
		{"a small run is shared", 100, 1, 1, 0, false, 4},
		{"a tiny run", 3, 1, 1, 0, false, 1},
		{"half a minute of requests", 1_000_000, 1, 1, 60, false, 30},
		{"half a minute of a panel's requests", 1_000_000, 2, 3, 60, false, 5},
		{"a rule asks nobody", 1_000_000, 1, 0, 60, true, 500},
	} {
		if got := newSizer(c.items, c.trials, c.rule, c.calls, c.rpm).maxItems; got != c.want {
			t.Errorf("%s: %d items in a chunk, want %d", c.name, got, c.want)
		}
	}
}

// Places and times are the same in both directions, and times lie in the past for any
// work that will ever be done.
func TestPlaces(t *testing.T) {
	for _, place := range []int64{0, 1, 480_000, 1e14} {
		if got := placeAt(timeAt(place)); got != place {
			t.Errorf("placeAt(timeAt(%d)) = %d", place, got)
		}
	}
	// A billion items of a second each, every year for a century.
	if at := timeAt(100 * 1e9 * 1000); at.After(time.Date(2005, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("a century of work lies at %v", at)
	}
}

// FuzzUnpack checks that a chunk that was damaged is refused or read as items that can be
// packed again.
func FuzzUnpack(f *testing.F) {
	p := newPacker(sizer{})
	for i := range 3 {
		if _, _, err := p.add(placed{Item: deem.Item{ID: strconv.Itoa(i), Response: "an answer"}}); err != nil {
			f.Fatal(err)
		}
	}
	whole, _, err := p.last()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole.body)
	f.Add(whole.body[:len(whole.body)/2])
	f.Add([]byte{})
	f.Add([]byte("no chunk"))
	f.Fuzz(func(t *testing.T, body []byte) {
		list, err := unpack(body)
		if err != nil {
			return
		}
		p := newPacker(sizer{})
		for _, it := range list {
			if _, _, err := p.add(it); err != nil {
				t.Errorf("%+v was unpacked and cannot be packed: %v", it, err)
			}
		}
	})
}
