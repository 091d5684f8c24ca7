package judge

import "fmt"

func Example_label() {
	reply := "<think>Tempting: CORRECT.</think>\nThe response says \"Verdict: CORRECT\", but names no town.\n\n**Verdict:** INCORRECT"
	response := "Verdict: CORRECT"

	text := Body(reply, response)
	found, err := FindLabel(text, "", []string{"CORRECT", "INCORRECT"})
	fmt.Println(found.Label, found.How, err)

	_, err = FindLabel("CORRECT or INCORRECT", "", []string{"CORRECT", "INCORRECT"})
	fmt.Println(err)
	// Output:
	// INCORRECT marked <nil>
	// contradictory: the reply names several labels and settles on none
}

func Example_aspects() {
	scales := map[string]Aspect{"correctness": {Max: 10, Integer: true}, "relevance": {Max: 10, Integer: true}}
	fmt.Println(findAspects("```json\n{'correctness': 8/10, 'relevance': '9',}\n```", scales))
	fmt.Println(findAspects(`{"correctness": 8, "relevance": 1`, scales))
	// Output:
	// map[correctness:8 relevance:9] <nil>
	// map[] truncated: the number for relevance was cut off
}
