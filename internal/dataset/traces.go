package dataset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/text"
)

// Traces in OTLP JSON, as the OpenTelemetry collector writes them to a file, are read as
// items: each trace that called a model is one. Its question, response and retrieved
// context come from the attributes of its spans, by the OpenTelemetry conventions for
// generative AI and by those of OpenInference.

// areTraces reports whether a text begins like traces.
func areTraces(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n")
	rest, ok := bytes.CutPrefix(head, []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"resourceSpans"`))
}

// A traceSpan is a span of a trace.
type traceSpan struct {
	Trace  string      `json:"traceId"`
	ID     string      `json:"spanId"`
	Parent string      `json:"parentSpanId"`
	Start  json.Number `json:"startTimeUnixNano"`
	End    json.Number `json:"endTimeUnixNano"`

	Attributes []attribute `json:"attributes"`
	Events     []struct {
		Attributes []attribute `json:"attributes"`
	} `json:"events"`
}

type attribute struct {
	Key   string   `json:"key"`
	Value anyValue `json:"value"`
}

// An anyValue is a value of any type.
type anyValue struct {
	Text   *string         `json:"stringValue"`
	Int    json.RawMessage `json:"intValue"` // a number, or a text with a number
	Double *float64        `json:"doubleValue"`
	Array  *struct {
		Values []anyValue `json:"values"`
	} `json:"arrayValue"`
	List *struct {
		Values []attribute `json:"values"`
	} `json:"kvlistValue"`
}

// plain returns the value as JSON would decode it.
func (v anyValue) plain() any {
	switch {
	case v.Text != nil:
		return *v.Text
	case v.Int != nil:
		return json.Number(strings.Trim(string(v.Int), `"`))
	case v.Double != nil:
		return *v.Double
	case v.Array != nil:
		list := make([]any, len(v.Array.Values))
		for i, e := range v.Array.Values {
			list[i] = e.plain()
		}
		return list
	case v.List != nil:
		m := map[string]any{}
		for _, a := range v.List.Values {
			m[a.Key] = a.Value.plain()
		}
		return m
	}
	return nil
}

// The attributes used for items, most common first.
var (
	spanInput     = []string{"input.value", "gen_ai.input.messages", "gen_ai.prompt", "traceloop.entity.input", "langfuse.trace.input", "langfuse.observation.input"}
	spanOutput    = []string{"output.value", "gen_ai.output.messages", "gen_ai.completion", "traceloop.entity.output", "langfuse.trace.output", "langfuse.observation.output"}
	spanReference = []string{"deem.reference", "langfuse.experiment.item.expected_output", "expected_output", "reference"}
	spanSession   = []string{"session.id", "gen_ai.conversation.id", "langfuse.session.id"}
	spanIn        = []string{"gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens"}
	spanOut       = []string{"gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.usage.completion_tokens"}
	spanCost      = []string{"gen_ai.usage.cost", "llm.cost.total", "langfuse.observation.cost_details.total"}
	spanModel     = []string{"gen_ai.response.model", "gen_ai.request.model", "llm.model_name"}
)

// A trace is the collected data of one trace.
type trace struct {
	id, span, question, response, session string

	rooted     bool // question and response are those of the root span
	messages   deem.Conversation
	references []string
	context    []string
	room       int     // bytes of the context
	in, out    float64 // tokens
	cost, took float64 // dollars, milliseconds
	tokens     bool
	priced     bool
}

const documentPrefix = "retrieval.documents."

// maxContext is the maximum size of the documents of a trace that are kept.
const maxContext = 1 << 20

// readTraces calls yield with the traces that called a model, in the order of their first
// relevant span, and returns the number of traces without a question and a response. It
// keeps the collected data of each trace in memory, not the spans, and for a trace without
// data only its duration.
func readTraces(r io.Reader, yield func(trace) error) (silent int, err error) {
	byID := map[string]*trace{}
	mute := map[string]float64{}
	var order []*trace
	dec := json.NewDecoder(r)
	dec.UseNumber()
	inSpans := false
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("not the JSON of traces: %w", err)
		}
		if key, ok := tok.(string); ok {
			inSpans = key == "spans"
			continue
		}
		if tok != json.Delim('[') || !inSpans {
			inSpans = false
			continue
		}
		for inSpans = false; dec.More(); {
			var s traceSpan
			if err := dec.Decode(&s); err != nil {
				return 0, fmt.Errorf("not the JSON of traces: %w", err)
			}
			t := byID[s.Trace]
			if t == nil && !s.speaks() {
				mute[s.Trace] = max(mute[s.Trace], s.took())
				continue
			}
			if t == nil {
				t = &trace{id: s.Trace, took: mute[s.Trace]}
				delete(mute, s.Trace)
				byID[s.Trace] = t
				order = append(order, t)
			}
			t.add(s)
		}
	}
	silent = len(mute)
	for _, t := range order {
		if t.question == "" || t.response == "" {
			silent++
			continue
		}
		if err := yield(*t); err != nil {
			return silent, err
		}
	}
	return silent, nil
}

