package infinitebench

import "deem/internal/benchmark"

// A task is one of the twelve.
type task struct {
	name   string
	title  string // as in the table of the README
	metric string // label of its verdicts; "" if a response is right or wrong
	size   int    // published number of items
}

// The metrics of tasks with graded scores, as labels of verdicts.
const (
	f1        = "f1"
	f1Chars   = "f1_chars"
	rougeLsum = "rouge_lsum"
	prefix    = "prefix"
)

// The tasks with special rules.
const (
	mathCalc = "math_calc"
	mathFind = "math_find"
	codeRun  = "code_run"
)

// tasks are in the order of the README's table. The last two are variants without a row
// there.
var tasks = []task{
	{"passkey", "Retrieve.PassKey", "", 590},
	{"number_string", "Retrieve.Number", "", 590},
	{"kv_retrieval", "Retrieve.KV", "", 500},
	{"longbook_sum_eng", "En.Sum", rougeLsum, 103},
	{"longbook_qa_eng", "En.QA", f1, 351},
	{"longbook_choice_eng", "En.MC", "", 229},
	{"longdialogue_qa_eng", "En.Dia", "", 200},
	{"longbook_qa_chn", "Zh.QA", f1Chars, 189},
	{"code_debug", "Code.Debug", "", 394},
	{codeRun, "Code.Run", "", 400},
	{mathCalc, "Math.Calc", prefix, 50},
	{mathFind, "Math.Find", "", 350},
	{"kv_retrieval_prefix", "", "", 0},
	{"kv_retrieval_both", "", "", 0},
}

// table finds tasks by name.
var table = benchmark.ByTask[task]{Title: "InfiniteBench", Tasks: tasks, Name: func(t task) string { return t.name }}
