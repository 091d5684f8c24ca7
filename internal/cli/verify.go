package cli

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/benchmark"
	"deem/bundle"
	"deem/internal/findings"
	"deem/internal/store"
	"deem/internal/store/bundled"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
	"deem/judge/cascade"
	"deem/judge/compose"
	"deem/judge/pairwise"
	"deem/judge/panel"
	"deem/judge/rule"
	"deem/report"
)

const verifyHelp = `Check a run file that "deem export RUN -o run.deem" wrote, without a network, a
database or the dataset: that its bytes are whole and its chain of hashes is; that
every prompt rendered again is the one that was sent; that every reply read again
gives the verdict in its record, and every rule the same verdict as before; that
panels, cascades, repeated and pairwise judges come to the same with what their
members said; and that every number in its manifest comes out again. One line is
printed for each finding, with the record that it concerns.

That a file is consistent does not say who made it. With --signer the file must be
signed with the private key that belongs to the public key named there.

In a redacted file texts are replaced by their hashes. Then prompts and replies cannot
be checked, which is said; all else is.

EXIT STATUS
  0 nothing is wrong   1 something is, or the file could not be read   2 wrong usage`

func (a *app) verifyCommand() *cobra.Command {
	var signer string
	cmd := &cobra.Command{
		Use: "verify FILE... [flags]", Short: "check a run file", Long: verifyHelp,
		Example:     "  deem verify run.deem\n  deem verify run.deem --signer lab.pub",
		Annotations: map[string]string{noConfig: "yes"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.Mark(deem.WithHint(fmt.Errorf("deem verify wants a run file"), "deem export last -o run.deem writes one"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := readSigner(signer)
			if err != nil {
				return err
			}
			return a.verifyAll(cmd.Context(), args, key)
		},
	}
	cmd.Flags().StringVar(&signer, "signer", "", "the file must be signed with the key whose public part is in this `file`")
	return cmd
}

// readSigner reads a public key; nil when none is named.
func readSigner(name string) (ed25519.PublicKey, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, usage.Mark(err)
	}
	key, err := bundle.ParsePublicKey(text)
	if err != nil {
		return nil, usage.Mark(deem.WithHint(fmt.Errorf("%s: %w", name, err), "%s", deem.HintOf(err)))
	}
	return key, nil
}

// verifyAll checks files, all of them, and fails if one has a finding.
func (a *app) verifyAll(ctx context.Context, names []string, signer ed25519.PublicKey) error {
	var all []checkedFile
	findings := 0
	for _, name := range names {
		v, err := a.verify(ctx, name, signer)
		if err != nil {
			return err
		}
		findings += v.Total
		all = append(all, v)
	}
	if a.json {
		writeJSON(a.out, all)
	}
	if findings > 0 {
		return fmt.Errorf("%s in %s", words.Count(findings, "finding"), words.Count(len(names), "file"))
	}
	return nil
}

// A checkedFile is what came of checking it.
type checkedFile struct {
	File string `json:"file"`
	OK   bool   `json:"ok"`
	*bundle.Verification
}

// verify checks a file and prints what it found.
func (a *app) verify(ctx context.Context, name string, signer ed25519.PublicKey) (checkedFile, error) {
	from, err := a.openFile(name)
	if err != nil {
		return checkedFile{}, usage.Mark(err)
	}
	defer func() { _ = from.Close() }()
	shown := 0
	out, err := bundle.Verify(ctx, from, bundle.VerifyOptions{
		Restore: againOf,
		Numbers: func(r bundle.Run, j bundle.Judge, redacted bool) (bundle.Counter, error) {
			return countAgain(ctx, r, j, redacted)
		},
		Signer:   signer,
		Software: software(),
		Found: func(f bundle.Finding) {
			if shown++; shown <= maxShown && !a.json {
				fmt.Fprintf(a.out, "%s: %s\n", words.Printable(name), words.Printable(f.String()))
			}
		},
	})
	if err != nil {
		return checkedFile{}, fmt.Errorf("%s: %w", name, err)
	}
	v := checkedFile{name, out.OK(), out}
	if !a.json {
		v.text(a.out, signer)
	}
	return v, nil
}

// maxShown is how many findings are printed. Whoever has more of them has one problem
// many times.
const maxShown = 100

// openFile opens a file, or standard input for "-".
func (a *app) openFile(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.in), nil
	}
	return os.Open(name)
}

