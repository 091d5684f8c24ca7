package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"deem"
	"deem/internal/labels"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge"
)

const labelHelp = `Label items of a run in the terminal. The items are drawn at random from every category
and verdict, as with "deem agree --plan", and shown without the judge's verdict. Type
the number of a label or its first letters; s skips the item, u removes the last label,
q stops. Every label is stored immediately; "deem agree RUN" uses it.

EXIT STATUS
  0 done   1 error   2 wrong usage or input`

func (a *app) labelCommand() *cobra.Command {
	o := agreeOptions{plan: 50}
	by := ""
	cmd := &cobra.Command{
		Use: "label [RUN] [flags]", Short: "label items, import and list labels", Long: labelHelp,
		Example: "  deem label last --by anna\n  deem label last --by anna -n 20", Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if by == "" || o.plan < 1 {
				return usage.Mark(deem.WithHint(fmt.Errorf("deem label needs --by, and -n must be at least 1"), "deem label last --by anna -n 50"))
			}
			ctx := cmd.Context()
			st, run, err := a.openLabels(ctx, append(args, "last")[0])
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			t := &truths{app: a, run: run, o: o}
			if t.people, err = reports.Kept(ctx, st, store.LabelQuery{Annotators: []string{by}}); err != nil {
				return err
			}
			items, drawn, free, err := drawItems(ctx, st, t)
			if err != nil {
				return err
			}
			a.say("%s of %s without a label of %s; s skips, u takes the last label back, q stops", words.Comma(len(items)), words.Comma(free), by)
			choices := reports.LabelsOf(run, false)
			if len(choices) == 0 {
				choices = []judge.Label{{Label: "yes", Score: 1}, {Label: "no"}}
			}
			given, err := a.askAbout(ctx, st, run, by, choices, items, drawn)
			a.say("kept %s of %s; next: deem agree %s", words.Count(given, "label"), by, run.ID)
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&by, "by", "", "the annotator's `name`")
	f.IntVarP(&o.plan, "number", "n", o.plan, "how many items to draw")
	f.Uint64Var(&o.seed, "seed", 0, "random seed, a `number`")
	cmd.AddCommand(a.labelsImport(), a.labelsList())
	return cmd
}

// askAbout shows items and stores the answers. It returns the number of labels stored.
func (a *app) askAbout(ctx context.Context, kept store.Labels, run store.Run, by string, choices []judge.Label, items []deem.Item, drawn []labels.Drawn) (int, error) {
	in := bufio.NewScanner(a.in)
	var given []store.Label
	var places []int // of the labels, in items
	for i := 0; i < len(items); i++ {
		a.showToLabel(items[i], i+1, len(items), choices)
		if !in.Scan() {
			break
		}
		said := strings.TrimSpace(in.Text())
		choice, ok := chosenLabel(choices, said)
		switch last := len(given) - 1; {
		case said == "q":
			return len(given), nil
		case said == "s":
			continue
		case said == "u" && last >= 0:
			if err := kept.DropLabel(ctx, given[last].Item, by); err != nil {
				return len(given), err
			}
			i, given, places = places[last]-1, given[:last], places[:last]
			continue
		case !ok:
			a.say("%q is not a label: type a number from 1 to %d, s, u or q", said, len(choices))
			i--
			continue
		}
		given = append(given, store.Label{
			Item: items[i].Hash(), ID: items[i].ID, Dataset: run.Dataset.Hash, Annotator: by,
			Yes: choice.Score >= 0.5, Label: choice.Label, Score: choice.Score, Labelled: clock(),
		})
		places = append(places, i)
		// The number of items drawn per stratum is known only now, because the person may
		// stop early.
		counts := map[string]int{}
		for _, at := range places {
			counts[drawn[at].Stratum]++
		}
		for n, at := range places {
			d := drawn[at]
			d.N = counts[d.Stratum]
			given[n].Drawn = d.String()
		}
		if err := kept.PutLabels(ctx, given); err != nil {
			return len(given) - 1, err
		}
	}
	return len(given), in.Err()
}

// showToLabel shows an item without the judge's verdict.
func (a *app) showToLabel(it deem.Item, n, of int, choices []judge.Label) {
	show := func(name, text string) {
		if text != "" {
			_, _ = fmt.Fprintf(a.out, "%s: %s\n", name, words.Printable(text))
		}
	}
	_, _ = fmt.Fprintf(a.out, "\nitem %d of %d\n", n, of)
	show("question", it.Question)
	for _, ref := range it.References {
		show("reference", ref)
	}
	for _, name := range labels.Blind(it) {
		show(name, it.Fields[name])
	}
	show("response", it.Response)
	menu := make([]string, len(choices))
	for i, l := range choices {
		menu[i] = fmt.Sprintf("%d %s", i+1, l.Label)
	}
	_, _ = fmt.Fprintf(a.out, "%s? ", strings.Join(menu, ", "))
}

