package bundle

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"deem"
	"deem/judge"
)

// VerifyOptions configures the checks of a bundle. The zero value checks everything that
// the file alone allows: bytes, chain, hashes, order, counts and signature.
type VerifyOptions struct {
	// Restore returns the judge of the run, which is run again on every item without
	// calling a model; nil disables this. If the judge cannot be restored, its error or a
	// note says why, and verdicts are not checked.
	//
	// A composite judge asks models that answer with the calls of the record that is being
	// checked. The function model creates them; it must be called in the order of the members.
	// The function record returns that record, given the context of a member that is asked.
	Restore func(run Run, j Judge, model func(name, settings string) deem.Model, record func(context.Context) (deem.Record, bool)) (Again, error)

	// Numbers returns a counter that computes the numbers of the manifest again; nil
	// disables this.
	Numbers func(run Run, j Judge, redacted bool) (Counter, error)

	// Signer must have signed the bundle; nil accepts any signature, and none.
	Signer ed25519.PublicKey

	// Software is the name of this program. Numbers are always compared, but texts only if
	// the same program wrote them.
	Software string

	// Concurrency is the number of lines that are checked concurrently; 0 means the number
	// of processors.
	Concurrency int

	// Found is called with each finding, in the order of the lines, unless it is nil.
	// [Verification] keeps the first findings.
	Found func(Finding)
}

// Again is a restored judge: a protocol whose replies are parsed again, a rule that judges
// again, or a composite judge. With none of them, Note says why.
type Again struct {
	Protocol judge.Protocol
	Rule     deem.Judge

	// Judge is a composite judge. Partly means that a member could not be restored, and
	// returns its verdict from the record; Note names it. A record may contain calls to the models in Unchecked, which such members
	// used, that are not requested now.
	Judge     deem.Judge
	Partly    bool
	Unchecked []string

	Note string
}

// The checks of findings.
const (
	checkFile      = "file"      // the bytes of the file
	checkForm      = "form"      // a line does not match the format
	checkChain     = "chain"     // hashes from line to line
	checkOrder     = "order"     // the order of lines
	checkItem      = "item"      // an item and its hash
	checkJudge     = "judge"     // the judge and its hash
	checkRecord    = "record"    // the consistency of a record
	checkPrompt    = "prompt"    // the prompt rendered again
	checkWire      = "wire"      // the parameters that were sent
	checkVerdict   = "verdict"   // the reply parsed again, or the rule run again
	CheckNumbers   = "numbers"   // the contents of the manifest
	checkSignature = "signature" // the signature
)

// A Finding is an error in a bundle.
type Finding struct {
	Check   string `json:"check"`
	Line    int    `json:"line,omitempty"`  // from 1; 0 for the whole file
	Item    string `json:"item,omitempty"`  // id of the affected item
	Trial   int    `json:"trial,omitempty"` // of the record
	Message string `json:"message"`
}

// String returns the finding on one line.
func (f Finding) String() string {
	where := f.Check
	if f.Line > 0 {
		where += fmt.Sprintf(", line %d", f.Line)
	}
	if f.Item != "" {
		where += fmt.Sprintf(", item %q", f.Item)
	}
	if f.Trial > 0 {
		where += fmt.Sprintf(", trial %d", f.Trial)
	}
	return where + ": " + f.Message
}

// A Verification is the result of checking a bundle.
type Verification struct {
	Header    header    `json:"header"`
	Run       Run       `json:"run"`
	Judge     string    `json:"judge"`
	JudgeHash string    `json:"judge_hash"`
	Root      string    `json:"root"` // see [Manifest]; "" if the manifest cannot be read
	Manifest  *Manifest `json:"-"`

	// SignedBy is the public key in the file's signature, nil if there is none. Findings say
	// whether the signature is valid.
	SignedBy ed25519.PublicKey `json:"signed_by,omitempty"`

	Lines    int `json:"lines"`
	Items    int `json:"items"`
	Records  int `json:"records"`
	Prompts  int `json:"prompts"`  // rendered again
	Wires    int `json:"wires"`    // calls whose parameters were compared with the judge
	Verdicts int `json:"verdicts"` // computed again, from replies or by the rule

	// Checks has every kind of check once, always in the same order.
	Checks []Check `json:"checks"`

	// Findings are the first hundred findings; Total counts all of them.
	Findings []Finding `json:"findings"`
	Total    int       `json:"total_findings"`

	// Notes describe what could not be checked, and why. They are not findings.
	Notes []string `json:"notes"`
}

