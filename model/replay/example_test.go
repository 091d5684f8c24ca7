package replay_test

import (
	"context"
	"fmt"
	"strings"

	"deem"
	"deem/model/fake"
	"deem/model/replay"
)

// The replies of a model are recorded, and replayed without the model.
func Example() {
	m, err := fake.New("say=yes")
	if err != nil {
		fmt.Println(err)
		return
	}
	var file strings.Builder
	ask := deem.Prompt("Is 18 days the same as eighteen days?")
	if _, err := replay.Recorder(m, &file).Complete(context.Background(), ask); err != nil {
		fmt.Println(err)
		return
	}

	again, err := replay.Read("replay:kept", "kept.jsonl", strings.NewReader(file.String()))
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := again.Complete(context.Background(), ask)
	fmt.Println(reply.Text, err)
	// Output: yes <nil>
}
