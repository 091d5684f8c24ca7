package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"deem/internal/test/faultserver"
)

// A lane is the items of one run and their vendor. The name of the lane is in every
// response, so that each run has its own vendor, with its own faults and counters, although
// all of them share one address.
type lane struct {
	name string
	n    int // items
	asks int // calls per item
	srv  *faultserver.Server

	kills int // of processes that judged it
	slack int // requests that each kill may cost
}

// The markers around the name of a lane in a response.
const (
	markFrom = "(lane "
	markTo   = ")"
)

// words are the words in responses, for searches.
var words = strings.Fields("amber birch cedar delta ember frost grove heath inlet jetty knoll larch maple north ocean plaza quartz ridge stone tulip")

// An item is one line of a dataset.
type item struct {
	ID         string   `json:"id"`
	Category   string   `json:"category"`
	Question   string   `json:"question"`
	References []string `json:"references"`
	Response   string   `json:"response"`
}

func itemID(i int) string { return fmt.Sprintf("q%d", i) }

// items returns the items of a lane.
func (l *lane) items() []item {
	list := make([]item, l.n)
	for i := range list {
		list[i] = item{
			ID: itemID(i), Category: fmt.Sprintf("c%d", i%5), References: []string{fmt.Sprint(i)},
			Question: "Which number is it?",
			Response: fmt.Sprintf("It is %d, between %s and %s %s%s%s.", i-i%3, words[i%len(words)], words[i*7%len(words)], markFrom, l.name, markTo),
		}
	}
	return list
}

// lines returns the items as lines of JSON.
func (l *lane) lines() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, it := range l.items() {
		if err := enc.Encode(it); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// asked returns the number of requests to the vendor of a lane.
func (l *lane) asked() int { return l.srv.Stats().Requests }

// shares are the usual shares of faults. The share of refusals is low because they come in
// bursts: everyone who calls the same model waits then.
var shares = map[faultserver.Fault]float64{
	faultserver.Busy: 0.002, faultserver.Unavailable: 0.05, faultserver.Reset: 0.03, faultserver.Slow: 0.02,
	faultserver.Malformed: 0.02, faultserver.Truncated: 0.02, faultserver.WrongType: 0.02, faultserver.NoChoices: 0.02,
	faultserver.Filtered: 0.01, faultserver.CutShort: 0.01,
}

// badly draws how a vendor misbehaves: some faults hardly ever, some twice as often as
// usual; some vendors are occasionally full, and some periodically refuse all requests for
// a second.
func badly(rng *rand.Rand) faultserver.Options {
	o := faultserver.Options{
		Seed: rng.Uint64(), Latency: time.Duration(5+rng.IntN(20)) * time.Millisecond, Jitter: 30 * time.Millisecond,
		Drip: time.Duration(200+rng.IntN(800)) * time.Millisecond, Faults: map[faultserver.Fault]float64{},
	}
	for _, f := range faultserver.Faults() { // In a fixed order, so that the seed determines the result.
		o.Faults[f] = shares[f] * 2 * rng.Float64()
	}
	switch rng.IntN(6) {
	case 0:
		o.Slots = 4 + rng.IntN(4)
	case 1:
		o.Storm = faultserver.Storm{Every: time.Duration(12+rng.IntN(8)) * time.Second, For: time.Second}
	}
	return o
}

// calm removes refusals for too many calls.
func calm(o faultserver.Options) faultserver.Options {
	o.Slots, o.Storm, o.Faults[faultserver.Busy] = 0, faultserver.Storm{}, 0
	return o
}

// A vendor dispatches requests to their lanes.
type vendor struct {
	url string
	srv *httptest.Server

	mu     sync.Mutex
	lanes  map[string]*lane
	strays []string // requests of no lane, or of one that was done
	stray  func()   // is called with the first of them
}

func newVendor(t *testing.T) *vendor {
	t.Helper()
	v := &vendor{lanes: map[string]*lane{}, stray: func() {}}
	v.srv = httptest.NewServer(v)
	v.url = v.srv.URL + "/v1"
	t.Cleanup(v.srv.Close)
	return v
}

// open creates the vendor of a lane.
func (v *vendor) open(l *lane, o faultserver.Options) *lane {
	l.srv = faultserver.New(o)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lanes[l.name] = l
	return l
}

// begin sets the function that is called for a request without a lane.
func (v *vendor) begin(stray func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stray = stray
}

// close ends the vendors of all lanes, and returns them with the stray requests.
func (v *vendor) close() (lanes []*lane, strays []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, l := range v.lanes {
		_ = l.srv.Close() // It has no listener.
		lanes = append(lanes, l)
	}
	strays, v.strays = v.strays, nil
	clear(v.lanes)
	return lanes, strays
}

// ServeHTTP finds the lane of a request and lets it answer.
func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The caller has gone.
	}
	_, rest, _ := bytes.Cut(body, []byte(markFrom))
	name, _, _ := bytes.Cut(rest, []byte(markTo))
	v.mu.Lock()
	l := v.lanes[string(name)]
	if l == nil && len(v.strays) < 10 {
		v.strays = append(v.strays, fmt.Sprintf("%s %s of lane %q", r.Method, r.URL.Path, name))
		v.stray()
	}
	v.mu.Unlock()
	if l == nil {
		http.Error(w, "whose request is this?", http.StatusInternalServerError)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	l.srv.ServeHTTP(w, r)
}
