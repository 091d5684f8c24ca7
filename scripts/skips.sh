#!/usr/bin/env bash
# skips.sh LOG LIST: fails if a test skipped itself that LIST does not name. LOG is what
# go test -json printed. A skipped test looks like a passed one, so without this check a
# test that skips on every machine guards nothing, and nobody notices.
#
# Some tests compare deem with published data that cannot be part of this repository, and
# skip themselves where the folder ../shared is missing. There the skipped tests are
# counted and named, and are no error.
#
# Each line of LIST holds a package, a test, and why it may skip:
#   deem/internal/store TestFull needs a disk that can be filled
# A listed test that did not skip is reported, so that the list gets shorter again.
set -euo pipefail

log=${1:?usage: scripts/skips.sh LOG LIST}
list=${2:?usage: scripts/skips.sh LOG LIST}

if bad=$(grep -Env '^#|^[[:space:]]*$|^[^[:space:]]+[[:space:]]+[^[:space:]]+[[:space:]]+[^[:space:]]' "$list"); then
  echo "skips: error: $list: each line needs a package, a test and a reason: $bad" >&2
  exit 2
fi
skipped=$(jq -r 'select(.Action == "skip" and .Test != null) | "\(.Package) \(.Test)"' "$log" | sort -u)
allowed=$(awk '!/^#/ && NF { print $1, $2 }' "$list" | sort -u)

comm -13 <(echo "$skipped") <(echo "$allowed") | sed '/^$/d; s/^/skips: listed but not skipped: /' >&2
unlisted=$(comm -23 <(echo "$skipped") <(echo "$allowed") | sed '/^$/d')
if [ -n "$unlisted" ] && [ ! -d "$(dirname "$0")/../../shared" ]; then
  echo "skips: $(wc -l <<<"$unlisted") tests skipped themselves; those that read ../shared need that folder:"
  echo "$unlisted"
elif [ -n "$unlisted" ]; then
  echo "skips: error: these tests skipped themselves, and $list does not list them:" >&2
  echo "$unlisted" >&2
  exit 1
fi
