package board

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"

	"deem"
	"deem/bundle"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/words"
)

// index returns the first page: every lane, how to read it, and the log.
func (c *Checked) index() *doc.Document {
	d := &doc.Document{Title: c.board.config.Title}
	d.Add(doc.Section{ID: "about", Blocks: []doc.Block{
		doc.Paragraph{Text: c.board.config.About},
		doc.Paragraph{Tone: doc.Dim, Text: "Every number below was computed again from the run files when these pages were made. Only the systems of one lane are compared: another judge, reader or budget moves a score as much as another system does, so a score of one lane says nothing about one of another."},
	}})
	for i, l := range c.lanes {
		c.laneSection(d, i, l)
	}
	d.Add(doc.Section{ID: "reading", Title: "How to read it", Blocks: []doc.Block{doc.Facts{
		{Name: "Score", Text: "the share of right answers among judged ones, with its 95% interval, which allows for questions of one conversation"},
		{Name: "Group", Text: "systems that share a letter are not shown to differ: paired tests over the same questions, corrected by Holm for all pairs of the lane"},
		{Name: Claimed, Text: "somebody states the number, and nothing can be checked"},
		{Name: Rows, Text: "the file has answers and verdicts, and others judged"},
		{Name: Rejudged, Text: "the lane's judge judged the answers"},
		{Name: Answered, Text: "the lane's reader answered from what the system retrieved"},
	}}})
	d.Add(doc.Section{ID: "log", Title: "Log", Blocks: []doc.Block{
		doc.Paragraph{Text: fmt.Sprintf("Nothing vanishes: every file and every change of the rules has an entry in the log, which has %s. Keep this checkpoint; deem board check --since proves later that the log still begins with these entries.", entries(len(c.log.entries)))},
		doc.Pre(c.point.text),
		c.logTable(),
	}})
	return d
}

// entries counts entries of the log.
func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return words.Comma(n) + " entries"
}

// logTable lists the entries, newest first.
func (c *Checked) logTable() doc.Table {
	t := doc.Table{Columns: []doc.Column{doc.Num("Entry"), doc.Col("What"), doc.Col("System"), doc.Col("File"), doc.Col("Reason")}}
	for i := len(c.log.entries) - 1; i >= 0; i-- {
		e := c.log.entries[i]
		t.Rows = append(t.Rows, []doc.Cell{doc.N(i), doc.T(e.Action), doc.T(e.System), doc.T(e.File), doc.T(e.Reason)})
	}
	return t
}

// laneSection adds a lane.
func (c *Checked) laneSection(d *doc.Document, n int, l *laneResult) {
	rows, lines := l.ranked()
	blocks := []doc.Block{doc.Paragraph{Text: l.About}}
	if cmpd := l.compared; cmpd != nil && (cmpd.Refused || cmpd.Ranking == nil) {
		why := "too many items are unjudged"
		for _, f := range cmpd.Lint {
			if cmpd.Refused {
				why = f.Message
				break
			}
		}
		blocks = append(blocks, doc.Paragraph{Tone: doc.Warning, Text: "The systems are not compared: " + why + "."})
	}
	facts := doc.Facts{
		{Name: "Questions", Text: fmt.Sprintf("%s, hash %s", words.Comma(laneItems(l)), deem.ShortHash(l.Questions))},
		{Name: "Judge", Text: laneJudge(l)},
		{Name: "Reader", Text: laneReader(l)},
	}
	if len(rows) > 0 && rows[0].report.Detectable != nil {
		facts = append(facts, doc.Fact{Name: "Smallest difference", Text: fmt.Sprintf("%.1f points would be shown with 80%% probability", 100*rows[0].report.Detectable.Difference)})
	}
	blocks = append(blocks, facts, l.table(d, rows, lines))
	d.Add(doc.Section{ID: fmt.Sprintf("lane-%d", n+1), Title: l.Name, Blocks: blocks})
}

func laneItems(l *laneResult) int {
	if len(l.rows) == 0 {
		return 0
	}
	return l.rows[0].report.Items
}

func laneJudge(l *laneResult) string {
	if len(l.rows) == 0 {
		return deem.ShortHash(l.Judge)
	}
	return fmt.Sprintf("%s, hash %s", l.rows[0].run.Judge.Name, deem.ShortHash(l.Judge))
}

func laneReader(l *laneResult) string {
	if l.Reader == "" {
		return "none: systems answer by themselves"
	}
	budget := "any number of"
	if l.Budget > 0 {
		budget = "at most " + words.Comma(l.Budget)
	}
	return fmt.Sprintf("hash %s, %s tokens of contexts", deem.ShortHash(l.Reader), budget)
}