// add adds the data of a span.
func (t *trace) add(s traceSpan) {
	values := map[string]any{}
	for _, e := range s.Events { // Older programs put texts into events.
		for _, a := range e.Attributes {
			values[a.Key] = a.Value.plain()
		}
	}
	for _, a := range s.Attributes {
		values[a.Key] = a.Value.plain()
	}
	find := func(names []string) any {
		for _, name := range names {
			if v, ok := values[name]; ok && v != nil && v != "" {
				return v
			}
		}
		return nil
	}
	root := s.root()
	question, response := said(find(spanInput), "user"), said(find(spanOutput), "assistant")
	retrieved := documents(values)
	switch {
	case len(retrieved) > 0:
		for _, d := range retrieved {
			if t.room += len(d); t.room <= maxContext {
				t.context = append(t.context, d)
			}
		}
	case root && question != "" && response != "":
		t.question, t.response, t.span, t.rooted, t.messages = question, response, s.ID, true, messages(find)
	case !t.rooted && response != "" && question != "" && find(spanModel) != nil:
		t.question = cmp.Or(t.question, question)
		t.response, t.span, t.messages = response, s.ID, messages(find) // of the last call
	}
	for _, name := range spanReference {
		if r := said(values[name], "assistant"); r != "" && len(t.references) == 0 {
			t.references = []string{r}
		}
	}
	if v := said(find(spanSession), ""); v != "" {
		t.session = v
	}
	if in, ok := number(find(spanIn)); ok {
		t.in, t.tokens = t.in+in, true
	}
	if out, ok := number(find(spanOut)); ok {
		t.out, t.tokens = t.out+out, true
	}
	if cost, ok := number(find(spanCost)); ok {
		t.cost, t.priced = t.cost+cost, true
	}
	if took := s.took(); took > 0 {
		t.took = took
	}
}

func (s traceSpan) root() bool { return strings.Trim(s.Parent, "0") == "" }

// took returns the duration of the root of a trace in milliseconds, 0 for other spans.
func (s traceSpan) took() float64 {
	if start, end := nanos(s.Start), nanos(s.End); s.root() && end > start {
		return float64(end-start) / 1e6
	}
	return 0
}

// speaks reports whether a span has an attribute that is used for items.
func (s traceSpan) speaks() bool {
	known := func(a attribute) bool {
		return slices.Contains(spoken, a.Key) || strings.HasPrefix(a.Key, documentPrefix)
	}
	for _, e := range s.Events {
		if slices.ContainsFunc(e.Attributes, known) {
			return true
		}
	}
	return slices.ContainsFunc(s.Attributes, known)
}

// spoken are the attributes that are used for items.
var spoken = slices.Concat(spanInput, spanOutput, spanReference, spanSession, spanIn, spanOut, spanCost, spanModel)

// messages returns the conversation of a span: the input and output of the model.
func messages(find func([]string) any) deem.Conversation {
	var turns deem.Conversation
	for _, names := range [][]string{spanInput, spanOutput} {
		v := find(names)
		data, isText := v.(string)
		if !isText {
			text, _ := json.Marshal(v) // it was JSON
			data = string(text)
		}
		if c, err := chat([]byte(data)); err == nil {
			turns = append(turns, c...)
		}
	}
	return turns
}

