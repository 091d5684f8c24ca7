#!/usr/bin/env bash
# The tests of the page drive a real browser, Chromium. Installs Debian's where
# that can be done without asking anybody, and says what to do where it cannot.
set -euo pipefail

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

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo -n)
fi
if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
  echo "need-chromium: no Chromium, installing chromium" >&2
  "${as_root[@]}" apt-get update -q >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core >&2
fi
if found; then
  exit 0
fi
cat >&2 <<'END'
need-chromium: error: no Chromium, with which the tests look at the page
need-chromium: hint: install one (Debian: apt-get install chromium), or name it in DEEM_CHROMIUM; go test ./... leaves these tests out, saying so
END
exit 1
