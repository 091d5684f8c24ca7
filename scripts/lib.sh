#!/usr/bin/env bash
# What the scripts that install something have in common. It is sourced:
#   . "$(dirname "$0")/lib.sh"

# install_debian PACKAGE... installs packages of Debian where that can be done
# without asking anybody, and elsewhere does nothing: whoever calls it looks
# whether what it needs is there now.
install_debian() {
  if ! can_install; then
    return 0
  fi
  echo "$(basename "$0" .sh): installing $*" >&2
  if [ -z "${updated:-}" ]; then
    as_root apt-get update -q >&2
    updated=yes
  fi
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "$@" >&2
}

# can_install says whether install_debian does anything here.
can_install() {
  command -v apt-get >/dev/null && as_root true 2>/dev/null
}

# as_root COMMAND... runs a command as root, if that takes no password.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}
