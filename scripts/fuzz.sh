#!/usr/bin/env bash
# fuzz.sh TIME PACKAGES...: runs every fuzz target of the packages for TIME,
# one after the other, and goes on after a finding, so that one does not hide
# the next. The input of a finding lies in testdata/fuzz: commit it with the fix.
# Inputs are made small with few tries: where a library has caches, each run takes
# another way, and making inputs small would be all that is done.
set -euo pipefail

time=$1
shift
failed=0
ran=0
while read -r dir pkg; do
  targets=$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)([a-z]* \*testing\.F).*/\1/p' "$dir"/*_test.go)
  for target in $targets; do
    echo "go test -run '^\$' -fuzz '^$target\$' -fuzztime $time -fuzzminimizetime 100x $pkg"
    ran=$((ran + 1))
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 100x "$pkg" </dev/null || failed=$((failed + 1))
  done
done < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}} {{.ImportPath}}{{end}}' "$@")
echo "fuzz: $ran targets, $failed failed"
[ "$failed" -eq 0 ]