// maxFindings is the number of findings that are kept.
const maxFindings = 100

// Verify checks a bundle. Errors in the bundle are findings; the returned error is that of
// reading, or of ctx. No goroutine outlives the call.
func Verify(ctx context.Context, from io.Reader, o VerifyOptions) (*Verification, error) {
	c := &checker{opts: o, out: &Verification{Checks: newChecks(), Findings: []Finding{}, Notes: []string{}}}
	lines, err := newScanner(from)
	if err == nil {
		defer lines.Close()
		err = c.all(ctx, lines)
	}
	c.out.Lines = max(0, lines.n-1)
	if other := c.broken(err); other != nil {
		return c.out, other
	}
	if !errors.Is(err, ErrNewer) {
		if err := c.broken(lines.tail.check()); err != nil {
			return c.out, err
		}
	}
	if err != nil {
		c.out.stopped()
	}
	return c.out, nil
}

// broken turns an error about the file into a finding, and returns any other error.
func (c *checker) broken(err error) error {
	var at *lineError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &at):
		c.find(at.finding)
		return nil
	case errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewer):
		c.find(Finding{Check: checkFile, Message: err.Error()})
		return nil
	}
	return err
}

// A lineError is a finding after which the rest of the file cannot be interpreted.
type lineError struct{ finding Finding }

func (e *lineError) Error() string { return e.finding.String() }

// A checker checks one bundle.
type checker struct {
	opts  VerifyOptions
	out   *Verification
	judge Judge
	again Again
	count Counter // nil if numbers are not checked
	seq   sequence

	settings string // of the judge's model
}

func (c *checker) find(f Finding) {
	c.out.Add(f, c.opts.Found)
}

// Add adds a finding, also one of a check that the caller makes, and passes it to found if
// that is not nil.
func (v *Verification) Add(f Finding, found func(Finding)) {
	v.Total++
	v.count(f)
	if len(v.Findings) < maxFindings {
		v.Findings = append(v.Findings, f)
	}
	if found != nil {
		found(f)
	}
}

// note says what the named checks could not check, and why.
func (c *checker) note(to Outcome, names []string, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.out.Notes = append(c.out.Notes, text)
	c.out.limit(to, names, "%s", text)
}

// all checks every line.
func (c *checker) all(ctx context.Context, lines *scanner) error {
	c.seq.head = first
	next, err := c.prologue(lines)
	if err != nil {
		return err
	}
	c.restore()
	if next, err = c.body(ctx, lines, next); err != nil {
		return err
	}
	return c.epilogue(lines, next)
}

// step checks the chain of a line that is its own sealed form, and decodes it.
func step[T any](c *checker, l line, v *T) error {
	c.link(l)
	value, err := decode[T](l.body)
	if err != nil {
		return &lineError{Finding{Check: checkForm, Line: l.n, Message: err.Error()}}
	}
	*v = value
	sealed := l.body
	if h, ok := any(value).(header); ok {
		h.Redacted = false // That is not part of the chain.
		if sealed, err = deem.Canonical(h); err != nil {
			return err
		}
	}
	if chainHash(l.prev, l.kind, sealed) != l.hash {
		c.find(Finding{Check: checkChain, Line: l.n, Message: fmt.Sprintf("the %s was changed: it does not match its hash", l.kind)})
	}
	return nil
}

// link checks that a line follows the previous one. It continues from the hash in the line,
// so that one break is one finding.
func (c *checker) link(l line) {
	if l.prev != c.seq.head {
		c.find(Finding{Check: checkChain, Line: l.n, Message: "the line does not follow the one before it: lines were removed, added or moved here"})
	}
	c.seq.head = l.hash
}

