#!/usr/bin/env bash
# Functions shared by the scripts that download something. Source it:
#   . "$(dirname "$0")/lib.sh"

# fetch_npm NAME VERSION SHA256 FILE downloads a package from the npm registry. It needs
# no npm, and fails if the file does not have the given checksum.
fetch_npm() {
  local registry=${npm_config_registry:-https://registry.npmjs.org}
  curl -fsSL --retry 2 --max-time 300 -o "$4" "${registry%/}/$1/-/${1##*/}-$2.tgz" && check_sum "$3" "$4" "$1@$2"
}

# check_sum SHA256 FILE NAME ends the script if a file does not have its checksum.
check_sum() {
  local sum
  sum=$(sha256sum "$2" 2>/dev/null || shasum -a 256 "$2")
  if [ "${sum%% *}" != "$1" ]; then
    echo "$(basename "$0" .sh): error: the checksum of $3 is wrong: want $1, have ${sum%% *}" >&2
    exit 1
  fi
}