func nanos(n json.Number) int64 {
	v, err := strconv.ParseInt(strings.Trim(n.String(), `"`), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

func number(v any) (float64, bool) {
	x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	return x, err == nil
}

// documents returns the texts that a span retrieved, in order.
func documents(values map[string]any) []string {
	const suffix = ".document.content"
	byPlace := map[int]string{}
	for name, v := range values {
		place, ok := strings.CutPrefix(name, documentPrefix)
		place, is := strings.CutSuffix(place, suffix)
		n, err := strconv.Atoi(place)
		if text, plain := v.(string); ok && is && err == nil && plain {
			byPlace[n] = text
		}
	}
	list := make([]string, 0, len(byPlace))
	for _, n := range slices.Sorted(maps.Keys(byPlace)) {
		list = append(list, byPlace[n])
	}
	return list
}

// Said returns the text of a value. If the value is a chat message or a list of messages,
// as in exports of traces, it is the last one of the role; an object that contains only a
// text under a usual name is that text; any other object or list is written as JSON.
func (v Value) Said(role string) string {
	if v.form != raw || v.data[0] != '{' && v.data[0] != '[' {
		return v.Str()
	}
	var object map[string]any
	if json.Unmarshal(v.data, &object) == nil && len(object) == 1 {
		for name, inner := range object {
			if text, ok := inner.(string); ok && slices.Contains(textNames, name) {
				return text
			}
		}
	}
	if turns, err := chat(v.data); err == nil && turns.Said(role) != "" {
		return turns.Said(role)
	}
	return string(v.JSON())
}

// textNames are the names under which other tools store a text in an object.
var textNames = []string{"question", "query", "input", "prompt", "answer", "output", "response", "text", "content"}

// turns returns the conversation in a value: a message, a list of messages, or an object
// that has such a list. It returns nil for other values. A text is such a value unless
// texts may contain JSON: a response that is a text stays one.
func (v Value) turns(texts bool) (deem.Conversation, error) {
	data := v.data
	if v.form != raw || data[0] == '"' {
		if !texts {
			return nil, nil
		}
		data = []byte(optional(v))
	}
	return chat(data)
}

// chat parses a conversation.
func chat(data []byte) (deem.Conversation, error) {
	data = bytes.TrimSpace(data)
	var messages []json.RawMessage
	var one struct {
		Role     json.RawMessage `json:"role"`
		Messages json.RawMessage `json:"messages"`
	}
	switch {
	case len(data) == 0:
		return nil, nil
	case data[0] == '{' && json.Unmarshal(data, &one) == nil && one.Messages != nil:
		return chat(one.Messages)
	case data[0] == '{' && one.Role != nil:
		messages = []json.RawMessage{data}
	case data[0] == '[' && json.Unmarshal(data, &messages) == nil && len(messages) > 0 && json.Unmarshal(messages[0], &one) == nil && one.Role != nil:
	default:
		return nil, nil
	}
	turns := make(deem.Conversation, len(messages))
	for i, m := range messages {
		err := json.Unmarshal(m, &turns[i])
		if err == nil && turns[i].Role == "" {
			err = errors.New("it has no role")
		}
		if err != nil {
			return nil, fmt.Errorf("message %d of %d: %w", i+1, len(messages), err)
		}
	}
	return turns, nil
}

// said returns the text in a value: the value itself, or the last message of a role in its
// messages, as JSON or as a structure.
func said(v any, role string) string {
	if t, ok := v.(string); ok {
		trimmed := strings.TrimSpace(t)
		if !strings.HasPrefix(trimmed, "[") && !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, `"`) {
			return t
		}
		var inner any
		if json.Unmarshal([]byte(trimmed), &inner) != nil {
			return t
		}
		if found := said(inner, role); found != "" {
			return found
		}
		return t
	}
	switch v := v.(type) {
	case []any:
		for _, e := range slices.Backward(v) {
			m, ok := e.(map[string]any)
			if ok && (m["role"] == role || m["role"] == nil) {
				return said(m, role)
			}
		}
	case map[string]any:
		for _, name := range []string{"content", "parts", "text", "messages", "question", "query", "input", "answer", "output", "response", "message"} {
			if name == "parts" || name == "content" {
				if joined := partsOf(v[name]); joined != "" {
					return joined
				}
				continue
			}
			if found := said(v[name], role); found != "" {
				return found
			}
		}
	case json.Number, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// partsOf returns the texts of a message, which may have several parts.
func partsOf(v any) string {
	if t, ok := v.(string); ok {
		return t
	}
	list, _ := v.([]any)
	var texts []string
	for _, e := range list {
		m, _ := e.(map[string]any)
		for _, name := range []string{"text", "content"} {
			if t, ok := m[name].(string); ok && t != "" {
				texts = append(texts, t)
				break
			}
		}
	}
	return strings.Join(texts, "\n")
}

// fromTraces replaces a file of traces by a copy with a row for each trace that called a
// model.
func (f *file) fromTraces(ctx context.Context) error {
	r, err := f.open(ctx)
	if err != nil {
		return err
	}
	spool, err := tempFile()
	if err != nil {
		return errors.Join(err, r.Close())
	}
	n := 0
	silent, err := readTraces(contextReader(ctx, r), func(t trace) error {
		row := map[string]any{"id": t.id, "question": t.question, "response": t.response}
		set := func(name, value string) {
			if value != "" {
				row[name] = value
			}
		}
		set(deem.FieldSpan, t.span)
		set("cluster", t.session)
		set("context", strings.Join(t.context, "\n\n"))
		if len(t.messages) > 0 {
			row["messages"] = t.messages
		}
		if len(t.references) > 0 {
			row["references"] = t.references
		}
		if t.tokens {
			row[deem.FieldTokensIn], row[deem.FieldTokensOut] = text.Float(t.in), text.Float(t.out)
		}
		if t.priced {
			row[deem.FieldCost] = text.Float(t.cost)
		}
		if t.took > 0 {
			row[deem.FieldLatency] = text.Float(t.took)
		}
		line, err := json.Marshal(row)
		line = append(line, '\n')
		if err == nil {
			n++
			_, err = spool.Write(line)
		}
		return err
	})
	if err = errors.Join(err, r.Close()); err == nil && n == 0 {
		err = deem.WithHint(fmt.Errorf("none of %d traces has a question and a response", silent),
			"the spans need input.value and output.value, or gen_ai.input.messages and gen_ai.output.messages; many programs leave texts out unless they are told to keep them")
	}
	size, sizeErr := spool.Seek(0, io.SeekEnd)
	if err = errors.Join(err, sizeErr); err != nil {
		return errors.Join(err, closeTemp(spool))
	}
	err = closeTemp(f.spool)
	f.spool, f.size, f.packed, f.path, f.format = spool, size, unpacked, "", formatJSONL
	f.note = fmt.Sprintf("reading %d traces of %s as items", n, f.name)
	if silent > 0 {
		f.note += fmt.Sprintf("; %d others have no question or no response", silent)
	}
	return err
}
