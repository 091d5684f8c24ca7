#!/usr/bin/env bash
# The tests of the page drive a real browser, Chromium. Installs Debian's where
# that can be done without asking anybody, and says what to do where it cannot.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# As internal/server/browsertest looks for it.
found() {
  local name
  for name in chromium chromium-browser google-chrome chrome; do
    if command -v "$name" >/dev/null; then
      return 0
    fi
  done
  [ -n "${DEEM_CHROMIUM:-}" ]
}

if found; then
  exit 0
fi
install_debian chromium fonts-dejavu-core
if found; then
  exit 0
fi
cat >&2 <<'END'
need-chromium: error: no Chromium, with which the tests look at the page
need-chromium: hint: install one (Debian: apt-get install chromium), or name it in DEEM_CHROMIUM; go test ./... leaves these tests out, saying so
END
exit 1
