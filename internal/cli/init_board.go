package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"embed"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"deem"
	"deem/bundle"
	"deem/internal/board"
	"deem/internal/catalog"
	"deem/internal/reader"
	"deem/internal/reports"
	"deem/internal/usage"
	"deem/judge"
	"deem/judge/answer"
	"deem/judge/match"
	"deem/model/fake"
	"deem/report"
)

// The files of an example board that are not computed.
//
//go:embed board
var boardFiles embed.FS

// exampleOrigin is the name of the log of an example board.
const exampleOrigin = "example.org/board"

// exampleKey signs the example board. Everybody knows it; the example says so.
var exampleKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{42}, ed25519.SeedSize))

// exampleTime is when the runs of an example board were made up.
var exampleTime = time.Date(2026, time.November, 16, 9, 0, 0, 0, time.UTC)

// An exampleSystem is a made-up system: the share of questions that it answers rightly.
type exampleSystem struct {
	name  string
	right float64
	twin  string // whose answers it gives to most questions
	arm   string // of a floor or ceiling
}

var exampleSystems = []exampleSystem{
	{name: "Amber", right: 0.93},
	{name: "Birch", right: 0.84},
	{name: "Cedar", right: 0.70},
	{name: "Dune", right: 0.70, twin: "Cedar"},
	{name: "Ember", right: 0.62},
	{name: "Fjord", right: 0.52},
	{name: "Grove", right: 0.41},
	{name: "Heath", right: 0.30},
}

var exampleLines = []exampleSystem{{name: "arm none", arm: reader.ArmNone}, {name: "arm oracle", right: 1, arm: reader.ArmOracle}}

// An exampleLane is a lane of the example with the systems in it.
type exampleLane struct {
	key    string
	tokens int // budget of the reader; 0 means that systems answer themselves
	runs   []exampleSystem

	Questions, Judge, Reader string // as the template of board.yaml needs them
}

// initBoard writes an example board into a folder that must not exist.
func (a *app) initBoard(ctx context.Context, dir string) error {
	if catalog.FileExists(dir) {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s is there already", dir), "name another folder: deem init board other"))
	}
	lanes := []*exampleLane{
		{key: "own", runs: exampleSystems},
		{key: "read2000", tokens: 2000, runs: slices.Concat(exampleSystems[:6], exampleLines)},
		{key: "read40", tokens: 40, runs: slices.Concat(exampleSystems[:5], exampleLines)},
	}
	if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o755); err != nil { //nolint:gosec // A board is public.
		return err
	}
	for _, l := range lanes {
		if err := l.write(ctx, dir); err != nil {
			return err
		}
	}
	if err := writeBoardFiles(dir, lanes); err != nil {
		return err
	}
	b, err := board.Open(dir)
	if err != nil {
		return err
	}
	said, err := b.Append(ctx, exampleKey, nil, "")
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"written": dir, "entries": len(said)})
	}
	a.say("wrote %s with %d entries; next: deem board check %s", dir, len(said), dir)
	return nil
}

// writeBoardFiles writes board.yaml, the key, the page for submitters and the CI file.
func writeBoardFiles(dir string, lanes []*exampleLane) error {
	key, err := board.VerifierKey(exampleOrigin, exampleKey.Public().(ed25519.PublicKey))
	if err != nil {
		return err
	}
	text, err := template.ParseFS(boardFiles, "board/board.yaml.tmpl")
	if err != nil {
		return err
	}
	var config bytes.Buffer
	if err := text.Execute(&config, map[string]any{"Key": key, "Origin": exampleOrigin, "Lanes": lanes}); err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(exampleKey)
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"board.yaml":  config.Bytes(),
		"example.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}
	files["questions.jsonl"], err = exampleQuestions()
	if err != nil {
		return err
	}
	for from, to := range map[string]string{"SUBMIT.md": "SUBMIT.md", "check.yml": ".github/workflows/check.yml"} {
		if files[to], err = boardFiles.ReadFile("board/" + from); err != nil {
			return err
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // A board is public.
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // The key is public, too.
			return err
		}
	}
	return nil
}

