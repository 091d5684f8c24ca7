#!/usr/bin/env bash
# test.sh GOTESTSUM LOG TIME: run every test, and write what go test -json prints to LOG.
# TIME is how long the tests of one package may take.
#
# Packages whose goroutines share memory are tested with the race detector, which makes them
# three to five times slower; so are the tests that kill, interrupt or limit a run, and those
# that download. The other packages are text and arithmetic. A part that fails does not stop
# the next.
set -euo pipefail
cd "$(dirname "$0")/.."
gotestsum=${1:?usage: scripts/test.sh GOTESTSUM LOG TIME}
log=$2 time=$3
raced=(. ./bundle ./cmd/deem ./internal/catalog ./internal/money
  ./internal/queue ./internal/run ./internal/server/... ./internal/store/... ./internal/telemetry
  ./internal/test/faultserver ./internal/test/storetest
  ./internal/minilm ./judge/... ./internal/model ./internal/vendors ./model/... ./internal/probe)
export CGO_ENABLED=1

failed=0
part() {
  local part=$1
  shift
  "$gotestsum" --format pkgname-and-test-fails --hide-summary skipped --jsonfile "$log.$part" -- -timeout "$time" "$@" || failed=1
}
mapfile -t others < <(go list ./... | grep -vxF "$(go list "${raced[@]}")")
part 1 "${others[@]}"
part 2 -race "${raced[@]}"
part 3 -race -run '^Test(Batch|Budget|Fetch|Interrupt|Kill|Limit|Program|RunThrough|Until)' ./internal/cli ./internal/dataset
cat "$log".[123] >"$log"
rm "$log".[123]
exit "$failed"
