//go:build js && wasm

// Verifier is "deem verify" for WebAssembly. The pages of a board load it to verify a row in
// the reader's browser: it defines deemVerify, which takes the bytes of a run file and
// returns a promise of the result as JSON.
package main

import (
	"context"
	"encoding/json"
	"syscall/js"

	_ "deem/benchmark" // names the judges of benchmarks
	"deem/internal/board"
)

func main() {
	js.Global().Set("deemVerify", js.FuncOf(func(_ js.Value, args []js.Value) any {
		file := make([]byte, args[0].Get("length").Int())
		js.CopyBytesToGo(file, args[0])
		return js.Global().Get("Promise").New(js.FuncOf(func(_ js.Value, settle []js.Value) any {
			go func() {
				text, err := verify(file)
				if err != nil {
					settle[1].Invoke(js.Global().Get("Error").New(err.Error()))
					return
				}
				settle[0].Invoke(string(text))
			}()
			return nil
		}))
	}))
	select {} // The functions are called for as long as the page is open.
}

// verify checks a run file and returns the result as JSON.
func verify(file []byte) ([]byte, error) {
	v, err := board.Verify(context.Background(), file, "")
	if err != nil {
		return nil, err
	}
	return json.Marshal(v.Verification)
}
