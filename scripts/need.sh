#!/usr/bin/env bash
# Checks that the programs that tests start are installed:
#   scripts/need.sh cc clients postgres chromium python npm packagers
# On Debian, as root or with a sudo that asks for no password, it installs what is
# missing. Elsewhere it says which tests need a missing program, and fails.
set -euo pipefail

# How long to wait while another program holds the lock of the package manager.
wait=${DEEM_APT_WAIT:-300}

has() {
  local name
  case $1 in
  cc)
    # A compiler without the headers of the C library exists but does not work.
    printf '#include <stdlib.h>\nint main(void) { return 0; }\n' |
      "$(go env CC)" -x c -o /dev/null - 2>/dev/null
    ;;
  clients)
    for name in python3 node curl jq zstd xz; do
      command -v "$name" >/dev/null || return 1
    done
    ;;
  postgres) # where internal/test/storetest looks for it
    command -v initdb >/dev/null && [ -x "$(dirname "$(readlink -f "$(command -v initdb)")")/postgres" ] && return 0
    for name in /usr/lib/postgresql/*/bin; do
      [ -x "$name/initdb" ] && [ -x "$name/postgres" ] && return 0
    done
    return 1
    ;;
  chromium) # where the tests of internal/server/web look for it
    [ -n "${DEEM_CHROMIUM:-}" ] && return 0
    for name in chromium chromium-browser google-chrome chrome; do
      command -v "$name" >/dev/null && return 0
    done
    return 1
    ;;
  python) # the system's own, which has Debian's packages
    "$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)" -c 'import ensurepip, mypy, pandas, pytest, venv, xdist' 2>/dev/null
    ;;
  npm) command -v node >/dev/null && command -v npm >/dev/null ;;
  packagers)
    for name in dpkg rpm ssh-keygen; do
      command -v "$name" >/dev/null || return 1
    done
    ;;
  shellcheck) command -v shellcheck >/dev/null ;;
  *)
    echo "need: error: unknown program $1: choose from cc clients postgres chromium python npm packagers shellcheck" >&2
    exit 2
    ;;
  esac
}

packages() {
  case $1 in
  cc) echo gcc libc6-dev ;;
  clients) echo python3 nodejs curl ca-certificates jq zstd xz-utils ;;
  postgres) echo postgresql ;;
  chromium) echo chromium fonts-dejavu-core ;;
  python) echo python3 python3-venv python3-pip python3-pytest python3-pytest-xdist python3-pandas mypy ;;
  npm) echo nodejs npm ;;
  packagers) echo dpkg rpm openssh-client ;;
  shellcheck) echo shellcheck ;;
  esac
}

purpose() {
  case $1 in
  cc) echo "a C compiler is missing; the race detector needs it" ;;
  clients) echo "python3, node (20 or later), curl, jq, zstd or xz is missing; the tests of the HTTP API (internal/server/api), of the documentation and the examples (internal/ci) need them" ;;
  postgres) echo "Postgres is missing; the tests of internal/store/postgres, internal/queue, internal/server/... and internal/cli start a server" ;;
  chromium) echo "Chromium is missing; the browser tests of internal/server/web need it (DEEM_CHROMIUM can name the program)" ;;
  python) echo "python3 with venv, pytest, pytest-xdist, pandas and mypy is missing; the tests of the Python package (internal/ci) need them" ;;
  npm) echo "node or npm is missing; make bench-peers installs other tools with it, and internal/ci installs the npm packages" ;;
  packagers) echo "dpkg, rpm or ssh-keygen is missing; internal/ci installs the packages of a release with them" ;;
  shellcheck) echo "shellcheck is missing; make lint-shell checks the scripts with it" ;;
  esac
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

# apt ARGUMENTS... runs apt-get. While another program holds the lock, it waits.
apt() {
  local log deadline=$((SECONDS + wait)) told=
  log=$(mktemp)
  until as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1; do
    if ! grep -Eq 'Could not get lock|Unable to (acquire|lock)' "$log" || [ "$SECONDS" -ge "$deadline" ]; then
      cat "$log" >&2
      rm -f "$log"
      return 1
    fi
    [ -n "$told" ] || echo "need: another program is installing packages; waiting up to $wait seconds for it" >&2
    told=yes
    sleep 1
  done
  rm -f "$log"
}

missing=()
install=()
for tool in "$@"; do
  if ! has "$tool"; then
    missing+=("$tool")
    read -ra names <<<"$(packages "$tool")"
    install+=("${names[@]}")
  fi
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

if command -v apt-get >/dev/null && as_root true 2>/dev/null; then
  echo "need: installing ${install[*]}" >&2
  if apt update; then
    # Debian starts a cluster for each Postgres it installs, unless this is set first.
    if [[ " ${missing[*]} " == *" postgres "* ]] && apt install -y --no-install-recommends postgresql-common; then
      config=/etc/postgresql-common/createcluster.conf
      if [ -f "$config" ] && ! grep -Eq '^[[:space:]]*create_main_cluster[[:space:]]*=[[:space:]]*false' "$config"; then
        echo 'create_main_cluster = false' | as_root tee -a "$config" >/dev/null
      fi
    fi
    # The checks below say what is still missing.
    apt install -y --no-install-recommends "${install[@]}" || true
  fi
fi

status=0
for tool in "${missing[@]}"; do
  if ! has "$tool"; then
    echo "need: error: $(purpose "$tool")" >&2
    echo "need: hint: install it (Debian: apt-get install $(packages "$tool")), or leave these tests out with: go test ./..." >&2
    status=1
  fi
done
exit "$status"
