#!/usr/bin/env bash
# The examples of the HTTP API are programs in Python and JavaScript, which the
# tests run, with commands of curl; and the pages of docs/, which they run too,
# use jq and zstd. Installs what is missing where that can be done without asking
# anybody, and says what to do where it cannot.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

missing() {
  local program
  for program in python3 node curl jq zstd; do
    if ! command -v "$program" >/dev/null; then
      # Debian's package of node is called nodejs.
      if [ "$program" = node ]; then echo nodejs; else echo "$program"; fi
    fi
  done
}

mapfile -t packages < <(missing)
if [ "${#packages[@]}" -eq 0 ]; then
  exit 0
fi
install_debian "${packages[@]}"
if [ -z "$(missing)" ]; then
  exit 0
fi
cat >&2 <<'END'
need-clients: error: python3, node, curl, jq or zstd is missing, which the examples and pages need that are tested
need-clients: hint: install them (Debian: apt-get install python3 nodejs curl jq zstd), with Node 20 or later
END
exit 1
