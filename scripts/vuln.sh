#!/usr/bin/env bash
# vuln.sh GOVULNCHECK PACKAGES...: fails if deem calls code with a known
# vulnerability. The vulnerabilities come from a database on the network:
#
#  1. GOVULNDB, if it is set, and nothing else;
#  2. vuln.go.dev, which is always up to date;
#  3. the same database as a module, golang.org/x/vulndb, from the module
#     proxy. That may be weeks old, so its date is printed.
#
# If none of them answers, the check did not happen. That alone does not fail
# a build, since it says nothing about the code; it is said loudly instead.
set -euo pipefail

govulncheck=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# check runs govulncheck, shows what it says, and returns its status: 0 is
# clean, 3 is a finding, anything else means that it could not look.
check() {
  echo "govulncheck $*"
  local status=0
  "$govulncheck" "$@" 2>&1 | tee "$log" || status=$?
  return "$status"
}

# unreached reports whether the complaint was that the database did not answer.
# Any other complaint, as about code that does not compile, must fail.
unreached() {
  grep -q -E '^govulncheck: fetching vulnerabilities: (Get "http|HTTP GET http)' "$log"
}

status=0
if [ -n "${GOVULNDB:-}" ]; then
  check -db "$GOVULNDB" "$@" || status=$?
  exit "$status"
fi
check "$@" || status=$?
if [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || ! unreached; then
  exit "$status"
fi

echo "vuln: vuln.go.dev was not reached; asking the module proxy for a copy of its database"
if snapshot=$(cd / && GOFLAGS='' go mod download -json golang.org/x/vulndb@master 2>/dev/null); then
  dir=$(sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p' <<<"$snapshot")
  version=$(sed -n 's/^\t"Version": "\(.*\)",*$/\1/p' <<<"$snapshot")
  day=$(sed -n 's/^v0\.0\.0-\(....\)\(..\)\(..\).*/\1-\2-\3/p' <<<"$version")
  echo "vuln: the copy is of ${day:-unknown date} ($version); what became known later is not in it"
  status=0
  check -db "file://$dir/data/osv" "$@" || status=$?
  exit "$status"
fi

echo "vuln: neither vuln.go.dev nor a copy of its database was reached"
echo "vuln: THE CHECK FOR KNOWN VULNERABILITIES DID NOT HAPPEN; this says nothing about the code"
