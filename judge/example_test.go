package judge_test

import (
	"context"
	"errors"
	"fmt"

	"deem"
	"deem/judge"
	"deem/model/fake"
)

var town = deem.Item{ID: "q1", Question: "Where does Mara live?", References: []string{"Porto"}, Response: "In Porto."}

// A protocol and a model make a judge.
func ExampleNew() {
	declared, _ := judge.Builtin("universal")
	protocol, err := declared.Protocol(judge.Strict)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, spec := range []string{"say=CORRECT", "say=Answer: INCORRECT", "say=Hard to say."} {
		m, err := fake.New(spec)
		if err != nil {
			fmt.Println(err)
			return
		}
		v, err := judge.New(protocol, m).Judge(context.Background(), town)
		if failure, ok := errors.AsType[*deem.Failure](err); ok {
			fmt.Println("unjudged:", failure.Kind)
			continue
		}
		fmt.Println(v.Label, v.Score)
	}
	// Output:
	// CORRECT 1
	// INCORRECT 0
	// unjudged: unparseable
}

// A user's judge is YAML text. Slots are filled in one pass.
func ExampleParse() {
	declared, err := judge.Parse("same.yaml", []byte(`
name: same
prompt: |
  Right answer: {reference}
  Response: {response}
  Do they say the same? YES or NO.
labels: {"YES": 1, "NO": 0}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	protocol, err := declared.Protocol("")
	if err != nil {
		fmt.Println(err)
		return
	}
	req, err := protocol.Request(town)
	fmt.Print(req.Messages[0].Content, err, "\n")

	v, err := protocol.Read(town, deem.Reply{Text: "**Yes**", Stop: deem.StopEnd})
	fmt.Println(v.Label, v.Score, err)
	// Output:
	// Right answer: Porto
	// Response: In Porto.
	// Do they say the same? YES or NO.
	// <nil>
	// YES 1 <nil>
}

// Errors in a file are reported with their line, before any call is made.
func ExampleParse_mistake() {
	_, err := judge.Parse("same.yaml", []byte("name: same\nprompt: \"{respnse}\"\nlabels: {\"YES\": 1, \"NO\": 0}\n"), nil)
	fmt.Println(err)
	// Output: same.yaml:2: the prompt uses the slot {respnse}, which is not declared; did you mean {response}?
}
