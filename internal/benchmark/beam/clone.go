package beam

import (
	"crypto/sha256"
	"fmt"

	"deem/internal/benchmark"
)

// The prompts of the judges by name.
const (
	promptSystem    = "system"
	promptNugget    = "nugget"
	promptOrdering  = "ordering"
	promptSame      = "same"
	promptSameAsked = "same_system"
)

// pinned lists upstream's prompts: the file of each, and the SHA-256 of its text.
var pinned = []struct{ name, file, sha string }{
	{promptNugget, "src/prompts.py", "d349c9a8559bed9c14bfe2e624212225b09218ff864258a739229c15f4c8e869"},
	{promptSameAsked, "src/evaluation/compute_metrics.py", "0863c78c1b27d36c97bb7bfd2d4d6b88ef69b093e92bb4719e665527722413e2"},
	{promptSame, "src/evaluation/compute_metrics.py", "6bf789b815decbeb1c27f5058e2416c2a6e167724c0433b1da27b0abe5cc73df"},
}

// readClone reads upstream's prompts from a clone of its repository. They are found by
// their hash, so that only the published bytes are used.
func readClone(repo string) (map[string]string, error) {
	c := benchmark.Clone{Judge: UpstreamName, URL: "github.com/mohammadtavakoli78/BEAM", At: "b2a3ee8", Path: repo}
	prompts := map[string]string{}
	for _, p := range pinned {
		prompt, err := c.Python(p.file, p.sha)
		if err != nil {
			return nil, err
		}
		prompts[p.name] = prompt
	}
	return prompts, nil
}

// checkPinned rejects prompts that are not upstream's.
func checkPinned(prompts map[string]string) error {
	for _, p := range pinned {
		if fmt.Sprintf("%x", sha256.Sum256([]byte(prompts[p.name]))) != p.sha {
			return fmt.Errorf("the prompt %q is not the one of BEAM with the SHA-256 %s", p.name, p.sha)
		}
	}
	return nil
}