// prologue checks everything before the first item, and returns the following line.
func (c *checker) prologue(lines *scanner) (line, error) {
	if err := want(c, lines, kindHeader, &c.out.Header); err != nil {
		return line{}, err
	}
	if f := c.out.Header.Format; f != format {
		return line{}, fmt.Errorf("%w: the header says %q, and this deem reads %s", ErrNewer, f, format)
	}
	if err := want(c, lines, kindRun, &c.out.Run); err != nil {
		return line{}, err
	}
	if err := want(c, lines, kindJudge, &c.judge); err != nil {
		return line{}, err
	}
	c.out.Judge, c.out.JudgeHash = c.judge.Name, c.judge.Hash
	var identity any = c.judge.Identity
	if len(c.judge.Identity) == 0 {
		identity = c.judge.Name // like deem.JudgeHash
	}
	if hash, err := deem.Hash(identity); err != nil || hash != c.judge.Hash {
		c.find(Finding{Check: checkJudge, Line: lines.n, Message: fmt.Sprintf("the judge has hash %s, and the file says %s", deem.ShortHash(hash), deem.ShortHash(c.judge.Hash))})
	}
	l, err := lines.more()
	if err != nil || l.kind != kindPrices {
		return l, err
	}
	var prices json.RawMessage
	if err := step(c, l, &prices); err != nil {
		return l, err
	}
	return lines.more()
}

// want checks the next line, which must be of the given kind, and decodes it.
func want[T any](c *checker, lines *scanner, kind string, v *T) error {
	l, err := lines.more()
	if err != nil {
		return err
	}
	if l.kind != kind {
		return &lineError{Finding{Check: checkOrder, Line: l.n, Message: fmt.Sprintf("a line of kind %q stands where the %s should", l.kind, kind)}}
	}
	return step(c, l, v)
}

// restore restores the judge and creates the counter.
func (c *checker) restore() {
	switch {
	case c.out.Header.Redacted:
		c.out.limit(PartPassed, []string{checkItem}, "texts are removed: item hashes are taken from the file")
		c.note(NotChecked, judgedAgain, "the bundle is redacted: prompts are not rendered and replies not read again; hashes, chain and counts are checked")
	case c.opts.Restore == nil:
		c.note(NotChecked, judgedAgain, "nobody restored the judge: prompts are not rendered and replies not read again")
	default:
		// Models are made in the order of the members, which is the order of their calls in
		// a record.
		made := 0
		model := func(name, settings string) deem.Model {
			made++
			return &recorded{name: name, settings: settings, place: made}
		}
		again, err := c.opts.Restore(c.out.Run, c.judge, model, recordOf)
		if err != nil {
			again = Again{Note: err.Error()}
		}
		switch {
		case again.Note != "" && again.Partly:
			c.note(PartPassed, judgedAgain, "verdicts are made again in part: %s", again.Note)
		case again.Note != "":
			c.note(NotChecked, judgedAgain, "verdicts are not made again: %s", again.Note)
		}
		c.again = again
		if spec, err := judge.ParseSpec(c.judge.Identity); err == nil { // a judge without a spec has no settings
			c.settings = spec.Settings
		}
	}
	if c.opts.Numbers == nil {
		c.note(PartPassed, []string{CheckNumbers}, "nobody counts the numbers of the manifest again")
		return
	}
	var err error
	c.count, err = c.opts.Numbers(c.out.Run, c.judge, c.out.Header.Redacted)
	if err != nil {
		c.note(PartPassed, []string{CheckNumbers}, "the numbers of the manifest are not counted again: %v", err)
		c.count = nil
	}
}

// epilogue checks manifest, signature and end.
func (c *checker) epilogue(lines *scanner, l line) error {
	head := c.seq.head
	var m Manifest
	if err := step(c, l, &m); err != nil {
		return err
	}
	m.Root = l.hash
	c.out.Manifest, c.out.Root = &m, m.Root
	c.manifest(l.n, head, m)
	var signed *signature
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if l.kind != kindSignature || signed != nil {
			return &lineError{Finding{Check: checkOrder, Line: l.n, Message: fmt.Sprintf("a line of kind %q stands behind the manifest", l.kind)}}
		}
		signed = new(signature)
		if err := step(c, l, signed); err != nil {
			return err
		}
		c.out.SignedBy = signed.Key
	}
	wrong := func(format string, args ...any) {
		c.find(Finding{Check: checkSignature, Message: fmt.Sprintf(format, args...)})
	}
	signer := c.opts.Signer
	switch {
	case signed == nil && signer != nil:
		wrong("the bundle is not signed, and should be by %s", Fingerprint(signer))
	case signed == nil:
		c.out.limit(NotChecked, []string{checkSignature}, "the file is not signed")
	case signed.Algorithm != "ed25519":
		wrong("the signature is of the unknown kind %q", signed.Algorithm)
	case len(signed.Key) != ed25519.PublicKeySize:
		wrong("the public key has %d bytes, and not %d", len(signed.Key), ed25519.PublicKeySize)
	case !ed25519.Verify(signed.Key, signedText(m.Root), signed.Signature):
		wrong("the signature does not fit the manifest and the key in the file")
	case signer != nil && !bytes.Equal(signed.Key, signer):
		wrong("the bundle is signed by %s, and not by %s", Fingerprint(signed.Key), Fingerprint(signer))
	}
	return nil
}

