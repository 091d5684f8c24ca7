#!/usr/bin/env bash
# The tests of the Postgres store start a Postgres of their own. Installs the
# programs where that can be done without asking anybody, and says what to do
# where it cannot. No server is started, and none that is there is touched.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# As internal/store/pgtest looks for them.
found() {
  local dir
  if command -v initdb >/dev/null; then
    dir=$(dirname "$(readlink -f "$(command -v initdb)")")
    if [ -x "$dir/postgres" ]; then
      return 0
    fi
  fi
  for dir in /usr/lib/postgresql/*/bin; do
    if [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ]; then
      return 0
    fi
  done
  return 1
}

if found; then
  exit 0
fi
# postgresql-common makes and starts a cluster for every version that is
# installed, unless this is said before the server comes.
install_debian postgresql-common
config=/etc/postgresql-common/createcluster.conf
if can_install && [ -f "$config" ] && ! grep -Eq '^[[:space:]]*create_main_cluster[[:space:]]*=[[:space:]]*false' "$config"; then
  echo 'create_main_cluster = false' | as_root tee -a "$config" >/dev/null
fi
install_debian postgresql
if found; then
  exit 0
fi
cat >&2 <<'END'
need-postgres: error: no Postgres, which the tests of its store start
need-postgres: hint: install one (Debian: apt-get install postgresql; macOS: brew install postgresql), or leave these tests out: go test ./... skips them, saying so
END
exit 1