// againOf makes the judge of a run file again, as far as it needs neither a model nor
// any other file.
func againOf(r bundle.Run, j bundle.Judge) (bundle.Again, error) {
	run := bundled.RunOf(r, j)
	if findings.IsRecorded(run) {
		return bundle.Again{Note: j.Name + " was recorded by others, and deem asked nobody"}, nil
	}
	if id, ok := findings.Composed(run); ok {
		return composedAgain(run, id)
	}
	if !j.Rule {
		p, err := findings.Protocol(run)
		if err != nil {
			return bundle.Again{}, err
		}
		return bundle.Again{Protocol: p}, nil
	}
	if !knownRule(j.Name) {
		return bundle.Again{Note: j.Name + " judges by a file of its own"}, nil
	}
	_, set, err := findings.Benchmark(run)
	if err != nil {
		return bundle.Again{}, err
	}
	again := ruleOf(run, set)
	if again == nil {
		return bundle.Again{Note: fmt.Sprintf("this deem cannot make the rule %s (%s) without further data, or has another version of it", j.Name, deem.ShortHash(j.Hash))}, nil
	}
	return bundle.Again{Rule: again}, nil
}

// knownRule reports whether a name is that of a rule, or of several. What a file says
// must not make us open others.
func knownRule(name string) bool {
	for _, part := range together(name) {
		if _, ok := benchmark.OfJudge(part); !ok && !slices.Contains(rule.Names(), part) {
			return false
		}
	}
	return true
}

// composedAgain makes a judge again that is made of others.
func composedAgain(run store.Run, id findings.ComposedIdentity) (bundle.Again, error) {
	_, set, err := findings.Benchmark(run)
	if err != nil {
		return bundle.Again{}, err
	}
	var recordings bundle.Recordings
	taken := &takenMembers{}
	r := &restorer{
		set: set, careful: func(j deem.Judge) deem.Judge { return bundle.Careful(j) }, instead: taken.take,
		model: func(name, settings string) (deem.Model, error) { return recordings.Model(name, settings), nil },
	}
	j, err := r.restore(run.Judge.Identity, 0)
	if err != nil {
		return bundle.Again{}, fmt.Errorf("%s is a %s, and %w", run.Judge.Name, id.Kind, err)
	}
	hash, err := deem.JudgeHash(j)
	if err != nil {
		return bundle.Again{}, err
	}
	if hash != run.Judge.Hash {
		return bundle.Again{Note: fmt.Sprintf("this deem makes another judge of what the file says of %s", run.Judge.Name)}, nil
	}
	again := bundle.Again{Judge: j, Partly: len(taken.names) > 0, Unchecked: taken.models}
	if again.Partly {
		again.Note = fmt.Sprintf("%s cannot be asked without further data; what a record says of it is taken as it stands", strings.Join(taken.names, ", "))
	}
	return again, nil
}

// takenMembers are members that could not be made again, and whose votes are taken from
// the record.
type takenMembers struct {
	names  []string
	models []string // that they asked
}

// take makes a judge that says what a record holds of a member that cannot be made.
func (t *takenMembers) take(id restorable, i int) deem.Judge {
	said := func(rec deem.Record) (deem.Verdict, error) { return decisionOf(rec, i+1) }
	list := id.Stages
	if id.Kind == compose.Panel {
		list = id.Members
		var names []string
		for _, m := range list {
			names = append(names, m.Name)
		}
		said = func(rec deem.Record) (deem.Verdict, error) { return voteOf(rec, names, i) }
	}
	m := list[i]
	t.names = append(t.names, m.Name)
	t.models = append(t.models, findings.ModelsIn(m.Judge)...)
	return bundle.Taken(m.Name, m.Judge, said)
}

// A restorer makes a judge out of its identity.
type restorer struct {
	set findings.Settings

	// model opens a model by its name and the settings that are part of the identity.
	model func(name, settings string) (deem.Model, error)

	// careful goes around every member; nil leaves them as they are.
	careful func(deem.Judge) deem.Judge

	// instead stands in for the i-th member or stage of a judge that cannot be made;
	// nil means that the whole judge cannot.
	instead func(id restorable, i int) deem.Judge
}

// member makes the i-th member or stage of a judge.
func (r *restorer) member(id restorable, i int, identity json.RawMessage, depth int) (deem.Judge, error) {
	j, err := r.restore(identity, depth+1)
	if err != nil && (depth > 0 || r.instead == nil) {
		return nil, err
	}
	if err != nil {
		j = r.instead(id, i)
	}
	return r.around(j), nil
}

// around returns the judge with care, where that is wanted.
func (r *restorer) around(j deem.Judge) deem.Judge {
	if r.careful == nil || j == cascade.People() { // at which a cascade looks
		return j
	}
	return r.careful(j)
}