// The made-up people and what is asked about them.
var (
	examplePeople = []string{
		"Ada", "Bo", "Cleo", "Dario", "Edda", "Finn", "Gita", "Hugo", "Ines", "Jona", "Kaya", "Luca",
		"Mara", "Nils", "Olga", "Pavel", "Quin", "Rosa", "Sven", "Tara", "Umar", "Vera", "Wim", "Yara",
	}
	exampleFacts = []struct {
		name   string
		values []string
	}{
		{"city", []string{"Porto", "Bergen", "Graz", "Lyon"}},
		{"dog", []string{"Pico", "Luna", "Rex", "Bella"}},
		{"drink", []string{"tea", "coffee", "cocoa", "water"}},
		{"job", []string{"nurse", "baker", "pilot", "teacher"}},
		{"instrument", []string{"piano", "violin", "flute", "drums"}},
		{"sport", []string{"rowing", "tennis", "judo", "chess"}},
		{"colour", []string{"green", "purple", "orange", "black"}},
		{"season", []string{"spring", "summer", "autumn", "winter"}},
	}
)

// share returns a number from 0 to 1 that depends on the words only.
func share(words ...string) float64 {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return float64(uint16(sum[0])<<8|uint16(sum[1])) / (1 << 16)
}

// items returns what a system did: answers, or contexts for the reader.
func (l *exampleLane) items(s exampleSystem) []deem.Item {
	var list []deem.Item
	for p, person := range examplePeople {
		for _, fact := range exampleFacts {
			right := int(share(person, fact.name) * 4)
			id := fmt.Sprintf("%s-%s", strings.ToLower(person), fact.name)
			it := deem.Item{
				ID: id, Category: fact.name, Cluster: fmt.Sprintf("conversation %02d", p+1),
				Question: fmt.Sprintf("What is the %s of %s?", fact.name, person), References: []string{fact.values[right]},
				Fields: map[string]string{deem.FieldTokensIn: strconv.Itoa(300 + int(900*share(s.name, id, "tokens"))), deem.FieldLatency: strconv.Itoa(80 + int(700*share(s.name, id, "time")))},
			}
			value := fact.values[right]
			if !s.knows(id) {
				value = fact.values[(right+1)%4]
			}
			if l.tokens == 0 {
				it.Response = fmt.Sprintf("The %s of %s is %s.", fact.name, person, value)
			} else {
				it.Fields[reader.FieldContexts] = exampleContexts(s, person, fact.name, value)
			}
			list = append(list, it)
		}
	}
	return list
}

