package beam

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"deem"
)

// The prompts of the judges by name.
const (
	promptSystem    = "system"
	promptNugget    = "nugget"
	promptOrdering  = "ordering"
	promptSame      = "same"
	promptSameAsked = "same_system"
)

// pinned are upstream's prompts: the file that has each, and the SHA-256 of its text.
var pinned = []struct{ name, file, sha string }{
	{promptNugget, "src/prompts.py", "d349c9a8559bed9c14bfe2e624212225b09218ff864258a739229c15f4c8e869"},
	{promptSameAsked, "src/evaluation/compute_metrics.py", "0863c78c1b27d36c97bb7bfd2d4d6b88ef69b093e92bb4719e665527722413e2"},
	{promptSame, "src/evaluation/compute_metrics.py", "6bf789b815decbeb1c27f5058e2416c2a6e167724c0433b1da27b0abe5cc73df"},
}

// tripleQuoted is a long string of Python.
var tripleQuoted = regexp.MustCompile(`(?s)"""(.*?)"""`)

// escapes are those that a string of Python may have, as far as the prompts do.
var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, "'")

// readClone reads upstream's prompts from a clone of its repository. They are found by
// their hash, so that nothing but the published bytes is ever asked.
func readClone(repo string) (map[string]string, error) {
	if repo == "" {
		return nil, deem.WithHint(errors.New("judge beam/upstream needs the prompts of BEAM, whose repository has no licence file"),
			"git clone https://github.com/mohammadtavakoli78/BEAM, then name it: --with repo=BEAM; the judges beam/mem0 and beam/omnimemeval need no clone")
	}
	prompts := map[string]string{}
	for _, p := range pinned {
		file := filepath.Join(repo, filepath.FromSlash(p.file))
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, deem.WithHint(err, "--with repo=PATH names a clone of https://github.com/mohammadtavakoli78/BEAM")
		}
		for _, m := range tripleQuoted.FindAllStringSubmatch(string(source), -1) {
			if prompt := escapes.Replace(m[1]); shaOf(prompt) == p.sha {
				prompts[p.name] = prompt
			}
		}
		if prompts[p.name] == "" {
			return nil, deem.WithHint(fmt.Errorf("%s does not have the published prompt with the SHA-256 %s", file, p.sha),
				"git -C %s checkout b2a3ee8", repo)
		}
	}
	return prompts, nil
}

// checkPinned refuses prompts that are not upstream's.
func checkPinned(prompts map[string]string) error {
	for _, p := range pinned {
		if shaOf(prompts[p.name]) != p.sha {
			return fmt.Errorf("the prompt %q is not the one of BEAM with the SHA-256 %s", p.name, p.sha)
		}
	}
	return nil
}

func shaOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
