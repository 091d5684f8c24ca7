#!/usr/bin/env bash
# Other tools that judge are installed with npm to be measured beside deem. Installs npm
# where that can be done without asking anybody, and says what to do where it cannot. Any
# Node that npm runs on will do: the one that is measured comes from npm too.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

if command -v node >/dev/null && command -v npm >/dev/null; then
  exit 0
fi
install_debian nodejs npm
if command -v node >/dev/null && command -v npm >/dev/null; then
  exit 0
fi
cat >&2 <<'END'
need-node: error: node or npm is missing, with which other tools are installed to be measured
need-node: hint: install them (Debian: apt-get install nodejs npm)
END
exit 1
