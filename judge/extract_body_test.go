package judge

import (
	"testing"
)

func TestBody(t *testing.T) {
	for _, c := range []struct{ reply, want string }{
		{"", ""},
		{"  CORRECT\n", "CORRECT"},
		{"<think>a</think>b", "b"},
		{"<think>a</think>b<think>c</think>d", "bd"},
		{"<THINK>a</Think>b", "b"},
		{"<thinking>\na\n</thinking>\n\nb", "b"},
		{"<reasoning>a</reasoning>b", "b"},
		{"[THINK]a[/THINK]b", "b"},
		{"◁think▷a◁/think▷b", "b"},
		{"<|begin_of_thought|>a<|end_of_thought|>b", "b"},
		{"<|START_THINKING|>a<|END_THINKING|>b", "b"},
		{"a <think>never closed", "a"},
		{"never opened</think>b", "b"},
		{"one</think>two</think>b", "b"},
		{"<think>a<think>b</think>c</think>d", "d"},
		{"see the `<think>` tag", "see the `<think>` tag"},
		{`{"reason": "leaks <think> tags", "label": "WRONG"}`, `{"reason": "leaks <think> tags", "label": "WRONG"}`},
		{"<think>{\"label\": \"CORRECT\"}</think>{\"label\": \"WRONG\"}", `{"label": "WRONG"}`},
		{"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "b"},
		{"<|start|>assistant<|channel|>final<|message|>b", "b"},
		{"<|channel|>analysis<|message|>a", ""},
		{"<|channel|>analysis a", ""},
		{"analysisI think so.assistantfinalb", "b"},
		{"analysis of the response: fine", "analysis of the response: fine"},
		{"1 < 2 and [think about it]", "1 < 2 and [think about it]"},
	} {
		if got := withoutThinking(c.reply); got != c.want {
			t.Errorf("withoutThinking(%q) = %q, want %q", c.reply, got, c.want)
		}
	}
}

func TestRefusal(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"I'm sorry, but I can't assist with that.", true},
		{"I’m sorry, I cannot help with this request.", true},
		{"Sorry, but I can't provide that.", true},
		{"I cannot evaluate this content.", true},
		{"I'm unable to assist with this request.", true},
		{"As an AI language model, I can't judge that.", true},
		{"I must decline.", true},
		{"抱歉，我无法回答这个问题。", true},
		{"对不起，我不能提供帮助。", true},
		{"作为一个人工智能语言模型，我无法判断。", true},
		{"申し訳ありませんが、その内容には対応できません。", true},
		{"죄송합니다. 도와드릴 수 없습니다.", true},
		{"Lo siento, pero no puedo ayudar.", true},
		{"Je suis désolé, mais je ne peux pas vous aider.", true},
		{"Es tut mir leid, aber ich kann dabei nicht helfen.", true},
		{"Desculpe, mas não posso ajudar.", true},
		{"Mi dispiace, ma non posso aiutarti.", true},
		{"Извините, но я не могу помочь.", true},

		{"", false},
		{"CORRECT", false},
		{"Sorry, the response is wrong.", false},
		{"I cannot find the year in the response.", false},
		{`The response says "I'm sorry, but I can't assist with that."`, false},
		{"The assistant refused: I can't assist with that, it said.", false},
		{"The response declines to answer.", false},
		{"抱歉的是，回答与参考不一致。", false},
	} {
		if got := isRefusal(c.text); got != c.want {
			t.Errorf("Refusal(%q) = %v, want %v", c.text, got, c.want)
		}
	}
}
