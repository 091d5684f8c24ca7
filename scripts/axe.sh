#!/usr/bin/env bash
# Downloads axe-core (MPL-2.0, 0.6 MB) into a folder, once. The browser tests run it to
# find what a person with a screen reader or a keyboard could not use. It is not part of
# deem, and nothing of it is shipped.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

dir=${1:?usage: scripts/axe.sh DIR}

version=4.11.0
sum=39bed7d72308f6d620789c169d699bfd7e8da80f65b545821a6b2215c3e83107

if [ -f "$dir/axe.min.js" ]; then
  exit 0
fi
mkdir -p "$dir"
scratch=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

echo "axe: downloading axe-core into $dir" >&2
if ! fetch_npm axe-core "$version" "$sum" "$scratch/axe.tgz"; then
  echo "axe: error: axe-core@$version could not be downloaded" >&2
  exit 1
fi
tar -xzf "$scratch/axe.tgz" -C "$scratch"
mv "$scratch/package/axe.min.js" "$dir/axe.min.js"
