package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// The schema of deem.yaml, the settings that the command takes and its flags are
// one list.
func TestConfigSchemaNamesEverySetting(t *testing.T) {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(configSchema, &schema); err != nil {
		t.Fatal(err)
	}
	a := &app{}
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
	for name := range schema.Properties {
		t.Errorf("the schema knows %s, which is no setting", name)
	}
	if !slices.IsSorted(configKeys) {
		t.Error("configKeys are not sorted, so messages list them in no order")
	}
}

// The file that deem init writes meets the schema.
func TestConfigTemplateMeetsTheSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(configSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("deem.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("deem.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
	if err := check(configTemplate); err != nil {
		t.Error(err)
	}
	if err := check("jugde: match\n"); err == nil {
		t.Error("the schema takes a setting that there is not")
	}
}
