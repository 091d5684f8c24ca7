package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"deem"
	"deem/internal/model"
	"deem/model/fake"
)

// An unsupported parameter is dropped if the request allows it, at the cost of one extra
// call in the whole run, and the reply reports it.
func TestSpare(t *testing.T) {
	calls := 0
	wire := fake.Func("m", func(_ context.Context, req deem.Request) (deem.Reply, error) {
		calls++
		if req.Temperature != nil {
			return deem.Reply{}, &deem.ModelError{Status: 400, Fatal: true, Param: "temperature", Unsupported: true, Err: errors.New("no temperature here")}
		}
		return deem.Reply{Text: "yes", Stop: deem.StopEnd}, nil
	})
	m := model.Spare(wire)
	zero := 0.0
	req := deem.Prompt("Is it so?")
	req.Temperature = &zero
	if _, err := m.Complete(t.Context(), req); err == nil || calls != 1 {
		t.Errorf("a request that does not allow it is made %d times with error %v, want once with an error", calls, err)
	}
	req.Optional = []string{"temperature"}
	for range 2 {
		reply, err := m.Complete(t.Context(), req)
		if err != nil || !strings.Contains(reply.Dropped, "temperature=the+server+rejected+it") {
			t.Errorf("dropped %q, error %v", reply.Dropped, err)
		}
	}
	if calls != 4 {
		t.Errorf("%d calls, want one refused without leave, one refused with leave, and two answered", calls)
	}
}
