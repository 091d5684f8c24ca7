package cli

import (
	"fmt"

	"deem"
	"deem/internal/published"
	"deem/internal/words"
)

// lintVersion is the version of the output of --lint --json.
const lintVersion = "deem.lint/1"

// A lintedSystem is the output of --lint for one system.
type lintedSystem struct {
	Name     string              `json:"name"`
	Files    []string            `json:"files"`
	Findings []published.Finding `json:"findings"`
}

// lintPublished prints irregularities in result files. Findings are not failures, except
// for a number that is claimed, by the file's own summary or by --claimed, and cannot be
// reproduced.
func (a *app) lintPublished(systems []checkedSystem) error {
	list := make([]lintedSystem, len(systems))
	wrong := 0
	for i, sys := range systems {
		list[i] = lintedSystem{Name: sys.name, Files: sys.set.Names(), Findings: append([]published.Finding{}, sys.set.Findings()...)}
		for j, c := range sys.checks {
			if c.Agrees {
				continue
			}
			wrong++
			if j >= len(sys.set.Claims) { // --claimed comes after the claims of the file
				list[i].Findings = append(list[i].Findings, published.Finding{
					Kind: published.FoundNumber, Claim: c.Name, Text: fmt.Sprintf("--claimed says %s %s, which the rows do not give", c.Name, c.Text),
				})
			}
		}
	}
	if a.json {
		writeJSON(a.out, struct {
			Version string         `json:"version"`
			Systems []lintedSystem `json:"systems"`
		}{lintVersion, list})
	} else {
		for _, sys := range list {
			found := "nothing odd"
			if n := len(sys.Findings); n > 0 {
				found = words.Count(n, "finding")
			}
			fmt.Fprintf(a.out, "%s: %s\n", words.Printable(sys.Name), found)
			for _, f := range sys.Findings {
				fmt.Fprintf(a.out, "  %s: %s\n", f.Kind, words.Printable(f.Text))
			}
		}
	}
	if wrong > 0 {
		return deem.WithHint(fmt.Errorf("%w: %s not given by the rows", errGate, words.Count(wrong, "claimed number")), "the findings of kind %s name them", published.FoundNumber)
	}
	return nil
}
