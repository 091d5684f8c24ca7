package beam

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
)

// write writes files into a temporary folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	asked    = `{"abstention": [{"question": "q0", "rubric": ["a"]}, {"question": "q1", "rubric": ["b", "c"], "ideal_response": "i"}]}`
	answered = `{"abstention": [{"question": "q0", "llm_response": "r0"}, {"question": "q1", "llm_response": ""}]}`
	row      = `{"size": "1M", "chat": 7, "ability": "summarization", "index": 1, "question": "q", "rubric": ["a"], "llm_response": "r"}`
)

func TestOpen(t *testing.T) {
	dir := write(t, map[string]string{
		"chats/1M/10/probing_questions/probing_questions.json": asked, "chats/1M/10/chat.json": `[]`,
		"chats/1M/2/probing_questions/probing_questions.json": asked,
		"out/1M/10/x.json": answered, "out/1M/2/x.json": `{"abstention": [{"llm_response": "r"}]}`,
		"lone.json": answered, "rows.jsonl": row,
	})
	for _, tt := range []struct {
		data, responses string
		want            string
	}{
		{"chats", "out", "1M/2/abstention/0 1M/10/abstention/0 1M/10/abstention/1"},
		{"chats/1M/10/probing_questions/probing_questions.json", "lone.json", "1M/10/abstention/0 1M/10/abstention/1"},
		{"rows.jsonl", "", "1M/7/summarization/1"},
	} {
		o := Options{Data: []string{filepath.Join(dir, tt.data)}}
		if tt.responses != "" {
			o.Responses = []string{filepath.Join(dir, tt.responses)}
		}
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for it := range s.Items() {
			ids = append(ids, it.ID)
			if it.Fields[fieldSize] != "1M" || !strings.HasPrefix(it.ID, it.Cluster+"/"+it.Category) {
				t.Errorf("%+v", it)
			}
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.data, got, tt.want)
		}
	}
	if _, err := Open(t.Context(), Options{Data: []string{filepath.Join(dir, "chats")}, Responses: []string{filepath.Join(dir, "out")}, RequireAll: true}); err == nil ||
		!strings.Contains(err.Error(), "1M/2/abstention/1 has no response") {
		t.Errorf("a response is missing: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for want, files := range map[string][2]string{
		"has no rubric":                   {`{"abstention": [{"question": "q"}]}`, answered},
		"has no text":                     {`{"abstention": [{"rubric": ["a"]}]}`, answered},
		`did you mean abstention?`:        {`{"abstention": [], "abstentions": []}`, answered},
		"is another one here":             {asked, `{"abstention": [{"question": "x", "llm_response": "r"}]}`},
		"has no llm_response":             {asked, `{"abstention": [{"question": "q0"}]}`},
		"there is no question":            {asked, `{"summarization": [{"llm_response": "r"}]}`},
		"has no index":                    {`{"chat": 1, "ability": "abstention", "question": "q", "rubric": ["a"]}`, answered},
		"no question has a response":      {asked, `{"abstention": []}`},
		"was given before":                {strings.Repeat(row+"\n", 2), answered},
		"abstention is not a list of obj": {`{"abstention": 1}`, answered},
	} {
		dir := write(t, map[string]string{"data.json": files[0], "out.json": files[1]})
		_, err := Open(t.Context(), Options{Data: []string{filepath.Join(dir, "data.json")}, Responses: []string{filepath.Join(dir, "out.json")}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ".json") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestReadings reads the same replies under all readings of the embedded judges.
func TestReadings(t *testing.T) {
	for reply, want := range map[string]map[string]any{
		`{"score": 0.7, "reason": "x"}`:     {Mem0Name: 0.5, OmniName: 0.5, Float: 0.7, Fixed: deem.OutOfRange},
		`{"reason": "x"}`:                   {Mem0Name: 0.0, OmniName: deem.Unparseable, Float: deem.Unparseable, Fixed: deem.Unparseable},
		`{"score": "high"}`:                 {Mem0Name: 0.0, OmniName: deem.Unparseable, Float: deem.Unparseable, Fixed: deem.Unparseable},
		`{"final": {"score": 1}}`:           {Mem0Name: 1.0, OmniName: 1.0, Float: deem.Unparseable, Fixed: deem.Unparseable},
		`{"final": "{\"score\": 1}"}`:       {Mem0Name: 1.0},
		"```json\n{\"score\": 0.5}\n```":    {Mem0Name: deem.Unparseable, OmniName: 0.5, Float: 0.5, Fixed: 0.5},
		`{"score": 3}`:                      {Mem0Name: 1.0, OmniName: 1.0, Float: deem.OutOfRange, Fixed: deem.OutOfRange},
		"I would say that it is half right": {Mem0Name: deem.Unparseable, OmniName: deem.Unparseable, Float: deem.Unparseable, Fixed: deem.Unparseable},
	} {
		for _, name := range []string{Mem0Name, OmniName} {
			for _, reading := range Readings() {
				key := reading
				if reading == Upstream {
					key = name
				}
				expected, ok := want[key]
				if !ok {
					continue
				}
				p, err := Protocol(name, Options{Reading: reading})
				if err != nil {
					t.Fatal(err)
				}
				v, err := p.Read(deem.Item{}, deem.Reply{Text: reply})
				got := any(v.Score)
				if f, failed := errors.AsType[*deem.Failure](err); failed {
					got = f.Kind
				}
				if got != expected {
					t.Errorf("%s, %s, %s: %v, want %v", name, reading, reply, got, expected)
				}
			}
		}
	}
	if _, err := Protocol(Mem0Name, Options{Reading: "strict"}); err == nil {
		t.Error("there is no reading strict")
	}
}

func TestPositions(t *testing.T) {
	for reply, want := range map[string]float64{
		`{"positions": [{"position": 1}, {"position": 2}, {"position": 3}]}`:                  1,
		"Here:\n" + `{"positions": [{"position": 3}, {"position": 2}, {"position": 1}]}`:      0,
		`{"positions": [{"position": 1}, {"position": 3}, {"position": 2}]}`:                  2.0 / 3,
		`{"positions": [{"position": 1}, {"position": 2}, {"position": -1}]}`:                 2.0 / 3,
		`{"positions": [{"position": 1}]}`:                                                    1.0 / 6,
		`{"positions": [{"event": "a"}, {"event": "b"}]}`:                                     0,
		`{"positions": [{"position": 2}, {"position": 2}]}`:                                   1.0 / 3,
		`{"positions": [{"position": 1}, {"position": 2}, {"position": 3}, {"position": 4}]}`: 1,
		`{"positions": [{"position": "1"}]}`:                                                  -1,
		`{"positions": [1, 2, 3]}`:                                                            -1,
		"none of them":                                                                        -1,
	} {
		v, err := readPositions(reply, 3)
		if want < 0 {
			if _, failed := errors.AsType[*deem.Failure](err); !failed {
				t.Errorf("%s: %+v, %v", reply, v, err)
			}
			continue
		}
		if err != nil || v.Score < want-1e-12 || v.Score > want+1e-12 {
			t.Errorf("%s: %v, %v, want %v", reply, v.Score, err, want)
		}
	}
}

func TestFixedOrder(t *testing.T) {
	rubric := []string{"a", "b", "c"}
	for _, tt := range []struct {
		lines []string
		want  float64
	}{
		{rubric, 1},
		{nil, 0},
		{[]string{"I do not know"}, 0},
		{[]string{"c", "b", "a"}, 0},
		{[]string{"a", "x", "b", "c"}, 6.0 / 7}, // An invented event lowers precision.
	} {
		if got := fixedOrder(rubric, tt.lines).final; got < tt.want-1e-12 || got > tt.want+1e-12 {
			t.Errorf("%q: %v, want %v", tt.lines, got, tt.want)
		}
	}
	if got := fixedOrder([]string{"a"}, []string{"a"}).final; got != 1 {
		t.Errorf("one event, named: %v", got)
	}
	for line, want := range map[string]bool{"": false, "  ": false, "In this order:": false, "**Order:**": false, "1. The hull": true} {
		if isEvent(line) != want {
			t.Errorf("%q is an event: %v", line, !want)
		}
	}
}

// TestResults writes upstream's file, with the scores as the model stated them.
func TestResults(t *testing.T) {
	half, one := 0.0, 1.0
	v := deem.Verdict{
		Label: "scored", Score: 0.9, Aspects: map[string]float64{"precision": 1, "recall": 1, "f1": 1, "tau_norm": 0.9, "final_score": 0.9, "llm_judge_score": 0.5},
		Parts: []deem.Part{{Name: "a", Label: "0.5", Score: &half, Reason: "x"}, {Name: "b", Label: "1.0", Score: &one}},
	}
	recs := []deem.Record{
		{Item: deem.Item{Category: EventOrdering, Cluster: "1M/1"}, Verdict: &v},
		{Item: deem.Item{Category: "abstention", Cluster: "1M/1"}, Failure: deem.Failf(deem.Timeout, "")},
	}
	var out bytes.Buffer
	left, err := WriteResults(&out, func(yield func(deem.Record, error) bool) {
		for _, rec := range recs {
			if !yield(rec, nil) {
				return
			}
		}
	})
	if err != nil || left != 1 {
		t.Fatal(left, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, out.Bytes()); err != nil {
		t.Fatal(err)
	}
	const want = `{"event_ordering":[{"precision":1,"recall":1,"f1":1,"tau_norm":0.9,"final_score":0.9,"llm_judge_score":0.5,` +
		`"llm_judge_responses":[{"score":0.5,"reason":"x"},{"score":1.0,"reason":""}]}]}`
	if compact.String() != want {
		t.Errorf("%s\nwant\n%s", compact.String(), want)
	}
}

// TestMetricsByChat checks upstream's score, the mean over chats, separately from the mean
// over questions.
func TestMetricsByChat(t *testing.T) {
	m := NewMetrics()
	for i, score := range []float64{1, 1, 0} {
		chat := []string{"1M/1", "1M/1", "1M/2"}[i]
		m.Add(deem.Record{Item: deem.Item{Category: "abstention", Cluster: chat, Fields: map[string]string{fieldSize: "1M"}}, Judge: UpstreamName, Verdict: &deem.Verdict{Label: "scored", Score: score}})
	}
	m.Add(deem.Record{Item: deem.Item{Category: "summarization", Cluster: "1M/2"}, Failure: deem.Failf(deem.Timeout, "")})
	lines := m.lines(m.abilities, Abilities())
	i := slices.IndexFunc(lines, func(l Line) bool { return l.Name == "abstention" })
	if l := lines[i]; *l.Published != 0.5 || l.Estimate.Value < 0.66 || l.Estimate.Value > 0.67 {
		t.Errorf("%+v: published %v", l, *l.Published)
	}
	if l := lines[len(lines)-1]; l.Name != "summarization" || l.Published != nil || l.Unjudged != 1 {
		t.Errorf("%+v", l)
	}
}