// table lists the rows of a lane by score, then lines and claims.
func (l *laneResult) table(d *doc.Document, rows, lines []*row) doc.Table {
	t := doc.Table{
		Columns: []doc.Column{
			doc.Col("System"), doc.Est("Score"), doc.Col("Group"), doc.Col("Assurance"), doc.Num("Unjudged"), doc.Num("Context tokens"),
			doc.Num("Tokens in"), doc.Num("Latency"), doc.Num("Cost"), doc.Col("To look at"),
		},
		Draw: &doc.Draw{Column: 1},
	}
	for _, r := range rows {
		t.Rows = append(t.Rows, r.cells(d, ""))
	}
	for _, r := range lines {
		t.Rows = append(t.Rows, r.cells(d, l.isLine(r.System)))
		t.Draw.Lines = append(t.Draw.Lines, r.score().Value)
	}
	if len(lines) > 0 {
		t.Draw.Caption = "The vertical lines are floors and ceilings."
	}
	for _, claim := range l.Claims {
		t.Rows = append(t.Rows, []doc.Cell{doc.T(claim.System), doc.T(doc.Percent(claim.Score) + " stated"), doc.T(""), doc.T(Claimed), doc.T(""), doc.T(""), doc.T(""), doc.T(""), doc.T(""), doc.T("by " + claim.Source)})
	}
	return t
}

// cells returns the cells of a row. A line has the name of its kind in place of its group.
func (r *row) cells(d *doc.Document, line string) []doc.Cell {
	score := d.Share(r.score())
	if r.report.Metrics[0].Judged == nil {
		score.Marks = append(score.Marks, d.Mark("too many items are unjudged: the score counts them as wrong")...)
	}
	shown := ""
	if by := r.report.Head.Reader; by != nil && by.Tokens > 0 {
		shown = words.Comma(int(by.Tokens))
	}
	return []doc.Cell{
		{Text: r.System, Link: doc.Link{Run: path.Join("rows", base(r.file), "index.html")}},
		score, doc.T(cmp.Or(line, r.letter)), doc.T(r.Assurance), doc.N(r.report.Unjudged), doc.T(shown),
		doc.T(r.spent(deem.FieldTokensIn)), doc.T(r.spent(deem.FieldLatency)), doc.T(r.spent(deem.FieldCost)),
		doc.T(strings.Join(r.lookAt(), "; ")),
	}
}

// spent returns the mean of what a system used for a response, "" if unknown.
func (r *row) spent(field string) string {
	for _, s := range r.report.System {
		if s.Field != field || s.N == 0 || r.redacted {
			continue
		}
		switch field {
		case deem.FieldLatency:
			return words.Comma(int(s.Mean.Value)) + " ms"
		case deem.FieldCost:
			return fmt.Sprintf("$%.4f", s.Mean.Value)
		}
		return words.Comma(int(s.Mean.Value))
	}
	return ""
}

// lookAt says in a few words what a reader should look at.
func (r *row) lookAt() []string {
	list := append([]string{}, r.lint...)
	if r.redacted {
		list = append(list, "redacted")
	}
	if len(r.history) > 1 {
		list = append(list, "corrected")
	}
	return list
}