// exampleQuestions returns the questions as JSON lines, for users who want to answer them.
func exampleQuestions() ([]byte, error) {
	var out bytes.Buffer
	for _, it := range (&exampleLane{}).items(exampleSystem{}) {
		line, err := deem.Canonical(map[string]any{"id": it.ID, "category": it.Category, "cluster": it.Cluster, "question": it.Question, "references": it.References})
		if err != nil {
			return nil, err
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes(), nil
}

// knows reports whether a system answers a question rightly.
func (s exampleSystem) knows(id string) bool {
	if s.twin != "" && share(s.name, id, "own") < 0.9 {
		return share(s.twin, id) < s.right
	}
	return share(s.name, id) < s.right
}

// exampleContexts returns what a system retrieved: the fact at some rank among other notes.
func exampleContexts(s exampleSystem, person, fact, value string) string {
	var list []reader.Context
	if s.arm != reader.ArmNone {
		note := reader.Context{Text: fmt.Sprintf("%s: %s = %s", person, fact, value)}
		others := int(12 * share(s.name, person, fact, "rank"))
		for i := range others {
			list = append(list, reader.Context{Text: fmt.Sprintf("%s spoke about the weather on day %d.", person, i+1)})
		}
		if s.arm == reader.ArmOracle {
			list = nil
		}
		list = append(list, note)
	}
	text, err := reader.EncodeContexts(list)
	if err != nil {
		panic("contexts of texts have no JSON: " + err.Error())
	}
	return text
}

var exampleAsked = regexp.MustCompile(`What is the (\w+) of (\w+)\?`)

// exampleReader answers with the note about the fact that is asked, if the prompt has it.
func exampleReader(_ context.Context, req deem.Request) (deem.Reply, error) {
	var prompt strings.Builder
	for _, m := range req.Messages {
		prompt.WriteString(m.Content + "\n")
	}
	text := "I do not know."
	if asked := exampleAsked.FindStringSubmatch(prompt.String()); asked != nil {
		if _, rest, ok := strings.Cut(prompt.String(), asked[2]+": "+asked[1]+" = "); ok {
			text = strings.FieldsFunc(rest, func(r rune) bool { return r == '\n' || r == ' ' || r == '<' || r == '"' })[0]
		}
	}
	return deem.Reply{Text: text, Stop: deem.StopEnd, Attempts: 1, Usage: deem.Usage{Input: reader.Tokens(prompt.String()), Output: reader.Tokens(text)}, Key: req.Hash()}, nil
}

// judge returns the judge of a lane, which includes its reader.
func (l *exampleLane) judge() (deem.Judge, error) {
	if l.tokens == 0 {
		return match.New(), nil
	}
	by, err := reader.Open(reader.Default)
	if err != nil {
		return nil, err
	}
	by.Contexts.Tokens = l.tokens
	return answer.New(judge.New(by.Protocol(), fake.Func("fake:reader", exampleReader)), match.New()), nil
}

// reader describes the reader of a lane and what it shows for the items, nil without one.
func (l *exampleLane) reader(j deem.Judge, items []deem.Item, arm string) (*report.Reader, error) {
	if l.tokens == 0 {
		return nil, nil
	}
	meter, err := reports.NewReaderMeter(judge.SpecOf(j))
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		meter.Add(it)
	}
	by := meter.Reader()
	by.Arm = arm
	return by, nil
}

// write writes the run files of a lane.
func (l *exampleLane) write(ctx context.Context, dir string) error {
	j, err := l.judge()
	if err != nil {
		return err
	}
	for n, s := range l.runs {
		src, err := l.source(ctx, j, s, n)
		if err != nil {
			return err
		}
		var file bytes.Buffer
		if _, err := bundle.Write(&file, src); err != nil {
			return err
		}
		name := l.key + "-" + strings.ReplaceAll(strings.ToLower(s.name), " ", "-") + ".deem"
		if l.Questions == "" {
			c, err := board.Identify(ctx, file.Bytes())
			if err != nil {
				return err
			}
			l.Questions, l.Judge, l.Reader = c.Questions, c.Judge, c.Reader
		}
		if err := os.WriteFile(filepath.Join(dir, "runs", name), file.Bytes(), 0o644); err != nil { //nolint:gosec // A board is public.
			return err
		}
	}
	return nil
}

// source judges the items of a system.
func (l *exampleLane) source(ctx context.Context, j deem.Judge, s exampleSystem, n int) (bundle.Source, error) {
	items := l.items(s)
	var recs []deem.Record
	for rec, err := range deem.Run(ctx, sequence(items), j, deem.Options{Concurrency: 1}) {
		if err != nil {
			return bundle.Source{}, err
		}
		for i := range rec.Calls {
			rec.Calls[i].Started = exampleTime
			if r := rec.Calls[i].Reply; r != nil {
				r.Latency = 0
			}
		}
		recs = append(recs, rec)
	}
	slices.SortFunc(recs, func(x, y deem.Record) int { return cmp.Compare(x.Position, y.Position) })
	by, err := l.reader(j, items, s.arm)
	if err != nil {
		return bundle.Source{}, err
	}
	settings, err := json.Marshal(reports.Settings{System: s.name, Concurrency: 1, Reader: by})
	if err != nil {
		return bundle.Source{}, err
	}
	dataset, err := deem.DatasetHash(sequence(items))
	if err != nil {
		return bundle.Source{}, err
	}
	identity, err := deem.Canonical(judge.SpecOf(j))
	if err != nil {
		return bundle.Source{}, err
	}
	src := bundle.Source{
		Run: bundle.Run{
			ID: fmt.Sprintf("20261116-%06x", sha256.Sum256([]byte(l.key+s.name)))[:15], Created: exampleTime.Add(time.Duration(n) * time.Minute), Updated: exampleTime.Add(time.Duration(n+1) * time.Minute),
			State: "done", Trials: 1, Records: len(recs), Settings: settings,
			Dataset: bundle.Dataset{Hash: dataset, Items: len(items), Names: []string{"made-up questions"}},
		},
		Judge: bundle.Judge{Name: j.Name(), Identity: identity, Rule: by == nil}, Software: "deem example", Records: sequence(recs), Redact: s.name == "Heath",
	}
	if by != nil {
		src.Run.Model = by.Model
	}
	if src.Judge.Hash, err = deem.JudgeHash(j); err != nil {
		return src, err
	}
	for _, rec := range recs {
		if rec.Verdict == nil {
			src.Run.Unjudged++
		}
	}
	src.Numbers, err = reports.NewReporter(ctx, reports.RunOfFile(src.Run, src.Judge), reports.Options{MaxUnjudged: report.DefaultMaxUnjudged})
	return src, err
}

// sequence yields the values of a list.
func sequence[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}
