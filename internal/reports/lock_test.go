package reports_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem/internal/reports"
)

func promise() reports.Lock {
	return reports.Lock{
		Version: reports.LockVersion, Created: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC), Deem: "v1",
		Dataset: reports.LockedDataset{Names: []string{"a.jsonl"}, Hash: strings.Repeat("9b", 32), Items: 5},
		Judges: []reports.LockedJudge{
			{Name: "universal", Hash: strings.Repeat("4f", 32), Model: "openai:gpt-4o-mini", Reading: "upstream"},
			{Name: "f1", Hash: strings.Repeat("aa", 32)},
		},
		Trials: 1, Exclude: []string{"category=b", "category=a"}, MaxUnjudged: 0.01, Gates: []string{"overall.lo >= 65%"},
	}
}

func TestRoundTrip(t *testing.T) {
	var b bytes.Buffer
	want := promise()
	if err := want.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := reports.ReadLock(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Hash() != want.Hash() || len(got.Hash()) != 64 {
		t.Errorf("hash %s, want %s", got.Hash(), want.Hash())
	}
}

// Whatever is changed in a lock, its hash is another.
func TestHash(t *testing.T) {
	was := promise().Hash()
	for name, change := range changes() {
		l := promise()
		change(&l)
		if l.Hash() == was {
			t.Errorf("%s: the hash is the same", name)
		}
	}
}

// changes are what may be done to a lock, by the difference that it makes.
func changes() map[string]func(l *reports.Lock) {
	return map[string]func(l *reports.Lock){
		"dataset hash differs": func(l *reports.Lock) { l.Dataset.Hash = "other" },
		"judge hash differs":   func(l *reports.Lock) { l.Judges[1].Hash = "other" },
		"judge hash differs; model differs; reading differs": func(l *reports.Lock) {
			l.Judges[0] = reports.LockedJudge{Name: "universal", Hash: "other", Model: "openai:gpt-4o", Reading: "strict"}
		},
		"judge differs":     func(l *reports.Lock) { l.Judges[1] = reports.LockedJudge{Name: "exact", Hash: "other"} },
		"trials differ":     func(l *reports.Lock) { l.Trials = 3 },
		"exclusions differ": func(l *reports.Lock) { l.Exclude = nil },
		"errata differs":    func(l *reports.Lock) { l.Errata = "list" },
		"gates differ":      func(l *reports.Lock) { l.Gates = append(l.Gates, "unjudged <= 1%") },
		"share of unjudged items that is allowed differs": func(l *reports.Lock) { l.MaxUnjudged = 0.05 },
	}
}

func words(list []reports.LockDifference) string {
	var parts []string
	for _, d := range list {
		parts = append(parts, d.String())
	}
	return strings.Join(parts, "; ")
}

func TestAgainst(t *testing.T) {
	for want, change := range changes() {
		now := promise()
		change(&now)
		if got := words(promise().Against(now)); got != want {
			t.Errorf("Against = %q, want %q", got, want)
		}
	}
}

// What a promise does not cover is not a difference.
func TestKept(t *testing.T) {
	for name, change := range map[string]func(l *reports.Lock){
		"nothing":           func(*reports.Lock) {},
		"time and version":  func(l *reports.Lock) { l.Created, l.Deem = time.Now(), "v2" },
		"names of files":    func(l *reports.Lock) { l.Dataset.Names = []string{"b.jsonl"} },
		"order":             func(l *reports.Lock) { l.Exclude = []string{"category=a", "category=b"} },
		"one of the judges": func(l *reports.Lock) { l.Judges = l.Judges[1:] },
	} {
		now := promise()
		change(&now)
		if got := promise().Against(now); len(got) != 0 {
			t.Errorf("%s: Against = %q, want nothing", name, words(got))
		}
	}
}

func TestReadLockRefuses(t *testing.T) {
	var b bytes.Buffer
	if err := promise().Write(&b); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	replace := func(old, with string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the lock does not hold %q", old)
		}
		return strings.ReplaceAll(good, old, with)
	}
	for _, c := range []struct{ text, want string }{
		{"", "this is not a lock"},
		{"judge: universal", "this is not a lock"},
		{good[:len(good)/2], "this is not a lock"},
		{replace("deem.lock/1", "deem.lock/2"), `it says version "deem.lock/2"`},
		{replace(`"trials"`, `"tirals"`), "tirals"},
		{replace(strings.Repeat("9b", 32), ""), "no dataset hash"},
		{replace(strings.Repeat("4f", 32), ""), "no judge hash"},
		{replace(`"trials": 1`, `"trials": 0`), "0 trials"},
		{replace("0.01", "1.5"), "outside 0 to 1"},
		{strings.Repeat(" ", 2<<20), "larger than"},
	} {
		if _, err := reports.ReadLock(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Read(%.40q) = %v, want %q", c.text, err, c.want)
		}
	}
}

func FuzzReadLock(f *testing.F) {
	var b bytes.Buffer
	if err := promise().Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := reports.ReadLock(bytes.NewReader(data))
		if err != nil {
			return
		}
		if got := l.Against(l); len(got) != 0 {
			t.Errorf("a lock differs from itself: %q", words(got))
		}
		if len(l.Hash()) != 64 {
			t.Errorf("hash %q", l.Hash())
		}
	})
}