// A restorable is what the identities of all judges have between them.
type restorable struct {
	Kind     string          `json:"kind"`
	Name     string          `json:"name"`
	Rule     string          `json:"rule"`
	Tie      string          `json:"tie"`
	Quorum   int             `json:"quorum"`
	Pass     float64         `json:"pass"`
	Judge    json.RawMessage `json:"judge"`
	Members  []member        `json:"members"`
	Stages   []member        `json:"stages"`
	Model    string          `json:"model"`
	Settings string          `json:"settings"`
}

// A member is the identity of one in a panel or a cascade.
type member struct {
	Name      string          `json:"name"`
	Weight    float64         `json:"weight"`
	Threshold *float64        `json:"threshold"`
	Judge     json.RawMessage `json:"judge"`
}

// restore makes the judge that an identity is of, depth judges deep.
func (r *restorer) restore(identity json.RawMessage, depth int) (deem.Judge, error) {
	var id restorable
	if json.Unmarshal(identity, &id.Name) != nil { // A judge without an identity is its name.
		if err := json.Unmarshal(identity, &id); err != nil {
			return nil, err
		}
	}
	if depth > maxNesting+1 { // --repeat is one more than a file may have
		return nil, fmt.Errorf("its judges are made of judges more than %d deep", maxNesting)
	}
	switch id.Kind {
	case compose.Panel:
		return r.panel(id, depth)
	case compose.Repeat:
		return r.repeat(id, depth)
	case compose.Cascade:
		return r.cascade(id, depth)
	case compose.Pairwise:
		j, err := r.restore(id.Judge, depth+1)
		if err != nil {
			return nil, err
		}
		return pairwise.New(id.Name, r.around(j)), nil
	case compose.People:
		return cascade.People(), nil
	case "model":
		return r.asking(id, identity)
	default:
		return r.rule(id, identity)
	}
}

func (r *restorer) panel(id restorable, depth int) (deem.Judge, error) {
	var members []panel.Member
	for i, m := range id.Members {
		j, err := r.member(id, i, m.Judge, depth)
		if err != nil {
			return nil, err
		}
		members = append(members, panel.Member{Name: m.Name, Judge: j, Weight: m.Weight})
	}
	return orNil(panel.New(members, r.options(id)))
}

func (r *restorer) options(id restorable) panel.Options {
	return panel.Options{Name: id.Name, Rule: panel.Rule(id.Rule), Tie: panel.Tie(id.Tie), Quorum: id.Quorum, Pass: id.Pass}
}

func (r *restorer) repeat(id restorable, depth int) (deem.Judge, error) {
	j, err := r.restore(id.Judge, depth+1)
	if err != nil {
		return nil, err
	}
	return orNil(panel.Repeat(r.around(j), len(id.Members), r.options(id)))
}

func (r *restorer) cascade(id restorable, depth int) (deem.Judge, error) {
	var stages []cascade.Stage
	for i, s := range id.Stages {
		j, err := r.member(id, i, s.Judge, depth)
		if err != nil {
			return nil, err
		}
		stages = append(stages, cascade.Stage{Name: s.Name, Judge: j, Threshold: s.Threshold})
	}
	return orNil(cascade.New(id.Name, stages))
}

// asking makes a judge that asks a model. Whose protocol it is, the hash tells.
func (r *restorer) asking(id restorable, identity json.RawMessage) (deem.Judge, error) {
	want, err := deem.Hash(identity)
	if err != nil {
		return nil, err
	}
	m, err := r.model(id.Model, id.Settings)
	if err != nil {
		return nil, err
	}
	makers := []func([]byte) (judge.Readable, error){func(id []byte) (judge.Readable, error) { return judge.Restore(id) }}
	for _, b := range benchmark.All() {
		if b.Restore != nil {
			makers = append(makers, b.Restore)
		}
	}
	for _, restore := range makers {
		p, err := restore(identity)
		if err != nil {
			continue // It is of another kind.
		}
		j := judge.New(p, m)
		if hash, err := deem.JudgeHash(j); err == nil && hash == want {
			return j, nil
		}
	}
	return nil, fmt.Errorf("this deem cannot ask %s as its member %s did", id.Model, deem.ShortHash(want))
}

