package judge_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"deem"
	"deem/judge"
)

// The schema of a judge follows from its labels, aspects, criteria and parser. It accepts
// exactly the replies that the judge reads.
func TestSchemaOfReply(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, yaml, good, bad string }{
		{"labels", "labels: {a: 1, b: 0}\n", `{"label":"a"}`, `{"label":"c"}`},
		{"reason first", "labels: {a: 1, b: 0}\nread: {how: json, key: verdict, reason: why}\n", `{"why":"it is","verdict":"b"}`, `{"verdict":"b"}`},
		{"aspects", "aspects: {tone: {min: 1, max: 5, integer: true}, depth: {max: 1}}\n", `{"tone":5,"depth":0.5}`, `{"tone":6,"depth":0.5}`},
		{"each criterion", "labels: {a: 1, b: 0}\ncriteria: list\n", `{"label":"a"}`, `{"verdicts":[]}`},
		{"all criteria", "labels: {a: 1, b: 0}\ncriteria: {field: list, ask: together}\n", `{"verdicts":[{"criterion":1,"label":"a"}]}`, `{"label":"a"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			slot := "{response}"
			switch {
			case strings.Contains(tt.yaml, "together"):
				slot += "{criteria}"
			case strings.Contains(tt.yaml, "criteria"):
				slot += "{criterion}"
			}
			req := requestOf(t, "name: x\nprompt: '"+slot+"'\n"+tt.yaml+"params: {schema: true}\n")
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(req.Schema))
			if err != nil {
				t.Fatalf("schema %s: %v", req.Schema, err)
			}
			c := jsonschema.NewCompiler()
			if err := c.AddResource("x", doc); err != nil {
				t.Fatal(err)
			}
			s := c.MustCompile("x")
			for reply, good := range map[string]bool{tt.good: true, tt.bad: false} {
				v, err := jsonschema.UnmarshalJSON(strings.NewReader(reply))
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Validate(v); (err == nil) != good {
					t.Errorf("%s under %s: %v, want valid: %t", reply, req.Schema, err, good)
				}
			}
		})
	}
	if got := string(requestOf(t, "name: x\nprompt: '{response}'\nlabels: {a: 1, b: 0}\nread: {how: json, reason: why}\nparams: {schema: true}\n").Schema); strings.Index(got, `"why"`) > strings.Index(got, `"label"`) {
		t.Errorf("the label comes before its explanation: %s", got)
	}
}

// requestOf returns the request of a judge, and checks that the stored judge makes the same
// request, byte for byte.
func requestOf(t *testing.T, yaml string) deem.Request {
	t.Helper()
	d, err := judge.Parse("x.yaml", []byte(yaml), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	it := deem.Item{ID: "1", Response: "r", Fields: map[string]string{"list": "one\ntwo"}}
	req, err := p.Request(it)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := deem.Canonical(p.Spec())
	if err != nil {
		t.Fatal(err)
	}
	var spec judge.Spec
	if err := json.Unmarshal(stored, &spec); err != nil {
		t.Fatal(err)
	}
	again, err := spec.Declaration.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := again.Request(it); err != nil || string(r.Schema) != string(req.Schema) || r.Hash() != req.Hash() {
		t.Errorf("the stored judge asks with schema %s (%v), want %s", r.Schema, err, req.Schema)
	}
	return req
}

// A user's schema keeps its order. A schema that has no place for the verdict is rejected
// with its line.
func TestOwnSchema(t *testing.T) {
	t.Parallel()
	head := "name: x\nprompt: '{response}'\nlabels: {a: 1, b: 0}\n"
	own := head + "params:\n  schema:\n    type: object\n    properties:\n      why: {type: string, maxLength: 90}\n      label: {enum: [a, b]}\n    required: [why, label]\n"
	want := `{"type":"object","properties":{"why":{"type":"string","maxLength":90},"label":{"enum":["a","b"]}},"required":["why","label"]}`
	if got := requestOf(t, own).Schema; string(got) != want {
		t.Errorf("schema %s, want %s", got, want)
	}
	for _, tt := range []struct{ name, yaml, want string }{
		{"no object", head + "params:\n  schema: {type: string}\n", "x.yaml:4: params.schema is not the JSON Schema of an object"},
		{"no label", head + "params:\n  schema: {type: object, properties: {verdict: {}}}\n", `no property "label"`},
		{"a word", head + "params:\n  schema: strict\n", "x.yaml:5: schema wants true or false"},
		{"not read as JSON", head + "read: exact\nparams: {schema: true}\n", `which the way "exact" does not read`},
		{"a loop", head + "params:\n  schema: &a {type: object, properties: *a}\n", "contains itself"},
	} {
		if _, err := judge.Parse("x.yaml", []byte(tt.yaml), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