// chosenLabel returns the label that the user typed: its number, or an unambiguous prefix.
func chosenLabel(choices []judge.Label, said string) (judge.Label, bool) {
	if n, err := strconv.Atoi(said); err == nil && n >= 1 && n <= len(choices) {
		return choices[n-1], true
	}
	var found []judge.Label
	for _, l := range choices {
		if said != "" && strings.HasPrefix(strings.ToLower(l.Label), strings.ToLower(said)) {
			found = append(found, l)
		}
	}
	if i := slices.IndexFunc(found, func(l judge.Label) bool { return strings.EqualFold(l.Label, said) }); i >= 0 {
		return found[i], true
	}
	if len(found) != 1 {
		return judge.Label{}, false
	}
	return found[0], true
}

// planLabels chooses the items to label and writes them without verdicts: annotators must
// not know what the judge said.
func (a *app) planLabels(ctx context.Context, st store.Store, t *truths) error {
	if t.other != nil {
		return usage.Errorf("--plan chooses items for people, and a second run labels none")
	}
	items, drawn, free, err := drawItems(ctx, st, t)
	if err != nil {
		return err
	}
	a.say("chose %s of %s with a verdict and no label, from every category and verdict, with seed %d", words.Comma(len(items)), words.Comma(free), t.o.seed)
	if t.o.out == "-" && a.json {
		type toLabel struct {
			ID         string   `json:"id"`
			Question   string   `json:"question"`
			References []string `json:"references"`
			Response   string   `json:"response"`
			Drawn      string   `json:"drawn"`
		}
		list := make([]toLabel, len(items))
		for i, it := range items {
			list[i] = toLabel{it.ID, it.Question, it.References, it.Response, drawn[i].String()}
		}
		return writeJSON(a.out, struct {
			Seed    uint64    `json:"seed"`
			ToLabel []toLabel `json:"to_label"`
		}{t.o.seed, list})
	}
	if t.o.out == "-" {
		return writeTable(a.out, items, drawn)
	}
	if err := writeNew(t.o.out, func(w io.Writer) error { return writeTable(w, items, drawn) }); err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"written": t.o.out, "items": len(items), "seed": t.o.seed})
	}
	a.say("fill in the column label, then: deem agree %s %s", t.run.ID, t.o.out)
	return nil
}

// drawItems chooses the items to label, and returns how each was drawn and how many
// candidates there were. Only the chosen items are held in memory.
func drawItems(ctx context.Context, st store.Store, t *truths) (items []deem.Item, drawn []labels.Drawn, free int, err error) {
	chosen, free, err := reports.Draw(ctx, st, t.run, t.people, t.o.plan, t.o.seed)
	if err != nil {
		return nil, nil, 0, err
	}
	if len(chosen) == 0 {
		return nil, nil, 0, usage.Errorf("run %s has no judged item left to label", t.run.ID)
	}
	plan, err := deem.Hash([]any{t.run.Judge.Hash, t.run.Dataset.Hash, t.o.plan, t.o.seed, free})
	if err != nil {
		return nil, nil, 0, err
	}
	at := map[int]int{} // position of an item to its index
	drawn = make([]labels.Drawn, len(chosen))
	for i, c := range chosen {
		at[c.Place] = i
		drawn[i] = labels.Drawn{Stratum: fmt.Sprintf("%.4s-%d", plan, c.Stratum), N: c.Drawn, Of: c.Of}
	}
	items = make([]deem.Item, len(chosen))
	for rec, err := range st.Records(ctx, t.run.ID, store.Query{Trial: new(int)}) {
		if err != nil {
			return nil, nil, 0, err
		}
		if i, ok := at[rec.Position]; ok {
			items[i] = rec.Item
		}
	}
	return items, drawn, free, nil
}

// writeTable writes items as a table with a column for labels and, if a plan drew them, the
// stratum and how many of its items were drawn.
func writeTable(w io.Writer, items []deem.Item, drawn []labels.Drawn) error {
	rows := make([]labels.TableRow, len(items))
	for i, it := range items {
		if rows[i].Item = it; drawn != nil {
			rows[i].Drawn = drawn[i].String()
		}
	}
	return labels.WriteTable(w, rows)
}
