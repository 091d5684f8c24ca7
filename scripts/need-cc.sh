#!/usr/bin/env bash
# The race detector is C code, so `go test -race` needs a C compiler. Installs
# one where that can be done without asking anybody, and says what to do where
# it cannot.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A compiler without the C library's headers is found, but does not work.
works() {
  printf '#include <stdlib.h>\nint main(void) { return 0; }\n' |
    "$(go env CC)" -x c -o "$scratch/a.out" - 2>/dev/null
}

if works; then
  exit 0
fi
install_debian gcc libc6-dev
if works; then
  exit 0
fi
cat >&2 <<'END'
need-cc: error: no working C compiler, which the race detector needs
need-cc: hint: install one (Debian: apt-get install gcc libc6-dev), or run the tests without it: go test ./...
END
exit 1
