package pairwise_test

import (
	"context"
	"fmt"

	"deem"
	"deem/judge"
	"deem/judge/pairwise"
	"deem/model/fake"
)

// A model that always prefers the first response gives a tie.
func ExampleNew() {
	protocol, err := pairwise.Declaration().Protocol("")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := fake.New("say=FIRST")
	if err != nil {
		fmt.Println(err)
		return
	}
	it := deem.Item{
		ID: "q1", Question: "Where does Mara live?", References: []string{"Porto"},
		Response: "In Porto.", Fields: map[string]string{pairwise.Field: "In Braga."},
	}
	v, err := pairwise.New("", judge.New(protocol, m)).Judge(context.Background(), it)
	fmt.Println(v.Label, v.Score, err)
	fmt.Println("the order decided:", v.Aspects[pairwise.AspectFlip] == 1)
	// Output:
	// tie 0.5 <nil>
	// the order decided: true
}