// manifest compares the manifest with the counts.
func (c *checker) manifest(n int, head string, m Manifest) {
	if m.Head != head {
		c.find(Finding{Check: checkChain, Line: n, Message: fmt.Sprintf("the manifest says that the chain ends with %s, and it ends with %s", deem.ShortHash(m.Head), deem.ShortHash(head))})
	}
	got, run := c.seq.counted, c.out.Run
	for _, row := range []struct {
		what          string
		said, counted int64
	}{
		{"items", int64(m.Items), int64(got.Items)},
		{"records", int64(m.Records), int64(got.Records)},
		{"judged records", int64(m.Judged), int64(got.Judged)},
		{"unjudged records", int64(m.Unjudged), int64(got.Unjudged)},
		{"calls", int64(m.Calls), int64(got.Calls)},
		{"replies", int64(m.Replies), int64(got.Replies)},
		{"micro-dollars", m.CostMicros, got.CostMicros},
		{"tokens in", int64(m.Tokens.Input), int64(got.Tokens.Input)},
		{"tokens out", int64(m.Tokens.Output), int64(got.Tokens.Output)},
		{"records of the run", int64(run.Records), int64(got.Records)},
		{"unjudged records of the run", int64(run.Unjudged), int64(got.Unjudged)},
		{"micro-dollars of the run", run.CostMicros, got.CostMicros},
	} {
		if row.said != row.counted {
			c.find(Finding{Check: CheckNumbers, Line: n, Message: fmt.Sprintf("%s: the file says %d, and %d are counted", row.what, row.said, row.counted)})
		}
	}
	// The hash of the dataset is a chain of the hashes of its items.
	d, hash := run.Dataset, hex.EncodeToString(c.seq.dataset[:])
	switch {
	case got.Items > d.Items:
		c.find(Finding{Check: checkItem, Line: n, Message: fmt.Sprintf("the dataset has %d items, and %d are in the file", d.Items, got.Items)})
	case c.seq.gaps || got.Items < d.Items:
		c.note(PartPassed, []string{checkItem}, "the hash of the dataset is not checked: %d of its %d items have a record", got.Items, d.Items)
	case hash != d.Hash:
		c.find(Finding{Check: checkItem, Line: n, Message: fmt.Sprintf("the items have the hash %s together, and the run says %s", deem.ShortHash(hash), deem.ShortHash(d.Hash))})
	}
	c.out.compared(got.Replies)
	c.numbers(n, m.Numbers)
}

// numbers compares the numbers of the manifest with those computed again.
func (c *checker) numbers(n int, said json.RawMessage) {
	if c.count == nil {
		return
	}
	if len(said) == 0 {
		c.note(PartPassed, []string{CheckNumbers}, "the manifest holds no numbers to compare with")
		return
	}
	counted, left, err := c.count.Numbers()
	if err != nil {
		c.note(PartPassed, []string{CheckNumbers}, "the numbers of the manifest are not counted again: %v", err)
		return
	}
	if len(left) > 0 {
		c.note(PartPassed, []string{CheckNumbers}, "what stands under %s in the manifest is not counted again: it takes the texts", strings.Join(left, ", "))
	}
	words := c.opts.Software == c.out.Header.Software && c.opts.Software != "" && len(left) == 0
	err = compareNumbers(said, counted, left, words, func(message string) {
		c.find(Finding{Check: CheckNumbers, Line: n, Message: message})
	})
	if err != nil {
		c.find(Finding{Check: CheckNumbers, Line: n, Message: err.Error()})
	}
}
