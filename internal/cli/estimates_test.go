package cli_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// onNothing matches an interval based on 0 items.
var onNothing = regexp.MustCompile(`\[[-+.0-9]+, [-+.0-9]+\] +n=0\b`)

// checkEstimates requires null instead of every number that the data do not allow, wherever
// the output of a command has an estimate, and no placeholder in its text. It is applied to
// every script.
func checkEstimates(out string) error {
	if strings.Contains(out, "NaN") || onNothing.MatchString(out) {
		return fmt.Errorf("the output has a number that stands on nothing:\n%s", out)
	}
	dec := json.NewDecoder(strings.NewReader(out))
	for {
		var value any
		if dec.Decode(&value) != nil {
			return nil //nolint:nilerr // The output ends here, or is for people.
		}
		if err := checkTree(value, "$"); err != nil {
			return err
		}
	}
}

func checkTree(value any, path string) error {
	switch value := value.(type) {
	case []any:
		for i, v := range value {
			if err := checkTree(v, fmt.Sprint(path, "[", i, "]")); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := checkEstimate(value); err != nil {
			text, _ := json.Marshal(value)
			return fmt.Errorf("%s: %w: %s", path, err, text)
		}
		for key, v := range value {
			if err := checkTree(v, path+"."+key); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkEstimate checks an object if it is an estimate.
func checkEstimate(e map[string]any) error {
	method, ok := e["method"].(string)
	lo, hasLo := e["lo"]
	hi, hasHi := e["hi"]
	if !ok || !hasLo || !hasHi {
		return nil
	}
	switch none := method == "none"; {
	case method == "":
		return fmt.Errorf("an estimate that nobody made")
	case none != (lo == nil) || none != (hi == nil):
		return fmt.Errorf("an interval that the data do not allow must be null, and no other")
	case none && e["n"] == 0.0 && e["value"] != nil:
		return fmt.Errorf("a value that stands on nothing must be null")
	}
	return nil
}
