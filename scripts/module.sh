#!/usr/bin/env bash
# module.sh PATH: rename the Go module, to publish deem: make module PATH=example.org/you/deem.
# It rewrites go.mod, imports, documents and build flags in place.
set -euo pipefail
cd "$(dirname "$0")/.."
new=${1:-}
old=$(sed -n 's/^module //p' go.mod)
if ! [[ $new =~ ^[a-z0-9.-]+\.[a-z]+(/[A-Za-z0-9._~-]+)+$ ]]; then
  echo "module: error: write make module PATH=example.org/you/deem, not PATH=$new" >&2
  exit 2
fi
# An import is a line of its own: perhaps a name, then the path in quotes.
find . \( -name .git -o -name .tools \) -prune -o -type f \( -name '*.go' -o -name '*.md' \) -print0 |
  xargs -0 sed -i -E "s#^([[:space:]]*(import )?([[:alnum:]_.]+ )?)\"$old(/[^\"]*)?\"([[:space:]]*(//.*)?)\$#\\1\"$new\\4\"\\5#"
sed -i -E "s#^module $old(/|\$)#module $new\\1#; s#^require $old #require $new #; s#^replace $old #replace $new #" go.mod tools/*/go.mod
sed -i -E "s#(-X |go doc |pkg: |\")$old/(internal|cmd|judge|tools)#\\1$new/\\2#g" Makefile deploy/Dockerfile docs/library.md \
  tools/bench/main.go internal/test/golden/read.go cmd/deem/command_test.go
echo "module $old is now $new; run make fmt test"
