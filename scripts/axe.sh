#!/usr/bin/env bash
# Fetches axe-core (MPL-2.0, 0.6 MB) into a folder, once. The tests of the page run
# it in the browser to find what people with a screen reader or a keyboard could
# not use. It is no part of deem, and nothing of it is shipped.
set -euo pipefail

dir=${1:?usage: scripts/axe.sh DIR}

# The package is pinned to the byte, so it does not matter who hands it over.
version=4.11.0
sum=39bed7d72308f6d620789c169d699bfd7e8da80f65b545821a6b2215c3e83107

if [ -f "$dir/axe.min.js" ]; then
  exit 0
fi
mkdir -p "$dir"
scratch=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

echo "axe: fetching axe-core into $dir" >&2
if ! (cd "$scratch" && npm pack --silent "axe-core@$version" >/dev/null && mv ./*.tgz axe.tgz) 2>/dev/null; then
  echo "axe: error: npm could not fetch axe-core@$version" >&2
  exit 1
fi
hash=$(sha256sum "$scratch/axe.tgz" 2>/dev/null || shasum -a 256 "$scratch/axe.tgz")
if [ "${hash%% *}" != "$sum" ]; then
  echo "axe: error: axe-core@$version is not the package that it was" >&2
  exit 1
fi
tar -xzf "$scratch/axe.tgz" -C "$scratch"
mv "$scratch/package/axe.min.js" "$dir/axe.min.js"
