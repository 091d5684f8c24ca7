#!/usr/bin/env bash
# publish.sh write: put the addresses of publish.env where readers look for them.
# publish.sh check: fail while one is not set, or stands differently in a file.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091 # It only sets variables.
. ./publish.env

# place NAME VALUE FILE PATTERN LINE: in FILE, the line that PATTERN finds is LINE.
failed=0
place() {
  local name=$1 value=$2 file=$3 pattern=$4 line=$5
  if ! grep -Eq "$pattern" "$file"; then
    echo "publish: error: $file has no line for $name" >&2
    failed=1
  elif [ "$mode" = write ]; then
    [ -z "$value" ] || sed -i -E "s|$pattern.*|$line|" "$file"
  elif [ -z "$value" ]; then
    echo "publish: error: $name is not set in publish.env" >&2
    failed=1
  elif ! grep -Fqx -- "$line" "$file"; then
    echo "publish: error: $file does not have $name of publish.env; run make publish" >&2
    failed=1
  fi
}

mode=${1:-}
case $mode in
write | check) ;;
*)
  echo "publish: error: write publish.sh write or publish.sh check" >&2
  exit 2
  ;;
esac
version=$(git describe --tags --abbrev=0 2>/dev/null || echo v0.1.0)
downloads=${DEEM_DOWNLOADS//\{version\}/${version#v}}
place DEEM_DOWNLOADS "$downloads" README.md '^DEEM=' "DEEM=$downloads"
place DEEM_CONTACT "$DEEM_CONTACT" SECURITY.md '^Contact: ' "Contact: $DEEM_CONTACT"
owner=${DEEM_HOMEPAGE#*://*/}
place DEEM_HOMEPAGE "$DEEM_HOMEPAGE" examples/ci/github.yml '^      - uses: .*/deem@' "      - uses: $owner@$version"
place DEEM_HOMEPAGE "$DEEM_HOMEPAGE" docs/ci.md '^      - uses: .*/deem@' "      - uses: $owner@$version"
if [ "$mode" = check ] && ! grep -Eq '^module [^ ]+\.[^ ]+/' go.mod; then
  echo "publish: error: the Go module is $(sed -n 's/^module //p' go.mod), which nobody can fetch; run make module PATH=..." >&2
  failed=1
fi
exit "$failed"