// rule makes a rule, if it needs nothing but its name.
func (r *restorer) rule(id restorable, identity json.RawMessage) (deem.Judge, error) {
	name := nameOfRule(id.Name, identity)
	hash, err := deem.Hash(identity)
	if err != nil {
		return nil, err
	}
	if name != "" && knownRule(name) {
		set := r.set
		for _, reading := range []string{set.Reading, readingOf(identity)} {
			set.Reading = reading
			if j := ruleOf(store.Run{Spec: store.Spec{Judge: store.JudgeSpec{Name: name, Hash: hash, Identity: identity}}}, set); j != nil {
				return j, nil
			}
		}
	}
	return nil, fmt.Errorf("its member %s judges by further data", cmp.Or(name, id.Kind, deem.ShortHash(hash)))
}

// nameOfRule returns the name of a rule, or of several that go together.
func nameOfRule(name string, identity json.RawMessage) string {
	var several struct {
		Rules []json.RawMessage `json:"rules"`
	}
	if name != "" || json.Unmarshal(identity, &several) != nil {
		return name
	}
	var names []string
	for _, rule := range several.Rules {
		var one struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(rule, &one) != nil && json.Unmarshal(rule, &one.Name) != nil {
			return ""
		}
		names = append(names, one.Name)
	}
	return strings.Join(names, "+")
}

// readingOf returns the reading in the identity of a benchmark's rule, which the file of
// a panel may have named.
func readingOf(identity json.RawMessage) string {
	var id struct {
		Reading string `json:"reading"`
		Options struct {
			Reading string `json:"reading"`
		} `json:"options"`
	}
	_ = json.Unmarshal(identity, &id) // Other rules have no reading.
	return cmp.Or(id.Reading, id.Options.Reading)
}

// voteOf returns the vote of the i-th member of a panel.
func voteOf(rec deem.Record, names []string, i int) (deem.Verdict, error) {
	votes, ok := panel.Votes(names, rec)
	if !ok || votes[i] == panel.VoteNone {
		return deem.Verdict{}, deem.Failf(deem.Unsure, "not asked again")
	}
	yes := votes[i] == panel.VoteYes
	v := deem.Verdict{Label: votes[i].String(), Pass: &yes}
	if yes {
		v.Score = 1
	}
	if rec.Verdict != nil {
		if score, ok := rec.Verdict.Aspects["score/"+names[i]]; ok {
			v.Score = score
		}
	}
	return v, nil
}

// decisionOf returns what a stage of a cascade said, which is known if it decided.
func decisionOf(rec deem.Record, stage int) (deem.Verdict, error) {
	if rec.Verdict == nil || rec.Verdict.Aspects[cascade.StageAspect] != float64(stage) {
		return deem.Verdict{}, deem.Failf(deem.Unsure, "not asked again")
	}
	return *rec.Verdict, nil
}

// countAgain returns who counts the numbers of a run file again.
func countAgain(ctx context.Context, r bundle.Run, j bundle.Judge, redacted bool) (bundle.Counter, error) {
	rep, err := findings.NewReporter(ctx, bundled.RunOf(r, j), findings.Options{MaxUnjudged: report.DefaultMaxUnjudged, Redacted: redacted})
	if err != nil {
		return nil, err
	}
	return recount{rep, redacted}, nil
}

// text prints what was checked.
func (v checkedFile) text(w io.Writer, signer ed25519.PublicKey) {
	name := words.Printable(v.File)
	if more := v.Total - maxShown; more > 0 {
		fmt.Fprintf(w, "%s: and %s more\n", name, words.Thousands(more))
	}
	for _, note := range v.Notes {
		fmt.Fprintf(w, "%s: note: %s\n", name, words.Printable(note))
	}
	if v.Run.ID != "" {
		fmt.Fprintf(w, "%s: run %s by %s (%s), %s of %s, written by %s\n", name, words.Printable(v.Run.ID), words.Printable(v.Judge),
			words.Printable(deem.ShortHash(v.JudgeHash)), words.Count(v.Records, "record"), words.Count(v.Items, "item"), words.Printable(v.Header.Software))
		fmt.Fprintf(w, "%s: %s rendered again, %s made again\n", name, words.Count(v.Prompts, "prompt"), words.Count(v.Verdicts, "verdict"))
	}
	if s := v.Signature; s != nil && v.OK {
		who := "by somebody whose key nobody named: --signer says whose it should be"
		if signer != nil {
			who = "as it should be"
		}
		fmt.Fprintf(w, "%s: signed with key %s, %s\n", name, bundle.Fingerprint(s.Key), who)
	}
	word := "ok"
	if !v.OK {
		word = words.Count(v.Total, "finding")
	} else if v.Signature == nil {
		word = "ok, not signed"
	}
	fmt.Fprintf(w, "%s: %s\n", name, word)
}
