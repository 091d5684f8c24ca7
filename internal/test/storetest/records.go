package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"deem"
	"deem/internal/store"
)

// Epoch is the time of everything in this package.
var Epoch = time.Date(2026, 11, 15, 16, 30, 0, 123456789, time.UTC)

// Spec returns a spec whose key depends on name.
func Spec(name string) store.Spec {
	return store.Spec{
		Judge: store.JudgeSpec{
			Name: "universal", Hash: "judge-" + name,
			Identity: json.RawMessage(`{"prompt":"is it right?","reading":"strict"}`),
		},
		Model:    "fake:yes",
		Endpoint: "http://localhost:8080/v1",
		Dataset:  store.DatasetSpec{Names: []string{"a.jsonl", "b c.jsonl"}, Hash: "dataset-" + name, Items: 3},
		Trials:   1,
		Settings: json.RawMessage(`{"jobs":8}`),
	}
}

// Record returns the i-th record of a run: a verdict with one call, whose reply
// is cached. Its texts make it about 1 KB.
func Record(i int) deem.Record {
	label, score := "CORRECT", 1.0
	if i%3 == 0 {
		label, score = "INCORRECT", 0
	}
	id := fmt.Sprintf("q%08d", i)
	return deem.Record{
		Item: deem.Item{
			ID: id, Category: fmt.Sprintf("category-%d", i%5), Cluster: fmt.Sprintf("conversation-%d", i/20),
			Question:   "Which of the many places did the two of them visit on the day after " + id + "?",
			References: []string{"the lighthouse at the end of the pier"},
			Response:   fmt.Sprintf("As far as I remember, on day %d they went to the lighthouse.%300d", i, i),
		},
		Position: i, Judge: "universal",
		Verdict: &deem.Verdict{Label: label, Score: score, Reason: fmt.Sprintf("The response names the lighthouse.%60d", i)},
		Calls:   []deem.Call{Call(id)},
	}
}

// Call returns a call whose reply is cached under key.
func Call(key string) deem.Call {
	return deem.Call{
		Model: "fake:yes", Request: "hash-of-the-request-" + key, Started: Epoch,
		Reply: &deem.Reply{
			Text: "The response names the lighthouse, as the reference does. Verdict: CORRECT (" + key + ")",
			Stop: deem.StopEnd, Usage: deem.Usage{Input: 412, Output: 17}, Model: "fake-1",
			Latency: 350 * time.Millisecond, Attempts: 1, CostMicros: 40, Key: key,
		},
	}
}

// Failed returns a record like Record(i), but with a failure.
func Failed(i int, kind deem.Kind) deem.Record {
	rec := Record(i)
	rec.Verdict = nil
	rec.Failure = deem.Failf(kind, "reply %d says nothing", i)
	return rec
}

// Full returns a value of type T in which every field is set, recursively: if a store
// forgets a new field, it is missing when the value comes back.
func Full[T any]() T {
	var v T
	n := 0
	fillValue(reflect.ValueOf(&v).Elem(), &n)
	if rec, ok := any(&v).(*deem.Record); ok {
		rec.Item.Response = *rec.Answer // They are the same in every record.
	}
	return v
}

// fillValue sets v to a non-zero value, different each time.
func fillValue(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(Epoch.Add(time.Duration(*n))))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(fmt.Sprintf(`{"n":%d,"text":"é\n<&>"}`, *n))))
		return
	case deem.TokenLogprob:
		// The type is recursive, so stop here.
		v.Set(reflect.ValueOf(deem.TokenLogprob{
			Token: "Yes", Logprob: -0.25, Top: []deem.TokenLogprob{{Token: "No", Logprob: -1.5}},
		}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 8)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillValue(v.Index(0), n)
		fillValue(v.Index(1), n)
	case reflect.Map:
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillValue(key, n)
		fillValue(elem, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, elem)
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(v.Field(i), n)
		}
	default:
		panic(fmt.Sprintf("storetest: cannot fill a %s", v.Type()))
	}
}
