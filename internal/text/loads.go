package text

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Loads parses a JSON object like Python's json.loads. A duplicate key has its last value.
// Python also accepts NaN and the infinities; they become null here, because they cannot be
// used as a label or score.
func Loads(s string) (map[string]any, error) {
	object, err := loads(s)
	if finite := FiniteJSON(s); err != nil && finite != s {
		return loads(finite)
	}
	return object, err
}

func loads(s string) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var object map[string]any
	if err := dec.Decode(&object); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text follows the object")
	}
	return object, nil
}
