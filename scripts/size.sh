#!/usr/bin/env bash
# size.sh [COMMIT...]: print how large deem is, now or at each commit, as a Markdown table.
#
#   product    Go files that are not tests, without modules of their own (their lines follow)
#              and without suites
#   suites     packages that neither the command nor the library imports: tests that several
#              packages share
#   tests      files that end in _test.go, and the suites
#   depth      packages on the longest chain of imports
#   names      exported constants, variables, types, functions and methods of public packages
#   one item   functions of ours that run in "deem run" over one item, up to its report
#   dead       functions that neither the command nor an example reaches, nor an example of the
#              packages that are only for other programs (fmt calls Format itself)
#
# It needs Go and, once, the network for deadcode.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=$PWD/scripts/exported.go
deadcode=$PWD/.tools/bin/deadcode
[ -x "$deadcode" ] || GOBIN=$PWD/.tools/bin GOFLAGS='' go install golang.org/x/tools/cmd/deadcode@v0.48.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# lines counts the lines of the Go files of the module in the current folder that find selects.
lines() {
  find . -path ./.tools -prune -o -path '*/testdata' -prune -o -mindepth 2 -type d -exec test -e '{}/go.mod' ';' -prune -o -name '*.go' "$@" -exec cat '{}' + | wc -l
}

# suites counts the lines of packages that only tests import.
suites() {
  # shellcheck disable=SC2016,SC2086 # Go expands the template; packages are words.
  comm -23 <(go list ./... | sort) <(go list -deps ./cmd/... ./examples/... $1 | sort -u) | xargs go list -f '{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .IgnoredGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}' | grep . | xargs cat | wc -l
}

# depth prints the longest chain of imports.
depth() {
  go list -f '{{.ImportPath}} {{join .Imports " "}}' ./... | awk '
    { ours[$1] = 1; for (i = 2; i <= NF; i++) to[$1] = to[$1] " " $i }
    function deep(p,    n, list, i, d, most) {
      if (p in known) return known[p]
      n = split(to[p], list, " ")
      for (i = 1; i <= n; i++) if (list[i] in ours && (d = deep(list[i])) > most) most = d
      return known[p] = most + 1
    }
    END { for (p in ours) if ((d = deep(p)) > most) most = d; print most }'
}

# walked prints how many functions one item passes.
walked() {
  go build -cover -coverpkg=./... -o "$work/deem" ./cmd/deem
  rm -rf "$work/cover" "$work/run"
  mkdir "$work/cover" "$work/run"
  echo '{"id":"q1","question":"How long?","answer":"7 years","response":"7 years"}' >"$work/run/one.jsonl"
  (cd "$work/run" && GOCOVERDIR=$work/cover "$work/deem" run --data one.jsonl --judge universal --model fake:say=CORRECT >out 2>&1) || { cat "$work/run/out" >&2; return 1; }
  go tool covdata func -i="$work/cover" | awk '$NF != "0.0%" && $1 != "total"' | wc -l
}

measure() {
  local public suites
  public=$(go list ./... | grep -vE '/(internal|cmd|examples|scripts|bench)(/|$)')
  suites=$(suites "$public")
  echo "product lines|$(($(lines ! -name '*_test.go') - suites))"
  echo "lines of tests|$(($(lines -name '*_test.go') + suites))"
  echo "of these, suites that packages share|$suites"
  echo "lines of tools in modules of their own|$(find . -mindepth 2 -name go.mod ! -path '*/testdata/*' ! -path './.tools/*' -exec dirname '{}' ';' | while read -r dir; do find "$dir" -name '*.go' ! -name '*_test.go' -exec cat '{}' +; done | wc -l)"
  echo "packages|$(go list ./... | wc -l)"
  echo "import depth|$(depth)"
  echo "public packages|$(echo "$public" | wc -l)"
  # shellcheck disable=SC2046,SC2086 # Packages and folders are words.
  echo "exported names|$(go run "$tool" $(go list -f '{{.Dir}}' $public))"
  echo "functions for one item|$(walked)"
  echo "direct modules|$(go list -m -f '{{if not (or .Indirect .Main)}}{{.Path}}{{end}}' all | wc -l)"
  echo "dead functions|$(comm -12 <("$deadcode" ./cmd/... ./examples/... | sort) <("$deadcode" -test ./examples/... ./agree ./data ./model | sort) | grep -vc "\.Format$" || true)"
}

export GOFLAGS="-buildvcs=false -trimpath"
head='|' line='|---|'
columns=()
for commit in "$@"; do
  mkdir -p "$work/$commit"
  git archive "$commit" | tar -x -C "$work/$commit"
  (cd "$work/$commit" && measure) >"$work/$commit.txt"
  head="$head | $commit" line="$line---:|"
  columns+=("$work/$commit.txt")
done
measure >"$work/now.txt"
echo "$head | now |"
echo "$line---:|"
paste -d'|' "${columns[@]}" "$work/now.txt" | awk -F'|' '{ row = "| " $1; for (i = 2; i <= NF; i += 2) row = row " | " $i; print row " |" }'
