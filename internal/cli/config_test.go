package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The schema of deem.yaml, the accepted settings and the flags agree.
func TestConfigSchemaNamesEverySetting(t *testing.T) {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(configSchema, &schema); err != nil {
		t.Fatal(err)
	}
	a := emptyApp()
	root := a.root()
	run, _, err := root.Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range configKeys {
		name := strings.ReplaceAll(key, "-", "_")
		if _, ok := schema.Properties[name]; !ok {
			t.Errorf("the schema does not know %s", name)
		}
		delete(schema.Properties, name)
		if run.Flags().Lookup(flagOf(key)) == nil && root.PersistentFlags().Lookup(flagOf(key)) == nil {
			t.Errorf("deem run has no flag for the setting %s", key)
		}
	}
	delete(schema.Properties, providersKey) // It has no flag.
	for name := range schema.Properties {
		t.Errorf("the schema knows %s, which is not a setting", name)
	}
	if !slices.IsSorted(configKeys) {
		t.Error("configKeys are not sorted, so messages list them in no order")
	}
}