// rowDocument returns the page of a row.
func (c *Checked) rowDocument(r *row) *doc.Document {
	d := &doc.Document{Title: r.System}
	judged, by, budget := r.parts()
	facts := doc.Facts{
		{Name: "Lane", Text: r.in.Name},
		{Name: "Score", Text: doc.Share(r.score())},
		{Name: "Group", Text: r.letter},
		{Name: "Assurance", Text: r.Assurance},
		{Name: "Items", Text: fmt.Sprintf("%s, %s unjudged", words.Comma(r.report.Items), words.Comma(r.report.Unjudged))},
		{Name: "Run", Text: r.run.ID},
		{Name: "Judge", Text: r.run.Judge.Name + ", hash " + judged},
		{Name: "Model of the judge", Text: r.report.Head.Model},
	}
	if by != "" {
		facts = append(facts, doc.Fact{Name: "Reader", Text: fmt.Sprintf("hash %s, budget %s", by, words.Comma(budget))})
	}
	facts = append(facts,
		doc.Fact{Name: "File", Text: fmt.Sprintf("%s, %s bytes", r.file, words.Comma(r.size))}, doc.Fact{Name: "SHA-256", Text: r.sha}, doc.Fact{Name: "Root", Text: r.root},
		doc.Fact{Name: "Signed by", Text: cmp.Or(r.signer, "nobody")}, doc.Fact{Name: "Log", Text: strings.Join(r.history, "; ")},
	)
	d.Add(doc.Section{ID: "row", Blocks: []doc.Block{facts}})
	look := doc.Section{ID: "look", Title: "To look at"}
	for _, text := range r.lint {
		look.Blocks = append(look.Blocks, doc.Paragraph{Text: text, Tone: doc.Warning})
	}
	d.Add(look)
	checks := doc.Table{Columns: []doc.Column{doc.Col("Check"), doc.Col("Result"), doc.Col("Why")}}
	for _, k := range r.checks {
		checks.Rows = append(checks.Rows, []doc.Cell{doc.T(k.Name), doc.T(string(k.Outcome)), doc.T(k.Detail)})
	}
	section := doc.Section{ID: "checks", Title: "What was checked", Blocks: []doc.Block{checks}}
	for _, note := range r.notes {
		section.Blocks = append(section.Blocks, doc.Paragraph{Text: "Not checkable: " + note + "."})
	}
	d.Add(section)
	d.Add(doc.Section{ID: "items", Title: "Items", Blocks: []doc.Block{doc.Table{
		Columns: []doc.Column{doc.Col("What"), doc.Col("How")},
		Rows: [][]doc.Cell{
			{{Text: "All items", Link: doc.Link{Run: path.Join("rows", base(r.file), itemsPage(0))}}, doc.T("question, prompt, reply and verdict of each")},
			{{Text: "The run file", Link: doc.Link{Run: r.file}}, doc.T("deem verify checks it; so does a program of your own")},
		},
	}}})
	return d
}

// An itemView is one record on a page of items.
type itemView struct {
	ID, Category, Question, Response, Outcome, Reason, Dispute string
	Tone                                                       doc.Tone
	References, Replies                                        []string
	Prompts                                                    []promptView
}

type promptView struct{ Who, Text string }

// itemsOf returns the items of a row with what was asked and replied.
func (c *Checked) itemsOf(r *row, file []byte) ([]itemView, error) {
	in, err := bundle.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	p, _ := reports.Protocol(r.run) //nolint:errcheck // Without a protocol there is no prompt.
	var list []itemView
	for rec, err := range in.Records() {
		if err != nil {
			return nil, err
		}
		v := c.item(r, rec)
		if !r.redacted {
			v.prompts(reports.Show(r.run, p, rec))
		}
		list = append(list, v)
	}
	return list, nil
}

// prompts adds the prompts of reader and judge.
func (v *itemView) prompts(s reports.Shown) {
	add := func(who string, messages []deem.Message) {
		for _, m := range messages {
			v.Prompts = append(v.Prompts, promptView{who + ", " + m.Role, m.Content})
		}
	}
	if s.Reader != nil {
		add("reader "+s.Reader.Name, s.Reader.Prompt)
	}
	add("judge", s.Prompt)
}

// item returns a record without its prompts.
func (c *Checked) item(r *row, rec deem.Record) itemView {
	v := itemView{ID: rec.Item.ID, Category: rec.Item.Category, Question: rec.Item.Question, Response: rec.Item.Response, References: rec.Item.References, Tone: doc.Warning}
	switch {
	case rec.Failure != nil:
		v.Outcome, v.Reason = "unjudged: "+string(rec.Failure.Kind), rec.Failure.Detail
	case rec.Verdict.Yes():
		v.Outcome, v.Reason, v.Tone = rec.Verdict.Label, rec.Verdict.Reason, doc.Good
	default:
		v.Outcome, v.Reason, v.Tone = rec.Verdict.Label, rec.Verdict.Reason, doc.Bad
	}
	if rec.Trial > 0 {
		v.ID += fmt.Sprintf(", trial %d", rec.Trial)
	}
	for _, call := range rec.Calls {
		if call.Reply != nil {
			v.Replies = append(v.Replies, call.Reply.Text)
		} else {
			v.Replies = append(v.Replies, "no reply: "+call.Error)
		}
	}
	if c.board.config.Issues != "" {
		judged, by, _ := r.parts()
		v.Dispute = c.board.config.Issues + "?" + url.Values{
			"title": {fmt.Sprintf("The verdict on %s of %s is wrong", v.ID, r.System)},
			"body": {fmt.Sprintf("Item: %s (%s)\nVerdict: %s\nFile: %s, sha256 %s\nJudge: %s\nReader: %s\nQuestions: %s\n\nWhy it is wrong:\n",
				v.ID, rec.Item.Hash(), v.Outcome, r.file, r.sha, judged, cmp.Or(by, "none"), r.questions)},
		}.Encode()
	}
	return v
}
