package ci_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Page is a document in Markdown, as far as it concerns who runs it.
type Page struct {
	Name   string
	Blocks []Block
}

// A Kind says what becomes of a block.
type Kind string

// The kinds of blocks.
const (
	Plain     Kind = ""           // read by people only
	Run       Kind = "run"        // run as a shell script
	NotRun    Kind = "not run"    // a shell script that cannot run in a test
	Output    Kind = "output"     // what the block before it prints
	NotOutput Kind = "not output" // text that no command of the page prints
	File      Kind = "file"       // the content of a file
	From      Kind = "from"       // lines of a file of the repository
)

// A Block is a fenced block of a page.
type Block struct {
	Line int    // of the opening fence, from 1
	Lang string // the first word behind the fence
	Text string // with the newline of its last line

	Kind      Kind
	Exit      int    // Run: the exit status that it must have
	Server    bool   // Run: it goes on until it is stopped, and shows pages
	Stays     bool   // Run: it goes on until the page ends
	Published bool   // Run: only where the files are that others published
	Postgres  bool   // Run: only where there is a Postgres
	Part      bool   // Output: other lines may stand around these
	Name      string // File, From: of the file
	Why       string // NotRun, NotOutput: the reason
}

var (
	fence  = regexp.MustCompile("^( *)(`{3,})(.*)$")
	marker = regexp.MustCompile(`^<!-- (run|not run|output|not output|file|from)(?:: (.*))? -->$`)
	// command finds what looks like a command in a block that is indented and not fenced.
	command = regexp.MustCompile(`^(    |\t)(deem|make|curl|go|docker) `)
)

// Shell reports whether the block is a shell script.
func (b Block) Shell() bool {
	switch b.Lang {
	case "sh", "bash", "shell", "console", "zsh":
		return true
	}
	return false
}

// Parse reads the blocks of a page. It returns what is wrong with the page as errors that
// name its lines.
func Parse(name, text string) (Page, []error) {
	p := pageParser{page: Page{Name: name}}
	for i, line := range strings.Split(text, "\n") {
		p.line(i+1, line)
	}
	if p.open != nil {
		p.wrong(p.open.Line, "the block has no end")
	}
	p.check()
	return p.page, p.errs
}

// A pageParser is somewhere in a page.
type pageParser struct {
	page   Page
	errs   []error
	open   *Block // the block that we are in
	ticks  string // what ends it
	indent string // of its fence, which its lines share
	mark   []string
	markAt int
}

func (p *pageParser) wrong(line int, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d: %s", p.page.Name, line, fmt.Sprintf(format, args...)))
}

func (p *pageParser) line(n int, line string) {
	switch m := fence.FindStringSubmatch(line); {
	case p.open != nil && m != nil && strings.HasPrefix(m[2], p.ticks) && m[3] == "":
		p.page.Blocks = append(p.page.Blocks, *p.open)
		p.open = nil
	case p.open != nil:
		p.open.Text += strings.TrimPrefix(line, p.indent) + "\n"
	case m != nil:
		p.begin(n, m)
	default:
		p.prose(n, line)
	}
}

// begin opens a block, which the comment above it describes.
func (p *pageParser) begin(n int, m []string) {
	lang, _, _ := strings.Cut(strings.TrimSpace(m[3]), " ")
	p.open, p.indent, p.ticks = &Block{Line: n, Lang: lang}, m[1], m[2]
	if p.mark != nil {
		p.describe(p.open, Kind(p.mark[1]), p.mark[2])
		p.mark = nil
	}
}

// prose looks at a line outside blocks: a comment of ours, or a command that nobody
// would find.
func (p *pageParser) prose(n int, line string) {
	if p.mark != nil && strings.TrimSpace(line) != "" {
		p.wrong(p.markAt, "no block follows the comment")
		p.mark = nil
	}
	if m := marker.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
		p.mark, p.markAt = m, n
	}
	if command.MatchString(line) {
		p.wrong(n, "a command in a block that is not fenced")
	}
}

// describe takes over what a comment says of a block.
func (p *pageParser) describe(b *Block, kind Kind, detail string) {
	b.Kind = kind
	switch {
	case kind == Run:
		p.describeRun(b, detail)
	case kind == Output && detail == "part":
		b.Part = true
	case (kind == File || kind == From) && detail != "":
		b.Name = detail
	case (kind == NotRun || kind == NotOutput) && detail != "":
		b.Why = detail
	case kind == Output && detail == "":
	default:
		p.unknown(kind, detail)
	}
}

// describeRun takes over how a block is run: words with commas between them.
func (p *pageParser) describeRun(b *Block, detail string) {
	if detail == "" {
		return
	}
	for word := range strings.SplitSeq(detail, ", ") {
		exit, isExit := strings.CutPrefix(word, "exit ")
		switch {
		case isExit:
			code, err := strconv.Atoi(exit)
			if err != nil {
				p.wrong(p.markAt, "%q is not an exit status", exit)
			}
			b.Exit = code
		case word == "server":
			b.Server = true
		case word == "stays":
			b.Stays = true
		case word == "published":
			b.Published = true
		case word == "postgres":
			b.Postgres = true
		default:
			p.unknown(Run, detail)
		}
	}
}

func (p *pageParser) unknown(kind Kind, detail string) {
	p.wrong(p.markAt, "the comment %q: %q says nothing that we know", kind, detail)
}

// check looks whether each block says what it is.
func (p *pageParser) check() {
	ran := false
	for _, b := range p.page.Blocks {
		switch {
		case b.Lang == "":
			p.wrong(b.Line, "the block does not say its language; text is one")
		case b.Shell() && b.Kind != Run && b.Kind != NotRun && b.Kind != File:
			p.wrong(b.Line, "a shell block needs <!-- run --> or <!-- not run: REASON --> above it")
		case !b.Shell() && (b.Kind == Run || b.Kind == NotRun):
			p.wrong(b.Line, "a block of %s cannot be run", b.Lang)
		case b.Lang == "text" && b.Kind == Plain:
			p.wrong(b.Line, "a block of text needs <!-- output --> or <!-- not output: REASON --> above it")
		case b.Lang == "go" && b.Kind == Plain:
			p.wrong(b.Line, "a block of Go needs <!-- from: FILE --> above it, so that it stays true")
		case b.Kind == Output && !ran:
			p.wrong(b.Line, "no block was run whose output this could be")
		}
		ran = b.Kind == Run && !b.Server && !b.Stays || ran && b.Kind == Output
	}
}
