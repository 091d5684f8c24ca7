package command_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"deem"
	"deem/judge"
	"deem/model/command"
)

// A judge behind HTTP gives its verdict on an item.
func Example() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"deem": 1, "kind": "judge", "name": "my-grader", "version": "3"}`)
			return
		}
		fmt.Fprint(w, `{"label": "yes", "score": 1, "reason": "same year"}`)
	}))
	ctx := context.Background()
	server, err := command.Dial(ctx, command.ServerOptions{URL: srv.URL})
	if err != nil {
		log.Fatal(err)
	}
	j := judge.New(judge.External("my-grader"), server)
	v, err := j.Judge(ctx, deem.Item{ID: "q17", Question: "When?", References: []string{"2001"}, Response: "In 2001."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Label, v.Score, v.Reason)
	srv.Close()
	// Output: yes 1 same year
}
